/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool whose ranges the program begins and ends: four passes each, with a digest, the third one unchecked, and of the
 * checked ones what each dispatch touched. With RANGE_GRAPHS=1 it is offered graphs, too. It says what it sees and checks
 * that all callbacks of a range come on the thread that ends it. */
#define _GNU_SOURCE
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const wavesan_replay_api_t *wavesan;
static long ending_thread;

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  user->value = dispatch->dispatch_id;
  return strcmp(dispatch->kernel_name, "(range)") == 0 ? 4 : 1;
}

static void say_accesses(const wavesan_replay_payload_t *payload) {
  uint64_t next = 0;
  for (uint64_t d = 0; payload->dispatch_accesses && d < payload->range_dispatches; ++d) {
    uint64_t written = 0, read = 0;
    unsigned line = 0;
    for (const uint64_t end = next + payload->dispatch_accesses[d]; next < end; ++next) {
      const wavesan_access_t *a = &payload->accesses[next];
      *(a->kind & WAVESAN_ACCESS_WRITE ? &written : &read) += a->end - a->begin;
      if (a->kind & WAVESAN_ACCESS_WRITE && a->file && strstr(a->file, "ranges.hip"))
        line = a->line;
    }
    printf("tool: dispatch %llu wrote %llu in line %u, read %llu\n", (unsigned long long)d, (unsigned long long)written,
           line, (unsigned long long)read);
  }
  if (next != payload->access_count || payload->accesses_lost)
    printf("tool: WRONG COUNTS\n");
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)arguments;
  const wavesan_replay_dispatch_info_t *dispatch = &payload->dispatch;
  if (payload->range_dispatches && (syscall(SYS_gettid) != ending_thread || dispatch->thread_id != (uint64_t)ending_thread))
    printf("tool: WRONG THREAD\n");
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER) {
    payload->pass_count = pass_count;
    if (wavesan->begin_range() != WAVESAN_REPLAY_ERROR_RANGE || wavesan->end_range(NULL) != WAVESAN_REPLAY_ERROR_RANGE)
      printf("tool: a range in a callback\n");
  } else if (operation == WAVESAN_REPLAY_CONFIG) {
    printf("tool: %s of %llu: %s\n", dispatch->kernel_name, (unsigned long long)payload->range_dispatches,
           payload->declined ? payload->declined : "replayed");
  } else if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_ENTER) {
    if (payload->current_pass == 2)
      payload->stop_context(WAVESAN_CONTEXT_RACE_CHECK);
    else
      payload->start_context(WAVESAN_CONTEXT_RACE_CHECK);
  } else if (operation == WAVESAN_REPLAY_PASS) {
    printf("tool: pass %llu of %llu of %s, contexts %u, digest %llx%s%s\n", (unsigned long long)payload->current_pass,
           (unsigned long long)payload->total_passes, dispatch->kernel_name, payload->active_contexts,
           (unsigned long long)payload->digest, user->value == dispatch->dispatch_id ? "" : " WRONG USER DATA",
           payload->start_ns && payload->end_ns > payload->start_ns ? "" : " NO TIMES");
    say_accesses(payload);
  }
  fflush(stdout);
}

/* For the program. */
__attribute__((visibility("default"))) int begin_range(void) { return (int)wavesan->begin_range(); }
__attribute__((visibility("default"))) int end_range(void) {
  wavesan_replay_range_t range = {sizeof(range), 0, 0, NULL};
  ending_thread = syscall(SYS_gettid);
  const wavesan_replay_status_t status = wavesan->end_range(&range);
  if (status == WAVESAN_REPLAY_SUCCESS)
    printf("tool: range of %llu dispatches: %llu passes, %s\n", (unsigned long long)range.dispatches,
           (unsigned long long)range.passes, range.declined ? range.declined : "replayed");
  else
    printf("tool: end_range: %s\n", wavesan->status_text(status));
  fflush(stdout);
  return (int)status;
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  wavesan = api;
  subscription.graphs = getenv("RANGE_GRAPHS") != NULL;
  if (api->size < sizeof(*api) || api->begin_range() != WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED)
    return 1;
  if (api->start_context(WAVESAN_CONTEXT_DISPATCH_TIMING) || api->start_context(WAVESAN_CONTEXT_OUTPUT_DIGEST) ||
      api->start_context(WAVESAN_CONTEXT_ACCESS_TRACE))
    return 2;
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
