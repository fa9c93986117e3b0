// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an atomic that writes releases: into the row of its address (global_order.h), for those who acquire there.
#ifndef WAVESAN_DEVICE_GLOBAL_RELEASE_H
#define WAVESAN_DEVICE_GLOBAL_RELEASE_H

#include "global_order.h"
#include "lds_view.h"

namespace wavesan::device {

/// What an atomic of this info releases.
struct Publication {
  uint32_t complete = 0; ///< own accesses of older generations
  uint32_t epoch = 0;    ///< barriers passed at the release
  bool ofOthers = false; ///< what the wave knew of others belongs to it
  bool device = false;   ///< reaches other workgroups
  bool any = false;
  bool ofMany = false; ///< of a fence that reaches the workgroup: data that many lanes add to are no flags of it

  WAVESAN_INLINE Publication(const OrderView &v, uint32_t info) {
    const abi::Scope scope = abi::atomicScope(info);
    if (scope < abi::Scope::Workgroup)
      return;
    device = scope >= abi::Scope::Agent;
    if (abi::atomicReleases(info)) {
      complete = uniform(v.record->globalComplete);
      epoch = v.epoch();
      ofOthers = any = true;
    } else {
      device = device && uniform(v.record->fenceComplete[abi::kFenceOfDevice]) != 0;
      const uint32_t reach = device ? abi::kFenceOfDevice : abi::kFenceOfWorkgroup;
      complete = uniform(v.record->fenceComplete[reach]);
      epoch = uniform(v.record->fenceEpoch[reach]);
      ofOthers = uniform(v.record->fenceVersion[reach]) == uniform(loadShared(&v.record->version));
      any = complete != 0;
      ofMany = !device;
    }
    any &= device || hasKeyInWorkgroup(v);
  }
  WAVESAN_INLINE uint64_t key(const OrderView &v, uint64_t address) const {
    return device ? address : keyInWorkgroup(v, address);
  }
  /// A barrier too long ago is not known any more; then others' part is unknown.
  WAVESAN_INLINE bool tooOld(const OrderView &v) const { return v.epoch() - epoch >= abi::kEpochBuffers; }
  /// Up to where wave w of the own workgroup is published.
  WAVESAN_INLINE uint32_t boundOf(const OrderView &v, uint32_t w) const {
    if (w == v.wave)
      return complete;
    const uint32_t bound = v.boundByBarrier(w, tooOld(v) ? v.epoch() : epoch);
    const LdsTable lds(Shape(uniform(v.record->shape)));
    if (!ofOthers || !lds.there())
      return bound;
    const uint32_t known = uniform(loadShared(&lds.row(abi::kLdsKnown, v.wave)[2 * w + 1]));
    return known > bound ? known : bound;
  }
  /// Others may know it from now on.
  WAVESAN_INLINE void markReleased(const OrderView &v) const {
    if (!device)
      return;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < v.waveCount(); ++w)
      maxDevice(&v.waveAt(v.number(w))->released, boundOf(v, w));
  }
};

/// What is released could not be kept.
WAVESAN_INLINE void loseRelease(const OrderView &v) {
#pragma clang loop unroll(disable)
  for (uint32_t w = 0; w < v.waveCount(); ++w)
    storeDevice(&v.waveAt(v.number(w))->lost, 1u);
  deviceRelease();
  v.lost();
}

