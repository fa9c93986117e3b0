/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel replay tool that times each kernel until the best time has not improved by 5 % for five passes, 100 passes at
 * most. The race check is off in these passes, so the original kernel is timed.
 *
 *   cc -shared -fPIC -Ipath/to/wavesan/include timing.c -o timing.so
 *   wavesan run -o tool=./timing.so:incomplete_exitcode=0 -- ./app */
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>

struct Timing {
  uint64_t best, passes, since_best;
};

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 100;
}

static int continue_loop(const wavesan_replay_dispatch_info_t *dispatch, uint64_t pass,
                         wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)pass;
  return ((const struct Timing *)user->pointer)->since_best < 5;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)arguments;
  struct Timing *timing = user->pointer;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER) {
    user->pointer = calloc(1, sizeof(struct Timing));
    if (user->pointer) {
      payload->pass_count = pass_count;
      payload->continue_loop = continue_loop;
    }
  } else if (operation == WAVESAN_REPLAY_CONFIG && payload->declined) {
    printf("timing: %s runs once (%s)\n", payload->dispatch.kernel_name, payload->declined);
    free(timing);
  } else if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_ENTER) {
    payload->stop_context(WAVESAN_CONTEXT_RACE_CHECK);
  } else if (operation == WAVESAN_REPLAY_PASS) {
    uint64_t time = payload->end_ns - payload->start_ns;
    ++timing->since_best;
    if (timing->passes++ == 0 || time < timing->best - timing->best / 20)
      timing->best = time, timing->since_best = 0;
    /* There is no callback behind the last pass: this line may be replaced by the next one. */
    printf("timing: %s pass %llu: %llu ns, best %llu ns\n", payload->dispatch.kernel_name,
           (unsigned long long)payload->current_pass, (unsigned long long)time, (unsigned long long)timing->best);
  }
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  if (api->version < WAVESAN_REPLAY_API_VERSION || api->start_context(WAVESAN_CONTEXT_DISPATCH_TIMING))
    return 1;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
