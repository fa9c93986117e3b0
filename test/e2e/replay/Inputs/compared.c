/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool that runs each kernel three times, and says in chunks of 4 KiB what restores compared and wrote back. COMPARED_PLAIN=1: the second pass runs without checks. */
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>



static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 3;
}

static unsigned long long chunks(uint64_t bytes) { return (bytes + 4095) / 4096; }


static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  static uint64_t before;
  const char *name = payload->dispatch.kernel_name;
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = pass_count;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_EXIT && payload->declined)
    printf("tool: %s declined %s\n", name, payload->declined);
  if (operation == WAVESAN_REPLAY_SNAPSHOT && phase == WAVESAN_REPLAY_EXIT) {
    before = payload->digest;
    printf("tool: %s kept %llu copied %llu\n", name, chunks(payload->bytes), chunks(payload->copied_bytes));
  }
  if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_ENTER && payload->current_pass == 1 && getenv("COMPARED_PLAIN"))
    payload->stop_context(WAVESAN_CONTEXT_RACE_CHECK);
  if (operation == WAVESAN_REPLAY_RESTORE && phase == WAVESAN_REPLAY_EXIT)
    printf("tool: %s compared %llu restored %llu%s\n", name, chunks(payload->compared_bytes), chunks(payload->bytes),
           payload->digest == before ? "" : " MEMORY IS NOT AS IT WAS");
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};

  if (api->start_context(WAVESAN_CONTEXT_OUTPUT_DIGEST))
    return 1;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
