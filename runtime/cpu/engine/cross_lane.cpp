// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that read other lanes. Sources are copied first where the destination could be a source.
#include "handlers.h"
#include "lanes.h"

namespace wavesan::cpu::engine {

namespace {

uint32_t firstLane(const Wave &w) { return uint32_t(__builtin_ctzll(w.exec)); }
bool isActive(const Wave &w, uint32_t lane) { return w.exec >> lane & 1; }

template <class T> void broadcast(Wave &w, Register d, T value) {
  mapLanes<Cost::Cheap>(w, w.at<T>(d), 1, [=](uint32_t) { return value; });
}

template <bool high> void mbcntRun(Wave &w, const Op &o) {
  const uint32_t *mask = w.at<uint32_t>(o.a), *base = w.at<uint32_t>(o.b);
  mapLanes<Cost::Cheap>(w, w.at<uint32_t>(o.d), 1, [=](uint32_t i) {
    const uint32_t below = high ? (i < 32 ? 0 : (1u << (i & 31)) - 1) : i >= 32 ? ~0u : (1u << i) - 1;
    return base[i] + uint32_t(__builtin_popcount(mask[i] & below));
  });
}

template <class T> void ballotRun(Wave &w, const Op &o) {
  const uint8_t *flags = w.at<uint8_t>(o.a);
  LaneMask mask = 0;
  forEachLane(w.exec, [&](uint32_t i) { mask |= LaneMask(flags[i] & 1) << i; });
  broadcast<T>(w, o.d, T(mask));
}
template <class T> void execRun(Wave &w, const Op &o) { broadcast<T>(w, o.d, T(w.exec >> o.sub)); }
template <class T> void inverseBallotRun(Wave &w, const Op &o) {
  const uint64_t mask = w.at<T>(o.a)[firstLane(w)];
  mapLanes<Cost::Cheap>(w, w.at<uint8_t>(o.d), 1, [=](uint32_t i) { return uint8_t(mask >> i & 1); });
}

template <class T> struct ReadFirst {
  static void run(Wave &w, const Op &o) { broadcast<T>(w, o.d, w.at<T>(o.a)[firstLane(w)]); }
};
template <class T> struct ReadLane {
  static void run(Wave &w, const Op &o) {
    const uint32_t lane = w.at<uint32_t>(o.b)[firstLane(w)] & (w.lanes - 1);
    broadcast<T>(w, o.d, w.at<T>(o.a)[lane]);
  }
};
template <class T> struct WriteLane {
  static void run(Wave &w, const Op &o) {
    const uint32_t first = firstLane(w), lane = w.at<uint32_t>(o.b)[first] & (w.lanes - 1);
    const T value = w.at<T>(o.a)[first];
    const T *old = w.at<T>(o.c);
    T *d = w.at<T>(o.d);
    mapLanes<Cost::Cheap>(w, d, 1, [=](uint32_t i) { return old[i]; });
    d[lane] = value; // written whether or not that lane is active
  }
};

template <bool halves> void bpermuteRun(Wave &w, const Op &o) {
  const uint32_t *index = w.at<uint32_t>(o.a), *value = w.at<uint32_t>(o.b);
  uint32_t *d = w.at<uint32_t>(o.d);
  const uint32_t lanes = halves ? 32 : w.lanes;
  forEachLane(w.exec, [&](uint32_t i) {
    const uint32_t source = (index[i] >> 2 & (lanes - 1)) + (halves ? i & 32 : 0);
    d[i] = isActive(w, source) ? value[source] : 0;
  });
}
template <bool halves> void permuteRun(Wave &w, const Op &o) {
  const uint32_t *index = w.at<uint32_t>(o.a), *value = w.at<uint32_t>(o.b);
  const uint32_t lanes = halves ? 32 : w.lanes;
  uint32_t received[kMaxLanes] = {};
  forEachLane(w.exec,
              [&](uint32_t i) { received[(index[i] >> 2 & (lanes - 1)) + (halves ? i & 32 : 0)] = value[i]; });
  uint32_t *d = w.at<uint32_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = received[i]; });
}

uint32_t reverseBits5(uint32_t v) { return __builtin_bitreverse32(v) >> 27; }