/// Publishes at one address of the whole wave, which has variable number index - 1. `continues`: the atomic reads what
/// is there.
WAVESAN_INLINE void publishAt(const OrderView &of, uint32_t index, uint64_t address, uint32_t info, bool continues) {
  uint32_t row;
  bool joins;
  {
    const OrderView v = of.fresh();
    const Publication what(v, again(info));
    what.markReleased(v);
    if (index == 0)
      return loseRelease(v);
    Variable *x = v.variable(index - 1);
    // A store ends sequences of every reach: the variable of the address itself counts them.
    const uint32_t location = what.device ? index : uniform(findVariable(v, address));
    const uint32_t ended = location == 0 ? 0 : storesAt(v, location, !continues);
    // Else a release sequence begins here: with what the wave knows, and nothing else.
    joins = continues && uniform(loadDevice(&x->begun)) == ended;
    storeDevice(&x->begun, ended);
    if (uniform(loadDevice(&x->publisher)) == v.self() + 1 &&
        uniform(loadDevice(&x->publishedBound)) == what.complete && what.ofOthers)
      return; // the same fence again
    row = uniform(loadDevice(&x->row));
  }
  if (row == 0) {
    const OrderView v = of.fresh();
    Variable *x = v.variable(index - 1);
    row = takeRow(v, address + v.group());
    if (row == 0)
      return loseRelease(v);
    // Another wave may have been faster.
    uint32_t there = 0;
    if (isFirstActiveLane() && !compareExchangeDevice(&x->row, 0u, row))
      there = loadDevice(&x->row);
    there = uniform(there);
    if (there != 0) {
      storeDevice(&v.rowLocks()[row - 1], 0u);
      row = there;
    }
  }
  const OrderView v = of.fresh();
  const Publication what(v, again(info));
  Variable *x = v.variable(index - 1);
  Entry *to = v.rowAt(row);
  const uint32_t known = what.ofOthers ? uniform(loadShared(&v.record->row)) : 0, first = v.number(0);
  const uint32_t begin = what.device ? 0 : first, end = what.device ? v.entries() : first + (1u << v.waveBits());
  if (!joins)
    together(begin, end, [&](uint32_t i) { storeDevice(&to[i], known != 0 ? loadDevice(&v.rowAt(known)[i]) : 0u); });
  else if (known != 0)
    joinRow(to, v.rowAt(known), begin, end);
  const bool others = !what.ofOthers && uniform(loadShared(&v.record->row)) != 0;
  if (what.device && (uniform(loadDevice(&v.own()->orderLost)) != 0 || others))
    storeDevice(&x->lost, 1u);
#pragma clang loop unroll(disable)
  for (uint32_t w = 0; w < v.waveCount(); ++w)
    if (w == v.wave || !what.tooOld(v))
      maxDevice(&to[first + w], what.boundOf(v, w));
  if (what.tooOld(v))
    storeDevice(&x->lost, 1u);
  storeDevice(&x->publishedBound, what.complete);
  const uint32_t self = v.self() + 1;
  if (!joins)
    storeDevice(&x->publisher, self);
  else if (uniform(loadDevice(&x->publisher)) != self &&
           !byOneLane([&] { return compareExchangeDevice(&x->publisher, 0u, self); }))
    storeDevice(&x->publisher, ~0u);
  deviceRelease();
}

/// What __wavesan_global_release() is called for. A release stands before the atomic that publishes it; that of a
/// compare-exchange behind it, for nobody knows before whether it will succeed. It is announced before, and who
/// acquires waits until nothing is announced any more.
enum ReleaseStep : uint32_t { kReleases, kAnnounces, kFailed, kSucceeded };

/// Before an atomic that writes, and behind a compare-exchange. `address` and `step` may differ between lanes.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_release(uint64_t address, uint32_t recordOffset, uint32_t info,
                                                             uint32_t step) {
  makeUniform(recordOffset, info);
  if (!OrderView(recordOffset).enabled())
    return;
  // What a lane has done: bits of a word, since each truth value of a wave would take scalar registers.
  enum : uint32_t { kPublished = 1, kCounted = 2 };
  constexpr uint32_t kMostFlags = 4;
  const bool reads = (abi::accessBits(info) & abi::kAccessRead) != 0;
  uint32_t done = 0, flags = 0;
#pragma clang loop unroll(disable)
  while (done == 0) {
    const OrderView v(again(recordOffset));
    const Publication what(v, again(info));
    if (!what.any || (what.ofMany && flags == kMostFlags))
      break;
    ++flags;
    const uint64_t at = uniform(address);
    if (at != address)
      continue;
    const uint32_t index = makeVariable(v, what.key(v, at));
    if (uniform(step) == kAnnounces) {
      what.markReleased(v);
    } else if (const uint64_t wrote = __builtin_amdgcn_ballot_w64(step != kFailed)) {
      if (uniform(step) >= kFailed && what.device && index != 0) { // before others may know the last write
        if (isFirstActiveLane())
          bump(&v.variable(index - 1)->writes, uint32_t(__builtin_popcountll(wrote)));
        done = kCounted;
      }
      publishAt(v, index, at, info, reads);
    }
    done |= kPublished;
    if (uniform(step) == kReleases || index == 0)
      continue;
    Variable *x = v.fresh().variable(uniform(index) - 1);
    deviceRelease();
    if (isFirstActiveLane())
      bump(uniform(step) == kAnnounces ? &x->announced : &x->settled);
    deviceRelease();
  }
  if (step == kAnnounces || step == kFailed)
    return;
  const OrderView v(again(recordOffset));
  const uint32_t location = findVariable(v, address);
  // A store that releases nothing ends release sequences all the same.
  const bool ends = !reads && done == 0;
  if (location != 0) {
    Variable *x = v.variable(location - 1);
    if (ends)
      bump(&x->ended);
    // Whoever has acquired the last write does not know this one.
    if ((done & kCounted) == 0)
      bump(&x->writes);
  } else if (ends && hasKeyInWorkgroup(v)) {
    if (const uint32_t index = findVariable(v, keyInWorkgroup(v, address)))
      storeDevice(&v.variable(index - 1)->begun, ~0u);
  }
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_GLOBAL_RELEASE_H
