// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named barriers of gfx1250, of one workgroup: LLVM's model of barriers ("AMDGPU Execution Synchronization").
//
// A barrier counts signals. When their number is the number that it expects, a *phase* is complete and the count begins
// anew. A wave waits for the barrier that it has joined last: for the first phase that is completed after the join,
// then for the next one, and so on. Whoever waits need not signal, and whoever signals need not have joined. A wave
// that leaves lowers the number of signals from then on, which may complete the phase. What the model leaves undefined
// is an error here.
#ifndef WAVESAN_CPU_ENGINE_NAMED_BARRIERS_H
#define WAVESAN_CPU_ENGINE_NAMED_BARRIERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace wavesan::cpu::engine {

/// Used by the thread that executes the workgroup. Operations return null, or why they are undefined.
class NamedBarriers {
public:
  static constexpr uint32_t kCount = 16;      ///< numbers 1 to 16
  static constexpr uint32_t kMaxMembers = 63; ///< what an instruction can say
  /// Addresses of barriers as the backend gives them: no LDS is there.
  static constexpr uint32_t addressOf(uint32_t number) { return kBase | number << 4; }
  /// 0: not the address of a named barrier.
  static constexpr uint32_t numberOf(uint32_t address) {
    const uint32_t number = (address - kBase) >> 4;
    return address >= kBase && (address & 15) == 0 && number <= kCount ? number : 0;
  }

  /// A wave's side.
  struct Member {
    uint32_t barrier = 0; ///< joined; 0: none
    uint64_t next = 0;    ///< phase that its next wait is for
    uint64_t waited = 0;  ///< phase that its last wait was for
    bool waiting = false; ///< it is stopped in a wait
    bool waits() const { return waiting; }
  };

  void clear() { *this = NamedBarriers(); }

  const char *init(uint32_t number, uint32_t expected) {
    if (const char *error = check(number, expected))
      return error;
    if (expected == 0)
      return "a named barrier is initialised for no members";
    Barrier &b = Barriers[number];
    b.expected = expected;
    b.arrived = 0;
    b.initialised = true;
    return nullptr;
  }
  const char *join(Member &m, uint32_t number) {
    if (const char *error = check(number, 0))
      return error;
    m.barrier = number;
    m.next = nextPhase(number);
    return nullptr;
  }
  /// `expected`: the number of signals from now on; 0: as before.
  const char *signal(uint32_t number, uint32_t expected) {
    if (const char *error = check(number, expected))
      return error;
    Barrier &b = Barriers[number];
    if (expected == 0 && !b.initialised)
      return "a named barrier is signalled that nobody has initialised";
    if (expected != 0 && expected <= b.arrived)
      return "a signal sets a named barrier's member count below the signals that it has already";
    if (expected != 0)
      b.expected = expected;
    b.initialised = true;
    ++b.arrived;
    completeIfDone(b);
    return nullptr;
  }
  const char *leave(Member &m) {
    if (m.barrier == 0)
      return "a wave leaves a named barrier that it has not joined";
    Barrier &b = Barriers[m.barrier];
    if (!b.initialised || b.expected == 0)
      return "a wave leaves a named barrier that expects nobody";
    --b.expected;
    m.barrier = 0;
    completeIfDone(b);
    return nullptr;
  }
  /// The wave has to stop if it waits() afterwards.
  const char *wait(Member &m) {
    if (m.barrier == 0)
      return "a wave waits for a named barrier without having joined one";
    m.waited = m.next++;
    m.waiting = !passed(m);
    return nullptr;
  }
  bool passed(const Member &m) const { return Barriers[m.barrier].completed >= m.waited; }

  /// Number of the phase that is completed next; phases count from 1.
  uint64_t nextPhase(uint32_t number) const { return Barriers[number].completed + 1; }
  /// Phases completed, of all barriers together.
  uint64_t completions() const { return Completions; }
  /// What has been counted so far, in a number that differs where that does.
  uint64_t pending() const {
    uint64_t all = 0;
    for (const Barrier &b : Barriers)
      all = all * 0x9e3779b97f4a7c15u + (uint64_t(b.arrived) << 8 | b.expected);
    return all;
  }
  /// "named barrier `full`: 1 of 2 signals". `names`: from number 1 on.
  std::string describe(const Member &m, const std::vector<std::string> &names) const {
    const Barrier &b = Barriers[m.barrier];
    const std::string name =
        m.barrier >= 1 && m.barrier <= names.size() ? "`" + names[m.barrier - 1] + "`" : std::to_string(m.barrier);
    return "named barrier " + name + ": " + std::to_string(b.arrived) + " of " + std::to_string(b.expected) +
           " signals";
  }

private:
  static constexpr uint32_t kBase = 0x802000;
  struct Barrier {
    uint32_t expected = 0, arrived = 0;
    uint64_t completed = 0; ///< phases
    bool initialised = false;
  };
  static const char *check(uint32_t number, uint32_t members) {
    if (number == 0 || number > kCount)
      return "the address is not that of a named barrier";
    if (members > kMaxMembers)
      return "a named barrier of more than 63 members";
    return nullptr;
  }
  void completeIfDone(Barrier &b) {
    if (b.arrived != b.expected)
      return;
    b.arrived = 0;
    ++b.completed;
    ++Completions;
  }

  Barrier Barriers[kCount + 1];
  uint64_t Completions = 0;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_NAMED_BARRIERS_H
