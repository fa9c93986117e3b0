// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP calls as commands and waits: what the check for races between commands is told (docs/stream-order.md).
//
// Ground rules are the tracer's: it never fails a call and never calls HIP.
#ifndef WAVESAN_HIP_STREAM_WATCH_H
#define WAVESAN_HIP_STREAM_WATCH_H

#include "command_ranges.h"
#include "graph_launches.h"
#include "graph_models.h"
#include "host_accesses.h"
#include "host_functions.h"
#include "known_accesses.h"
#include "region_recorder.h"
#include "trace_sink.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace wavesan::hip {

/// Of a call that is under way.
struct WatchedCall {
  streams::CommandChecker::Ticket launch = 0;
  streams::Clock atEntry;               ///< of a wait for a stream or a device: what it waits for
  streams::Calls calls;                 ///< return addresses of the call
  std::shared_ptr<LaunchMatcher> graph; ///< of a launch of a graph that is followed
  std::vector<ResolvedWait> graphWaits; ///< what its nodes wait for
  std::shared_ptr<HostCall> hostCall;   ///< of a host function: what HIP is to call; null: the program's
  streams::Clock before, after; ///< of the command, once it is submitted: what an event recorded by it stands for
};

/// Thread-safe. Methods do not throw.
class StreamWatch {
public:
  /// Memory is bounded by `historyBytes` and by the commands that have not ended.
  explicit StreamWatch(size_t historyBytes) : HistoryBytes(historyBytes) { reset(); }

  /// A stream is met for the first time.
  void stream(const StreamInfo &info, streams::Calls made) noexcept;

  /// Around a call, on the thread that makes it. `record` as the tracer has it by then.
  void begin(WatchedCall &call, const CallRecord &record, const CallArguments &arguments) noexcept;
  /// After it has succeeded; before events are remembered as recorded by it.
  void end(WatchedCall &call, const CallRecord &record, const CallArguments &arguments) noexcept;
  /// After it has failed.
  void fail(WatchedCall &call) noexcept;
  /// Passes on the races that were found. With no lock held.
  void report() noexcept;

  /// An access of the host; only called while busy() is not 0. `from`: its return address.
  void hostAccess(const void *address, uint64_t bytes, uint32_t bits, uint64_t from) noexcept;
  /// Around the execution of a host function, on the thread that executes it.
  void hostFunctionStarts(HostCall &call) noexcept;
  void hostFunctionEnds(HostCall &call) noexcept;
  /// An address in HIP's library, to know HIP's threads by. To be set before the first access.
  void setHip(const void *hip) { Hip = hip; }
  /// Not 0 while there may be a command that the host has not waited for.
  static const uint32_t *busy() { return &Busy; }

  /// What a wait for an event that is entered now waits for. To be set before the first call.
  void setResolve(std::function<ResolvedWait(Event)> resolve) { Resolve = std::move(resolve); }
  /// A kernel that the program can launch by this address.
  void addKernelName(const void *function, const char *name) noexcept;

  /// Gets each race as well; called like the tool. To be set before the first call.
  void setMark(std::function<void(const RaceMark &)> mark) { Mark = std::move(mark); }

  /// From here on regions are recorded; each is passed to `out` when it is complete, with no lock held. To be called
  /// before the first call.
  void setRecorder(std::unique_ptr<RegionRecorder> recorder, std::function<void(RecordedRegion)> out);
  /// From here on launches of graphs are kept, and written when the tool ends; `say` gets lines. Before the first call.
  void keepGraphLaunches(std::unique_ptr<GraphLaunches> launches, std::function<void(const std::string &)> say) {
    GraphFiles = std::move(launches);
    Say = std::move(say);
  }
  // Markers of regions; nothing where none are recorded.
  void enterRegion(MarkerKind kind, uint32_t thread, const char *name) noexcept;
  void leaveRegion(MarkerKind kind, uint32_t thread) noexcept;
  void startRange(uint64_t range, const char *name) noexcept;
  void stopRange(uint64_t range) noexcept;
  /// The process ends: regions are passed on as far as they are there. Returns how many were entered and not recorded.
  uint64_t finishRegions() noexcept;

