// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of one store that write different values to the same bytes. Looks at the addresses and values in the registers
// just before the store: which lane wins is then of no interest.
#include "handlers.h"
#include "lanes.h"
#include "memory_check.h"
#include "workgroup.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace wavesan::cpu::engine {
namespace {

/// One lane's value at its offset in the stored type. Bytes of no leaf are not written.
bool differ(const Wave &w, const StoredLeaf &leaf, uint32_t a, uint32_t b) {
  const std::byte *values = w.at<std::byte>(leaf.reg);
  const size_t width = bytesOf(leaf.width);
  return std::memcmp(values + a * width, values + b * width, leaf.bytes) != 0;
}

/// The lanes of one store.
struct Stores {
  const Wave &w;
  const StoreCheck &check;
  LaneMask lanes;          ///< that write something
  const uint32_t *written; ///< StoreCheck::written; null: all
  uint32_t bytesOf(uint32_t lane) const { return written ? std::min(written[lane], check.bytes) : check.bytes; }
};

/// Two lanes store to one address: the first leaf in which they differ.
std::optional<LaneClash> compareWhole(const Stores &s, uint64_t address, uint32_t a, uint32_t b) {
  const uint32_t bytes = std::min(s.bytesOf(a), s.bytesOf(b));
  for (const StoredLeaf &leaf : s.check.leaves)
    if (leaf.offset + leaf.bytes <= bytes && differ(s.w, leaf, a, b))
      return LaneClash{address + leaf.offset, leaf.bytes, {uint8_t(std::min(a, b)), uint8_t(std::max(a, b))}};
  return std::nullopt;
}

/// Two lanes whose accesses overlap, b at or behind a: their common bytes, if they differ in one.
std::optional<LaneClash> compareOverlap(const Stores &s, uint64_t addressA, uint32_t a, uint64_t addressB, uint32_t b) {
  const auto byteOf = [&](uint32_t lane, uint64_t offset) -> int {
    for (const StoredLeaf &leaf : s.check.leaves)
      if (offset >= leaf.offset && offset < uint64_t(leaf.offset) + leaf.bytes)
        return int(s.w.at<std::byte>(leaf.reg)[lane * bytesOf(leaf.width) + (offset - leaf.offset)]);
    return -1;
  };
  const uint64_t end = std::min(addressA + s.bytesOf(a), addressB + s.bytesOf(b));
  for (uint64_t at = addressB; at < end; ++at) {
    const int x = byteOf(a, at - addressA), y = byteOf(b, at - addressB);
    if (x >= 0 && y >= 0 && x != y)
      return LaneClash{addressB, uint32_t(end - addressB), {uint8_t(std::min(a, b)), uint8_t(std::max(a, b))}};
  }
  return std::nullopt;
}

/// Every lane begins behind the end of the lane before it: the common shapes end here.
template <class A> bool ascends(const Stores &s, const A *address) {
  using S = std::make_signed_t<A>;
  const S bytes = S(s.check.bytes);
  if (s.lanes == s.w.allLanes) {
    bool good = true;
    for (uint32_t i = 1; i < s.w.lanes; ++i)
      good &= S(address[i] - address[i - 1]) >= bytes;
    return good;
  }
  bool good = true, first = true;
  A last = 0;
  forEachLane(s.lanes, [&](uint32_t i) {
    good &= first || S(address[i] - last) >= bytes;
    last = address[i];
    first = false;
  });
  return good;
}

/// Addresses that are multiples of the size overlap only where they are equal: a small hash table finds those.
template <class A> std::optional<LaneClash> compareAligned(const Stores &s, const A *address) {
  constexpr uint32_t kPlaces = 256;
  uint8_t laneAt[kPlaces]; // valid where `taken`
  uint64_t taken[kPlaces / 64] = {};
  const uint32_t shift = uint32_t(__builtin_ctz(s.check.bytes));
  for (LaneMask rest = s.lanes; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t a = address[lane];
    for (uint32_t place = uint32_t(a >> shift) % kPlaces;; place = (place + 1) % kPlaces) {
      const uint64_t bit = uint64_t(1) << place % 64;
      if (!(taken[place / 64] & bit)) {
        taken[place / 64] |= bit;
        laneAt[place] = uint8_t(lane);
        break;
      }
      if (address[laneAt[place]] != a)
        continue;
      if (auto clash = compareWhole(s, a, laneAt[place], lane))
        return clash;
      // Who writes more of it stands for both.
      if (s.bytesOf(lane) > s.bytesOf(laneAt[place]))
        laneAt[place] = uint8_t(lane);
      break;
    }
  }
  return std::nullopt;
}

template <class A> std::optional<LaneClash> compareSorted(const Stores &s, const A *address) {
  uint8_t lanes[kMaxLanes];
  uint32_t n = 0;
  forEachLane(s.lanes, [&](uint32_t i) { lanes[n++] = uint8_t(i); });
  std::sort(lanes, lanes + n,
            [&](uint8_t a, uint8_t b) { return address[a] != address[b] ? address[a] < address[b] : a < b; });
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = i + 1; j < n && uint64_t(address[lanes[j]]) - address[lanes[i]] < s.check.bytes; ++j)
      if (auto clash = compareOverlap(s, address[lanes[i]], lanes[i], address[lanes[j]], lanes[j]))
        return clash;
  return std::nullopt;
}

