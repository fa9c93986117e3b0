// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knowledge: what one wave knows of the waves of other workgroups. A sparse vector clock over the whole dispatch.
//
// A persistent 32-way radix tree from workgroup number to the bounds of its waves: what is shared never changes, and
// what is not shared is changed in place. Persistence makes the frequent cases cheap: a release publishes a pointer,
// and a join of two trees visits only the nodes in which they differ, so a ticket that N workgroups pass from hand to
// hand costs O(log N) per workgroup instead of O(N).
#ifndef WAVESAN_CPU_ORDER_KNOWLEDGE_H
#define WAVESAN_CPU_ORDER_KNOWLEDGE_H

#include "memory_budget.h"

#include "wavesan/abi/dispatch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

namespace wavesan::cpu {

/// Address spaces with a generation of their own: a fence may be limited to one of them. kCopies: the LDS side of a
/// wave's asynchronous copies, whose generations are their numbers (copy_queue.h).
enum Space : uint32_t { kLds = 0, kGlobal = 1, kCopies = 2, kSpaces = 3 };

/// Bounds of the waves of one workgroup, per address space: accesses of a generation below the bound are known.
/// 0: nothing known. Index: boundIndex(), wave by wave, so that few waves are a short piece.
using Bounds = std::array<uint32_t, kSpaces * abi::kMaxWavesPerWorkgroup>;
constexpr uint32_t boundIndex(Space space, uint32_t wave) { return wave * kSpaces + space; }

inline void raise(Bounds &to, const Bounds &from) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}
/// The same, where only the first `waves` waves have bounds.
inline void raise(Bounds &to, const Bounds &from, uint32_t waves) {
  constexpr size_t kStep = 8; // what vector instructions take at once
  static_assert(std::tuple_size_v<Bounds> % kStep == 0);
  for (size_t i = 0; i < kSpaces * waves; i += kStep)
    for (size_t k = i; k < i + kStep; ++k)
      to[k] = std::max(to[k], from[k]);
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
      n = static_cast<const Node *>(n->child[digit(workgroup, level - 1)].get());
      if (!n)
        return nullptr;
    }
    return static_cast<const Bounds *>(n->child[digit(workgroup, 0)].get());
  }
  bool empty() const { return !Root; }

  /// Raises the bounds of one workgroup.
  void add(uint32_t workgroup, const Bounds &bounds) {
    growTo(workgroup);
    setLeaf(Root, Levels, workgroup, bounds);
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
  struct Node {
    /// Of the lowest level Bounds, else Nodes.
    std::array<std::shared_ptr<const void>, kFan> child;
  };
  using NodePtr = std::shared_ptr<const Node>;

  static unsigned digit(uint32_t workgroup, unsigned level) { return (workgroup >> (kBits * level)) & (kFan - 1); }

  void grow() {
    auto top = ClockMemory::make<Node>();
    top->child[0] = Root;
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

  /// Can nobody else see it?
  static bool unshared(const NodePtr &node) {
    if (node.use_count() != 1)
      return false;
    std::atomic_thread_fence(std::memory_order_acquire); // behind the last look of whoever shared it
    return true;
  }
  /// The node, to be changed: a copy, if it is shared.
  static Node &own(NodePtr &node) {
    if (!node)
      node = ClockMemory::make<Node>();
    else if (!unshared(node))
      node = ClockMemory::make<Node>(*node);
    return const_cast<Node &>(*node);
  }
  /// Raises the bounds below `node`, which stays as it is where they are known already.
  static void setLeaf(NodePtr &node, unsigned levels, uint32_t workgroup, const Bounds &bounds) {
    const unsigned d = digit(workgroup, levels - 1);
    if (levels == 1) {
      const auto *old = node ? static_cast<const Bounds *>(node->child[d].get()) : nullptr;
      Bounds value = bounds;
      if (old) {
        raise(value, *old);
        if (value == *old)
          return;
      }
      own(node).child[d] = ClockMemory::make<const Bounds>(value);
      return;
    }
    if (!node || !unshared(node)) {
      NodePtr child = node ? std::static_pointer_cast<const Node>(node->child[d]) : nullptr;
      const void *before = child.get();
      setLeaf(child, levels - 1, workgroup, bounds); // copies: this reference is a second one
      if (child.get() != before)
        own(node).child[d] = std::move(child);
      return;
    }
    Node &mine = own(node);
    NodePtr child = std::static_pointer_cast<const Node>(std::move(mine.child[d]));
    mine.child[d].reset();
    setLeaf(child, levels - 1, workgroup, bounds);
    mine.child[d] = std::move(child);
  }

  /// Returns `a` or `b` themselves where one contains the other, so that equal knowledge becomes one object.
  static NodePtr joined(const NodePtr &a, const NodePtr &b, unsigned levels) {
    if (a == b || !b)
      return a;
    if (!a)
      return b;
    bool sameAsA = true, sameAsB = true;
    auto out = ClockMemory::make<Node>();
    for (unsigned i = 0; i < kFan; ++i) {
      const auto &x = a->child[i], &y = b->child[i];
      auto &r = out->child[i];
      if (levels > 1)
        r = joined(std::static_pointer_cast<const Node>(x), std::static_pointer_cast<const Node>(y), levels - 1);
      else if (x == y || !y)
        r = x;
      else if (!x)
        r = y;
      else {
        const auto &old = *static_cast<const Bounds *>(x.get()), &other = *static_cast<const Bounds *>(y.get());
        Bounds value = old;
        raise(value, other);
        r = value == old ? x : value == other ? y : ClockMemory::make<const Bounds>(value);
      }
      sameAsA &= r == x;
      sameAsB &= r == y;
    }
    return sameAsA ? a : sameAsB ? b : NodePtr(std::move(out));
  }

  NodePtr Root;
  unsigned Levels = 0;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_KNOWLEDGE_H