  /// From here on what kernels touch is kept for accessesOf().
  static void keepAccesses() { Keep = true; }
  /// What a kernel node of a graph (or of an executable graph, `exec`) touched when the same launch ran; null: not
  /// known.
  std::shared_ptr<const TouchedByLaunch> accessesOf(const void *node, const void *exec) noexcept;
  /// Whether the program has allocated some of these bytes by a call of HIP.
  bool isOfProgram(uint64_t begin, uint64_t bytes) {
    std::lock_guard lock(Mutex);
    return Memory.intersects(begin, bytes);
  }
  /// Whether somebody gets the races.
  bool attached() const { return Attached; }

  // For the HSA tool (abi::StreamCheck).
  void attach(const abi::StreamCheckTool *tool);
  uint64_t bind(const abi::DispatchShapeSeen &shape, const char *name, const void *kernarg, uint64_t kernel,
                uint64_t dispatch) noexcept;
  void deliver(uint64_t ticket, uint64_t kernel, uint64_t dispatch, const abi::DispatchAccesses *accesses) noexcept;
  void alias(const void *host, const void *device, uint64_t bytes) noexcept;
  /// `piece(begin, end)` for the bytes [begin, end), by the host's addresses.
  template <class Piece> void byHost(uint64_t begin, uint64_t end, Piece &&piece) {
    std::lock_guard lock(Mutex);
    Memory.aliases.forEach(begin, end, piece);
  }
  void finish(abi::StreamCheckCounts &counts) noexcept;

  // Around a fork. The child begins anew: what its parent has under way is not its own.
  void beforeFork() { Mutex.lock(); }
  void afterForkInParent() { Mutex.unlock(); }
  void afterForkInChild() noexcept;

private:
  struct State;
  void reset();
  void hostWaits(const streams::Clock &known);
  void waits(const CallRecord &);
  void streamWaits(StreamId stream, const ResolvedWait &wait);
  void followGraphs(const WatchedCall &, const CallRecord &, const CallArguments &);
  GraphModels::Layouts layouts();
  void addBlock(const streams::Range &);
  void submit(WatchedCall &, const CallRecord &, const CallArguments &);
  void addToRegion(const WatchedCall &, const CallRecord &, const CallArguments &, const streams::Command &,
                   const CommandRanges &);
  template <class Change> void changeRegions(Change change) noexcept;
  void stored(const CallRecord &, const CallArguments &);
  void pass(std::vector<streams::FoundRace> races) noexcept;
  /// Before anything changes the order between host and commands.
  void flushHost();
  void noteBusy();

  const size_t HistoryBytes;
  std::mutex Mutex;
  streams::StreamOrder Order;
  std::unique_ptr<streams::CommandChecker> Checker;
  std::unordered_map<StreamId, streams::StreamFacts> Streams;
  KnownMemory Memory; ///< that commands can use
  HostAccesses Host;
  GraphModels Graphs;
  /// Launches that threads are inside of. A runtime that submits its packets on a thread of its own has none there.
  struct LaunchUnderWay {
    abi::DispatchShapeSeen shape;         ///< of a kernel
    std::string kernel;                   ///< linkage name; empty: not known
    std::shared_ptr<LaunchMatcher> graph; ///< null: none, or none that is followed
  };
  std::map<streams::CommandChecker::Ticket, LaunchUnderWay> UnderWay;
  KnownAccesses Known{HistoryBytes / 4};
  std::unique_ptr<RegionRecorder> Recorder; ///< null: nothing is recorded
  std::function<void(RecordedRegion)> RegionOut;
  std::unique_ptr<GraphLaunches> GraphFiles; ///< null: not wanted
  std::function<void(const std::string &)> Say;
  std::function<ResolvedWait(Event)> Resolve;
  std::atomic<const void *> Hip{nullptr};
  static uint32_t Busy;
  static std::atomic<bool> Keep;
  abi::StreamCheckTool Tool{};
  std::function<void(const RaceMark &)> Mark;
  std::atomic<bool> Attached{false};
  uint64_t HostLost = 0;             ///< of host functions that have ended
  std::atomic<uint64_t> Failures{0}; ///< calls that could not be followed
};

/// Return addresses of the calls that led here, innermost first, those of WaveSan's libraries left out; null: none.
streams::Calls callsToHere();
/// Another library of WaveSan.
void setOwnCode(uint64_t begin, uint64_t end);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_STREAM_WATCH_H
