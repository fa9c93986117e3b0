/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool that runs each kernel three times and says where its memory was saved. With TIERS_TRUNCATE=1 it cuts the snapshot's file short in the
 * first pass. */
#define _GNU_SOURCE
#include <wavesan/kernel_replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t pass_count(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  (void)user;
  return strstr(dispatch->kernel_name, "spin") ? 1 : 3; /* whoever spins cannot be repeated */
}

static void cut_short(void) {
  for (int fd = 3; fd < 256; ++fd) {
    char link[64], target[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, target, sizeof target - 1) > 0 && strstr(target, "(deleted)") && strstr(target, "snapshots"))
      if (ftruncate(fd, 4096) == 0)
        printf("tool: cut short\n");
  }
}

static void callback(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                     wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user, void *arguments) {
  (void)user, (void)arguments;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = pass_count;
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_EXIT && payload->declined)
    printf("tool: %s declined %s\n", payload->dispatch.kernel_name, payload->declined);
  if (operation == WAVESAN_REPLAY_SNAPSHOT) {
    uint64_t sum = 0;
    for (int i = 0; i < WAVESAN_TIER_LAST; ++i)
      sum += payload->tier_bytes[i];
    printf("tool: %s %s device %llu pinned %llu pageable %llu file %llu%s%s\n", payload->dispatch.kernel_name,
           phase == WAVESAN_REPLAY_ENTER ? "will save" : "saved",
           (unsigned long long)payload->tier_bytes[WAVESAN_TIER_DEVICE],
           (unsigned long long)payload->tier_bytes[WAVESAN_TIER_PINNED],
           (unsigned long long)payload->tier_bytes[WAVESAN_TIER_PAGEABLE],
           (unsigned long long)payload->tier_bytes[WAVESAN_TIER_FILE], sum == payload->bytes ? "" : " WRONG SUM",
           payload->nanoseconds || !payload->bytes ? "" : " NO TIME");
  }
  if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_EXIT && payload->current_pass == 0 && getenv("TIERS_TRUNCATE"))
    cut_short();
  if (operation == WAVESAN_REPLAY_RESTORE && phase == WAVESAN_REPLAY_EXIT)
    printf("tool: %s restored %llu bytes\n", payload->dispatch.kernel_name, (unsigned long long)payload->bytes);
  fflush(stdout);
}

int wavesan_tool_init(const wavesan_replay_api_t *api) {
  static wavesan_replay_subscription_t subscription = {sizeof(subscription), callback, NULL, 0, 0};
  return api->subscribe(&subscription) != WAVESAN_REPLAY_SUCCESS;
}
