/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Replays each kernel four times, or REPLAY_BENCH_PASSES times (environment), and prints, for replay_cost.py, what snapshot, passes and restores took, and next to each restore a memcpy of
 * as many bytes as have been copied for the snapshot, into memory that is as new as the snapshot's. */
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds; 0: no memory for it. */
static uint64_t copy(uint64_t bytes) {
  char *from = malloc(bytes + 1), *to = malloc(bytes + 1);
  uint64_t taken = 0;
  if (from && to) {
    memset(from, 1, bytes);
    const uint64_t begin = now();
    memcpy(to, from, bytes);
    taken = now() - begin;
    if (to[bytes / 2] != from[bytes / 2]) /* it is used */
      taken = 0;
  }
  free(from);
  free(to);
  return taken;
}

static uint64_t pass_begin;

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  const char *passes = getenv("REPLAY_BENCH_PASSES");
  return passes ? strtoull(passes, NULL, 10) : 4;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)user, (void)arguments;
  const int exits = phase == WAVESAN_REPLAY_EXIT;
  if (operation == WAVESAN_REPLAY_CONFIG && !exits)
    payload->pass_count = pass_count;
  else if (operation == WAVESAN_REPLAY_CONFIG && payload->declined)
    printf("declined %s\n", payload->declined);
  else if (operation == WAVESAN_REPLAY_SNAPSHOT && exits)
    printf("snapshot %llu %llu %llu\n", (unsigned long long)payload->bytes,
           (unsigned long long)payload->tracked_bytes, (unsigned long long)payload->nanoseconds);
  else if (operation == WAVESAN_REPLAY_RESTORE && exits)
    printf("restore %llu %llu %llu %llu\n", (unsigned long long)payload->bytes, (unsigned long long)payload->nanoseconds,
           (unsigned long long)payload->copied_bytes, (unsigned long long)copy(payload->copied_bytes));
  else if (operation == WAVESAN_REPLAY_PASS && !exits)
    pass_begin = now();
  else if (operation == WAVESAN_REPLAY_PASS)
    printf("pass %llu\n", (unsigned long long)(now() - pass_begin));
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  if (api->version < WAVESAN_REPLAY_API_VERSION || api->stop_context(WAVESAN_CONTEXT_RACE_CHECK))
    return 1;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
