// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watchdog.h"

#include "diagnostic.h"

#include "wavesan/abi/hooks.h"

#include "llvm/Demangle/Demangle.h"

#include <algorithm>

namespace wavesan::cpu::engine {

namespace {

/// Workgroups that are described; they usually stand alike.
constexpr size_t kMaxWorkgroups = 4;

/// Code without positions (hooks) stands where it was called.
std::string positionOf(const WaveState &w) {
  for (uint32_t depth = w.depth; depth-- > 0;) {
    const Op *pc = depth + 1 == w.depth ? w.pc : w.frames[depth].pc;
    for (const Op *op : {pc - 1, pc}) // the second: at the begin of a block
      if (std::string line = lineOf(w, op); !line.empty())
        return line;
  }
  return "an unknown line";
}

/// "wave 3", "waves 0 to 2, 5"
std::string namesOf(uint64_t waves) {
  std::string text;
  for (uint32_t k = 0; k < 64; ++k) {
    if (!(waves >> k & 1))
      continue;
    uint32_t last = k;
    while (last + 1 < 64 && (waves >> (last + 1) & 1))
      ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(k) + (last == k ? "" : " to " + std::to_string(last));
    k = last;
  }
  return ((waves & (waves - 1)) ? "waves " : "wave ") + text;
}

} // namespace

std::vector<std::string> linesOfWaves(const Workgroup &group, uint64_t waiting) {
  struct Place {
    std::string text;
    uint64_t waves;
  };
  std::vector<Place> places;
  for (uint32_t k = 0; k < group.waveCount; ++k) {
    const WaveState &w = *group.waves[k];
    if (w.ended || !w.depth)
      continue;
    const std::string text = positionOf(w) + (waiting >> k & 1 ? ", waiting at a barrier" : "");
    auto it = std::find_if(places.begin(), places.end(), [&](const Place &p) { return p.text == text; });
    if (it == places.end())
      it = places.insert(it, {text, 0});
    it->waves |= uint64_t(1) << k;
  }
  std::vector<std::string> lines;
  for (const Place &p : places)
    lines.push_back(namesOf(p.waves) + " at " + p.text);
  return lines;
}

Watchdog::Watchdog(const LaunchState &launch, uint64_t workgroups, Residents residents)
    : Launch(launch), Workgroups(workgroups), GetResidents(std::move(residents)),
      Next(launch.launch->watchAfterMs) {}

void Watchdog::look() {
  const auto ran = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - Begin);
  if (ran < Next)
    return;
  while (Next <= ran)
    Next *= 2;
  uint64_t ended = 0;
  const std::vector<Standing> residents = GetResidents(ended);
  std::string_view kernel = Launch.launch->kernel;
  if (kernel.ends_with(abi::kTwinSuffix))
    kernel.remove_suffix(std::string_view(abi::kTwinSuffix).size());
  std::string text = "kernel " + llvm::demangle(kernel) + " has run for " +
                     std::to_string(ran.count() / 1000) + "." + std::to_string(ran.count() / 100 % 10) + " s: " +
                     std::to_string(ended) + " of " + std::to_string(Workgroups) + " workgroups have ended, " +
                     std::to_string(residents.size()) + (residents.size() == 1 ? " is" : " are") + " under way";
  for (size_t i = 0; i < std::min(residents.size(), kMaxWorkgroups); ++i) {
    const Workgroup &group = *residents[i].group;
    text += "\n  workgroup (" + std::to_string(group.id[0]) + "," + std::to_string(group.id[1]) + "," +
            std::to_string(group.id[2]) + "):";
    for (const std::string &line : linesOfWaves(group, residents[i].waiting))
      text += "\n    " + line;
  }
  if (residents.size() > kMaxWorkgroups)
    text += "\n  and " + std::to_string(residents.size() - kMaxWorkgroups) + " more";
  Launch.launch->standing(text);
}

} // namespace wavesan::cpu::engine
