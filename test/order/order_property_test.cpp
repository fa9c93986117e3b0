// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property: on random programs of several workgroups (plain accesses, atomics of every order and scope, fences,
// barriers) the sparse clocks and the line shadow name the same racy bytes as a naive model with dense vector clocks,
// complete histories and explicit lists of release heads.
#include "memory_shadow.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace wavesan::cpu {
namespace {

using abi::Scope;

struct Step {
  enum Kind { Plain, Atomic, Fence, Barrier } kind;
  uint32_t group, wave, address, size;
  bool reads, writes, acquire, release;
  Scope scope;
  uint32_t site;
};

/// The naive model. Time is global: the number of the step; a clock holds, per wave, the step up to which it is known.
class Naive {
public:
  Naive(uint32_t groups, uint32_t waves) : WavesPerGroup(waves), W(groups * waves) {
    for (auto &w : W)
      w.clock.assign(W.size(), 0);
  }
  void step(const Step &s) {
    ++Now;
    const uint32_t n = s.group * WavesPerGroup + s.wave;
    Wave &w = W[n];
    switch (s.kind) {
    case Step::Plain:
      access(s, n, false);
      break;
    case Step::Fence:
      if (s.scope < Scope::Workgroup)
        break;
      w.done = Now;
      // What it acquires is part of what it releases.
      if (s.acquire)
        acquireFence(w, s.group, s.scope);
      if (s.release)
        w.fences.push_back({s.scope, published(n)});
      break;
    case Step::Atomic: {
      if (s.release && s.scope >= Scope::Workgroup)
        w.done = Now - 1; // everything before; not the atomic itself
      access(s, n, true);
      auto &heads = Heads[s.address];
      if (s.reads)
        for (Head h : heads) {
          h.readScope = s.scope;
          if (s.acquire) {
            if (included(h, s.group, s.scope))
              join(w.clock, h.clock);
          } else {
            w.pending.push_back(h);
          }
        }
      if (s.writes) {
        if (!s.reads)
          heads.clear();
        if (s.release)
          heads.push_back({s.group, s.scope, Scope::System, published(n)});
        else
          for (const auto &[scope, clock] : w.fences)
            heads.push_back({s.group, std::min(s.scope, scope), Scope::System, clock});
      }
      break;
    }
    case Step::Barrier:
      break;
    }
  }
  /// All waves of the group arrive, then all leave.
  void barrier(uint32_t group, bool fenced) {
    ++Now;
    std::vector<uint64_t> all(W.size(), 0);
    for (uint32_t i = 0; i < WavesPerGroup; ++i) {
      const uint32_t n = group * WavesPerGroup + i;
      if (fenced) {
        W[n].done = Now;
        W[n].fences.push_back({Scope::Workgroup, published(n)});
      }
      join(all, published(n));
    }
    for (uint32_t i = 0; i < WavesPerGroup; ++i) {
      Wave &w = W[group * WavesPerGroup + i];
      join(w.clock, all);
      if (fenced) {
        acquireFence(w, group, Scope::Workgroup);
        w.done = Now;
      }
    }
  }
  std::set<uint32_t> racy;

private:
  using Clock = std::vector<uint64_t>;
  struct Head {
    uint32_t group;
    Scope scope, readScope;
    Clock clock;
  };
  struct Wave {
    Clock clock;
    uint64_t done = 0;
    std::vector<std::pair<Scope, Clock>> fences; ///< all release fences so far
    std::vector<Head> pending;                   ///< heads read by relaxed atomics so far
  };
  struct Past {
    uint32_t n, group;
    uint64_t time;
    bool write, atomic;
    Scope scope;
  };
  static void join(Clock &a, const Clock &b) {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = std::max(a[i], b[i]);
  }
  Clock published(uint32_t n) const {
    Clock c = W[n].clock;
    c[n] = std::max(c[n], W[n].done);
    return c;
  }
  static bool included(const Head &h, uint32_t group, Scope readScope) {
    const Scope s = std::min(h.scope, readScope);
    return h.group == group ? s >= Scope::Workgroup : s >= Scope::Agent;
  }
  static void acquireFence(Wave &w, uint32_t group, Scope scope) {
    for (const Head &h : w.pending)
      if (included(h, group, std::min(h.readScope, scope)))
        join(w.clock, h.clock);
  }
  void access(const Step &s, uint32_t n, bool atomic) {
    for (uint32_t b = s.address; b < s.address + s.size; ++b) {
      for (const Past &p : History[b]) {
        if (p.n == n || !(p.write || s.writes) || p.time <= W[n].clock[p.n])
          continue;
        if (p.atomic && atomic) {
          const Scope c = std::min(p.scope, s.scope);
          if (p.group == s.group ? c >= Scope::Workgroup : c >= Scope::Agent)
            continue;
        }
        racy.insert(b);
      }
      History[b].push_back({n, s.group, Now, s.writes, atomic, s.scope});
    }
  }
  uint32_t WavesPerGroup;
  uint64_t Now = 0;
  std::vector<Wave> W;
  std::map<uint32_t, std::vector<Past>> History;
  std::map<uint32_t, std::vector<Head>> Heads;
};

struct Program {
  uint32_t groups, waves;
  std::vector<Step> steps;
  std::string text() const {
    std::ostringstream o;
    o << groups << " groups of " << waves << " waves\n";
    for (const Step &s : steps) {
      o << "g" << s.group << " w" << s.wave << " ";
      if (s.kind == Step::Barrier)
        o << (s.release ? "sync" : "bare barrier");
      else if (s.kind == Step::Fence)
        o << "fence" << (s.acquire ? " acquire" : "") << (s.release ? " release" : "") << " scope " << int(s.scope);
      else
        o << (s.kind == Step::Atomic ? "atomic" : "plain") << (s.reads ? " read" : "") << (s.writes ? " write" : "")
          << (s.acquire ? " acquire" : "") << (s.release ? " release" : "") << " [" << s.address << "+" << s.size
          << "] scope " << int(s.scope);
      o << "\n";
    }
    return o.str();
  }
};

std::set<uint32_t> packed(const Program &p, uint64_t &lost) {
  std::vector<WorkgroupOrder> groups;
  for (uint32_t g = 0; g < p.groups; ++g)
    groups.emplace_back(g, p.waves);
  SyncTable sync;
  MemoryBudget budget;
  MemoryShadow shadow(budget);
  std::set<uint32_t> racy;
  constexpr uint32_t Both = abi::kFenceLds | abi::kFenceGlobal;
  for (const Step &s : p.steps) {
    WaveOrder &w = groups[s.group].wave(s.wave);
    const uint32_t bits = Both | (s.acquire ? abi::kFenceAcquire : 0u) | (s.release ? abi::kFenceRelease : 0u);
    auto access = [&](bool atomic) {
      AccessRecord r{s.group,
                     w.generation[kGlobal],
                     s.site,
                     ((1ull << s.size) - 1) << (s.address % kLineBytes),
                     uint8_t(s.wave),
                     0,
                     0,
                     0,
                     0,
                     s.writes,
                     atomic,
                     s.scope};
      shadow.access(w, s.address / kLineBytes, r, [&](const LineConflict &c) {
        for (unsigned b = 0; b < kLineBytes; ++b)
          if (c.mask >> b & 1)
            racy.insert(s.address / kLineBytes * kLineBytes + b);
      });
    };
    switch (s.kind) {
    case Step::Plain:
      access(false);
      break;
    case Step::Fence:
      w.fence(abi::fenceInfo(bits, s.scope));
      break;
    case Step::Atomic:
      if (s.release)
        w.fence(abi::fenceInfo(Both | abi::kFenceRelease | abi::kFenceImplied, s.scope));
      access(true);
      if (s.reads)
        w.atomicRead(sync.find(s.address), s.scope, s.acquire);
      if (s.writes)
        w.atomicWrite(*sync.get(s.address), s.scope, s.release, s.reads);
      break;
    case Step::Barrier:
      for (uint32_t i = 0; i < p.waves; ++i) {
        if (s.release)
          groups[s.group].wave(i).fence(abi::fenceInfo(Both | abi::kFenceRelease, Scope::Workgroup));
        groups[s.group].arrive(i);
      }
      for (uint32_t i = 0; i < p.waves; ++i) {
        groups[s.group].leave(i);
        if (s.release)
          groups[s.group].wave(i).fence(abi::fenceInfo(Both | abi::kFenceAcquire, Scope::Workgroup));
      }
      break;
    }
  }
  lost = shadow.lost();
  return racy;
}

std::set<uint32_t> naive(const Program &p) {
  Naive n(p.groups, p.waves);
  for (const Step &s : p.steps)
    if (s.kind == Step::Barrier)
      n.barrier(s.group, s.release);
    else
      n.step(s);
  return n.racy;
}

Program generate(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  Program p;
  p.groups = 1 + below(4);
  p.waves = 1 + below(3);
  const uint32_t steps = 4 + below(28), locations = 1 + below(3);
  const bool scopes = below(2);
  const uint32_t data = 8 * below(5); // 32 bytes anywhere in the first line
  for (uint32_t i = 0; i < steps; ++i) {
    Step s{};
    s.site = i;
    s.group = below(p.groups);
    s.wave = below(p.waves);
    s.scope = scopes ? Scope(below(6)) : Scope::Agent;
    const uint32_t kind = below(10);
    if (kind < 4) {
      s.kind = Step::Plain;
      s.size = 1u << below(4);
      s.address = data + below(32 / s.size) * s.size;
      s.writes = below(2);
      s.reads = !s.writes;
    } else if (kind < 8) {
      s.kind = Step::Atomic;
      s.size = 4;
      s.address = below(8) ? 2 * kLineBytes + 4 * below(locations) : data + 4 * below(8);
      const uint32_t what = below(3);
      s.reads = what != 1;
      s.writes = what != 0;
      s.acquire = s.reads && below(3);
      s.release = s.writes && below(3);
    } else if (kind < 9) {
      s.kind = Step::Fence;
      s.acquire = below(2);
      s.release = !s.acquire || below(2);
    } else {
      s.kind = Step::Barrier;
      s.release = below(4); // fenced
    }
    p.steps.push_back(s);
  }
  return p;
}

TEST(OrderProperty, SparseClocksAgreeWithTheNaiveModel) {
  const char *count = std::getenv("WAVESAN_PROPERTY_PROGRAMS"), *first = std::getenv("WAVESAN_PROPERTY_SEED");
  const uint64_t programs = count ? strtoull(count, nullptr, 0) : 100000,
                 start = first ? strtoull(first, nullptr, 0) : 1;
  uint64_t racy = 0, clean = 0;
  for (uint64_t seed = start; seed < start + programs; ++seed) {
    Program p = generate(seed);
    uint64_t lost = 0;
    auto differs = [&](const Program &q) { return naive(q) != packed(q, lost); };
    if (differs(p)) {
      for (bool smaller = true; smaller;) {
        smaller = false;
        for (size_t i = 0; i < p.steps.size();) {
          Program q = p;
          q.steps.erase(q.steps.begin() + i);
          if (differs(q))
            p = q, smaller = true;
          else
            ++i;
        }
      }
      std::ostringstream o;
      for (uint32_t b : naive(p))
        o << " " << b;
      o << " | packed:";
      for (uint32_t b : packed(p, lost))
        o << " " << b;
      FAIL() << "seed " << seed << " (WAVESAN_PROPERTY_SEED), naive:" << o.str() << "\n" << p.text();
    }
    EXPECT_EQ(lost, 0u);
    (naive(p).empty() ? clean : racy) += 1;
  }
  std::printf("seeds %llu..%llu: %llu racy, %llu clean\n", (unsigned long long)start,
              (unsigned long long)(start + programs - 1), (unsigned long long)racy, (unsigned long long)clean);
  if (programs >= 1000) {
    EXPECT_GT(racy, programs / 20);
    EXPECT_GT(clean, programs / 20);
  }
}

} // namespace
} // namespace wavesan::cpu
