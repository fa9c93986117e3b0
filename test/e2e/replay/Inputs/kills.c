/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool under which the process is killed behind the second pass. */
#include <wavesan/kernel_replay.h>

#include <signal.h>
#include <stddef.h>

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 3;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = pass_count;
  if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_EXIT && payload->current_pass == 1)
    raise(SIGKILL);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
