/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernel replay: runs one dispatch several times from the same memory. The application sees one dispatch.
 *
 * A tool is a shared library that exports wavesan_tool_init (below); the option tool=FILE of WaveSan loads it. It subscribes one callback, which
 * WaveSan calls for every dispatch that could be replayed. For one dispatch, all on the thread that submits it, in this order:
 *
 *   CONFIG ENTER            the tool sets pass_count, and continue_loop if it wants to end early
 *   pass_count()            0 to N passes, see wavesan_replay_pass_count_t
 *     SNAPSHOT ENTER, EXIT  memory is saved: bytes and regions known at ENTER, time at EXIT
 *   CONFIG EXIT             what was decided: total_passes, or why the dispatch is not replayed (declined)
 *   for each pass
 *     PASS ENTER            start_context and stop_context may be called, here and nowhere else
 *     the dispatch
 *     PASS EXIT             what the pass produced (start_ns, end_ns, digest)
 *     continue_loop()       whether another pass follows; never after the last of N passes
 *     RESTORE ENTER, EXIT   memory as before the first pass; only if another pass follows
 *
 * SNAPSHOT, RESTORE and PASS do not happen for a dispatch that is not replayed; CONFIG EXIT always does. The last pass that ran leaves the memory
 * that the application sees, and the application's completion signal is completed once, after it.
 *
 * Plain C, no other header of WaveSan is needed. Structures begin with their size: the callee reads and writes no more than both sides know, so a
 * tool built against an older header works with a newer WaveSan. The rules are those of rocprofiler-sdk's kernel replay service (beta) under
 * this project's names; docs/replay.md lists them and what is different here. */
#ifndef WAVESAN_KERNEL_REPLAY_H
#define WAVESAN_KERNEL_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WAVESAN_REPLAY_API_VERSION 4u /* 2: tracked_bytes, graph_nodes; 3: tier_bytes, ranges; 4: dispatch_accesses */

typedef enum wavesan_replay_status {
  WAVESAN_REPLAY_SUCCESS = 0,
  WAVESAN_REPLAY_ERROR_CONTEXT = 1,          /* a localized call outside of PASS ENTER */
  WAVESAN_REPLAY_ERROR_SUBSCRIBED = 2,       /* there is a subscriber already */
  WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED = 3,   /* unsubscribe without a subscriber */
  WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT = 4, /* null, a size that is too small, an unknown context or operation */
  WAVESAN_REPLAY_ERROR_NOT_PROVIDED = 5,     /* this WaveSan does not provide the context */
  WAVESAN_REPLAY_ERROR_RANGE = 6 /* begin_range inside of a range or a callback, end_range without a range or inside of a callback */
} wavesan_replay_status_t;

typedef enum wavesan_replay_operation {
  WAVESAN_REPLAY_NONE = 0,
  WAVESAN_REPLAY_CONFIG = 1,
  WAVESAN_REPLAY_PASS = 2,
  WAVESAN_REPLAY_SNAPSHOT = 3,
  WAVESAN_REPLAY_RESTORE = 4,
  WAVESAN_REPLAY_LAST = 5
} wavesan_replay_operation_t;

typedef enum wavesan_replay_phase { WAVESAN_REPLAY_ENTER = 1, WAVESAN_REPLAY_EXIT = 2 } wavesan_replay_phase_t;

/* WaveSan's services that can differ from pass to pass. There are no hardware counters, PC sampling or thread trace. */
typedef enum wavesan_replay_context {
  WAVESAN_CONTEXT_RACE_CHECK = 0,      /* the pass runs the kernel's instrumented twin; active from the start */
  WAVESAN_CONTEXT_DISPATCH_TIMING = 1, /* start_ns and end_ns of PASS EXIT */
  WAVESAN_CONTEXT_OUTPUT_DIGEST = 2,   /* digest of PASS EXIT: a 64-bit hash of all memory of the snapshot, after the pass */
  WAVESAN_CONTEXT_SCHEDULE_PERTURBATION = 3, /* CPU agent: each pass has a seed of its own, and workgroups take turns as it says */
  WAVESAN_CONTEXT_ACCESS_TRACE = 4, /* CPU agent, passes with RACE_CHECK: what the pass touched in global memory */
  WAVESAN_CONTEXT_LAST = 5
} wavesan_replay_context_t;

/* Where saved memory lies. Each tier has a budget (options replay_device_mb, replay_pinned_mb, replay_budget_mb, replay_file_mb), and they are
 * filled in this order. */
