/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The wait checker for programs that hold GPU code in memory (kernel generators, run-time compilers).
 *
 * Thread-safe: every function may be called from any number of threads at once. No global state is kept between calls, except what LLVM
 * registers once per process. Nothing is printed. */
#ifndef WAVESAN_WAITCHECK_H
#define WAVESAN_WAITCHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wavesan_waitcheck_status {
  WAVESAN_WAITCHECK_CLEAN = 0,     /* no hazard, everything analysed */
  WAVESAN_WAITCHECK_HAZARDS = 1,   /* hazards found */
  WAVESAN_WAITCHECK_INCOMPLETE = 2 /* no hazard, but something could not be analysed: see the error text */
};

enum wavesan_waitcheck_confidence { WAVESAN_WAITCHECK_PROVEN = 0, WAVESAN_WAITCHECK_POSSIBLE = 1 };

typedef struct wavesan_waitcheck_options {
  size_t size;                /* of this struct, set by wavesan_waitcheck_default_options */
  const char *kernel_pattern; /* glob; NULL: all kernels */
  int proven_only;            /* leave out what is only possible */
  unsigned max_per_kernel;
  unsigned threads;
} wavesan_waitcheck_options;

typedef struct wavesan_waitcheck_place {
  uint64_t offset;         /* from the start of the function */
  const char *disassembly; /* empty if there is no such instruction */
  const char *file;        /* empty without a line table */
  unsigned line, column;
} wavesan_waitcheck_place;

/* All pointers are valid during the callback only. */
typedef struct wavesan_waitcheck_hazard {
  int code; /* 1..9, see docs/waitcheck.md */
  int confidence;
  const char *title;
  const char *kernel; /* or function */
  const char *target;
  const char *registers; /* "v[4:7]"; empty for LDS */
  const char *counter;   /* "vmcnt"; empty for wait states */
  int emitted_wait;      /* -1: none */
  int sufficient_wait;
  wavesan_waitcheck_place producer, consumer;
} wavesan_waitcheck_hazard;

typedef struct wavesan_waitcheck_summary {
  uint64_t objects, kernels, functions, instructions, hazards, not_analysed;
} wavesan_waitcheck_summary;

typedef void (*wavesan_waitcheck_callback)(const wavesan_waitcheck_hazard *hazard, void *user);

void wavesan_waitcheck_default_options(wavesan_waitcheck_options *options);

/* Checks an image: a code object, a bundle (compressed or not), a program, an archive. options, callback, summary and error may be NULL.
 * The callback runs on the calling thread. Returns a wavesan_waitcheck_status; with INCOMPLETE, or HAZARDS beside something not analysed,
 * error holds the first reason (cut to error_size, always terminated). */
int wavesan_waitcheck_image(const void *image, size_t size, const wavesan_waitcheck_options *options, wavesan_waitcheck_callback callback,
                            void *user, wavesan_waitcheck_summary *summary, char *error, size_t error_size);

/* The same for assembly text. target: as in -mcpu; may be NULL if the text has .amdgcn_target. */
int wavesan_waitcheck_assembly(const char *text, size_t size, const char *target, const wavesan_waitcheck_options *options,
                               wavesan_waitcheck_callback callback, void *user, wavesan_waitcheck_summary *summary, char *error,
                               size_t error_size);

#ifdef __cplusplus
}
#endif

#endif /* WAVESAN_WAITCHECK_H */
