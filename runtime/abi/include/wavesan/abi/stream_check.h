// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the HIP interposer (runtime/hip), the HSA tool (runtime/hsa) and the CPU agent's hooks talk about races between
// commands. Host only; all three are of one build.
//
//   agent -> tool         AccessSink: what a dispatch touched, when it has ended
//   tool -> interposer    StreamCheck: this dispatch belongs to the HIP call that is under way; what it touched
//   interposer -> tool    StreamCheckTool: a race, to be reported
#ifndef WAVESAN_ABI_STREAM_CHECK_H
#define WAVESAN_ABI_STREAM_CHECK_H

#include "wavesan/abi/hooks.h"

namespace wavesan::abi {

/// Bytes that a dispatch touched, [begin, end), with a site that did. Of one dispatch: for each byte at most one plain
/// write; where there is none, at most one atomic write and one plain read; where there is no write, reads.
struct AccessRun {
  uint64_t begin, end;
  uint32_t site;   ///< id in the code object's site table; kNoSite (dispatch.h): not known
  uint8_t bits;    ///< AccessBits
  Scope scope : 8; ///< of an atomic
};
static_assert(sizeof(AccessRun) == 24);

/// A location through which a dispatch may have been ordered with something that ran at the same time.
struct SyncPlace {
  uint64_t address;
  bool releases; ///< an atomic of the dispatch published something there, for other dispatches (agent or system scope)
  bool releasesToHost; ///< the same at system scope
  bool acquires;       ///< an atomic of the dispatch read there and acquired, or a fence behind it may have
};

struct DispatchAccesses {
  const AccessRun *runs;
  uint64_t runCount;
  const SyncPlace *places;
  uint64_t placeCount;
  uint64_t lost; ///< accesses that were not recorded
};

/// Gets what a dispatch touched (DispatchContext::accessSink). Called once, before the dispatch completes.
struct AccessSink {
  void (*take)(AccessSink *, const DispatchAccesses *);
};

/// Host: a thread of the program. HostFunction: a function that the program has put into a stream.
enum class CommandKind : uint8_t { Kernel, Copy, Set, Free, Allocation, Graph, Host, HostFunction };

/// Return addresses of the calls that led to something on the host, innermost first.
struct CallChain {
  const uint64_t *addresses;
  uint64_t count;
};

/// One side of a race between commands.
struct StreamCommand {
  CommandKind kind;
  uint8_t bits;  ///< AccessBits
  bool blocking; ///< its stream waits for the legacy default stream
  bool defaultStream, perThreadStream;
  uint32_t site;        ///< of a kernel
  uint64_t kernel;      ///< of a kernel: as given to bind(); else 0
  uint64_t dispatch;    ///< the same
  const char *function; ///< HIP's; of a host access empty
  uint64_t stream;      ///< number; 0: the host
  CallChain call;       ///< of the HIP call, or where the host access stands
  CallChain access;     ///< of a host function: where in it the access stands; else empty
  CallChain streamMade; ///< where its stream was created; empty: unknown, or a default stream
  uint64_t node; ///< of a launch of a graph, whose nodes race: its number, from 1; `call` is where it was made. Else 0
};

struct StreamRace {
  StreamCommand current, previous; ///< previous was submitted first
  uint64_t address;                ///< of the first conflicting byte
  uint64_t bytes;                  ///< conflicting bytes, all together
  uint64_t generation;             ///< a dispatch number that names the time of the access, for looking up memory
  // What would have ordered the two.
  uint64_t lateEvent;   ///< an event recorded behind `previous` in its stream that `current` does not wait for; 0: none
  CallChain lateRecord; ///< where
  uint64_t earlyEvent;  ///< an event that current's stream waits for and that was recorded before `previous`; 0: none
  CallChain earlyRecord;
  CallChain graphLaunch; ///< of two nodes of one launch of a graph: where that was launched
  bool sameGraph;        ///< two launches of one executable graph
};

struct StreamCheckCounts {
  uint64_t commands;        ///< compared with the others
  uint64_t streams;         ///< that they were put into
  uint64_t orderUnknown;    ///< commands not compared: what they wait for was not seen
  uint64_t unboundLaunches; ///< launches not compared: none of their dispatches was seen
  uint64_t unbound;         ///< dispatches not compared: no HIP call was under way that fits
  uint64_t notRecorded;     ///< dispatches not compared: what they touched was not recorded
  uint64_t rangesUnknown;   ///< copies and fills not compared: what they touch is not known
  uint64_t graphCopies;     ///< graph launches whose nodes were not all compared
  uint64_t lost;            ///< pieces of accesses not kept: the memory for them is limited
  uint64_t atomicsOrder;    ///< pairs of commands not compared: atomics may have ordered them
  uint64_t repeats;         ///< further conflicts of races that were reported
  uint64_t hostAccesses;    ///< accesses of the host that were compared
  uint64_t unfinished;      ///< commands not compared: something before them had not ended
  uint64_t hostFunctions;   ///< accesses of host functions not compared: their place among the commands is not known
};

struct StreamCheckTool {
  void *self;
  /// May be called from any thread that calls HIP or deliver(), with no lock held. Pointers are valid for the call.
  void (*race)(void *self, const StreamRace *);
  /// Calls `piece(to, offset, bytes)` for each explicit argument of the kernel in its kernarg block, in order. False:
  /// the kernel is not known. May be null. Called with locks held: it must not call back.
  bool (*arguments)(void *self, const char *kernel, void (*piece)(void *to, uint32_t offset, uint32_t bytes), void *to);
  /// Memory has come to kernels by ways that an HSA tool does not see (HIP's virtual memory management). May be null.
  /// Called with locks held: it must not call back.
  void (*untracked)(void *self);
};

/// A dispatch as its packet describes it. Zero size: not looked at.
struct DispatchShapeSeen {
  uint32_t grid[3]; ///< in work-items
  uint32_t workgroup[3];
};

/// All functions are thread-safe and do not throw.
struct StreamCheck {
  uint32_t version; ///< kAbiVersion
  /// From here on races are found. Null: no longer.
  void (*attach)(const StreamCheckTool *);
  /// The packet of a dispatch is being submitted by the calling thread. Returns a ticket for deliver(); 0: the dispatch
  /// belongs to no known command. `name`: the kernel's linkage name; null: not known. `kernarg`: its block, as the
  /// program has filled it; may be null.
  uint64_t (*bind)(const DispatchShapeSeen *, const char *name, const void *kernarg, uint64_t kernel,
                   uint64_t dispatch);
  /// What it touched; null: that was not recorded. Exactly once for each ticket.
  void (*deliver)(uint64_t ticket, uint64_t kernel, uint64_t dispatch, const DispatchAccesses *);
  /// The device sees `bytes` of the host's memory at another address (it may be the same) from here on; 0: no longer.
  void (*alias)(const void *host, const void *device, uint64_t bytes);
  /// Compares what can still be compared.
  void (*finish)(StreamCheckCounts *);
  /// Whether the program has allocated or registered some of these bytes by a call of HIP. Host addresses.
  bool (*isOfProgram)(uint64_t begin, uint64_t bytes);
};

/// Exported by the interposer: `const StreamCheck *wavesan_stream_check(void)`; null where the check is off.
inline constexpr char kStreamCheckSymbol[] = "wavesan_stream_check";

} // namespace wavesan::abi

#endif // WAVESAN_ABI_STREAM_CHECK_H
