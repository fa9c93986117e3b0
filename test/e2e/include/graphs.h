// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs with explicit graphs of HIP share. They call HIP themselves, so that reports name their lines.
#ifndef WAVESAN_TEST_E2E_GRAPHS_H
#define WAVESAN_TEST_E2E_GRAPHS_H

#include "streams.h"

#include <tuple>

namespace twin {

/// Parameters of a kernel node. Lives while they are used.
template <class... P> class KernelNode {
public:
  KernelNode(void (*function)(P...), std::tuple<P...> arguments) : Arguments(arguments) {
    std::apply([this](P &...each) { size_t n = 0; ((Pointers[n++] = const_cast<void *>(static_cast<const void *>(&each))), ...); },
               Arguments);
    Params.func = reinterpret_cast<void *>(function);
    Params.gridDim = dim3(kCount / kGroup);
    Params.blockDim = dim3(kGroup);
    Params.kernelParams = Pointers;
  }
  KernelNode(const KernelNode &) = delete;
  const hipKernelNodeParams *operator&() const { return &Params; }

private:
  std::tuple<P...> Arguments;
  void *Pointers[sizeof...(P)];
  hipKernelNodeParams Params{};
};

/// `count` numbers.
inline hipMemsetParams fillNode(int *to, int value, size_t count = kCount) {
  hipMemsetParams params{};
  params.dst = to;
  params.elementSize = sizeof(int);
  params.height = 1;
  params.pitch = count * sizeof(int);
  params.value = unsigned(value);
  params.width = count;
  return params;
}

inline hipGraph_t newGraph() {
  hipGraph_t graph;
  must(hipGraphCreate(&graph, 0), "hipGraphCreate");
  return graph;
}

/// Instantiates it, launches it and waits.
inline void launchGraph(hipGraph_t graph, hipStream_t stream, int times = 1) {
  hipGraphExec_t exec;
  must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  for (int i = 0; i < times; ++i)
    must(hipGraphLaunch(exec, stream), "hipGraphLaunch");
  must(hipStreamSynchronize(stream), "hipStreamSynchronize");
}

} // namespace twin

#endif // WAVESAN_TEST_E2E_GRAPHS_H
