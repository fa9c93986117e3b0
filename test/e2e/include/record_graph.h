// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs that record graphs share.
#ifndef WAVESAN_TEST_E2E_GRAPH_H
#define WAVESAN_TEST_E2E_GRAPH_H

#include <wavesan/graph.h>

#include <cstdio>
#include <cstdlib>

namespace twin::graph {

inline void must(wavesan_graph_result_t result, const char *what) {
  if (result == WAVESAN_GRAPH_SUCCESS)
    return;
  std::fprintf(stderr, "%s: result %d, HIP's error %d\n", what, int(result), wavesan_graph_hip_error());
  std::exit(3);
}

} // namespace twin::graph

#endif // WAVESAN_TEST_E2E_GRAPH_H
