/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool that runs each kernel three times and says what was saved and restored. */
#include <wavesan/kernel_replay.h>

#include <stdio.h>

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 3;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = pass_count;
  if (operation == WAVESAN_REPLAY_SNAPSHOT)
    printf("tool: %s %s %llu bytes in %llu regions of %s\n", payload->dispatch.kernel_name,
           phase == WAVESAN_REPLAY_ENTER ? "will save" : "saved", (unsigned long long)payload->bytes,
           (unsigned long long)payload->regions, payload->bytes == payload->tracked_bytes ? "all" : "more");
  if (operation == WAVESAN_REPLAY_RESTORE && phase == WAVESAN_REPLAY_EXIT)
    printf("tool: %s restored %llu bytes\n", payload->dispatch.kernel_name, (unsigned long long)payload->bytes);
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
