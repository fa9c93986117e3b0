// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The race model: what one report says, independent of where it was found and of how it is printed.
//
// Plain values; every output format prints the same fields. Positions are as the compiler recorded them.
#ifndef WAVESAN_REPORT_RACE_H
#define WAVESAN_REPORT_RACE_H

#include "wavesan/abi/dispatch.h"

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
  uint32_t wave = 0;      ///< index in the workgroup
  uint32_t lane = 0;      ///< index in the wave
  /// Innermost frame first, then the calls it was inlined through. Empty without debug info.
  std::vector<Frame> frames;
  std::optional<uint32_t> epoch; ///< barriers its wave had passed, where known
};

/// In which order the two accesses were seen.
enum class Order : uint8_t {
  ReadAfterWrite,
  WriteAfterRead,
  WriteAfterWrite,
};

/// Where the missing synchronisation belongs, judged from the source positions of the accesses and the barriers.
enum class Situation : uint8_t {
  Unknown,      ///< no debug info, or different files without a common caller
  StraightLine, ///< the second line can be reached from the first without a barrier
  LoopCarried,  ///< a barrier lies between the two lines, so only a loop's back edge leads past it
  SameLine,     ///< both accesses belong to one source line
};

struct Race {
  abi::RaceClass raceClass = abi::RaceClass::Race;
  Order order = Order::ReadAfterWrite;
  Situation situation = Situation::Unknown;
  std::string kernel;        ///< demangled
  std::string kernelMangled; ///< linkage name
  uint64_t dispatch = 0;     ///< the tool's number of the dispatch that showed it first, from 1
  uint32_t workgroup[3] = {};
  uint32_t waveSize = 64;
  uint32_t ldsFirst = 0, ldsSize = 0;     ///< conflicting bytes, LDS byte offsets
  std::string variable;                   ///< source name; empty when unknown
  std::optional<uint32_t> variableOffset; ///< of the first conflicting byte in `variable`
  Access current;                         ///< the access that found the conflict
  Access previous;                        ///< the one before it
  uint64_t occurrences = 1;               ///< conflicts with these positions so far, this one included
  bool bothOrders = false;                ///< the two sides were also seen the other way round

  bool atomicAgainstPlain() const { return ((current.bits ^ previous.bits) & abi::kAccessAtomic) != 0; }
};

/// Where the inlining chains of two accesses part: the frames of both in the innermost function instance that
/// contains both. Null pointers when a side has no frames or the outermost functions differ.
struct CommonFunction {
  const Frame *current = nullptr;
  const Frame *previous = nullptr;
};
CommonFunction commonFunction(const std::vector<Frame> &current, const std::vector<Frame> &previous);

/// Judges the situation from positions alone, so that it does not depend on the schedule. `barriers`: inlining chains
/// of the barriers of the code object; those outside the common function do not count.
Situation judgeSituation(const std::vector<Frame> &current, const std::vector<Frame> &previous,
                         const std::vector<std::vector<Frame>> &barriers);

/// True if the two sides were seen in the order in which the program's text leads to them (the back edge of the
/// loop included), or if that order is not known.
bool inProgramOrder(const Race &race);

/// "read", "write", "atomic read-modify-write", ...
std::string accessText(uint32_t bits);

/// Demangles an Itanium C++ name; other names are returned as they are.
std::string demangle(const std::string &name);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_RACE_H