typedef enum wavesan_replay_tier {
  WAVESAN_TIER_DEVICE = 0,   /* the agent's own memory */
  WAVESAN_TIER_PINNED = 1,   /* host memory that the agent can reach */
  WAVESAN_TIER_PAGEABLE = 2, /* other host memory */
  WAVESAN_TIER_FILE = 3,
  WAVESAN_TIER_LAST = 4
} wavesan_replay_tier_t;

/* The same in every callback of one dispatch. Valid during the callback. */
typedef struct wavesan_replay_dispatch_info {
  size_t size;
  uint64_t dispatch_id; /* WaveSan's number of the dispatch, as in its reports; counted once for all passes */
  uint64_t queue_id;    /* WaveSan's number of the queue */
  uint64_t agent;       /* handle of the HSA agent */
  uint64_t thread_id;   /* of the submitting thread */
  uint64_t correlation_id;          /* unique for the sequence */
  uint64_t ancestor_correlation_id; /* of the HIP call that launched it; 0: not known */
  const char *kernel_name;          /* linkage name */
  uint32_t grid_size[3];            /* work-items */
  uint32_t workgroup_size[3];
  uint32_t group_segment_bytes, private_segment_bytes;
} wavesan_replay_dispatch_info_t;

/* What a tool may keep for one dispatch: written in CONFIG ENTER, the same object in all later callbacks. */
typedef union wavesan_replay_user_data {
  uint64_t value;
  void *pointer;
} wavesan_replay_user_data_t;

/* How many passes:
 *   pass_count not set     not replayed
 *   1                      not replayed: one pass needs no snapshot
 *   N > 1                  N passes; fewer if continue_loop is set and returns 0
 *   0 with continue_loop   passes until continue_loop returns 0, or until the limits of the options replay_max_passes and
 *                          replay_max_seconds are reached; total_passes is 0
 *   0 without it           a warning; not replayed */
typedef uint64_t (*wavesan_replay_pass_count_t)(const wavesan_replay_dispatch_info_t *dispatch,
                                                wavesan_replay_user_data_t *user_data);

/* After PASS EXIT of pass `pass` (from 0). Not 0: another pass. */
typedef int (*wavesan_replay_continue_t)(const wavesan_replay_dispatch_info_t *dispatch, uint64_t pass,
                                         wavesan_replay_user_data_t *user_data);

/* For the passes of this dispatch from now on. Only masks what has been started outside: starting a context locally that is not active
 * globally has no effect. Legal during PASS ENTER, on the thread of the callback; else WAVESAN_REPLAY_ERROR_CONTEXT. */
typedef wavesan_replay_status_t (*wavesan_replay_context_call_t)(wavesan_replay_context_t context);

enum { WAVESAN_ACCESS_READ = 1, WAVESAN_ACCESS_WRITE = 2, WAVESAN_ACCESS_ATOMIC = 4 };

/* Bytes [begin, end) of global memory that a pass touched, with one of the source lines that did. Of each byte that is one plain
 * write; without one, an atomic write and a plain read; without any write, reads. */
typedef struct wavesan_access {
  uint64_t begin, end;
  const char *file; /* null: unknown */
  uint32_t line;    /* 0: unknown */
  uint32_t kind;    /* WAVESAN_ACCESS_* */
} wavesan_access_t;

