// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into a program of the suite, makes graphs of all that it puts into streams: the commands between two points where the host waits become
// one graph over all streams, which is run at the second of them. Its functions stand in front of HIP's for the program alone (they are
// hidden), so that what reaches HIP is recorded there.
//
// The default stream cannot be recorded: what is put into it ends a graph, and is executed.
#include "record_graph.h"

#include <hip/hip_runtime_api.h>

#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <set>

namespace {

hipStream_t root = nullptr;
hipEvent_t forked = nullptr;
bool capturing = false;
int graphs = 0, nodes = 0;
std::map<hipStream_t, hipEvent_t> joined;    ///< streams of the program in this capture, and the event that joins them
std::set<hipEvent_t> recordedInside, passed; ///< events recorded in this capture, and in those that have been run

template <class Type> Type *real(Type *, const char *name) {
  auto *found = reinterpret_cast<Type *>(dlsym(RTLD_NEXT, name));
  if (!found) {
    std::fprintf(stderr, "graph mode: no %s\n", name);
    std::exit(3);
  }
  return found;
}
#define REAL(Name) real(&Name, #Name)

void must(hipError_t error, const char *what) {
  if (error != hipSuccess) {
    std::fprintf(stderr, "graph mode: %s: error %d\n", what, int(error));
    std::exit(3);
  }
}
void must(wavesan_graph_result_t result, const char *what) { twin::graph::must(result, what); }

bool isDefault(hipStream_t stream) { return reinterpret_cast<uintptr_t>(stream) < 3; }

/// The stream takes part in the capture from here on.
void join(hipStream_t stream) {
  if (!root) {
    must(REAL(hipStreamCreateWithFlags)(&root, hipStreamNonBlocking), "hipStreamCreateWithFlags");
    must(hipEventCreateWithFlags(&forked, hipEventDisableTiming), "hipEventCreateWithFlags");
  }
  if (!capturing) {
    must(wavesan_graph_begin_capture(root, WAVESAN_GRAPH_CAPTURE_RELAXED), "begin_capture");
    must(REAL(hipEventRecord)(forked, root), "hipEventRecord");
    capturing = true;
  }
  if (joined.contains(stream))
    return;
  hipEvent_t event = nullptr;
  must(hipEventCreateWithFlags(&event, hipEventDisableTiming), "hipEventCreateWithFlags");
  must(REAL(hipStreamWaitEvent)(stream, forked, 0), "hipStreamWaitEvent");
  joined[stream] = event;
}

/// Runs what has been recorded, and waits for it.
void flush() {
  if (!capturing)
    return;
  for (const auto &[stream, event] : joined) {
    must(REAL(hipEventRecord)(event, stream), "hipEventRecord");
    must(REAL(hipStreamWaitEvent)(root, event, 0), "hipStreamWaitEvent");
  }
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t executable = nullptr;
  must(wavesan_graph_end_capture(root, &graph), "end_capture");
  capturing = false;
  must(wavesan_graph_visit(
           graph,
           [](const wavesan_graph_node_info_t *, void *) {
             ++nodes;
             return 0;
           },
           nullptr),
       "visit");
  ++graphs;
  must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  must(REAL(hipDeviceSynchronize)(), "hipDeviceSynchronize"); // what was executed directly
  must(wavesan_graph_append(root, executable, nullptr, 0, nullptr), "append");
  must(REAL(hipStreamSynchronize)(root), "hipStreamSynchronize");
  must(wavesan_executable_graph_destroy(executable), "executable_graph_destroy");
  must(wavesan_graph_destroy(graph), "destroy");
  for (const auto &[_, event] : joined)
    must(hipEventDestroy(event), "hipEventDestroy");
  joined.clear();
  passed.insert(recordedInside.begin(), recordedInside.end());
  recordedInside.clear();
}

__attribute__((destructor)) void say() { std::printf("graph mode: %d graphs, %d nodes\n", graphs, nodes); }

bool isPageable(const void *memory) {
  hipPointerAttribute_t attributes;
  if (hipPointerGetAttributes(&attributes, memory) == hipSuccess)
    return false;
  static_cast<void>(hipGetLastError());
  return true;
}

void before(hipStream_t stream) {
  if (isDefault(stream))
    flush();
  else
    join(stream);
}

} // namespace

