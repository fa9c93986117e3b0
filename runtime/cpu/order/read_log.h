// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plain reads of a page that nobody has written, in their order.
//
// Input that many workgroups share is read only, and a read of bytes that were never written conflicts with nothing. So
// nobody looks at these reads until somebody writes to the page, which for most of such pages is never. A record for
// each line costs several lines of the host's cache for each line read; a log is written one word after the other.
#ifndef WAVESAN_CPU_ORDER_READ_LOG_H
#define WAVESAN_CPU_ORDER_READ_LOG_H

#include "record_list.h"
#include "sync_table.h"

#include <utility>

namespace wavesan::cpu {

/// Its memory belongs to the RecordMemory, which must be the same in all calls. Not thread-safe.
class ReadLog {
public:
  /// Lines of a page.
  static constexpr uint64_t kLines = 128;

  /// Appends a plain read of line `line` of the page; false if the log is full, or there is no memory for it.
  bool add(unsigned line, const AccessRecord &r, RecordMemory &memory) {
    const uint64_t who = uint64_t(r.workgroup) << 32 | r.generation, what = headOf(r);
    const bool whole = r.mask == ~uint64_t(0);
    // The other lines of the same access mostly follow at once.
    if (!Head || Head[0] != who || Head[1] >> kCountBits != what >> kCountBits || (Head[1] & kMaxCount) == kMaxCount ||
        Left < (whole ? 1u : 2u)) {
      if (Left < kHeadWords + 2 && !grow(memory))
        return false;
      Head = Next;
      Head[0] = who;
      Head[1] = what;
      Next += kHeadWords;
      Left -= kHeadWords;
    }
    ++Head[1];
    *Next++ = uint64_t(line) | uint64_t(r.lane) << 8 | uint64_t(r.firstByte) << 16 | uint64_t(r.laneBytes) << 24 |
              uint64_t(whole) << 32;
    if (!whole)
      *Next++ = r.mask;
    Left -= whole ? 1 : 2;
    return true;
  }

  /// Calls `f(line, const AccessRecord &)` for what was appended, in order, and empties the log.
  template <class F> void drain(RecordMemory &memory, F &&f) {
    for (uint64_t *piece = First; piece;) {
      const uint64_t *at = piece + 1, *end = piece == Last ? Next : piece + kPieceWords;
      while (at + kHeadWords < end && at[1] & kMaxCount) {
        AccessRecord r{};
        r.workgroup = uint32_t(at[0] >> 32);
        r.generation = uint32_t(at[0]);
        r.site = uint32_t(at[1] >> 32);
        r.wave = uint8_t(at[1] >> 24);
        r.epoch = uint8_t(at[1] >> 16);
        r.scope = abi::Scope(at[1] >> kCountBits & 255);
        uint64_t count = at[1] & kMaxCount;
        for (at += kHeadWords; count; --count) {
          const uint64_t item = *at++;
          r.lane = uint8_t(item >> 8);
          r.firstByte = uint8_t(item >> 16);
          r.laneBytes = uint8_t(item >> 24);
          r.mask = item >> 32 & 1 ? ~uint64_t(0) : *at++;
          f(unsigned(item & 255), std::as_const(r));
        }
      }
      uint64_t *const done = piece;
      piece = reinterpret_cast<uint64_t *>(done[0]);
      memory.release(RecordMemory::kLogClass, reinterpret_cast<std::byte *>(done));
    }
    *this = ReadLog();
  }

  void prefetch() const {
    if (Next)
      __builtin_prefetch(Next, 1);
  }

private:
  // Words of 64 bits. A piece: the next piece, then reads: workgroup and generation; site, wave, epoch, scope and the
  // number of lines; then for each line what lane and bytes, and its mask if it is not the whole line. Of a piece that
  // is not the last, the rest is zero where a head would fit.
  static constexpr uint32_t kHeadWords = 2, kPieceWords = kSmallLimits ? 8 : 128, kMaxPieces = kSmallLimits ? 3 : 64;
  static constexpr unsigned kCountBits = 8;
  static constexpr uint64_t kMaxCount = (1 << kCountBits) - 1;
  static uint64_t headOf(const AccessRecord &r) {
    return uint64_t(r.site) << 32 | uint64_t(r.wave) << 24 | uint64_t(r.epoch) << 16 | uint64_t(r.scope) << kCountBits;
  }
  bool grow(RecordMemory &memory) {
    if (Pieces == kMaxPieces)
      return false;
    auto *piece =
        reinterpret_cast<uint64_t *>(memory.allocate(RecordMemory::kLogClass, kPieceWords * sizeof(uint64_t)));
    if (!piece)
      return false;
    piece[0] = 0;
    if (Last) {
      if (Left >= kHeadWords)
        Next[1] = 0;
      Last[0] = reinterpret_cast<uint64_t>(piece);
    } else {
      First = piece;
    }
    Last = piece;
    Next = piece + 1;
    Left = kPieceWords - 1;
    Head = nullptr;
    ++Pieces;
    return true;
  }

  uint64_t *First = nullptr, *Last = nullptr, *Next = nullptr;
  uint64_t *Head = nullptr; ///< of the last access
  uint32_t Left = 0;        ///< words of the last piece
  uint32_t Pieces = 0;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_READ_LOG_H