/* Members that do not belong to the operation are 0. */
typedef struct wavesan_replay_payload {
  size_t size;
  wavesan_replay_dispatch_info_t dispatch;

  /* CONFIG ENTER: set by the tool. */
  wavesan_replay_pass_count_t pass_count;
  wavesan_replay_continue_t continue_loop;

  /* CONFIG EXIT, PASS. */
  uint64_t total_passes; /* 0: until continue_loop ends it */
  /* CONFIG EXIT: null if replayed; else the reason, one of the words in docs/replay.md. A string that is never freed. */
  const char *declined;

  /* PASS. */
  uint64_t current_pass; /* from 0 */
  wavesan_replay_context_call_t start_context; /* ENTER */
  wavesan_replay_context_call_t stop_context;  /* ENTER */
  uint64_t start_ns, end_ns; /* EXIT, with DISPATCH_TIMING: the system's time stamps of the dispatch in nanoseconds */
  uint64_t digest; /* EXIT, with OUTPUT_DIGEST; also of SNAPSHOT EXIT and RESTORE EXIT, where it must be the same */
  uint32_t active_contexts;  /* EXIT: bit c: context c took part in the pass */

  /* SNAPSHOT, RESTORE. */
  uint64_t bytes, regions; /* kept, at most: that many have room (see copied_bytes); RESTORE EXIT: bytes that differed and were written back */
  uint64_t nanoseconds;    /* ENTER: predicted; EXIT: taken */

  /* PASS EXIT, with SCHEDULE_PERTURBATION: the seed of the wave scheduler, the one of the options plus current_pass. */
  uint64_t seed;
  /* PASS EXIT, with ACCESS_TRACE; of a range dispatch by dispatch. Valid during the callback. */
  const wavesan_access_t *accesses;
  uint64_t access_count;
  uint64_t accesses_lost; /* not recorded: the memory for them is limited */

  /* SNAPSHOT: bytes of all memory that the process could give to a kernel. `bytes` is less where the kernel's stores are known. */
  uint64_t tracked_bytes;
  /* A launch of a graph as the range: its nodes, and kernel_name is "(graph)". 0: a dispatch. */
  uint64_t graph_nodes;

  /* SNAPSHOT: of `bytes`, those in each tier. ENTER: as the budgets allow; EXIT: as it is. */
  uint64_t tier_bytes[WAVESAN_TIER_LAST];
  /* A range (begin_range) of several dispatches: how many, and kernel_name is "(range)". 0: a dispatch or a graph. */
  uint64_t range_dispatches;

  /* PASS EXIT, with ACCESS_TRACE: how many of `accesses` are those of each dispatch, in their order: range_dispatches numbers, one if that is 0. */
  const uint64_t *dispatch_accesses;

  /* SNAPSHOT EXIT, RESTORE EXIT: of the snapshot's `bytes`, those that have been copied so far. All of them; or on the CPU agent, where each chunk of
   * 64 KiB is copied when it is first written, those of the chunks that have been written. */
  uint64_t copied_bytes;

  /* RESTORE EXIT: bytes of memory that were compared with what was saved: those of the snapshot that may have been
   * written, as far as that is known (docs/replay.md, "Touched chunks"). */
  uint64_t compared_bytes;
} wavesan_replay_payload_t;

typedef void (*wavesan_replay_callback_t)(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase,
                                          wavesan_replay_payload_t *payload, wavesan_replay_user_data_t *user_data,
                                          void *callback_args);

typedef struct wavesan_replay_subscription {
  size_t size;
  wavesan_replay_callback_t callback;
  void *callback_args;
  /* Bit o: operation o is delivered; 0: all. Without CONFIG nothing is replayed. */
  uint32_t operations;
  /* 1: a launch of a graph is one range, with all its nodes, in place of its dispatches; docs/replay.md. One that is declined is launched once, and
   * its dispatches are offered. */
  uint32_t graphs;
} wavesan_replay_subscription_t;

/* What became of a range. */
typedef struct wavesan_replay_range {
  size_t size; /* set by the caller */
  uint64_t dispatches; /* that it got */
  uint64_t passes;     /* 0: not replayed */
  const char *declined; /* null if replayed; else the reason, one of the words in docs/replay.md. A string that is never freed. */
} wavesan_replay_range_t;

/* All functions may be called from any thread at any time, callbacks included; unsubscribe() takes effect for the next dispatch. */
typedef struct wavesan_replay_api {
  size_t size;
  uint32_t version; /* WAVESAN_REPLAY_API_VERSION of this WaveSan */
  wavesan_replay_status_t (*subscribe)(const wavesan_replay_subscription_t *subscription);
  wavesan_replay_status_t (*unsubscribe)(void);
  /* Globally: what passes start with. */
  wavesan_replay_status_t (*start_context)(wavesan_replay_context_t context);
  wavesan_replay_status_t (*stop_context)(wavesan_replay_context_t context);
  wavesan_replay_status_t (*context_is_active)(wavesan_replay_context_t context, int *active);
  const char *(*operation_name)(wavesan_replay_operation_t operation); /* null: unknown */
  const char *(*status_text)(wavesan_replay_status_t status);

  /* Since version 3. The dispatches that reach a queue between the two calls are one range: they are held back, and end_range() runs them as one
   * sequence of passes, with all callbacks on its thread, and returns when they are complete. One range at a time. A range that cannot be replayed
   * is given up as soon as that is known: what it holds goes to the queue and is offered dispatch by dispatch (docs/replay.md has the reasons).
   * `result` may be null. */
  wavesan_replay_status_t (*begin_range)(void);
  wavesan_replay_status_t (*end_range)(wavesan_replay_range_t *result);
} wavesan_replay_api_t;

/* A tool exports this. Called once, when WaveSan is loaded. Not 0: the tool cannot work; WaveSan says so and goes on without it. */
int wavesan_tool_init(const wavesan_replay_api_t *api);
/* Optional. Called once, when the process ends in an orderly way. */
void wavesan_tool_finish(void);

#ifdef __cplusplus
}
#endif

#endif /* WAVESAN_KERNEL_REPLAY_H */
