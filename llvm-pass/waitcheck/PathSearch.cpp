// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PathSearch.h"

#include <algorithm>
#include <set>

namespace wavesan::waitcheck {
namespace {

/// Nodes looked at per producer before the search gives up (and the hazard stays).
constexpr size_t maxNodes = 20000;
/// Instructions looked at per function, for all hazards together.
constexpr uint64_t maxWork = 200'000'000;

struct Node {
  uint32_t block;
  uint32_t parent;
  Item item;
  BranchFacts facts;
};

} // namespace

PathSearch::PathSearch(const IsaContext &isa, const Function &f, const Solution &s) : isa(isa), f(f), solution(s), transfer(isa, f) {}

const std::vector<BranchFacts> &PathSearch::facts() {
  if (entryFacts.empty())
    entryFacts = factsAtEntry(isa, f);
  return entryFacts;
}

HazardPath PathSearch::find(const Hazard &h) {
  if (h.item.producer == noProducer)
    return {.found = true, .exhausted = false, .decided = true, .producer = noProducer, .blocks = {}};
  HazardPath best = from(h.item.producer, h);
  if (best.found || !best.exhausted)
    return best;
  // The state keeps one producer per item; another one may have a path of its own.
  for (uint32_t b : f.order)
    for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
      if (i == h.item.producer || f.code[i].decoded < 0)
        continue;
      const Decoded &d = isa.decoded(f.code[i].decoded);
      bool same = false;
      for (unsigned e = 0; e < d.numEffects; ++e)
        same |= d.effects[e].cls == h.item.cls();
      if (h.item.kind() == ItemKind::StoreData)
        same = d.numData != 0;
      if (!same)
        continue;
      PendingState after;
      transfer.step(after, i, 0, nullptr);
      for (const Item &left : after.all())
        if (left.slot() == h.item.slot() && left.kind() == h.item.kind() && left.cls() == h.item.cls() && (left.mask() & h.mask)) {
          Hazard other = h;
          other.item = left;
          HazardPath p = from(i, other);
          if (p.found || !p.exhausted)
            return p;
        }
    }
  return best;
}

HazardPath PathSearch::from(uint32_t producer, const Hazard &h) {
  HazardPath result;
  result.producer = producer;
  const uint32_t startBlock = static_cast<uint32_t>(f.blockOf(producer) - f.blocks.data());
  Item item = h.item;
  item.age = item.secondAge = 0;
  item.producer = producer;

  std::vector<Node> nodes;
  std::set<std::tuple<uint32_t, uint8_t, uint8_t, BranchFacts>> visited;
  BranchFacts startFacts = facts()[startBlock];
  for (uint32_t i = f.blocks[startBlock].first; i <= producer; ++i)
    startFacts.step(isa, f, i);
  nodes.push_back({startBlock, noProducer, item, std::move(startFacts)});

  for (size_t n = 0; n < nodes.size(); ++n) {
    const Block &at = f.blocks[nodes[n].block];
    work += 1 + at.last - at.first;
    if (nodes.size() > maxNodes || work > maxWork)
      return result; // not exhausted
    const Block &block = f.blocks[nodes[n].block];
    Item pending = nodes[n].item;
    BranchFacts known = nodes[n].facts;
    bool alive = true;
    for (uint32_t i = n == 0 ? producer + 1 : block.first; i < block.last; ++i) {
      if (i == h.consumer) {
        Item atConsumer = pending;
        if (transfer.issueOnly(atConsumer, i)) {
          result.found = true;
          for (uint32_t k = static_cast<uint32_t>(n); k != noProducer; k = nodes[k].parent)
            result.blocks.push_back(nodes[k].block);
          std::reverse(result.blocks.begin(), result.blocks.end());
          for (size_t k = 0; k + 1 < result.blocks.size(); ++k) {
            const uint32_t last = f.blocks[result.blocks[k]].last - 1;
            if (f.blocks[result.blocks[k]].successors.size() > 1 ||
                (f.code[last].decoded >= 0 && isa.decoded(f.code[last].decoded).facts.control == Control::CondBranch))
              result.decided = true;
          }
          return result;
        }
      }
      alive = transfer.stepItem(pending, i, solution.calls[nodes[n].block]);
      if (!alive)
        break;
      known.step(isa, f, i);
    }
    if (!alive)
      continue;
    for (size_t k = 0; k < block.successors.size(); ++k) {
      BranchFacts edge = known;
      if (block.successors.size() == 2 && !edge.leave(isa, f, block, k == 0))
        continue;
      const uint32_t next = block.successors[k];
      if (visited.insert({next, pending.age, pending.secondAge, edge}).second)
        nodes.push_back({next, static_cast<uint32_t>(n), pending, std::move(edge)});
    }
  }
  result.exhausted = true;
  return result;
}

} // namespace wavesan::waitcheck
