/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel replay tool that runs each kernel DIGEST_PASSES times (environment; default 3) and compares a hash of all memory
 * after each pass. Passes of a kernel that is deterministic leave the same memory; a kernel that is not may have a race, or
 * may add floating-point numbers in any order.
 *
 *   cc -shared -fPIC -Ipath/to/wavesan/include digests.c -o digests.so
 *   wavesan run -o tool=./digests.so -- ./app */
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>

static uint64_t passes = 3;

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return passes;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER) {
    payload->pass_count = pass_count;
  } else if (operation == WAVESAN_REPLAY_CONFIG && payload->declined) {
    printf("digests: dispatch %llu, %s runs once (%s)\n", (unsigned long long)payload->dispatch.dispatch_id,
           payload->dispatch.kernel_name, payload->declined);
  } else if (operation == WAVESAN_REPLAY_SNAPSHOT && phase == WAVESAN_REPLAY_EXIT) {
    printf("digests: saved %llu bytes in %llu regions\n", (unsigned long long)payload->bytes,
           (unsigned long long)payload->regions);
  } else if (operation == WAVESAN_REPLAY_RESTORE && phase == WAVESAN_REPLAY_EXIT) {
    printf("digests: restored %llu bytes\n", (unsigned long long)payload->bytes);
  } else if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_EXIT) {
    const int first = payload->current_pass == 0;
    if (!(payload->active_contexts >> WAVESAN_CONTEXT_OUTPUT_DIGEST & 1)) { /* it has not ended, or other work was let in */
      printf("digests: dispatch %llu, %s pass %llu of %llu: no digest\n", (unsigned long long)payload->dispatch.dispatch_id,
             payload->dispatch.kernel_name, (unsigned long long)payload->current_pass,
             (unsigned long long)payload->total_passes);
      fflush(stdout);
      return;
    }
    printf("digests: dispatch %llu, %s pass %llu of %llu: %016llx%s\n",
           (unsigned long long)payload->dispatch.dispatch_id, payload->dispatch.kernel_name,
           (unsigned long long)payload->current_pass, (unsigned long long)payload->total_passes,
           (unsigned long long)payload->digest, first || payload->digest == user->value ? "" : " differs");
    if (first)
      user->value = payload->digest;
  }
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  const char *wanted = getenv("DIGEST_PASSES");
  subscription.graphs = getenv("DIGEST_GRAPHS") != NULL; /* graphs as a whole */
  if (wanted)
    passes = strtoull(wanted, NULL, 10);
  if (api->version < WAVESAN_REPLAY_API_VERSION || api->start_context(WAVESAN_CONTEXT_OUTPUT_DIGEST))
    return 1;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