uint32_t swizzleSource(uint32_t pattern, uint32_t i) {
  const uint32_t lane = i & 31, half = i & ~31u;
  if (pattern >= 0xe000) { // FFT
    const uint32_t mask = pattern & 0x1f;
    return half | (reverseBits5(lane) >> __builtin_popcount(mask)) | (lane & mask);
  }
  if (pattern >= 0xc000) { // rotate
    const uint32_t rotate = pattern >> 5 & 0x1f, keep = pattern & 0x1f;
    const bool left = !(pattern >> 10 & 1);
    const uint32_t moved = (left ? lane + rotate : lane - rotate) & 31;
    return half | (lane & keep) | (moved & ~keep & 31);
  }
  if (pattern & 0x8000) // four lanes
    return (i & ~3u) | (pattern >> (2 * (i & 3)) & 3);
  return half | ((((lane & (pattern & 0x1f)) | (pattern >> 5 & 0x1f)) ^ (pattern >> 10 & 0x1f)) & 31);
}
void swizzleRun(Wave &w, const Op &o) {
  const uint32_t *value = w.at<uint32_t>(o.a);
  uint32_t *d = w.at<uint32_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    const uint32_t source = swizzleSource(o.sub, i);
    d[i] = source < w.lanes && isActive(w, source) ? value[source] : 0;
  });
}

/// The lane that lane `i` reads under a DPP control, or -1.
int dppSource(uint32_t control, uint32_t i, uint32_t lanes) {
  const uint32_t row = i & ~15u, column = i & 15;
  const auto within = [&](int c) { return c >= 0 && c < 16 ? int(row) + c : -1; };
  const int n = int(control & 15);
  if (control <= 0xff)
    return int((i & ~3u) | (control >> (2 * (i & 3)) & 3));
  if (control >= 0x101 && control <= 0x10f)
    return within(int(column) + n);
  if (control >= 0x111 && control <= 0x11f)
    return within(int(column) - n);
  if (control >= 0x121 && control <= 0x12f)
    return int(row + ((column - uint32_t(n)) & 15));
  switch (control) {
  case 0x130: return i + 1 < lanes ? int(i) + 1 : -1;
  case 0x134: return int((i + 1) % lanes);
  case 0x138: return int(i) - 1;
  case 0x13c: return int((i + lanes - 1) % lanes);
  case 0x140: return int(row + (15 - column));
  case 0x141: return int((i & ~7u) + (7 - (i & 7)));
  case 0x142: return int(row) - 1;
  case 0x143: return i >= 32 ? 31 : -1;
  default: break;
  }
  if (control >= 0x150 && control <= 0x15f)
    return int(row) + n;
  if (control >= 0x160 && control <= 0x16f)
    return int(row + (column ^ uint32_t(n)));
  return -1;
}
template <class T> struct Dpp {
  static void run(Wave &w, const Op &o) {
    const auto &c = *static_cast<const DppControl *>(o.extra);
    const T *old = w.at<T>(o.a), *source = w.at<T>(o.b);
    T *d = w.at<T>(o.d);
    forEachLane(w.exec, [&](uint32_t i) {
      const bool enabled = (c.rowMask >> (i >> 4) & 1) && (c.bankMask >> ((i & 15) >> 2) & 1);
      const int from = enabled ? dppSource(c.control, i, w.lanes) : -1;
      if (from >= 0 && isActive(w, uint32_t(from)))
        d[i] = source[from];
      else
        d[i] = enabled && c.boundControl ? T(0) : old[i];
    });
  }
};

template <bool cross> void permlane16Run(Wave &w, const Op &o) {
  const auto &s = *static_cast<const PermlaneSelect *>(o.extra);
  const uint32_t *old = w.at<uint32_t>(o.a), *source = w.at<uint32_t>(o.b);
  const uint32_t first = firstLane(w);
  const uint64_t select = w.at<uint32_t>(s.low)[first] | uint64_t(w.at<uint32_t>(s.high)[first]) << 32;
  uint32_t *d = w.at<uint32_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    const uint32_t row = (i & ~15u) ^ (cross ? 16 : 0);
    const uint32_t from = row | uint32_t(select >> (4 * (i & 15)) & 15);
    if (s.fetchInactive || isActive(w, from))
      d[i] = source[from];
    else
      d[i] = s.boundControl ? 0 : old[i];
  });
}
void permlane64Run(Wave &w, const Op &o) {
  const uint32_t *source = w.at<uint32_t>(o.a);
  uint32_t *d = w.at<uint32_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = w.lanes == 64 ? source[i ^ 32] : source[i]; });
}