// HIP's header declares them visible.
__asm__(".hidden hipLaunchKernel");
__asm__(".hidden hipMemcpyAsync");
__asm__(".hidden hipMemsetAsync");
__asm__(".hidden hipEventRecord");
__asm__(".hidden hipStreamWaitEvent");
__asm__(".hidden hipStreamSynchronize");
__asm__(".hidden hipStreamQuery");
__asm__(".hidden hipDeviceSynchronize");
__asm__(".hidden hipEventSynchronize");
__asm__(".hidden hipEventQuery");
__asm__(".hidden hipMemcpy");
__asm__(".hidden hipMemset");
__asm__(".hidden hipMemsetD32");
__asm__(".hidden hipFree");
__asm__(".hidden hipMallocAsync");
__asm__(".hidden hipFreeAsync");

// Recorded.
extern "C" hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t bytes, hipStream_t stream) {
  before(stream);
  return REAL(hipLaunchKernel)(function, grid, block, arguments, bytes, stream);
}
extern "C" hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  if (isPageable(to) || isPageable(from)) // has ended when it returns, which a node has not
    flush();
  else
    before(stream);
  return REAL(hipMemcpyAsync)(to, from, bytes, kind, stream);
}
extern "C" hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  before(stream);
  return REAL(hipMemsetAsync)(to, value, bytes, stream);
}
extern "C" hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  before(stream);
  passed.erase(event);
  if (!isDefault(stream))
    recordedInside.insert(event);
  return REAL(hipEventRecord)(event, stream);
}
extern "C" hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  if (passed.contains(event)) // what it was recorded behind has been run, and waited for
    return hipSuccess;
  if (recordedInside.contains(event))
    before(stream);
  else
    flush();
  return REAL(hipStreamWaitEvent)(stream, event, flags);
}

// Points where the host waits, or calls that are executed at once.
extern "C" hipError_t hipStreamSynchronize(hipStream_t stream) {
  flush();
  return REAL(hipStreamSynchronize)(stream);
}
extern "C" hipError_t hipStreamQuery(hipStream_t stream) {
  flush();
  return REAL(hipStreamQuery)(stream);
}
extern "C" hipError_t hipDeviceSynchronize() {
  flush();
  return REAL(hipDeviceSynchronize)();
}
extern "C" hipError_t hipEventSynchronize(hipEvent_t event) {
  flush();
  return passed.contains(event) ? hipSuccess : REAL(hipEventSynchronize)(event);
}
extern "C" hipError_t hipEventQuery(hipEvent_t event) {
  flush();
  return passed.contains(event) ? hipSuccess : REAL(hipEventQuery)(event);
}
extern "C" hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  flush();
  return REAL(hipMemcpy)(to, from, bytes, kind);
}
extern "C" hipError_t hipMemset(void *to, int value, size_t bytes) {
  flush();
  return REAL(hipMemset)(to, value, bytes);
}
extern "C" hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  flush();
  return REAL(hipMemsetD32)(to, value, count);
}
extern "C" hipError_t hipFree(void *memory) {
  flush();
  return REAL(hipFree)(memory);
}
extern "C" hipError_t hipMallocAsync(void **memory, size_t bytes, hipStream_t stream) {
  flush();
  return real<hipError_t(void **, size_t, hipStream_t)>(nullptr, "hipMallocAsync")(memory, bytes, stream); // overloaded
}
extern "C" hipError_t hipFreeAsync(void *memory, hipStream_t stream) {
  flush();
  return REAL(hipFreeAsync)(memory, stream);
}
