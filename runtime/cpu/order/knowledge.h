// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knowledge: what one wave knows of the waves of other workgroups. A sparse vector clock over the whole dispatch.
//
// A persistent (immutable, shared) 32-way radix tree from workgroup number to the bounds of its waves. Persistence
// makes the frequent cases cheap: a release publishes a pointer, and a join of two trees visits only the nodes in which
// they differ, so a ticket that N workgroups pass from hand to hand costs O(log N) per workgroup instead of O(N).
#ifndef WAVESAN_CPU_ORDER_KNOWLEDGE_H
#define WAVESAN_CPU_ORDER_KNOWLEDGE_H

#include "wavesan/abi/dispatch.h"

#include <algorithm>
#include <array>
#include <memory>

namespace wavesan::cpu {

/// Address spaces with a generation of their own: a fence may be limited to one of them. kCopies: the LDS side of a
/// wave's asynchronous copies, whose generations are their numbers (copy_queue.h).
enum Space : uint32_t { kLds = 0, kGlobal = 1, kCopies = 2, kSpaces = 3 };

/// Bounds of the waves of one workgroup, per address space: accesses of a generation below the bound are known.
/// 0: nothing known. Index: boundIndex().
using Bounds = std::array<uint32_t, kSpaces * abi::kMaxWavesPerWorkgroup>;
constexpr uint32_t boundIndex(Space space, uint32_t wave) { return space * abi::kMaxWavesPerWorkgroup + wave; }

inline void raise(Bounds &to, const Bounds &from) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

/// A value type; copying copies a pointer. Distinct objects may be used from several threads.
class Knowledge {
public:
  /// Bounds of a workgroup, or null when nothing is known of it.
  const Bounds *find(uint32_t workgroup) const {
    const Node *n = Root.get();
    if (!n || (Levels < kMaxLevels && (uint64_t(workgroup) >> (kBits * Levels)) != 0))
      return nullptr;
    for (unsigned level = Levels; level > 1; --level) {
      n = n->inner[digit(workgroup, level - 1)].get();
      if (!n)
        return nullptr;
    }
    return n->leaf[digit(workgroup, 0)].get();
  }
  bool empty() const { return !Root; }

  /// Raises the bounds of one workgroup.
  void add(uint32_t workgroup, const Bounds &bounds) {
    growTo(workgroup);
    Root = withLeaf(Root, Levels, workgroup, bounds);
  }

  void join(const Knowledge &other) {
    if (!other.Root || other.Root == Root)
      return;
    if (!Root) {
      *this = other;
      return;
    }
    Knowledge taller = other;
    while (Levels < taller.Levels)
      grow();
    while (taller.Levels < Levels)
      taller.grow();
    Root = joined(Root, taller.Root, Levels);
  }

  bool sharesAllWith(const Knowledge &other) const { return Root == other.Root; }

private:
  static constexpr unsigned kBits = 5, kFan = 1u << kBits, kMaxLevels = 7;
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  using LeafPtr = std::shared_ptr<const Bounds>;
  struct Node {
    std::array<NodePtr, kFan> inner; ///< levels above the lowest
    std::array<LeafPtr, kFan> leaf;  ///< lowest level
  };

  static unsigned digit(uint32_t workgroup, unsigned level) { return (workgroup >> (kBits * level)) & (kFan - 1); }

  void grow() {
    auto top = std::make_shared<Node>();
    top->inner[0] = Root;
    Root = std::move(top);
    ++Levels;
  }
  void growTo(uint32_t workgroup) {
    if (!Root) {
      Levels = 1;
      while (Levels < kMaxLevels && (uint64_t(workgroup) >> (kBits * Levels)) != 0)
        ++Levels;
      return;
    }
    while (Levels < kMaxLevels && (uint64_t(workgroup) >> (kBits * Levels)) != 0)
      grow();
  }

  static NodePtr withLeaf(const NodePtr &old, unsigned levels, uint32_t workgroup, const Bounds &bounds) {
    if (levels == 1) {
      const unsigned d = digit(workgroup, 0);
      Bounds value = bounds;
      if (old && old->leaf[d]) {
        raise(value, *old->leaf[d]);
        if (value == *old->leaf[d])
          return old;
      }
      auto copy = old ? std::make_shared<Node>(*old) : std::make_shared<Node>();
      copy->leaf[d] = std::make_shared<const Bounds>(value);
      return copy;
    }
    const unsigned d = digit(workgroup, levels - 1);
    NodePtr child = withLeaf(old ? old->inner[d] : nullptr, levels - 1, workgroup, bounds);
    if (old && child == old->inner[d])
      return old;
    auto copy = old ? std::make_shared<Node>(*old) : std::make_shared<Node>();
    copy->inner[d] = std::move(child);
    return copy;
  }

  /// Returns `a` or `b` themselves where one contains the other, so that equal knowledge becomes one object.
  static NodePtr joined(const NodePtr &a, const NodePtr &b, unsigned levels) {
    if (a == b || !b)
      return a;
    if (!a)
      return b;
    bool sameAsA = true, sameAsB = true;
    auto out = std::make_shared<Node>();
    for (unsigned i = 0; i < kFan; ++i) {
      if (levels == 1) {
        const LeafPtr &x = a->leaf[i], &y = b->leaf[i];
        LeafPtr &r = out->leaf[i];
        if (x == y || !y) {
          r = x;
        } else if (!x) {
          r = y;
        } else {
          Bounds value = *x;
          raise(value, *y);
          r = value == *x ? x : value == *y ? y : std::make_shared<const Bounds>(value);
        }
        sameAsA &= r == x;
        sameAsB &= r == y;
      } else {
        out->inner[i] = joined(a->inner[i], b->inner[i], levels - 1);
        sameAsA &= out->inner[i] == a->inner[i];
        sameAsB &= out->inner[i] == b->inner[i];
      }
    }
    return sameAsA ? a : sameAsB ? b : NodePtr(std::move(out));
  }

  NodePtr Root;
  unsigned Levels = 0;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_KNOWLEDGE_H
