// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the bytes of a page of memory held before a dispatch on trial (trial.h) wrote to them. Nothing else of the page
// is read or put back: others may be using it.
#ifndef WAVESAN_CPU_ORDER_SAVED_BYTES_H
#define WAVESAN_CPU_ORDER_SAVED_BYTES_H

#include "read_log.h"

#include <bit>
#include <cstring>

namespace wavesan::cpu {

class SavedBytes {
public:
  /// The bytes in `mask` of line `line` of the page that begins at `page`.
  void save(uint64_t page, uint64_t line, uint64_t mask) {
    copy(Bytes + line * kLineBytes, reinterpret_cast<const std::byte *>(page + line * kLineBytes), mask);
  }
  /// They must have been saved.
  void restore(uint64_t page, uint64_t line, uint64_t mask) const {
    copy(reinterpret_cast<std::byte *>(page + line * kLineBytes), Bytes + line * kLineBytes, mask);
  }

private:
  static void copy(std::byte *to, const std::byte *from, uint64_t mask) {
    if (mask == ~uint64_t(0)) [[likely]] {
      std::memcpy(to, from, kLineBytes);
      return;
    }
    while (mask) {
      const unsigned first = unsigned(std::countr_zero(mask)), bytes = unsigned(std::countr_one(mask >> first));
      std::memcpy(to + first, from + first, bytes);
      mask &= ~(((uint64_t(1) << bytes) - 1) << first);
    }
  }
  std::byte Bytes[ReadLog::kLines * kLineBytes];
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_SAVED_BYTES_H
