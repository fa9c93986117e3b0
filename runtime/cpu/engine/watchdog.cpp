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

Watchdog::Watchdog(const LaunchState &launch, uint64_t workgroups, std::function<uint64_t()> begun)
    : Launch(launch), Workgroups(workgroups), Begun(std::move(begun)), NextMs(int64_t(launch.launch->watchAfterMs)) {}

/// With the lock: everybody is asked.
void Watchdog::call(std::chrono::milliseconds ran) {
  Ran = ran;
  Residents = 0;
  Seen.clear();
  Missing = Posts;
  Round.fetch_add(1, std::memory_order_relaxed);
}

/// With the lock: everybody has answered.
void Watchdog::tell() {
  std::string_view kernel = Launch.launch->kernel;
  if (kernel.ends_with(abi::kTwinSuffix))
    kernel.remove_suffix(std::string_view(abi::kTwinSuffix).size());
  const uint64_t begun = Begun();
  std::string text = "kernel " + llvm::demangle(kernel) + " has run for " + std::to_string(Ran.count() / 1000) + "." +
                     std::to_string(Ran.count() / 100 % 10) +
                     " s: " + std::to_string(begun > Residents ? begun - Residents : 0) + " of " +
                     std::to_string(Workgroups) + " workgroups have ended, " + std::to_string(Residents) +
                     (Residents == 1 ? " is" : " are") + " under way";
  size_t told = 0;
  for (auto it = Seen.begin(); it != Seen.end() && told < kMaxWorkgroups; ++it, ++told)
    text += it->second;
  if (Residents > told)
    text += "\n  and " + std::to_string(Residents - told) + " more";
  Launch.launch->standing(text);
}

WatchPost::WatchPost(Watchdog &watchdog, Residents residents) : Dog(watchdog), GetResidents(std::move(residents)) {
  std::lock_guard lock(Dog.Mutex);
  ++Dog.Posts;
  Answered = Dog.Round.load(std::memory_order_relaxed);
}

WatchPost::~WatchPost() {
  std::lock_guard lock(Dog.Mutex);
  --Dog.Posts;
  if (Answered != Dog.Round.load(std::memory_order_relaxed) && --Dog.Missing == 0)
    Dog.tell();
}

/// With the lock.
void WatchPost::answer(std::vector<Standing> residents) {
  Answered = Dog.Round.load(std::memory_order_relaxed);
  Dog.Residents += residents.size();
  std::sort(residents.begin(), residents.end(),
            [](const Standing &a, const Standing &b) { return a.group->linearId < b.group->linearId; });
  residents.resize(std::min(residents.size(), kMaxWorkgroups));
  for (const Standing &r : residents) {
    std::string &text = Dog.Seen[r.group->linearId];
    text = "\n  workgroup (" + std::to_string(r.group->id[0]) + "," + std::to_string(r.group->id[1]) + "," +
           std::to_string(r.group->id[2]) + "):";
    for (const std::string &line : linesOfWaves(*r.group, r.waiting))
      text += "\n    " + line;
  }
  if (--Dog.Missing == 0)
    Dog.tell();
}

void WatchPost::look() {
  const auto ran = std::chrono::duration_cast<std::chrono::milliseconds>(Watchdog::Clock::now() - Dog.Begin);
  if (ran.count() < Dog.NextMs.load(std::memory_order_relaxed) && Dog.Round.load(std::memory_order_relaxed) == Answered)
    return;
  std::lock_guard lock(Dog.Mutex);
  if (Dog.Missing == 0 && ran.count() >= Dog.NextMs.load(std::memory_order_relaxed)) {
    int64_t next = Dog.NextMs.load(std::memory_order_relaxed);
    while (next <= ran.count())
      next *= 2;
    Dog.NextMs.store(next, std::memory_order_relaxed);
    Dog.call(ran);
  }
  if (Dog.Round.load(std::memory_order_relaxed) != Answered)
    answer(GetResidents());
}

} // namespace wavesan::cpu::engine
