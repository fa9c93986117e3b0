/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool whose callbacks do what they should not (ODD, environment): end the process, end the subscription, write all over the payload, change the
 * user data, subscribe again, stop every context and some that there are not. */
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const wavesan_replay_api_t *wavesan;
static const char *odd = "";

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 3;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments);
static const wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)arguments;
  const uint64_t pass = payload->current_pass;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER) {
    payload->pass_count = pass_count;
    return;
  }
  if (strcmp(odd, "stop") == 0 && operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_ENTER) {
    for (int context = -1; context <= WAVESAN_CONTEXT_LAST; ++context)
      printf("tool: stop %d: %d\n", context, payload->stop_context((wavesan_replay_context_t)context));
  } else if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_EXIT) {
    printf("tool: pass %llu\n", (unsigned long long)pass);
    fflush(stdout);
    if (strcmp(odd, "exit") == 0 && pass == 1)
      exit(3);
    if (strcmp(odd, "unsubscribe") == 0)
      printf("tool: unsubscribe: %s\n", wavesan->status_text(wavesan->unsubscribe()));
    if (strcmp(odd, "subscribe") == 0)
      printf("tool: subscribe: %s\n", wavesan->status_text(wavesan->subscribe(&subscription)));
    user->value += 5;
  }
  if (strcmp(odd, "scribble") == 0)
    memset(payload, 0xff, sizeof(*payload));
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  wavesan = api;
  if (getenv("ODD"))
    odd = getenv("ODD");
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
