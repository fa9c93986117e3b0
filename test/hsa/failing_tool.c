// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A replay tool that asks for everything and then says that it cannot begin.
#include "wavesan/kernel_replay.h"

#include <stdlib.h>

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user_data, void *callback_args) {
  (void)operation, (void)phase, (void)payload, (void)user_data, (void)callback_args;
  abort(); // nobody may call it
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  wavesan_replay_subscription_t subscription = {0};
  subscription.size = sizeof(subscription);
  subscription.callback = callback;
  if (api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS ||
      api->start_context(WAVESAN_CONTEXT_OUTPUT_DIGEST) != WAVESAN_REPLAY_SUCCESS ||
      api->stop_context(WAVESAN_CONTEXT_RACE_CHECK) != WAVESAN_REPLAY_SUCCESS)
    return 8;
  return 7;
}

void wavesan_tool_finish(void) { abort(); }
