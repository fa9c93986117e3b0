// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Solver.h"

#include <queue>

namespace wavesan::waitcheck {

Solution solve(const IsaContext &isa, const Function &f, CalleeFacts callee) {
  Solution s;
  const size_t n = f.blocks.size();
  s.entry.resize(n);
  s.calls.assign(n, CallFacts(0));
  if (n == 0)
    return s;
  const Transfer transfer(isa, f);
  std::vector<uint32_t> rank(n, 0);
  for (uint32_t r = 0; r < f.order.size(); ++r)
    rank[f.order[r]] = r;
  for (uint32_t b : f.order)
    if (f.blocks[b].call != CallKind::None)
      s.calls[b] = callee(f.blocks[b]);

  std::vector<uint8_t> reached(n, 0), queued(n, 0);
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>> work; // by rank
  if (!f.entry.isKernel)
    s.entry[0] = transfer.entryState();
  reached[0] = queued[0] = 1;
  work.push(rank[0]);
  while (!work.empty()) {
    const uint32_t b = f.order[work.top()];
    work.pop();
    queued[b] = 0;
    const Block &block = f.blocks[b];
    PendingState state = s.entry[b];
    for (uint32_t i = block.first; i < block.last; ++i)
      transfer.step(state, i, s.calls[b], nullptr);
    s.steps += block.last - block.first;
    for (uint32_t next : block.successors) {
      bool changed;
      if (!reached[next]) {
        reached[next] = 1;
        s.entry[next] = state;
        changed = true;
      } else {
        changed = s.entry[next].join(state);
      }
      if (changed && !queued[next]) {
        queued[next] = 1;
        work.push(rank[next]);
      }
    }
    // States only grow, so what a return leaves open the first time stays open: collecting while iterating is exact at
    // the end.
    if (block.returns || block.tailCall) {
      CallFacts here;
      for (const Item &item : state.all()) {
        if (item.cls() == OrderClass::WaitStates)
          continue;
        const CounterSet bit = counterBit(isa, item);
        if (block.tailCall && (s.calls[b].proves & bit))
          continue;
        if (item.kind() == ItemKind::Anything)
          here.proves &= static_cast<CounterSet>(~bit);
        for (size_t k = 0; k < ldsKinds.size(); ++k)
          if (item.kind() == ldsKinds[k])
            here.leaves[k] |= 1u << static_cast<unsigned>(item.cls());
      }
      if (block.tailCall)
        for (size_t k = 0; k < ldsKinds.size(); ++k)
          here.leaves[k] |= s.calls[b].leaves[k];
      s.atReturn.add(here);
    }
  }
  return s;
}

AtCall pendingAtCall(const IsaContext &isa, const Function &f, const Solution &s, uint32_t block) {
  const Transfer transfer(isa, f);
  PendingState state = s.entry[block];
  for (uint32_t i = f.blocks[block].first; i + 1 < f.blocks[block].last; ++i)
    transfer.step(state, i, s.calls[block], nullptr);
  AtCall at;
  for (const Item &item : state.all()) {
    if (item.cls() == OrderClass::WaitStates)
      continue;
    const CounterSet bit = counterBit(isa, item);
    switch (item.kind()) {
    case ItemKind::Register:
    case ItemKind::Source:
      at.pending.registers |= bit;
      break;
    case ItemKind::LdsWrite:
    case ItemKind::FlatLdsWrite:
      at.pending.ldsWrites |= bit;
      break;
    case ItemKind::LdsCopy:
      at.pending.ldsCopies |= bit;
      break;
    case ItemKind::Anything:
      at.open |= bit;
      break;
    case ItemKind::MemoryWrite:
    case ItemKind::StoreData:
      break;
    }
  }
  return at;
}

std::vector<Hazard> findHazards(const IsaContext &isa, const Function &f, const Solution &s) {
  std::vector<Hazard> found;
  const Transfer transfer(isa, f);
  for (uint32_t b : f.order) {
    PendingState state = s.entry[b];
    for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i)
      transfer.step(state, i, s.calls[b], &found);
  }
  return found;
}

} // namespace wavesan::waitcheck
