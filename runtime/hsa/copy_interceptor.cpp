// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copy_interceptor.h"

#include "replay_loop.h"
#include "replay_range.h"
#include "replay_service.h"
#include "tool.h"

namespace wavesan::hsa {

namespace {

/// A replay is possible, and this call does not come from inside of one.
bool mustKeepOut() {
  noteWorkInside();
  return ReplayService::instance().everSubscribed() && !insideReplay();
}

/// An asynchronous copy under way with a signal of the tool's own, so that its end is known although the program may
/// destroy its signal as soon as it is complete.
struct Copy {
  AgentWindow *windows[2];
  hsa_signal_t program, own;
};

bool onCopied(hsa_signal_value_t value, void *argument) {
  auto *copy = static_cast<Copy *>(argument);
  const Api &api = Tool::current()->api;
  const auto *from = reinterpret_cast<const amd_signal_t *>(copy->own.handle);
  for (AgentWindow *window : copy->windows)
    if (window)
      window->copyEnds();
  if (copy->program.handle) {
    auto *to = reinterpret_cast<amd_signal_t *>(copy->program.handle);
    to->start_ts = from->start_ts;
    to->end_ts = from->end_ts;
    if (value < 0)
      api.core.hsa_signal_store_screlease_fn(copy->program, value);
    else
      api.core.hsa_signal_subtract_screlease_fn(copy->program, 1);
  }
  api.core.hsa_signal_destroy_fn(copy->own);
  delete copy;
  return false; // once
}

/// `start(signal)` calls the runtime's function. While it does, no replay can begin on either agent.
template <class Start>
hsa_status_t copyWith(Tool &tool, hsa_agent_t to, hsa_agent_t from, hsa_signal_t programSignal, Start start) {
  if (!mustKeepOut() || !tool.api.amd.hsa_amd_signal_async_handler_fn)
    return start(programSignal);
  ReplayRange::instance().giveUp(kDeclineRangeCopy);
  // In the order of the table, as everywhere where more than one is held.
  if (to.handle > from.handle)
    std::swap(to, from);
  AgentWindow &first = tool.windows.of(to);
  AgentWindow *second = to.handle == from.handle ? nullptr : &tool.windows.of(from);
  AgentWindow::Shared firstLock = first.share(), secondLock;
  if (second)
    secondLock = second->share();
  hsa_signal_t own{};
  if (tool.api.core.hsa_signal_create_fn(1, 0, nullptr, &own) != HSA_STATUS_SUCCESS)
    return start(programSignal);
  auto *copy = new Copy{{&first, second}, programSignal, own};
  first.copyBegins();
  if (second)
    second->copyBegins();
  hsa_status_t status = start(own);
  if (status == HSA_STATUS_SUCCESS && tool.api.amd.hsa_amd_signal_async_handler_fn(
                                          own, HSA_SIGNAL_CONDITION_LT, 1, onCopied, copy) == HSA_STATUS_SUCCESS)
    return status;
  if (status == HSA_STATUS_SUCCESS) { // it is under way and nobody will tell: wait here
    const hsa_signal_value_t value =
        tool.api.core.hsa_signal_wait_scacquire_fn(own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    onCopied(value, copy);
    return status;
  }
  first.copyEnds();
  if (second)
    second->copyEnds();
  tool.api.core.hsa_signal_destroy_fn(own);
  delete copy;
  return status;
}

hsa_status_t asyncCopy(void *to, hsa_agent_t toAgent, const void *from, hsa_agent_t fromAgent, size_t bytes,
                       uint32_t dependencies, const hsa_signal_t *signals, hsa_signal_t completion) {
  Tool &tool = *Tool::current();
  return copyWith(tool, toAgent, fromAgent, completion, [&](hsa_signal_t signal) {
    return tool.api.amd.hsa_amd_memory_async_copy_fn(to, toAgent, from, fromAgent, bytes, dependencies, signals,
                                                     signal);
  });
}

hsa_status_t asyncCopyRect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *toOffset, const hsa_pitched_ptr_t *from,
                           const hsa_dim3_t *fromOffset, const hsa_dim3_t *range, hsa_agent_t agent,
                           hsa_amd_copy_direction_t direction, uint32_t dependencies, const hsa_signal_t *signals,
                           hsa_signal_t completion) {
  Tool &tool = *Tool::current();
  return copyWith(tool, agent, agent, completion, [&](hsa_signal_t signal) {
    return tool.api.amd.hsa_amd_memory_async_copy_rect_fn(to, toOffset, from, fromOffset, range, agent, direction,
                                                          dependencies, signals, signal);
  });
}

std::vector<AgentWindow::Shared> keepOut(Tool &tool) {
  if (!mustKeepOut())
    return {};
  ReplayRange::instance().giveUp(kDeclineRangeCopy);
  return tool.windows.shareAll();
}

hsa_status_t copy(void *to, const void *from, size_t bytes) {
  Tool &tool = *Tool::current();
  const auto locks = keepOut(tool);
  return tool.api.core.hsa_memory_copy_fn(to, from, bytes);
}

hsa_status_t fill(void *to, uint32_t value, size_t count) {
  Tool &tool = *Tool::current();
  const auto locks = keepOut(tool);
  return tool.api.amd.hsa_amd_memory_fill_fn(to, value, count);
}

template <class Visit> void forEachReplacement(CoreApiTable &core, AmdExtTable &amd, Visit visit) {
  visit(core, &CoreApiTable::hsa_memory_copy_fn, copy);
  visit(amd, &AmdExtTable::hsa_amd_memory_async_copy_fn, asyncCopy);
  visit(amd, &AmdExtTable::hsa_amd_memory_async_copy_rect_fn, asyncCopyRect);
  visit(amd, &AmdExtTable::hsa_amd_memory_fill_fn, fill);
}

const CoreApiTable &originalOf(const Api &api, const CoreApiTable &) { return api.core; }
const AmdExtTable &originalOf(const Api &api, const AmdExtTable &) { return api.amd; }

} // namespace

void installCopyInterceptors(CoreApiTable &core, AmdExtTable &amd) {
  forEachReplacement(core, amd, [](auto &table, auto member, auto *replacement) {
    if (table.*member)
      table.*member = replacement;
  });
}

void removeCopyInterceptors(CoreApiTable &core, AmdExtTable &amd, const Api &original) {
  forEachReplacement(core, amd, [&](auto &table, auto member, auto *replacement) {
    if (table.*member == replacement)
      table.*member = originalOf(original, table).*member;
  });
}

} // namespace wavesan::hsa
