/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool that runs each kernel six times under schedules of its own and counts what the passes leave and touch. */
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <string.h>

enum { kPasses = 6 };
static uint64_t digests[kPasses];

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)dispatch, (void)user;
  return kPasses;
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = pass_count;
  if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_ENTER && payload->current_pass == kPasses - 1)
    payload->stop_context(WAVESAN_CONTEXT_ACCESS_TRACE);
  if (operation != WAVESAN_REPLAY_PASS || phase != WAVESAN_REPLAY_EXIT)
    return;
  digests[payload->current_pass] = payload->digest;
  uint64_t written = 0, read = 0, atomic = 0;
  uint32_t line = 0;
  for (uint64_t i = 0; i < payload->access_count; ++i) {
    const wavesan_access_t *a = &payload->accesses[i];
    const uint64_t bytes = a->end - a->begin;
    if (a->kind & WAVESAN_ACCESS_ATOMIC)
      atomic += bytes;
    else if (a->kind & WAVESAN_ACCESS_WRITE)
      written += bytes;
    else
      read += bytes;
    if (a->file && strstr(a->file, "schedules.hip"))
      line = a->line;
  }
  printf("tool: %s pass %llu seed %llu contexts %u wrote %llu read %llu atomic %llu lost %llu line %u\n",
         payload->dispatch.kernel_name, (unsigned long long)payload->current_pass, (unsigned long long)payload->seed,
         payload->active_contexts, (unsigned long long)written, (unsigned long long)read, (unsigned long long)atomic,
         (unsigned long long)payload->accesses_lost, line);
  if (payload->current_pass + 1 < kPasses)
    return;
  int different = 0;
  for (int i = 0; i < kPasses; ++i) {
    int seen = 0;
    for (int k = 0; k < i; ++k)
      seen |= digests[k] == digests[i];
    different += !seen;
  }
  printf("tool: %s: %s\n", payload->dispatch.kernel_name, different > 1 ? "outputs differ" : "one output");
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  const wavesan_replay_context_t contexts[] = {WAVESAN_CONTEXT_OUTPUT_DIGEST, WAVESAN_CONTEXT_SCHEDULE_PERTURBATION,
                                               WAVESAN_CONTEXT_ACCESS_TRACE};
  for (int i = 0; i < 3; ++i)
    if (api->start_context(contexts[i]))
      return 1;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