template <WaveReduce op> struct Reduce {
  template <class T> struct Of {
    static void run(Wave &w, const Op &o) {
      using S = Signed<T>;
      const T *a = w.at<T>(o.a);
      const uint32_t first = firstLane(w);
      T r = op == WaveReduce::Sub ? T(0 - a[first]) : a[first];
      forEachLane(w.exec & (w.exec - 1), [&](uint32_t i) {
        const T v = a[i];
        if constexpr (op == WaveReduce::Add) r = T(r + v);
        else if constexpr (op == WaveReduce::Sub) r = T(r - v);
        else if constexpr (op == WaveReduce::UMin) r = v < r ? v : r;
        else if constexpr (op == WaveReduce::UMax) r = v > r ? v : r;
        else if constexpr (op == WaveReduce::SMin) r = S(v) < S(r) ? v : r;
        else if constexpr (op == WaveReduce::SMax) r = S(v) > S(r) ? v : r;
        else if constexpr (op == WaveReduce::And) r = T(r & v);
        else if constexpr (op == WaveReduce::Or) r = T(r | v);
        else r = T(r ^ v);
      });
      broadcast<T>(w, o.d, r);
    }
  };
};

template <template <class> class F> Handler pick(Width w) {
  switch (w) {
  case Width::B8: return F<uint8_t>::run;
  case Width::B16: return F<uint16_t>::run;
  case Width::B32: return F<uint32_t>::run;
  case Width::B64: return F<uint64_t>::run;
  case Width::B128: return F<u128>::run;
  }
  return nullptr;
}

} // namespace

Handler mbcnt(bool high) { return high ? mbcntRun<true> : mbcntRun<false>; }
Handler ballot(Width w) { return w == Width::B64 ? ballotRun<uint64_t> : w == Width::B32 ? ballotRun<uint32_t> : nullptr; }
Handler execMask(Width w) { return w == Width::B64 ? execRun<uint64_t> : w == Width::B32 ? execRun<uint32_t> : nullptr; }
Handler inverseBallot(Width w) {
  return w == Width::B64 ? inverseBallotRun<uint64_t> : w == Width::B32 ? inverseBallotRun<uint32_t> : nullptr;
}
Handler readFirstLane(Width w) { return pick<ReadFirst>(w); }
Handler readLane(Width w) { return pick<ReadLane>(w); }
Handler writeLane(Width w) { return pick<WriteLane>(w); }
Handler bpermute(bool halves) { return halves ? bpermuteRun<true> : bpermuteRun<false>; }
Handler permute(bool halves) { return halves ? permuteRun<true> : permuteRun<false>; }
Handler swizzle() { return swizzleRun; }
Handler dpp(Width w) { return pick<Dpp>(w); }
Handler permlane16(bool crossRows) { return crossRows ? permlane16Run<true> : permlane16Run<false>; }
Handler permlane64() { return permlane64Run; }
Handler waveReduce(WaveReduce op, Width w) {
  switch (op) {
  case WaveReduce::Add: return pick<Reduce<WaveReduce::Add>::Of>(w);
  case WaveReduce::Sub: return pick<Reduce<WaveReduce::Sub>::Of>(w);
  case WaveReduce::UMin: return pick<Reduce<WaveReduce::UMin>::Of>(w);
  case WaveReduce::UMax: return pick<Reduce<WaveReduce::UMax>::Of>(w);
  case WaveReduce::SMin: return pick<Reduce<WaveReduce::SMin>::Of>(w);
  case WaveReduce::SMax: return pick<Reduce<WaveReduce::SMax>::Of>(w);
  case WaveReduce::And: return pick<Reduce<WaveReduce::And>::Of>(w);
  case WaveReduce::Or: return pick<Reduce<WaveReduce::Or>::Of>(w);
  case WaveReduce::Xor: return pick<Reduce<WaveReduce::Xor>::Of>(w);
  }
  return nullptr;
}

} // namespace wavesan::cpu::engine
