/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool that runs each kernel five times, each time under another seed, and says in chunks of 64 KiB what was kept, copied and written back. */
#include <wavesan/kernel_replay.h>

#include <stdio.h>

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 5;
}

static uint64_t chunks(uint64_t bytes) { return (bytes + 65535) / 65536; }

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  static uint64_t before, most, last;
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = pass_count;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_EXIT && payload->declined)
    printf("tool: %s declined %s\n", payload->dispatch.kernel_name, payload->declined);
  if (operation == WAVESAN_REPLAY_SNAPSHOT && phase == WAVESAN_REPLAY_EXIT) {
    before = payload->digest, most = last = 0;
    printf("tool: %s kept %llu copied %llu\n", payload->dispatch.kernel_name, (unsigned long long)chunks(payload->bytes),
           (unsigned long long)chunks(payload->copied_bytes));
  }
  if (operation == WAVESAN_REPLAY_RESTORE && phase == WAVESAN_REPLAY_EXIT) {
    most = payload->bytes > most ? payload->bytes : most;
    printf("tool: %s restored %llu copied %llu%s%s\n", payload->dispatch.kernel_name, (unsigned long long)chunks(payload->bytes),
           (unsigned long long)chunks(payload->copied_bytes), payload->digest == before ? "" : " MEMORY IS NOT AS IT WAS",
           payload->copied_bytes > last && last ? " more" : "");
    last = payload->copied_bytes;
  }
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  if (api->start_context(WAVESAN_CONTEXT_OUTPUT_DIGEST))
    return 1;
  if (api->start_context(WAVESAN_CONTEXT_SCHEDULE_PERTURBATION))
    return 1;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
