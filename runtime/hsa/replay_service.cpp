// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_service.h"

#include "replay_range.h"

#include <cstring>
#include <dlfcn.h>

namespace wavesan::hsa {

namespace {

const char *operationName(wavesan_replay_operation_t operation) {
  switch (operation) {
  case WAVESAN_REPLAY_NONE:
    return "none";
  case WAVESAN_REPLAY_CONFIG:
    return "config";
  case WAVESAN_REPLAY_PASS:
    return "pass";
  case WAVESAN_REPLAY_SNAPSHOT:
    return "snapshot";
  case WAVESAN_REPLAY_RESTORE:
    return "restore";
  case WAVESAN_REPLAY_LAST:
    break;
  }
  return nullptr;
}

const char *statusText(wavesan_replay_status_t status) {
  switch (status) {
  case WAVESAN_REPLAY_SUCCESS:
    return "success";
  case WAVESAN_REPLAY_ERROR_CONTEXT:
    return "start_context and stop_context of a payload are legal in PASS ENTER only";
  case WAVESAN_REPLAY_ERROR_SUBSCRIBED:
    return "there is a subscriber already";
  case WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED:
    return "there is no subscriber";
  case WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT:
    return "invalid argument";
  case WAVESAN_REPLAY_ERROR_NOT_PROVIDED:
    return "this context is not provided";
  case WAVESAN_REPLAY_ERROR_RANGE:
    return "a range is open already, or none is; or this is a callback";
  }
  return "unknown status";
}

} // namespace

ReplayService &ReplayService::instance() {
  static ReplayService *service = new ReplayService;
  return *service;
}

wavesan_replay_status_t ReplayService::statusOf(wavesan_replay_context_t context) const {
  if (context < 0 || context >= WAVESAN_CONTEXT_LAST)
    return WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT;
  return Provided.load(std::memory_order_relaxed) >> context & 1 ? WAVESAN_REPLAY_SUCCESS
                                                                 : WAVESAN_REPLAY_ERROR_NOT_PROVIDED;
}

wavesan_replay_status_t ReplayService::subscribe(const wavesan_replay_subscription_t *subscription) {
  constexpr size_t least = offsetof(wavesan_replay_subscription_t, callback_args);
  if (!subscription || subscription->size < least || !subscription->callback)
    return WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT;
  wavesan_replay_subscription_t copy{}; // what an older tool does not know stays 0
  std::memcpy(&copy, subscription, std::min(subscription->size, sizeof(copy)));
  copy.size = sizeof(copy);
  if (copy.operations >> WAVESAN_REPLAY_LAST || copy.operations & 1u << WAVESAN_REPLAY_NONE)
    return WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(Mutex);
  if (Subscription)
    return WAVESAN_REPLAY_ERROR_SUBSCRIBED;
  Subscription = copy;
  Ever.store(true, std::memory_order_release);
  return WAVESAN_REPLAY_SUCCESS;
}

wavesan_replay_status_t ReplayService::unsubscribe() {
  std::lock_guard lock(Mutex);
  if (!Subscription)
    return WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED;
  Subscription.reset();
  return WAVESAN_REPLAY_SUCCESS;
}

wavesan_replay_status_t ReplayService::setContext(wavesan_replay_context_t context, bool active) {
  if (wavesan_replay_status_t status = statusOf(context); status != WAVESAN_REPLAY_SUCCESS)
    return status;
  active ? Contexts.fetch_or(1u << context) : Contexts.fetch_and(~(1u << context));
  return WAVESAN_REPLAY_SUCCESS;
}

wavesan_replay_status_t ReplayService::isActive(wavesan_replay_context_t context, int *active) const {
  if (!active || statusOf(context) == WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT)
    return WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT;
  *active = int(activeContexts() >> context & 1);
  return WAVESAN_REPLAY_SUCCESS;
}

std::optional<wavesan_replay_subscription_t> ReplayService::subscription() const {
  if (!everSubscribed())
    return std::nullopt;
  std::lock_guard lock(Mutex);
  if (!Subscription || (Subscription->operations && !(Subscription->operations >> WAVESAN_REPLAY_CONFIG & 1)))
    return std::nullopt;
  return Subscription;
}

bool ReplayService::loadTool(const std::string &file, std::string &error) {
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    error = "option tool: " + std::string(why ? why : file + " cannot be loaded");
    return false;
  }
  auto *init = reinterpret_cast<decltype(&wavesan_tool_init)>(dlsym(library, "wavesan_tool_init"));
  if (!init) {
    error = "option tool: " + file + " exports no wavesan_tool_init";
    return false;
  }
  if (const int status = init(&replayApi())) {
    error = "option tool: wavesan_tool_init of " + file + " failed with " + std::to_string(status);
    withdrawTool();
    return false;
  }
  std::lock_guard lock(Mutex);
  ToolFinish = reinterpret_cast<void (*)()>(dlsym(library, "wavesan_tool_finish"));
  return true;
}

void ReplayService::withdrawTool() {
  {
    std::lock_guard lock(Mutex);
    Subscription.reset();
  }
  Contexts.store(kDefaultContexts, std::memory_order_relaxed);
  ReplayRange::instance().end(nullptr); // an error where none is open
}

void ReplayService::finishTool() {
  void (*finish)() = nullptr;
  {
    std::lock_guard lock(Mutex);
    std::swap(finish, ToolFinish);
  }
  if (finish)
    finish();
}

const wavesan_replay_api_t &replayApi() {
  static const wavesan_replay_api_t api = {
      sizeof(wavesan_replay_api_t),
      WAVESAN_REPLAY_API_VERSION,
      [](const wavesan_replay_subscription_t *s) { return ReplayService::instance().subscribe(s); },
      [] { return ReplayService::instance().unsubscribe(); },
      [](wavesan_replay_context_t c) { return ReplayService::instance().setContext(c, true); },
      [](wavesan_replay_context_t c) { return ReplayService::instance().setContext(c, false); },
      [](wavesan_replay_context_t c, int *active) { return ReplayService::instance().isActive(c, active); },
      operationName,
      statusText,
      [] { return ReplayRange::instance().begin(); },
      [](wavesan_replay_range_t *result) { return ReplayRange::instance().end(result); },
  };
  return api;
}

} // namespace wavesan::hsa
