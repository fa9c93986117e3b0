// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/divergence.h"

#include <bit>

namespace wavesan::report {

namespace {

std::string lineText(uint32_t line) { return line == 0 ? std::string() : "line " + std::to_string(line); }

std::string lineOf(const std::vector<Frame> &frames) {
  return frames.empty() ? std::string() : lineText(frames[userFrame(frames)].line);
}

/// "lanes 0..15"; many scattered ones are counted.
std::string lanesText(uint64_t lanes) {
  if (std::popcount(lanes & ~(lanes << 1)) > 4) // runs
    return std::to_string(std::popcount(lanes)) + " lanes from lane " + std::to_string(std::countr_zero(lanes)) + " on";
  return (std::has_single_bit(lanes) ? "lane " : "lanes ") + rangesText(lanes);
}

uint64_t allLanes(const Race &race) { return race.waveSize >= 64 ? ~uint64_t(0) : (uint64_t(1) << race.waveSize) - 1; }

/// "waves 0, 2..3", or "lanes 0..15 of wave 0" where that says all.
std::string whoText(const Race &race, bool current) {
  const Divergence &d = *race.divergence;
  const uint32_t waves = current ? d.currentWaves : d.previousWaves;
  const uint64_t lanes = current ? d.currentLanes : d.previousLanes;
  const uint32_t first = current ? race.current.wave : race.previous.wave;
  const bool part = lanes != allLanes(race);
  const std::string one = "wave " + std::to_string(first);
  if (std::has_single_bit(waves))
    return one + (part ? " (" + lanesText(lanes) + ")" : "");
  return "waves " + rangesText(waves) + (part ? " (of " + one + ": " + lanesText(lanes) + ")" : "");
}

bool isPlural(const Race &race, bool current) {
  return !std::has_single_bit(current ? race.divergence->currentWaves : race.divergence->previousWaves);
}

std::string withVerb(const Race &race, bool current, const char *singular, const char *plural) {
  return whoText(race, current) + " " + (isPlural(race, current) ? plural : singular);
}

std::string roundsText(uint32_t n) { return n == 1 ? "1 barrier" : std::to_string(n) + " barriers"; }

} // namespace

std::string rangesText(uint64_t bits) {
  std::string text;
  while (bits) {
    const int first = std::countr_zero(bits), length = std::countr_one(bits >> first);
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (length > 1)
      text += ".." + std::to_string(first + length - 1);
    bits &= length == 64 ? 0 : ~(((uint64_t(1) << length) - 1) << first);
  }
  return text;
}

std::string divergenceHead(const Race &race) {
  const Divergence &d = *race.divergence;
  if (d.uneven)
    return "work-items of one workgroup make different numbers of rounds in a loop with a barrier";
  if (d.currentEnds)
    return "work-items end while others of their workgroup wait at a barrier";
  if (d.apart)
    return "lanes of one wave do not reach a barrier together";
  return "work-items of one workgroup wait at different barriers";
}

std::string divergenceSide(const Race &race, bool current) {
  if (current && race.divergence->currentEnds)
    return withVerb(race, true, "ends", "end");
  if (current && race.divergence->apart)
    return withVerb(race, true, "does not wait with them", "do not wait with them");
  return withVerb(race, current, "waits", "wait");
}

std::string divergenceReason(const Race &race) {
  const Divergence &d = *race.divergence;
  const std::string rule = "a barrier needs every work-item of the workgroup";
  const std::string after = race.current.epoch.value_or(0) == 0
                                ? std::string()
                                : "after " + roundsText(*race.current.epoch) + " that all of them passed, ";
  if (d.uneven)
    return rule + ": " + after + withVerb(race, false, "goes", "go") + " round the loop again, " +
           withVerb(race, true, "does", "do") + " not";
  if (d.currentEnds)
    return rule + ": " + after + withVerb(race, true, "has", "have") + " ended without reaching this one";
  if (d.apart)
    return rule + " at once: only a part of the lanes of wave " + std::to_string(race.current.wave) +
           " is there, and the hardware counts a part as the whole wave";
  const uint32_t both = d.previousWaves & d.currentWaves;
  return rule + ", and " + after + "these reach different ones" +
         (both ? "; wave" + std::string(std::has_single_bit(both) ? " " : "s ") + rangesText(both) +
                     (std::has_single_bit(both) ? " is" : " are") + " split and counted twice"
               : "");
}

std::string divergenceFix(const Race &race) {
  const Divergence &d = *race.divergence;
  const std::string branch = lineOf(d.branch);
  std::string barrier = lineOf(race.previous.frames), other = lineOf(race.current.frames);
  // One function called twice: its callers differ.
  if (const CommonFunction common = commonFunction(race.current.frames, race.previous.frames);
      common.current && barrier == other && !d.currentEnds && !d.apart) {
    barrier = lineText(common.previous->line);
    other = lineText(common.current->line);
  }
  auto at = [](const std::string &line) { return line.empty() ? std::string() : " in " + line; };
  std::string text;
  if (d.uneven)
    text = "give all work-items the same number of rounds (condition" + at(branch) +
           "), and put the work of those that have less to do under an `if` without the barrier";
  else if (d.currentEnds)
    text = "let every work-item reach the barrier" + at(barrier) + ": " +
           (branch.empty() ? "do not return before it" : "do not leave at " + branch) +
           ", put the work under an `if` instead; or move the barrier out of the branch";
  else if (d.apart)
    text = "move the barrier" + at(barrier) +
           " out of the branch or loop that some lanes enter without the others, and let no lane return before it";
  else
    text = "let every work-item reach the same barriers: replace those" + at(barrier) +
           (other.empty() ? "" : " and " + other) + " by one barrier " +
           (branch.empty() ? "outside of the branch" : "behind the branch in " + branch);
  if (race.previous.frames.empty())
    text += " (compile with -gline-tables-only to see the lines)";
  return text;
}

std::string divergenceNote(const Race &race) {
  if (race.divergence->currentEnds)
    return "the hardware lets a barrier open without waves that have ended, so this may seem to work; the language "
           "does "
           "not promise it";
  return {};
}

} // namespace wavesan::report
