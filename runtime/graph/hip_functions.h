// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of HIP that recording is built on, with stand-ins for their types (test/hip compares them with HIP's
// header).
#ifndef WAVESAN_GRAPH_HIP_FUNCTIONS_H
#define WAVESAN_GRAPH_HIP_FUNCTIONS_H

#include "hip_types.h"

#include <type_traits>

namespace wavesan::graph {

using hip::Copy3DParams;
using hip::Dim3;
using hip::Event;
using hip::Extent;
using hip::FillParams;
using hip::HostParams;
using hip::KernelNodeParams;
using hip::PitchedPtr;
using hip::Stream;

struct OpaqueGraph;
struct OpaqueNode;
struct OpaqueExec;
using HipGraph = OpaqueGraph *;
using HipNode = OpaqueNode *;
using HipExec = OpaqueExec *;

/// hipError_t values, beside those of hip_types.h.
enum HipCode : int {
  kHipErrorInvalidValue = 1,
  kHipErrorOutOfMemory = 2,
  kHipErrorIllegalState = 401,
  kHipErrorCaptureUnsupported = 900,
  kHipErrorCaptureInvalidated = 901,
  kHipErrorCaptureMerge = 902,
  kHipErrorCaptureUnmatched = 903,
  kHipErrorCaptureUnjoined = 904,
  kHipErrorCaptureIsolation = 905,
  kHipErrorCaptureImplicit = 906,
  kHipErrorCapturedEvent = 907,
  kHipErrorCaptureWrongThread = 908,
};

/// X(Name, Type): name, and type of the function.
#define WAVESAN_GRAPH_HIP_FUNCTIONS(X)                                                                                 \
  X(hipGraphCreate, int(HipGraph *, uint32_t))                                                                         \
  X(hipGraphDestroy, int(HipGraph))                                                                                    \
  X(hipGraphAddKernelNode, int(HipNode *, HipGraph, const HipNode *, uint64_t, const KernelNodeParams *))              \
  X(hipGraphAddMemcpyNode, int(HipNode *, HipGraph, const HipNode *, uint64_t, const Copy3DParams *))                  \
  X(hipGraphAddMemcpyNode1D, int(HipNode *, HipGraph, const HipNode *, uint64_t, void *, const void *, uint64_t, int)) \
  X(hipGraphAddMemsetNode, int(HipNode *, HipGraph, const HipNode *, uint64_t, const FillParams *))                    \
  X(hipGraphAddHostNode, int(HipNode *, HipGraph, const HipNode *, uint64_t, const HostParams *))                      \
  X(hipGraphAddEventRecordNode, int(HipNode *, HipGraph, const HipNode *, uint64_t, Event))                            \
  X(hipGraphAddEventWaitNode, int(HipNode *, HipGraph, const HipNode *, uint64_t, Event))                              \
  X(hipGraphInstantiate, int(HipExec *, HipGraph, HipNode *, char *, uint64_t))                                        \
  X(hipGraphExecKernelNodeSetParams, int(HipExec, HipNode, const KernelNodeParams *))                                  \
  X(hipGraphExecMemcpyNodeSetParams1D, int(HipExec, HipNode, void *, const void *, uint64_t, int))                     \
  X(hipGraphExecMemsetNodeSetParams, int(HipExec, HipNode, const FillParams *))                                        \
  X(hipGraphExecDestroy, int(HipExec))                                                                                 \
  X(hipGraphLaunch, int(HipExec, Stream))                                                                              \
  X(hipStreamWaitEvent, int(Stream, Event, uint32_t))                                                                  \
  X(hipStreamQuery, int(Stream))                                                                                       \
  X(hipStreamIsCapturing, int(Stream, int *))                                                                          \
  X(hipStreamGetFlags, int(Stream, uint32_t *))                                                                        \
  X(hipEventCreateWithFlags, int(Event *, uint32_t))                                                                   \
  X(hipEventDestroy, int(Event))                                                                                       \
  X(hipEventRecord, int(Event, Stream))                                                                                \
  X(hipEventQuery, int(Event))                                                                                         \
  X(hipThreadExchangeStreamCaptureMode, int(int *))                                                                    \
  X(hipPointerGetAttributes, int(hip::PointerAttributes *, const void *))                                              \
  X(hipGetSymbolAddress, int(void **, const void *))                                                                   \
  X(hipGetSymbolSize, int(uint64_t *, const void *))                                                                   \
  X(hipFuncGetAttributes, int(hip::FunctionAttributes *, const void *))                                                \
  X(hipFuncGetAttribute, int(int *, int, const void *))                                                                \
  X(hipKernelNameRef, const char *(const void *))                                                                      \
  X(hipKernelNameRefByPtr, const char *(const void *, Stream))

/// Null where HIP lacks a function. They are the ones that the program would call: traces and the check of stream order
/// see the calls.
struct HipFunctions {
#define WAVESAN_GRAPH_MEMBER(Name, ...) std::add_pointer_t<__VA_ARGS__> Name = nullptr;
  WAVESAN_GRAPH_HIP_FUNCTIONS(WAVESAN_GRAPH_MEMBER)
#undef WAVESAN_GRAPH_MEMBER
  /// Whether graphs can be made and run.
  bool graphs() const;
  /// Whether libwavesan-hip.so stands in front of HIP's library.
  bool interposed = false;
};

/// Looked up at the first call. Thread-safe.
const HipFunctions &hipFunctions();

} // namespace wavesan::graph

#endif // WAVESAN_GRAPH_HIP_FUNCTIONS_H
