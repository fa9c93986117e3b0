// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dispatch packet inside a window of its agent: what lies in memory before it, and its passes.
#ifndef WAVESAN_HSA_REPLAY_PACKET_H
#define WAVESAN_HSA_REPLAY_PACKET_H

#include "access_trace.h"
#include "kernel_table.h"
#include "replay_dispatch.h"
#include "replay_loop.h"
#include "replay_snapshot.h"
#include "replay_window.h"

#include <chrono>
#include <memory>
#include <string>

namespace wavesan::hsa {

/// Bytes of host memory that snapshots may take.
uint64_t snapshotBudget(const Tool &tool);
/// Says so and ends the process: what the program would compute from here on is wrong, and nothing could tell it.
[[noreturn]] void endBecauseOfRestore(Tool &tool, const std::string &what, const std::string &why);

/// Not thread-safe: for the thread that submits the packet. All references must outlive it.
class PacketHost : public ReplayHost {
public:
  PacketHost(Tool &tool, QueueState &queue, const std::shared_ptr<const Kernel> &kernel,
             const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch, const PacketWriter &write);
  ~PacketHost() override;

  const char *open(MemoryStep &predicted) override;
  const char *save(MemoryStep &taken) override;
  PassResult pass(uint64_t number, uint32_t contexts) override;
  MemoryStep restore() override;
  bool failed() const override { return LastValue < 0; }
  void callback(bool begins) override;
  bool interrupted() const override;
  void warn(const std::string &text) override;

  /// The program sees the completion of the last pass.
  void completeForProgram();

  /// The next pass() returns after this time even if the dispatch has not ended. Then overdue() is true, the window is
  /// free for others, and the program will see the completion when it comes; nothing else may be called.
  void limitPass(std::chrono::milliseconds limit) { PassLimit = limit; }
  bool overdue() const { return Overdue; }

  /// The snapshot is to hold what the dispatch can read, too. To be called before open().
  void saveEverything() { Everything = true; }

  /// Later passes are no dispatches of the program: what they find is not reported and not counted.
  void setQuiet(bool quiet) { Quiet = quiet; }

  Snapshot &memory() { return Memory; }
  uint64_t budget() const { return snapshotBudget(T); }
  [[noreturn]] void restoreFailed(const std::string &why) { endBecauseOfRestore(T, TheKernel->display, why); }

private:
  bool drainOwn(std::chrono::steady_clock::time_point until);
  void takeTimes(PassResult &result);
  void handOver();

  Tool &T;
  QueueState &Queue;
  const std::shared_ptr<const Kernel> &TheKernel;
  const hsa_kernel_dispatch_packet_t &Packet;
  const uint64_t Dispatch;
  const PacketWriter &Write;
  AgentWindow &Window;
  AgentWindow::Exclusive Lock;
  Snapshot Memory;
  hsa_signal_t Signal{}; ///< of a pass
  hsa_signal_value_t LastValue = 0;
  std::chrono::milliseconds PassLimit{0}; ///< 0: none
  std::unique_ptr<AccessTrace> Trace;     ///< of the latest pass
  bool Overdue = false, Quiet = false, Everything = false, SaidThatItWaits = false;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_PACKET_H
