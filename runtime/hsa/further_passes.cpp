// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "further_passes.h"

#include "tool.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace wavesan::hsa {

namespace {

constexpr uint64_t kUnit = abi::kShadowWindowUnit;

/// Sets a window, and none again when it goes. For whoever has the agent's window.
class WindowSet {
public:
  WindowSet(const abi::CpuAgent &agent, const abi::ShadowWindow &window) : Agent(agent) {
    Agent.setShadowWindow(&window);
  }
  ~WindowSet() { Agent.setShadowWindow(nullptr); }
  WindowSet(const WindowSet &) = delete;
  WindowSet &operator=(const WindowSet &) = delete;

private:
  const abi::CpuAgent &Agent;
};

uint64_t bytesIn(const std::vector<MemoryMap::LiveRange> &ranges, const abi::ShadowWindow &window) {
  uint64_t bytes = 0;
  for (const MemoryMap::LiveRange &range : ranges) {
    const uint64_t begin = std::max(range.begin, window.begin), end = std::min(range.begin + range.bytes, window.end);
    bytes += end > begin ? end - begin : 0;
  }
  return bytes;
}

/// Where half of the bytes lie in front of, at a multiple of the unit; the window's begin if it cannot be divided.
uint64_t middleOf(const std::vector<MemoryMap::LiveRange> &ranges, const abi::ShadowWindow &window) {
  uint64_t left = bytesIn(ranges, window) / 2;
  for (const MemoryMap::LiveRange &range : ranges) {
    const uint64_t begin = std::max(range.begin, window.begin), end = std::min(range.begin + range.bytes, window.end);
    if (end <= begin)
      continue;
    if (end - begin < left) {
      left -= end - begin;
      continue;
    }
    const uint64_t down = (begin + left) / kUnit * kUnit, up = down + kUnit;
    return down > window.begin ? down : up < window.end ? up : window.begin;
  }
  return window.begin;
}

} // namespace

uint64_t passOverParts(const std::vector<MemoryMap::LiveRange> &ranges, uint64_t mostPasses,
                       const std::function<PartResult(const abi::ShadowWindow &)> &pass, bool &rest) {
  rest = false;
  std::vector<abi::ShadowWindow> todo;
  const auto divide = [&](const abi::ShadowWindow &window) {
    const uint64_t middle = middleOf(ranges, window);
    if (middle == window.begin)
      return false;
    todo.push_back({middle, window.end});
    todo.push_back({window.begin, middle}); // the first one next
    return true;
  };
  uint64_t passes = 0;
  rest = !divide({0, UINT64_MAX / kUnit * kUnit});
  while (!todo.empty()) {
    const abi::ShadowWindow window = todo.back();
    todo.pop_back();
    if (bytesIn(ranges, window) == 0)
      continue;
    if (passes == mostPasses) {
      rest = true;
      break;
    }
    ++passes;
    switch (pass(window)) {
    case PartResult::Whole:
      break;
    case PartResult::Partly:
      rest = !divide(window) || rest;
      break;
    case PartResult::Failed:
      rest = true;
      return passes;
    }
  }
  return passes;
}

FurtherPasses::FurtherPasses(const abi::Options &options, const abi::CpuAgent *agent)
    : Most(options.further_passes), Agent(options.hooks == "native" ? agent : nullptr) {}

bool FurtherPasses::wants(const Kernel &kernel) const {
  return enabled() && kernel.twin && kernel.problem.empty() && !kernel.filtered;
}

std::vector<DispatchRace> FurtherPasses::run(Tool &tool, PacketHost &host, const Kernel &kernel,
                                             uint64_t dispatch) const {
  std::vector<DispatchRace> races;
  if (host.failed()) {
    tool.findings.budgetUsedUp(kernel, "no further passes: the dispatch failed");
    return races;
  }
  // The program sees what the first pass left.
  PacketHost::Kept kept(host);
  if (const char *why = kept.whyNot()) {
    tool.findings.budgetUsedUp(kernel, std::string("no further passes: ") + why);
    return races;
  }
  host.setPart(true);
  bool rest = false;
  const uint64_t passes = passOverParts(
      tool.memory.live(), Most,
      [&](const abi::ShadowWindow &window) {
        host.restore();
        tool.findings.watch(dispatch);
        bool checked = false;
        {
          std::optional<WindowSet> set;
          if (Agent)
            set.emplace(*Agent, window);
          else
            host.setWindow(&window);
          checked = host.pass(1, 1u << WAVESAN_CONTEXT_RACE_CHECK).contexts >> WAVESAN_CONTEXT_RACE_CHECK & 1;
          host.setWindow(nullptr);
        }
        const uint64_t outside = tool.findings.outsideBudget(dispatch);
        std::vector<DispatchRace> found = tool.findings.takeWatched(dispatch);
        races.insert(races.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
        return host.failed() || !checked ? PartResult::Failed : outside ? PartResult::Partly : PartResult::Whole;
      },
      rest);
  host.setPart(false);
  tool.findings.furtherPasses(passes);
  if (rest)
    tool.findings.budgetUsedUp(kernel, std::to_string(passes) + " further passes did not cover it");
  kept.putBack();
  return races;
}

} // namespace wavesan::hsa
