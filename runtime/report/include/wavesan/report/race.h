// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The race model: what one report says, independent of where it was found and of how it is printed.
//
// Plain values; every output format prints the same fields. Positions are as the compiler recorded them.
#ifndef WAVESAN_REPORT_RACE_H
#define WAVESAN_REPORT_RACE_H

#include "wavesan/abi/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::report {

/// One source position. Line 0: unknown.
struct Frame {
  std::string function; ///< demangled where possible
  std::string file;
  uint32_t line = 0, column = 0; ///< from 1; column 0: unknown

  bool operator==(const Frame &) const = default;
};

/// One side of a race.
struct Access {
  uint32_t bits = 0;      ///< abi::AccessBits
  uint32_t sizeBytes = 0; ///< of one lane's access; 0: a range (memcpy, memset)
  std::string opcode;     ///< "load", "atomicrmw add", "memcpy"; may be empty
  uint32_t workgroup[3] = {};
  uint32_t wave = 0;               ///< index in the workgroup
  std::optional<uint32_t> lane;    ///< index in the wave; empty when it was not recorded
  std::optional<abi::Scope> scope; ///< of an atomic, where known
  /// Innermost frame first, then the calls it was inlined through. Empty without debug info.
  std::vector<Frame> frames;
  std::optional<uint32_t> epoch; ///< barriers its wave had passed, where known
};

/// Where bytes of global memory lie, in terms that are the same in every run: never an address.
struct MemoryPlace {
  enum class Kind : uint8_t {
    Unknown,         ///< memory that the tool does not follow
    Allocation,      ///< allocated by the program, or by its language runtime for it
    RegisteredHost,  ///< host memory that the program made accessible to the device
    KernelArguments, ///< allocated from memory meant for kernel arguments
    DeviceVariable,  ///< a variable of a loaded code object
  };
  Kind kind = Kind::Unknown;
  uint64_t number = 0; ///< from 1 in order of allocation, counted per kind; 0 for variables
  uint64_t bytes = 0;  ///< size of the whole
  uint64_t offset = 0; ///< of the first conflicting byte
  std::string name;    ///< of a variable, demangled
};

/// In which order the two accesses were seen.
enum class Order : uint8_t {
  ReadAfterWrite,
  WriteAfterRead,
  WriteAfterWrite,
};

/// Where the missing synchronisation belongs, judged from the source positions of the accesses and the barriers.
enum class Situation : uint8_t {
  Unknown,        ///< no debug info, or different files without a common caller
  StraightLine,   ///< the second line can be reached from the first without a barrier
  LoopCarried,    ///< a barrier lies between the two lines, so only the back edge of their loop leads past it
  BarrierSkipped, ///< a barrier lies between the two lines and no loop contains both: some work-items do not execute it
  SameLine,       ///< both accesses belong to one source line
};

/// Two groups of work-items of one workgroup that should have met at one barrier. As sides of a race they have no
/// access: the frames are those of the barrier where the group waits; where the current group ends, those of `branch`.
struct Divergence {
  bool currentEnds = false;                     ///< the current group ends instead
  bool apart = false;                           ///< one barrier, reached by parts of one wave at different times
  bool uneven = false;                          ///< a loop in which the groups make different numbers of rounds
  uint32_t previousWaves = 0, currentWaves = 0; ///< bit w: lanes of wave w
  uint64_t previousLanes = 0, currentLanes = 0; ///< lanes of each side's `wave`
  std::vector<Frame> branch; ///< where the current group left the way to the other's barrier; empty when unknown
};

/// The command that one side of a race belongs to.
struct CommandSide {
  /// Host: a thread of the program. HostFunction: a function that the program has put into a stream.
  enum class Kind : uint8_t { Kernel, Copy, Set, Free, Allocation, Graph, Host, HostFunction };
  Kind kind = Kind::Kernel;
  std::string function;    ///< HIP's; empty: the host itself
  std::string kernel;      ///< demangled; of kernels
  uint64_t dispatch = 0;   ///< the same
  uint64_t stream = 0;     ///< number; 0: the host
  std::string streamKind;  ///< "created", "legacy_default", "per_thread_default"; empty: the host
  bool blocking = true;    ///< the stream waits for the legacy default stream
  std::vector<Frame> call; ///< where the program calls HIP, innermost frame first; of the host, its access
  std::vector<Frame> streamMade; ///< where it creates the stream; empty when unknown
  uint64_t node = 0; ///< of two nodes of one launch of a graph: its number, from 1; `call` is where it was made. Else 0
};

/// Two commands that nothing orders.
struct CommandPair {
  CommandSide current, previous; ///< previous was submitted first
  // What was nearly the order that is missing.
  uint64_t lateEvent = 0;        ///< recorded behind `previous` in its stream; 0: none
  std::vector<Frame> lateRecord;
  uint64_t earlyEvent = 0;       ///< that `current` does wait for, recorded before `previous`; 0: none
  std::vector<Frame> earlyRecord;
  std::vector<Frame> graphLaunch; ///< of two nodes of one launch of a graph: where that was launched
  bool sameGraph = false;         ///< two launches of one executable graph
};

/// How much a finding counts: an error decides the exit status, a warning or a note is printed and counted only.
enum class Severity : uint8_t { Error, Warning, Note };

