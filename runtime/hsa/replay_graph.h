// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch of a graph as the range of a kernel replay: the whole launch, copies and fills included, runs again from the
// same memory.
#ifndef WAVESAN_HSA_REPLAY_GRAPH_H
#define WAVESAN_HSA_REPLAY_GRAPH_H

#include "packet_rewriter.h"

namespace wavesan::hsa {

class Tool;

/// From here on the interposer, if the process has one, offers launches of graphs.
void connectGraphReplay();

/// How dispatches of this thread are to be rewritten, because they belong to a pass of a graph; null: they do not.
struct GraphPass {
  bool checks; ///< they run as their twins
  PassOptions options;
};
const GraphPass *currentGraphPass();

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_GRAPH_H
