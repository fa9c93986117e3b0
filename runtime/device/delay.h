// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings two accesses of different waves into one order by delays (abi/delays.h; docs/replay.md, "Confirming races").
//
// The wave that is to be second sleeps in front of its access until the other has come to its own, and then for as long
// as that surely takes to be made. Within a workgroup it waits anew behind each barrier, and no longer than until the
// first arrives at the barrier or ends; between workgroups once. One of the two waves is slow: it sleeps in front of
// all its other accesses, too, while the other one is at work. All other waves sleep now and then, as the seed says.
// Nothing is checked in such a pass: nobody wants its findings, and from the first's coming to its access little time
// passes until it is made.
// Every wait is bounded: nothing that the program waits for can be missed for ever. What is stored here, nothing of the
// program reads.
#ifndef WAVESAN_DEVICE_DELAY_H
#define WAVESAN_DEVICE_DELAY_H

#include "platform_amdgcn.h"
#include "wavesan/abi/delays.h"
#include "wavesan/core/global_slot.h"

namespace wavesan::device {

struct Delayed {
  Global<abi::Delays> *of;
  Lds<abi::WorkgroupState> *head;
  uint32_t wave;

  WAVESAN_INLINE bool inWorkgroup(const Global<abi::DelayedSide> *side) const {
    return ((side->workgroup[0] ^ head->workgroup[0]) | (side->workgroup[1] ^ head->workgroup[1]) |
            (side->workgroup[2] ^ head->workgroup[2])) == 0;
  }
};

/// Has the wave ended, or arrived at the barrier that ends `epoch`? Arrivals of earlier epochs, which lie in the same
/// words, have earlier generations.
WAVESAN_INLINE bool hasStopped(uint32_t stateOffset, uint32_t wave, uint32_t epoch) {
  const core::GlobalArrival last(loadShared(globalBarrierAt(stateOffset, epoch, wave))),
      next(loadShared(globalBarrierAt(stateOffset, epoch + 1, wave)));
  return loadShared(&recordOf(stateOffset, wave)->endEpoch) != 0 || next.end() > last.end();
}

/// Does the access of some lane touch the bytes of the two accesses?
template <class Address>
WAVESAN_INLINE bool touches(const Global<abi::Delays> *delays, bool lds, Address address, uint32_t size) {
  const uint32_t bytes = uniform(delays->bytes);
  if (bytes == 0)
    return true;
  if (uniform(delays->lds) != uint32_t(lds))
    return false;
  const auto begin = Address(uniform(delays->beginLow) | uint64_t(uniform(delays->beginHigh)) << 32);
  return __builtin_amdgcn_ballot_w64(address - begin < bytes || begin - address < size) != 0;
}

/// In place of the check of an access to `size` bytes at `address`, lane by lane. `recordOffset`: of the wave's record;
/// the dispatch has Delays. Address: uint32_t for LDS, uint64_t for global memory.
template <class Address>
WAVESAN_INLINE void delay(uint32_t recordOffset, uint32_t site, Address address, uint32_t size) {
  auto *record = ldsAt<abi::WaveRecord>(recordOffset);
  const Shape shape(uniform(record->shape));
  const uint32_t state = shape.stateOffset(), epoch = uniform(loadShared(&record->epoch));
  auto *head = ldsAt<abi::WorkgroupState>(state);
  const Delayed d{globalAt<abi::Delays>(uniform(contextOf(uniform(head->context))->delays)), head, shape.wave()};
  const bool withFirst = uniform(uint32_t(d.inWorkgroup(&d.of->first))) != 0,
             withSecond = uniform(uint32_t(d.inWorkgroup(&d.of->second))) != 0;
  const bool isFirst = withFirst && d.wave == uniform(d.of->first.wave),
             isSecond = withSecond && d.wave == uniform(d.of->second.wave);
  const bool atFirst = isFirst && site == uniform(d.of->first.site),
             atSecond = isSecond && site == uniform(d.of->second.site);
  const bool concerned = (atFirst || atSecond) && touches(d.of, sizeof(Address) == 4, address, size);
  if (atFirst && concerned) {
    storeDevice(&d.of->passed, epoch + 1);
    return;
  }
  bool waits = atSecond && concerned;
  const bool slow = !waits && (uniform(d.of->slowFirst) != 0 ? isFirst : isSecond);
  const uint32_t other = uniform(isFirst ? d.of->second.wave : d.of->first.wave);
  // How often to sleep at most, and how often the wave has done so for this reason.
  auto *spent = waits ? &d.of->held : &d.of->lagged;
  uint32_t left, slept = 0;
  if (waits || slow) {
    const uint32_t before = uniform(loadDevice(spent)), most = uniform(d.of->most);
    left = before < most ? most - before : 0;
    if (slow)
      left = left < uniform(d.of->lag) ? left : uniform(d.of->lag);
  } else {
    const uint32_t turn = uniform(loadShared(&record->checked)) + 1;
    storeShared(&record->checked, turn);
    const uint32_t hash = uniform(
        core::hashKey(uint64_t(uniform(d.of->seed)) << 32 ^
                      uint64_t(uniform(head->workgroup[0]) * 0x9e3779b9u + uniform(head->workgroup[1]) * 0x85ebca6bu +
                               uniform(head->workgroup[2]) * 0xc2b2ae35u + d.wave * 64 + turn)));
    left = isFirst || isSecond || (hash & 7u) != 0 ? 0 : hash >> 3 & 15u;
  }
#pragma clang loop unroll(disable)
  while (left != 0) {
    if (waits) {
      const uint32_t passed = uniform(loadDevice(&d.of->passed));
      if (withFirst ? passed > epoch : passed != 0) {
        waits = false;
        storeDevice(&d.of->holds, 0u);
        left = passed == uniform(loadDevice(&d.of->settled)) ? 0 : uniform(d.of->settle);
        storeDevice(&d.of->settled, passed);
        continue;
      }
      if (slept == 0)
        storeDevice(&d.of->holds, 1u);
    }
    // The two are of one workgroup: what the other does is known.
    if ((waits || slow) && withFirst && withSecond && uniform(uint32_t(hasStopped(state, other, epoch))) != 0)
      break;
    if (slow && isFirst && uniform(loadDevice(&d.of->holds)) != 0)
      break;
    __builtin_amdgcn_s_sleep(32);
    --left;
    ++slept;
  }
  if (waits)
    storeDevice(&d.of->holds, 0u);
  if ((isFirst || isSecond) && slept != 0)
    storeDevice(spent, uniform(loadDevice(spent)) + slept);
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_DELAY_H
