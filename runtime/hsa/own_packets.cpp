// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "own_packets.h"

#include "replay_loop.h"
#include "tool.h"

#include <algorithm>
#include <vector>

namespace wavesan::hsa {

namespace {

struct Reserved {
  const hsa_queue_t *queue;
  uint64_t first, end;
};
thread_local std::vector<Reserved> Own;

/// Of a replay whose callbacks leave packets to others: more is not remembered, and is then another thread's.
constexpr size_t kMost = 4096;

uint64_t note(const hsa_queue_t *queue, uint64_t first, uint64_t count) noexcept {
  try {
    if (insideReplay() && Own.size() < kMost)
      Own.push_back({queue, first, first + count});
  } catch (const std::bad_alloc &) { // then it counts as another thread's
  }
  return first;
}

uint64_t addAcquireRelease(const hsa_queue_t *queue, uint64_t value) {
  return note(queue, Tool::current()->api.core.hsa_queue_add_write_index_scacq_screl_fn(queue, value), value);
}
uint64_t addAcquire(const hsa_queue_t *queue, uint64_t value) {
  return note(queue, Tool::current()->api.core.hsa_queue_add_write_index_scacquire_fn(queue, value), value);
}
uint64_t addRelaxed(const hsa_queue_t *queue, uint64_t value) {
  return note(queue, Tool::current()->api.core.hsa_queue_add_write_index_relaxed_fn(queue, value), value);
}
uint64_t addRelease(const hsa_queue_t *queue, uint64_t value) {
  return note(queue, Tool::current()->api.core.hsa_queue_add_write_index_screlease_fn(queue, value), value);
}

template <class Visit> void forEachReplacement(Visit visit) {
  visit(&CoreApiTable::hsa_queue_add_write_index_scacq_screl_fn, addAcquireRelease);
  visit(&CoreApiTable::hsa_queue_add_write_index_scacquire_fn, addAcquire);
  visit(&CoreApiTable::hsa_queue_add_write_index_relaxed_fn, addRelaxed);
  visit(&CoreApiTable::hsa_queue_add_write_index_screlease_fn, addRelease);
}

} // namespace

void forgetOwnPackets() { Own.clear(); }

bool takeOwnPacket(const hsa_queue_t *queue, uint64_t index) {
  const auto found = std::find_if(
      Own.begin(), Own.end(), [&](const Reserved &r) { return r.queue == queue && index >= r.first && index < r.end; });
  if (found == Own.end())
    return false;
  if (index + 1 == found->end) // they come in their order
    Own.erase(found);
  return true;
}

void installWriteIndexInterceptors(CoreApiTable &core) {
  forEachReplacement([&](auto member, auto *replacement) {
    if (core.*member)
      core.*member = replacement;
  });
}

void removeWriteIndexInterceptors(CoreApiTable &core, const CoreApiTable &original) {
  forEachReplacement([&](auto member, auto *replacement) {
    if (core.*member == replacement)
      core.*member = original.*member;
  });
}

} // namespace wavesan::hsa