/// Compares what lanes are about to store with memory. Bytes that cannot be read are not held: the store itself will
/// say so.
template <class A> class Held final : public HeldBytes {
public:
  Held(const Stores &stores, const A *addresses) : S(stores), Addresses(addresses) {}
  bool held(uint64_t address, uint32_t size) const override {
    bool same = true, any = false;
    forEachLane(S.lanes, [&](uint32_t i) { same = same && laneHolds(i, address, address + size, any); });
    return same && any;
  }

private:
  bool laneHolds(uint32_t lane, uint64_t begin, uint64_t end, bool &any) const {
    for (const StoredLeaf &leaf : S.check.leaves) {
      const uint64_t at = uint64_t(Addresses[lane]) + leaf.offset;
      const uint64_t from = std::max(begin, at), to = std::min(end, at + leaf.bytes);
      if (from >= to || leaf.offset + leaf.bytes > S.bytesOf(lane))
        continue;
      any = true;
      const std::byte *stored = S.w.at<std::byte>(leaf.reg) + lane * bytesOf(leaf.width), *memory = pointer(from, to);
      if (!memory || std::memcmp(memory, stored + (from - at), to - from) != 0)
        return false;
    }
    return true;
  }
  const std::byte *pointer(uint64_t from, uint64_t to) const {
    if constexpr (std::is_same_v<A, uint32_t>)
      return to <= S.w.ldsBytes ? reinterpret_cast<const std::byte *>(S.w.lds + from) : nullptr;
    else
      return isBadFlat(flatBadness(from)) || isBadFlat(flatBadness(to - 1)) ? nullptr
                                                                            : reinterpret_cast<const std::byte *>(from);
  }

  const Stores &S;
  const A *Addresses;
};

template <class A> void checkRun(Wave &w, const Op &o) {
  const auto &check = *static_cast<const StoreCheck *>(o.extra);
  if (!w.group->launch->launch->hooks)
    return;
  Stores s{w, check, w.exec, nullptr};
  if (check.written != kNoRegister) {
    s.written = w.at<uint32_t>(check.written);
    s.lanes = 0;
    forEachLane(w.exec, [&](uint32_t i) { s.lanes |= LaneMask(s.written[i] != 0) << i; });
  }
  const A *address = w.at<A>(o.a);
  if (std::exchange(w.asksForValues, false)) [[unlikely]] {
    WaveView view = viewOf(w);
    w.group->launch->launch->hooks->storeFollows(view, std::is_same_v<A, uint32_t>, check.site.site, Held(s, address));
  }
  if (ascends(s, address)) [[likely]]
    return;
  A low = 0;
  forEachLane(s.lanes, [&](uint32_t i) { low |= address[i]; });
  const bool aligned = !(check.bytes & (check.bytes - 1)) && !(low & (check.bytes - 1));
  if (const auto clash = aligned ? compareAligned(s, address) : compareSorted(s, address))
    reportLaneClash(w, *clash, std::is_same_v<A, uint32_t>, check.site);
}

} // namespace

void reportLaneClash(Wave &w, const LaneClash &clash, bool lds, const WrittenSite &site) {
  WaveView view = viewOf(w);
  w.group->launch->launch->hooks->laneClash(
      view, clash, lds, site.info, site.site,
      site.variable == kNoRegister ? abi::kNoVariable : w.at<uint32_t>(site.variable)[__builtin_ctzll(w.exec)]);
}

Handler storeCheck(Space space) { return space == Space::Lds ? checkRun<uint32_t> : checkRun<uint64_t>; }

} // namespace wavesan::cpu::engine