/// What the dispatch computed when it ran again with the two accesses in either order (option confirm, docs/replay.md).
struct Confirmation {
  /// The one that says most first.
  enum class Verdict : uint8_t {
    Confirmed,     ///< the order of the accesses changes the output
    OutputDiffers, ///< passes differ, but not by that order alone
    NotObserved,   ///< all passes left the same
    NotTried,
  };
  Verdict verdict = Verdict::NotTried;
  uint64_t passes = 0; ///< 0: NotTried
  /// Passes in which the accesses were made in the order of the report, and in the other one, where both were asked for
  /// in half of the passes.
  uint64_t asReported = 0, reversed = 0;
  uint64_t seed = 0;   ///< the smallest of those that were used
  MemoryPlace place = {};   ///< Confirmed: the first byte that the order changes
  std::string reason = {};  ///< NotTried: why
};

struct Race {
  abi::RaceClass raceClass = abi::RaceClass::Race;
  Severity severity = Severity::Error;
  Order order = Order::ReadAfterWrite;
  Situation situation = Situation::Unknown;
  std::string kernel;        ///< demangled
  std::string kernelMangled; ///< linkage name
  uint64_t dispatch = 0;     ///< the tool's number of the dispatch that showed it first, from 1
  uint32_t waveSize = 64;
  abi::RaceSpace space = abi::RaceSpace::Lds;
  uint32_t size = 0;                                 ///< conflicting bytes
  uint32_t ldsFirst = 0;                             ///< LDS byte offset of the first one
  MemoryPlace place;                                 ///< of the first one, in global memory
  abi::Scope neededScope = abi::Scope::SingleThread; ///< ScopeTooSmall: the scope that would do
  std::string variable;                              ///< source name; empty when unknown
  std::optional<uint32_t> variableOffset;            ///< of the first conflicting byte in `variable`
  std::optional<Divergence> divergence;              ///< of classes BarrierDivergence and EarlyExit
  std::optional<CommandPair> commands;               ///< of classes StreamRace and HostRace
  std::optional<Confirmation> confirmation;          ///< without the option confirm: none
  Access current;                                    ///< the access that found the conflict
  Access previous;                                   ///< the one before it
  uint64_t occurrences = 1;                          ///< conflicts with these positions so far, this one included
  bool sameValue = false; ///< both sides always write the same to the bytes that both write
  /// Two plain stores: each time, memory held already what the second one wrote. Of this run only.
  bool valueHeld = false;
  bool bothOrders = false;                           ///< the two sides were also seen the other way round
  uint64_t processes = 1;                            ///< processes that reported it; more than 1 only in merged reports

  bool betweenWorkgroups() const { return !std::equal(current.workgroup, current.workgroup + 3, previous.workgroup); }
  bool atomicAgainstPlain() const { return ((current.bits ^ previous.bits) & abi::kAccessAtomic) != 0; }
};

/// Those of one severity.
uint64_t countOf(const std::vector<Race> &races, Severity severity);

/// Where the inlining chains of two accesses part: the frames of both in the innermost function instance that
/// contains both. Null pointers when a side has no frames or the outermost functions differ.
struct CommonFunction {
  const Frame *current = nullptr;
  const Frame *previous = nullptr;
};
CommonFunction commonFunction(const std::vector<Frame> &current, const std::vector<Frame> &previous);

/// Lines `first` to `last` of a function are one loop of its source.
struct SourceLoop {
  std::string function; ///< as in Frame
  std::string file;
  uint32_t first = 0, last = 0;
};

/// What a code object says about the source around its accesses.
struct SourceFacts {
  std::vector<std::vector<Frame>> barriers; ///< inlining chains, innermost frame first
  std::vector<SourceLoop> loops;
};

/// Judges the situation from positions alone, so that it does not depend on the schedule. A barrier counts where its
/// position lies between those of the accesses in the frames in which they part, calls included: one that a called
/// function executes before its access is not between that access and the next call.
Situation judgeSituation(const std::vector<Frame> &current, const std::vector<Frame> &previous,
                         const SourceFacts &source);

/// "confirmed: output differs at allocation 2 + 128 with seed 1", "not tried (footprint_budget)".
std::string confirmationText(const Confirmation &confirmation);
/// For lines about a race that has been reported: "race at a.hip:16:13 and a.hip:20:14, dispatch 3".
std::string shortName(const Race &race);

/// True if the two sides were seen in the order in which the program's text leads to them (the back edge of the
/// loop included), or if that order is not known.
bool inProgramOrder(const Race &race);

/// "read", "write", "atomic read-modify-write", ...
std::string accessText(uint32_t bits);

// Names of values. Machine-readable formats use them, so they are stable.
std::string className(abi::RaceClass c);                   ///< "race", "missing-fence", "scope-too-small"
/// In front of a finding's class in texts: "warning: ", "note: ", nothing.
std::string severityPrefix(Severity severity);
std::string scopeName(abi::Scope scope);                   ///< "agent", ...
std::string workgroupText(const uint32_t (&workgroup)[3]); ///< "(1,0,0)"

/// Header files of HIP and of the compiler: the user cannot change anything there.
bool isSystemFile(const std::string &file);
/// Index of the frame to show first: the innermost one in the user's own code. `frames` is not empty.
size_t userFrame(const std::vector<Frame> &frames);

/// Demangles an Itanium C++ name; other names are returned as they are.
std::string demangle(const std::string &name);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_RACE_H
