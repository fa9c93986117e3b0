// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of one memcpy, memmove or memset that write different bytes to the same place. Looks at memory just before the
// operation.
#include "handlers.h"
#include "lane_pointer.h"
#include "lanes.h"
#include "memory_ranges.h"
#include "workgroup.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace wavesan::cpu::engine {

namespace {

struct LaneRange {
  uint64_t begin, end;
  uint32_t lane;
};

/// Whether the lanes write the same to `bytes` bytes from `at` on.
template <Space from>
bool same(const Wave &w, const Op &o, const LaneRange &a, const LaneRange &b, uint64_t at, uint64_t bytes) {
  const auto source = [&](const LaneRange &r) { return lanePointer<from>(w, o.b, r.lane, at - r.begin); };
  return std::memcmp(source(a), source(b), bytes) == 0;
}

/// `Source`: where memcpy reads; nothing: a memset, whose value is in a register.
template <Space to, class Source, class L> void rangeCheckRun(Wave &w, const Op &o) {
  if (!w.group->launch->launch->hooks)
    return;
  LaneRange ranges[kMaxLanes];
  uint32_t n = 0;
  bool ascend = true;
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    const uint64_t length = lengthOf<L>(w, o.c, i), begin = addressOf<to>(w, o.a, i);
    if (!length)
      continue;
    if (!checkRange<to>(w, o, o.a, i, length))
      return;
    ascend = ascend && (n == 0 || begin >= ranges[n - 1].end);
    ranges[n++] = {begin, begin + length, i};
  }
  if (ascend) [[likely]]
    return;
  std::sort(ranges, ranges + n, [](const LaneRange &a, const LaneRange &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.lane < b.lane;
  });
  // Of those before it each is compared with the one that reaches furthest: that covers all that the others share with
  // it, and has been compared with them.
  LaneRange furthest = ranges[0];
  for (uint32_t k = 1; k < n; ++k) {
    const LaneRange &r = ranges[k];
    if (r.begin < furthest.end) {
      const uint64_t bytes = std::min(r.end, furthest.end) - r.begin;
      bool equal;
      if constexpr (std::is_void_v<Source>) {
        const uint8_t *values = w.at<uint8_t>(o.b);
        equal = values[r.lane] == values[furthest.lane];
      } else {
        for (const LaneRange &side : {furthest, r})
          if (!checkRange<Source::value>(w, o, o.b, side.lane, side.end - side.begin))
            return;
        equal = same<Source::value>(w, o, furthest, r, r.begin, bytes);
      }
      if (!equal) {
        return reportLaneClash(w,
                               {r.begin,
                                uint32_t(std::min<uint64_t>(bytes, UINT32_MAX)),
                                {uint8_t(std::min(r.lane, furthest.lane)), uint8_t(std::max(r.lane, furthest.lane))}},
                               to == Space::Lds, *static_cast<const WrittenSite *>(o.extra));
      }
    }
    if (r.end > furthest.end)
      furthest = r;
  }
}

template <Space from> using In = std::integral_constant<Space, from>;

template <Space to, class Source> Handler pick(Width length) {
  return length == Width::B64   ? rangeCheckRun<to, Source, uint64_t>
         : length == Width::B32 ? rangeCheckRun<to, Source, uint32_t>
                                : nullptr;
}
template <Space to> Handler pick(std::optional<Space> from, Width length) {
  if (!from)
    return pick<to, void>(length);
  switch (*from) {
  case Space::Flat:
    return pick<to, In<Space::Flat>>(length);
  case Space::Lds:
    return pick<to, In<Space::Lds>>(length);
  case Space::Private:
    return pick<to, In<Space::Private>>(length);
  }
  return nullptr;
}

} // namespace

Handler rangeCheck(Space to, std::optional<Space> from, Width length) {
  return to == Space::Lds ? pick<Space::Lds>(from, length) : pick<Space::Flat>(from, length);
}

} // namespace wavesan::cpu::engine
