/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesan/waitcheck.h from C, from several threads at once. */
#include "wavesan/waitcheck.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char header[] = ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n";
static const char footer[] = " s_endpgm\n.Le:\n.size k, .Le-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n"
                             ".amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.end_amdhsa_kernel\n";

struct seen {
  int hazards, right;
};

static void on_hazard(const wavesan_waitcheck_hazard *h, void *user) {
  struct seen *s = user;
  ++s->hazards;
  s->right += h->code == 1 && h->confidence == WAVESAN_WAITCHECK_PROVEN && strcmp(h->registers, "v1") == 0 && strcmp(h->counter, "vmcnt") == 0 &&
              h->emitted_wait == 1 && h->sufficient_wait == 0 && strcmp(h->kernel, "k") == 0;
}

static int check(const char *wait, int expected, int hazards) {
  char text[1024], error[64];
  struct seen s = {0, 0};
  wavesan_waitcheck_summary summary;
  wavesan_waitcheck_options options;
  wavesan_waitcheck_default_options(&options);
  snprintf(text, sizeof text, "%s global_load_dword v1, v[2:3], off\n%s v_mov_b32 v4, v1\n%s", header, wait, footer);
  int status = wavesan_waitcheck_assembly(text, strlen(text), "gfx90a", &options, on_hazard, &s, &summary, error, sizeof error);
  if (status == expected && s.hazards == hazards && s.right == hazards && summary.kernels == 1)
    return 0;
  fprintf(stderr, "status %d, %d hazards, %d as expected, %s\n", status, s.hazards, s.right, error);
  return 1;
}

static void *many(void *failures) {
  for (int i = 0; i < 3; ++i)
    *(int *)failures += check(" s_waitcnt vmcnt(1)\n", WAVESAN_WAITCHECK_HAZARDS, 1) + check(" s_waitcnt vmcnt(0)\n", WAVESAN_WAITCHECK_CLEAN, 0);
  return NULL;
}

int main(void) {
  enum { threads = 4 };
  pthread_t t[threads];
  int failures[threads] = {0}, sum = 0;
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&t[i], NULL, many, &failures[i]) != 0)
      return 2;
  for (int i = 0; i < threads; ++i) {
    pthread_join(t[i], NULL);
    sum += failures[i];
  }
  printf("%d of %d checks failed\n", sum, threads * 6);
  return sum != 0;
}
