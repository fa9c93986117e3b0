// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dispatch packet, or several of one queue, inside a window of their agent: what lies in memory before them, and
// their passes.
#ifndef WAVESAN_HSA_REPLAY_PACKET_H
#define WAVESAN_HSA_REPLAY_PACKET_H

#include "access_trace.h"
#include "kernel_table.h"
#include "replay_dispatch.h"
#include "replay_loop.h"
#include "replay_snapshot.h"
#include "replay_window.h"

#include "wavesan/abi/delays.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// An empty one of the process, whose tiers are the agent's.
Snapshot snapshotOn(Tool &tool, hsa_agent_t agent);

/// Says so and ends the process: what the program would compute from here on is wrong, and nothing could tell it.
[[noreturn]] void endBecauseOfRestore(Tool &tool, const std::string &what, const std::string &why);

/// Not thread-safe: for the thread that submits the packet. All references must outlive it.
class PacketHost : public ReplayHost {
public:
  /// `dispatches`: with numbers, and kernels where they are known.
  PacketHost(Tool &tool, QueueState &queue, const std::vector<QueuedDispatch> &dispatches, const PacketWriter &write);
  ~PacketHost() override;

  const char *open(MemoryStep &predicted) override;
  const char *save(MemoryStep &taken) override;
  PassResult pass(uint64_t number, uint32_t contexts) override;
  MemoryStep restore() override;
  uint64_t digest() override;
  bool failed() const override {
    return std::any_of(Completions.begin(), Completions.end(), [](const Completion &c) { return c.value < 0; });
  }
  uint64_t rangeDispatches() const override { return Dispatches.size() > 1 ? Dispatches.size() : 0; }
  void callback(bool begins) override;
  bool interrupted() const override;
  void warn(const std::string &text) override;

  /// The program sees the completions of the last pass.
  void completeForProgram();

  /// A pass() returns after this time even if its dispatches have not ended: perhaps they wait for the program, which
  /// waits here, or for what waits in front of the window. Then overdue() is true, the window is free for others, and
  /// the program will see the completions when they come; nothing else may be called. 0: no limit.
  void limitPass(std::chrono::milliseconds limit) { PassLimit = limit; }
  bool overdue() const { return Overdue; }

  /// The snapshot is to hold what the dispatch can read, too, in pageable memory. To be called before open().
  void saveEverything() { Everything = true; }

  /// Later passes are no dispatches of the program: what they find is not reported and not counted.
  void setQuiet(bool quiet) { Quiet = quiet; }

  /// Later passes check other parts of memory.
  void setPart(bool part) { Part = part; }

  /// Those of the waves in later passes, by the device runtime; null: none. Behind a pass that
  /// has ended they have what its last dispatch has left there.
  void setDelays(std::shared_ptr<abi::Delays> delays) { Delays = std::move(delays); }

  /// What they record of global memory by the device runtime; null: all. It must outlive them.
  void setWindow(const abi::ShadowWindow *window) { Recorded = window; }

  Snapshot &memory() { return Memory; }

  /// What the passes so far have left, for the program, while more of them follow that it is not to see.
  class Kept {
  public:
    explicit Kept(PacketHost &host);
    const char *whyNot() const { return Why; } ///< null: it is kept
    void putBack();                            ///< does not return if that fails
  private:
    PacketHost &Host;
    Snapshot After;
    const char *Why = nullptr;
  };

private:
  /// The program's packet has a signal of the tool's own, again and again.
  struct Completion {
    hsa_signal_t signal{};
    hsa_signal_value_t value = 0; ///< after the latest pass
  };
  std::string name() const;
  const char *whyNot() const;
  bool writesUntracked() const;
  bool keepsResidency(const QueuedDispatch &dispatch) const;
  bool drainOwn(std::chrono::steady_clock::time_point until);
  bool await(std::chrono::steady_clock::time_point begin);
  void takeTimes(PassResult &result);
  bool takeAccesses(PassResult &result);
  void handOver();
  [[noreturn]] void restoreFailed(const std::string &why) { endBecauseOfRestore(T, name(), why); }

  Tool &T;
  QueueState &Queue;
  const std::vector<QueuedDispatch> &Dispatches;
  const PacketWriter &Write;
  AgentWindow &Window;
  AgentWindow::Exclusive Lock;
  Snapshot Memory;
  std::vector<Completion> Completions; ///< of the dispatches, in their order
  std::chrono::milliseconds PassLimit{0};
  std::shared_ptr<abi::Delays> Delays;
  const abi::ShadowWindow *Recorded = nullptr;
  // Of the latest pass, if it has a trace.
  std::vector<std::unique_ptr<AccessTrace>> Traces; ///< of the dispatches, in their order
  std::vector<wavesan_access_t> Accesses;           ///< of all of them
  std::vector<uint64_t> AccessCounts;               ///< of each
  bool Overdue = false, Quiet = false, Part = false, Everything = false, SaidThatItWaits = false;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_PACKET_H
