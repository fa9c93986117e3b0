/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool whose callbacks call the program, inside of the window. With LAUNCHES_GRAPHS=1 it is offered graphs, too. */
#define _GNU_SOURCE
#include <wavesan/kernel_replay.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return 3;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER) {
    payload->pass_count = pass_count;
    printf("tool: config of dispatch %llu\n", (unsigned long long)payload->dispatch.dispatch_id);
  } else if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_EXIT) {
    void (*inside)(unsigned long long) = (void (*)(unsigned long long))dlsym(RTLD_DEFAULT, "insideWindow");
    printf("tool: pass %llu, contexts %u\n", (unsigned long long)payload->current_pass, payload->active_contexts);
    if (inside)
      inside(payload->current_pass);
  }
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  subscription.graphs = getenv("LAUNCHES_GRAPHS") != NULL;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}

void wavesan_tool_finish(void) {
  printf("tool: finished\n");
  fflush(stdout);
}
