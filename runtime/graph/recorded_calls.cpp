// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of HIP as nodes: what graph.h lists as recorded.
#include "capture.h"

namespace wavesan::graph {

using hip::CallArguments;
using hip::CallId;

namespace {

/// `grid`: in workgroups. What a kernel touches is not known by its call.
void setShape(Node &node, Dim3 grid, Dim3 workgroup) {
  const uint32_t groups[] = {grid.x, grid.y, grid.z}, size[] = {workgroup.x, workgroup.y, workgroup.z};
  for (int i = 0; i < 3; ++i) {
    node.grid[i] = groups[i] * size[i];
    node.workgroup[i] = size[i];
  }
  node.touchedKnown = false;
}

} // namespace

int Captures::addCall(CapturedStream &stream, CallId id, const CallArguments &a) {
  const HipFunctions &h = hipFunctions();
  const void *const *p = a.pointers;
  const uint64_t *n = a.numbers;
  Node node;
  node.function = hip::infoOf(id).name;
  node.name = node.function;
  auto kernel = [&](const void *function, const char *name, Dim3 grid, Dim3 workgroup, const void *arguments,
                    const void *extra, uint32_t groupBytes) {
    node.type = WAVESAN_GRAPH_NODE_KERNEL;
    node.name = streams::displayName(name);
    setShape(node, grid, workgroup);
    node.groupBytes = groupBytes;
    node.launched = function;
    const KernelNodeParams params = {workgroup, static_cast<void **>(const_cast<void *>(extra)),     function,
                                     grid,      static_cast<void **>(const_cast<void *>(arguments)), groupBytes};
    return addNode(stream, std::move(node), [&](auto... to) { return h.hipGraphAddKernelNode(to..., &params); });
  };
  auto byAddress = [&](const void *function) {
    return h.hipKernelNameRefByPtr ? h.hipKernelNameRefByPtr(function, a.stream) : nullptr;
  };
  auto byHandle = [&](const void *function) { return h.hipKernelNameRef ? h.hipKernelNameRef(function) : nullptr; };
  auto touch = [&](const void *at, uint64_t bytes, bool write) {
    const auto begin = reinterpret_cast<uint64_t>(at);
    if (begin && bytes)
      node.touched.push_back({begin, begin + bytes, uint8_t(write ? abi::kAccessWrite : abi::kAccessRead)});
  };
  auto rows = [&](const void *at, uint64_t pitch, uint64_t width, uint64_t height, bool write) {
    constexpr uint64_t kMaxRows = 1 << 12; // more are not looked at one by one
    if (pitch == width || height == 1)
      touch(at, width * height, write);
    else if (height <= kMaxRows)
      for (uint64_t y = 0; y < height; ++y)
        touch(static_cast<const char *>(at) + y * pitch, width, write);
  };
  auto copy = [&](const void *to, const void *from, uint64_t bytes, int kind) {
    node.type = WAVESAN_GRAPH_NODE_COPY;
    node.to = to;
    node.from = from;
    node.bytes = bytes;
    node.plainCopy = true;
    touch(to, bytes, true);
    touch(from, bytes, false);
    return addNode(stream, std::move(node), [&](auto... at) {
      return h.hipGraphAddMemcpyNode1D(at..., const_cast<void *>(to), from, bytes, kind);
    });
  };
  auto fill = [&](const void *to, uint32_t element, uint64_t pitch, uint64_t width, uint64_t height, uint32_t value) {
    node.type = WAVESAN_GRAPH_NODE_FILL;
    node.to = to;
    node.bytes = width * height * element;
    rows(to, pitch, width * element, height, true);
    const FillParams params = {const_cast<void *>(to), element, height, pitch, value, width};
    return addNode(stream, std::move(node), [&](auto... at) { return h.hipGraphAddMemsetNode(at..., &params); });
  };
  constexpr int kToDevice = 1, kToHost = 2, kOnDevice = 3;
  switch (id) {
  case CallId::hipLaunchKernel:
  case CallId::hipLaunchKernel_spt:
    return kernel(p[0], byAddress(p[0]), a.dims[0], a.dims[1], p[1], nullptr, uint32_t(n[0]));
  case CallId::hipExtLaunchKernel:
    if (a.events[0] || a.events[1] || n[1])
      break;
    return kernel(p[0], byAddress(p[0]), a.dims[0], a.dims[1], p[1], nullptr, uint32_t(n[0]));
  case CallId::hipModuleLaunchKernel:
    return kernel(p[0], byHandle(p[0]), {uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2])},
                  {uint32_t(n[3]), uint32_t(n[4]), uint32_t(n[5])}, p[1], p[2], uint32_t(n[6]));
  case CallId::hipExtModuleLaunchKernel: { // its grid is in work-items
    if (a.events[0] || a.events[1] || n[7] || !n[3] || !n[4] || !n[5] || n[0] % n[3] || n[1] % n[4] || n[2] % n[5])
      break;
    return kernel(p[0], byHandle(p[0]), {uint32_t(n[0] / n[3]), uint32_t(n[1] / n[4]), uint32_t(n[2] / n[5])},
                  {uint32_t(n[3]), uint32_t(n[4]), uint32_t(n[5])}, p[1], p[2], uint32_t(n[6]));
  }
  case CallId::hipMemcpyAsync:
  case CallId::hipMemcpyAsync_spt:
    return copy(p[0], p[1], n[0], int(n[1]));
  case CallId::hipMemcpyHtoDAsync:
    return copy(p[0], p[1], n[0], kToDevice);
  case CallId::hipMemcpyDtoHAsync:
    return copy(p[0], p[1], n[0], kToHost);
  case CallId::hipMemcpyDtoDAsync:
    return copy(p[0], p[1], n[0], kOnDevice);
  case CallId::hipMemcpyPeerAsync:
    return copy(p[0], p[1], n[2], kOnDevice);
  case CallId::hipMemcpy2DAsync:
  case CallId::hipMemcpy2DAsync_spt: {
    node.type = WAVESAN_GRAPH_NODE_COPY;
    node.to = p[0];
    node.from = p[1];
    node.bytes = n[2] * n[3];
    rows(p[0], n[0], n[2], n[3], true);
    rows(p[1], n[1], n[2], n[3], false);
    Copy3DParams params = {};
    params.to = {const_cast<void *>(p[0]), n[0], n[2], n[3]};
    params.from = {const_cast<void *>(p[1]), n[1], n[2], n[3]};
    params.extent = {n[2], n[3], 1};
    params.kind = int(n[4]);
    return addNode(stream, std::move(node), [&](auto... at) { return h.hipGraphAddMemcpyNode(at..., &params); });
  }
  case CallId::hipMemcpyToSymbolAsync:
  case CallId::hipMemcpyToSymbolAsync_spt:
    if (!h.hipGraphAddMemcpyNodeToSymbol)
      break;
    node.type = WAVESAN_GRAPH_NODE_COPY;
    node.from = p[1];
    node.bytes = n[0];
    touch(p[1], n[0], false);
    return addNode(stream, std::move(node), [&](auto... at) {
      return h.hipGraphAddMemcpyNodeToSymbol(at..., p[0], p[1], n[0], n[1], int(n[2]));
    });
  case CallId::hipMemcpyFromSymbolAsync:
  case CallId::hipMemcpyFromSymbolAsync_spt:
    if (!h.hipGraphAddMemcpyNodeFromSymbol)
      break;
    node.type = WAVESAN_GRAPH_NODE_COPY;
    node.to = p[0];
    node.bytes = n[0];
    touch(p[0], n[0], true);
    return addNode(stream, std::move(node), [&](auto... at) {
      return h.hipGraphAddMemcpyNodeFromSymbol(at..., const_cast<void *>(p[0]), p[1], n[0], n[1], int(n[2]));
    });
  case CallId::hipMemsetAsync:
  case CallId::hipMemsetAsync_spt:
    return fill(p[0], 1, n[1], n[1], 1, uint8_t(n[0]));
  case CallId::hipMemsetD8Async:
    return fill(p[0], 1, n[1], n[1], 1, uint8_t(n[0]));
  case CallId::hipMemsetD16Async:
    return fill(p[0], 2, n[1] * 2, n[1], 1, uint16_t(n[0]));
  case CallId::hipMemsetD32Async:
    return fill(p[0], 4, n[1] * 4, n[1], 1, uint32_t(n[0]));
  case CallId::hipMemset2DAsync:
  case CallId::hipMemset2DAsync_spt:
    return fill(p[0], 1, n[0], n[2], n[3], uint8_t(n[1]));
  case CallId::hipLaunchHostFunc:
  case CallId::hipLaunchHostFunc_spt: {
    node.type = WAVESAN_GRAPH_NODE_HOST;
    const HostParams params = {reinterpret_cast<void (*)(void *)>(const_cast<void *>(p[0])), const_cast<void *>(p[1])};
    return addNode(stream, std::move(node), [&](auto... at) { return h.hipGraphAddHostNode(at..., &params); });
  }
  default:
    break;
  }
  return refuse(stream, kHipErrorCaptureUnsupported);
}

} // namespace wavesan::graph
