// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/suggestion.h"

#include "wavesan/report/commands.h"
#include "wavesan/report/divergence.h"

#include <algorithm>

namespace wavesan::report {

namespace {

/// The two lines between which synchronisation is missing, in source order.
struct Lines {
  uint32_t low = 0, high = 0;
  std::string where; ///< " of FILE (in FUNCTION)" when the lines are not those of the accesses themselves
};

Lines linesOf(const Race &race) {
  Lines lines;
  CommonFunction common = commonFunction(race.current.frames, race.previous.frames);
  if (!common.current)
    return lines;
  lines.low = std::min(common.current->line, common.previous->line);
  lines.high = std::max(common.current->line, common.previous->line);
  if (common.current != &race.current.frames.front() || common.previous != &race.previous.frames.front()) {
    std::string file = common.current->file.substr(common.current->file.rfind('/') + 1);
    lines.where = " of " + file + " (in " + common.current->function + ")";
  }
  return lines;
}

std::string betweenText(const Lines &lines) {
  return "between line " + std::to_string(lines.low) + " and line " + std::to_string(lines.high) + lines.where;
}

std::string barrierText(const Race &race, const Lines &lines) {
  switch (race.situation) {
  case Situation::StraightLine:
    return "put __syncthreads() " + betweenText(lines);
  case Situation::LoopCarried:
    return "add __syncthreads() at the end of the loop body: after line " + std::to_string(lines.high) +
           " and before line " + std::to_string(lines.low) + lines.where + " of the next iteration";
  case Situation::BarrierSkipped:
    return "let every work-item execute a barrier " + betweenText(lines) +
           ": the one that is there lies in a branch that some of them do not take";
  case Situation::SameLine:
  case Situation::Unknown:
    break;
  }
  return "put __syncthreads() between the two accesses";
}

/// `x += y` has one position for its read and its write; `a[i] = a[j]` has two.
bool isOnePosition(const Race &race) {
  return !race.current.frames.empty() && !race.previous.frames.empty() &&
         race.current.frames.front() == race.previous.frames.front();
}

std::string sameLineText(const Race &race, const Lines &lines) {
  std::string line = "line " + std::to_string(lines.low) + lines.where;
  if (race.order == Order::WriteAfterWrite)
    return "let only one work-item execute the write in " + line +
           ", or give every work-item its own element, or use an atomic operation";
  if (isOnePosition(race))
    return "use an atomic operation such as atomicAdd() in " + line + ", or give every work-item its own element";
  return "split " + line + ": read into a local variable, then __syncthreads(), then write";
}

/// The smallest scope of the atomics among the two sides, where that is what is too small.
std::optional<abi::Scope> usedScope(const Race &race) {
  std::optional<abi::Scope> used;
  for (const Access *side : {&race.current, &race.previous})
    if (side->scope && *side->scope < race.neededScope && (!used || *side->scope < *used))
      used = side->scope;
  return used;
}

std::string scopeReason(const Race &race) {
  std::optional<abi::Scope> used = usedScope(race);
  std::string who =
      race.betweenWorkgroups()
          ? "workgroups " + workgroupText(race.previous.workgroup) + " and " + workgroupText(race.current.workgroup)
          : "waves " + std::to_string(race.previous.wave) + " and " + std::to_string(race.current.wave);
  const bool atomics = race.current.bits & race.previous.bits & abi::kAccessAtomic;
  return std::string(atomics ? "both are atomic, but " : "the two are synchronised, but ") +
         (used ? "at " + scopeName(*used) + " scope" : std::string("at a scope that is too small")) +
         ", which does not include both " + who;
}

std::string scopeFix(const Race &race) {
  std::string atomic, fence;
  switch (race.neededScope) {
  case abi::Scope::SingleThread:
  case abi::Scope::Wavefront:
    atomic = "__HIP_MEMORY_SCOPE_WAVEFRONT";
    break;
  case abi::Scope::Workgroup:
  case abi::Scope::Cluster:
    atomic = "__HIP_MEMORY_SCOPE_WORKGROUP";
    fence = "__threadfence_block()";
    break;
  case abi::Scope::Agent:
    atomic = "__HIP_MEMORY_SCOPE_AGENT";
    fence = "__threadfence()";
    break;
  case abi::Scope::System:
    atomic = "__HIP_MEMORY_SCOPE_SYSTEM";
    fence = "__threadfence_system()";
    break;
  }
  std::optional<abi::Scope> used = usedScope(race);
  return "use " + atomic + (fence.empty() ? "" : " / " + fence) + " instead of " +
         (used ? scopeName(*used) + " scope" : std::string("a smaller scope"));
}

std::string betweenWorkgroupsReason(const Race &race) {
  std::string text = "no order between workgroups of one dispatch: workgroups " +
                     workgroupText(race.previous.workgroup) + " and " + workgroupText(race.current.workgroup) +
                     " may execute these in either order";
  return race.atomicAgainstPlain() ? "one side is atomic, the other is not, and there is " + text : text;
}

std::string betweenWorkgroupsFix(const Race &race) {
  std::string text = race.atomicAgainstPlain() ? "make both accesses atomic" : "use an atomic";
  // `a[i] = f(a[j])`: what is read belongs to another workgroup.
  if (race.situation == Situation::SameLine && race.order != Order::WriteAfterWrite && !isOnePosition(race))
    text += ", or write to another array than the one that is read";
  else if (race.situation == Situation::SameLine)
    text += ", or give every workgroup its own element";
  // The fence of another work-item, on the other side of a barrier, is none of the work-item that sets the flag.
  return text +
         ", or end the kernel between the two, or release/acquire through a flag with agent scope (__threadfence() "
         "directly before it is set and after it is seen, in the work-items that do so)";
}

/// What the earlier side of a missing wait is, and the counter that counts it.
struct Outstanding {
  std::string what, counter;
};
Outstanding outstandingOf(const Access &access) {
  const std::string &opcode = access.opcode;
  auto has = [&](const char *part) { return opcode.find(part) != std::string::npos; };
  const bool copy = opcode.starts_with("asynchronous copy");
  if (copy)
    return {"asynchronous copy", has(".async.") ? "asynccnt" : "vmcnt"};
  return {accessText(access.bits), has("inline asm ds_") ? "lgkmcnt (dscnt)" : "vmcnt (loadcnt, storecnt)"};
}

std::string missingWaitReason(const Race &race) {
  const Outstanding out = outstandingOf(race.previous);
  const std::string current = std::to_string(race.current.wave), previous = std::to_string(race.previous.wave);
  const std::string whose = "the " + out.what + " of wave " + previous + " may still be under way ";
  if (race.current.wave == race.previous.wave)
    return whose + "here: the wave has not waited for it (" + out.counter + ")";
  return "a barrier lies between them, but " + whose + "when the barrier lets wave " + current + " go on: wave " +
         previous + " does not wait for it (" + out.counter + ") before the barrier";
}

std::string missingWaitFix(const Race &race) {
  const Outstanding out = outstandingOf(race.previous);
  const std::string counter = out.counter.substr(0, out.counter.find(' '));
  const bool own = race.current.wave == race.previous.wave;
  std::string text = "wait for " + counter + "(0), or for a count that leaves only younger operations under way, " +
                     (own ? "before the wave reads or writes these bytes" : "before the barrier");
  // Fences do not wait for what the compiler cannot see.
  if (!own && out.what == "asynchronous copy" && counter == "vmcnt")
    text += "; __syncthreads() in place of a bare barrier does both";
  return text;
}

} // namespace

std::string reasonText(const Race &race) {
  if (race.commands)
    return commandsReason(race);
  if (race.divergence)
    return divergenceReason(race);
  std::string current = std::to_string(race.current.wave), previous = std::to_string(race.previous.wave);
  if (race.sameValue)
    return "nothing orders them, but both always write the same value, so which of them comes last makes no difference";
  if (race.raceClass == abi::RaceClass::MissingFence)
    return "a barrier lies between them, but the " + accessText(race.previous.bits) + " of wave " + previous +
           " may still be under way when the barrier lets wave " + current + " go on";
  if (race.raceClass == abi::RaceClass::MissingWait)
    return missingWaitReason(race);
  if (race.raceClass == abi::RaceClass::ScopeTooSmall)
    return scopeReason(race);
  if (race.raceClass == abi::RaceClass::LaneConflict)
    return "lanes of wave " + current +
           " execute this store at once with different values: which value stays is undefined";
  if (race.raceClass == abi::RaceClass::WaveOrder)
    return "the two lie in divergent arms of a branch: which of them wave " + current +
           " executes first is the compiler's choice";
  if (race.betweenWorkgroups())
    return betweenWorkgroupsReason(race);
  bool sameWave = race.current.wave == race.previous.wave;
  std::string who = sameWave ? "lanes of wave " + current
                             : "waves " + std::to_string(std::min(race.current.wave, race.previous.wave)) + " and " +
                                   std::to_string(std::max(race.current.wave, race.previous.wave));
  std::string text = who + " may execute these in either order";
  if (race.atomicAgainstPlain())
    return "one side is atomic, the other is not, and no barrier lies between them: " + text;
  if (race.situation == Situation::LoopCarried)
    return "no barrier between one iteration's line " + std::to_string(linesOf(race).high) +
           " and the next iteration's line " + std::to_string(linesOf(race).low) + ": " + text;
  if (race.situation == Situation::BarrierSkipped)
    return "not every work-item executes the barrier between them: " + text;
  return "no barrier between them: " + text;
}

std::string fixText(const Race &race) {
  if (race.commands)
    return commandsFix(race);
  if (race.divergence)
    return divergenceFix(race);
  Lines lines = linesOf(race);
  if (race.raceClass == abi::RaceClass::MissingFence) {
    std::string where = race.situation == Situation::Unknown || race.situation == Situation::SameLine
                            ? std::string()
                            : " " + betweenText(lines);
    return "use __syncthreads()" + where +
           ", or a workgroup release fence before and an acquire fence after s_barrier: "
           "__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "
           "\"workgroup\")";
  }
  if (race.raceClass == abi::RaceClass::MissingWait)
    return missingWaitFix(race);
  if (race.raceClass == abi::RaceClass::ScopeTooSmall)
    return scopeFix(race);
  std::string text;
  if (race.raceClass == abi::RaceClass::LaneConflict)
    text = lines.low == 0 ? "let only one work-item execute the write, or give every work-item its own element"
                          : sameLineText(race, lines);
  else if (race.raceClass == abi::RaceClass::WaveOrder)
    text = "end the branch between the two, so that all work-items come together, and put __syncthreads() there; or give "
           "every work-item its own element";
  else if (race.betweenWorkgroups())
    text = betweenWorkgroupsFix(race);
  else if (race.atomicAgainstPlain())
    text = barrierText(race, lines) + ", or make both accesses atomic";
  else if (race.situation == Situation::SameLine)
    text = sameLineText(race, lines);
  else
    text = barrierText(race, lines);
  if (race.current.frames.empty() || race.previous.frames.empty())
    text += " (compile with -gline-tables-only to see their lines)";
  return text;
}

std::string waveSizeNote(const Race &race) {
  if (race.commands)
    return commandsNote(race);
  if (race.divergence)
    return divergenceNote(race);
  // Lanes of one wave that a race parts all the same: the option says that the hardware's order does not count.
  if (race.raceClass == abi::RaceClass::Race && !race.betweenWorkgroups() && race.current.wave == race.previous.wave &&
      race.current.lane && race.previous.lane) {
    const uint32_t narrow = 32;
    const bool parted = race.waveSize > narrow && *race.current.lane / narrow != *race.previous.lane / narrow;
    return "found by wave_order=language: with waves of " + std::to_string(race.waveSize) +
           " the hardware executes the two in program order" +
           (parted ? "; with waves of 32 these lanes are in different waves, in no order" : "");
  }
  // Two waves of 32 that would be the halves of one wave of 64, where the hardware keeps program order.
  if (race.waveSize != 32 || race.betweenWorkgroups() || race.current.wave == race.previous.wave ||
      race.current.wave / 2 != race.previous.wave / 2)
    return {};
  return "wave size is 32 here: code that relies on 64 lanes in lockstep is ordered on wave64 and needs a barrier on "
         "wave32";
}

std::string valueNote(const Race &race) {
  if (!race.valueHeld)
    return {};
  return std::string("the bytes held this value already ") +
         (race.occurrences == 1 ? "when the second store came" : "each time that a second store came") +
         ": in this run it left them as they were, with other values the order decides";
}

} // namespace wavesan::report
