// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of HIP as nodes: what graph.h lists as recorded.
#include "capture.h"

#include <algorithm>

namespace wavesan::graph {

using hip::CallArguments;
using hip::CallId;

namespace {

constexpr uint64_t kMaxRows = 1 << 12; ///< more are not looked at one by one

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
  // HIP looks at it when a graph is launched: too late to know which kernel it was.
  auto limitByAddress = [&](const void *function) {
    hip::FunctionAttributes attributes = {};
    const bool known = h.hipFuncGetAttributes && h.hipFuncGetAttributes(&attributes, function) == hip::kHipSuccess;
    return known ? uint32_t(std::max(attributes.maxDynamicGroupBytes, 0)) : UINT32_MAX;
  };
  auto limitByHandle = [&](const void *function) {
    constexpr int kMaxDynamicGroupBytes = 8;
    int limit = 0;
    const bool known =
        h.hipFuncGetAttribute && h.hipFuncGetAttribute(&limit, kMaxDynamicGroupBytes, function) == hip::kHipSuccess;
    return known ? uint32_t(std::max(limit, 0)) : UINT32_MAX;
  };
  auto kernel = [&](const void *function, const char *name, uint32_t maxGroupBytes, Dim3 grid, Dim3 workgroup,
                    const void *arguments, const void *extra, uint32_t groupBytes) {
    node.type = WAVESAN_GRAPH_NODE_KERNEL;
    node.name = streams::displayName(name);
    setShape(node, grid, workgroup);
    node.groupBytes = groupBytes;
    node.launched = function;
    node.byExtra = extra;
    node.maxGroupBytes = maxGroupBytes;
    if (groupBytes > maxGroupBytes)
      return refuse(stream, kHipErrorOutOfMemory);
    // A kernel without arguments may be launched without either; HIP's nodes want one.
    void *none[1] = {};
    const KernelNodeParams params = {workgroup,
                                     static_cast<void **>(const_cast<void *>(extra)),
                                     function,
                                     grid,
                                     arguments || extra ? static_cast<void **>(const_cast<void *>(arguments)) : none,
                                     groupBytes};
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
    if (pitch == width || height == 1)
      touch(at, width * height, write);
    else if (height > kMaxRows)
      node.touchedKnown = false;
    else
      for (uint64_t y = 0; y < height; ++y)
        touch(static_cast<const char *>(at) + y * pitch, width, write);
  };
  // HIP 5.2.3's copy nodes between host memory that it does not know fail when the graph is launched, or crash.
  auto isPageable = [&](const void *at) {
    hip::PointerAttributes attributes = {};
    return h.hipPointerGetAttributes && h.hipPointerGetAttributes(&attributes, at) != hip::kHipSuccess;
  };
  auto copy = [&](const void *to, const void *from, uint64_t bytes, int kind) {
    if (isPageable(to) && isPageable(from))
      return refuse(stream, kHipErrorCaptureUnsupported);
    node.type = WAVESAN_GRAPH_NODE_COPY;
    node.to = to;
    node.from = from;
    node.bytes = bytes;
    node.plain = true;
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
    // HIP 5.2.3 fills with the size of an element where there is more than one row: each row is a node of HIP's graph.
    if (pitch == width * element) {
      width *= height;
      height = 1;
    }
    if (height == 0)
      return int(hip::kHipSuccess); // nothing
    if (height > kMaxRows)
      return refuse(stream, kHipErrorCaptureUnsupported);
    // HIP 5.2.3 fills what lies in front of the next multiple of eight bytes first, however little was asked for.
    const auto isTooNarrow = [&](uint64_t y) {
      const uint64_t row = reinterpret_cast<uint64_t>(to) + y * pitch;
      return width != 0 && width * element < (8 - row % 8) % 8;
    };
    for (uint64_t y = 0; y < height; ++y)
      if (isTooNarrow(y))
        return refuse(stream, kHipErrorCaptureUnsupported);
    node.plain = height == 1;
    return addNode(stream, std::move(node), [&](HipNode *made, HipGraph graph, const HipNode *before, uint64_t count) {
      int result = hip::kHipSuccess;
      for (uint64_t y = 0; y < height && result == hip::kHipSuccess; ++y) {
        const FillParams row = {static_cast<char *>(const_cast<void *>(to)) + y * pitch, element, 1, 0, value, width};
        const HipNode last = *made;
        result = h.hipGraphAddMemsetNode(made, graph, y ? &last : before, y ? 1 : count, &row);
      }
      return result;
    });
  };
  // A launch with events records one in front of the kernel and one behind it.
  auto withEvents = [&](const auto &launch) {
    int result = a.events[0] ? recordIn(stream, a.events[0], false) : int(hip::kHipSuccess);
    if (result == hip::kHipSuccess)
      result = launch();
    if (result == hip::kHipSuccess && a.events[1])
      result = recordIn(stream, a.events[1], false);
    return result;
  };
  /// With the address of n[1] bytes behind the beginning of a variable that has n[0] bytes from there on.
  auto withSymbol = [&](const void *symbol, const auto &use) {
    void *variable = nullptr;
    uint64_t size = 0;
    if (!h.hipGetSymbolAddress || !h.hipGetSymbolSize)
      return refuse(stream, kHipErrorCaptureUnsupported);
    int result = h.hipGetSymbolAddress(&variable, symbol);
    if (result == hip::kHipSuccess)
      result = h.hipGetSymbolSize(&size, symbol);
    if (result == hip::kHipSuccess && (n[1] > size || n[0] > size - n[1]))
      result = kHipErrorInvalidValue;
    return result == hip::kHipSuccess ? use(static_cast<char *>(variable) + n[1]) : refuse(stream, result);
  };
  auto copyRows = [&](const Copy3DParams &params) {
    if (!params.fromArray && !params.toArray && isPageable(params.from.pointer) && isPageable(params.to.pointer))
      return refuse(stream, kHipErrorCaptureUnsupported);
    node.type = WAVESAN_GRAPH_NODE_COPY;
    const Extent &e = params.extent;
    node.touchedKnown = !params.fromArray && !params.toArray && e.height * e.depth <= kMaxRows;
    node.bytes = params.fromArray || params.toArray ? 0 : e.width * e.height * e.depth; // arrays count in elements
    auto side = [&](const PitchedPtr &at, const hip::Position &position, bool write, const void *&first) {
      for (uint64_t z = 0; z < e.depth; ++z)
        for (uint64_t y = 0; y < e.height; ++y) {
          const void *row = static_cast<const char *>(at.pointer) + (position.z + z) * at.pitch * at.ySize +
                            (position.y + y) * at.pitch + position.x;
          first = first ? first : row;
          if (node.touchedKnown)
            touch(row, e.width, write);
          else
            return;
        }
    };
    if (!params.toArray)
      side(params.to, params.toPosition, true, node.to);
    if (!params.fromArray)
      side(params.from, params.fromPosition, false, node.from);
    return addNode(stream, std::move(node), [&](auto... at) { return h.hipGraphAddMemcpyNode(at..., &params); });
  };
  constexpr int kToDevice = 1, kToHost = 2, kOnDevice = 3;
  switch (id) {
  case CallId::hipLaunchKernel:
  case CallId::hipLaunchKernel_spt:
    return kernel(p[0], byAddress(p[0]), limitByAddress(p[0]), a.dims[0], a.dims[1], p[1], nullptr, uint32_t(n[0]));
  case CallId::hipExtLaunchKernel:
    if (n[1])
      break;
    return withEvents([&] {
      return kernel(p[0], byAddress(p[0]), limitByAddress(p[0]), a.dims[0], a.dims[1], p[1], nullptr, uint32_t(n[0]));
    });
  case CallId::hipModuleLaunchKernel:
    return kernel(p[0], byHandle(p[0]), limitByHandle(p[0]), {uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2])},
                  {uint32_t(n[3]), uint32_t(n[4]), uint32_t(n[5])}, p[1], p[2], uint32_t(n[6]));
  case CallId::hipHccModuleLaunchKernel: // has no flags, which are 0 then
  case CallId::hipExtModuleLaunchKernel: // the grid of both is in work-items
    if (n[7] || !n[3] || !n[4] || !n[5] || n[0] % n[3] || n[1] % n[4] || n[2] % n[5])
      break;
    return withEvents([&] {
      return kernel(p[0], byHandle(p[0]), limitByHandle(p[0]),
                    {uint32_t(n[0] / n[3]), uint32_t(n[1] / n[4]), uint32_t(n[2] / n[5])},
                    {uint32_t(n[3]), uint32_t(n[4]), uint32_t(n[5])}, p[1], p[2], uint32_t(n[6]));
    });
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
    if (isPageable(p[0]) && isPageable(p[1]))
      return refuse(stream, kHipErrorCaptureUnsupported);
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
    return withSymbol(p[0], [&](char *variable) { return copy(variable, p[1], n[0], int(n[2])); });
  case CallId::hipMemcpyFromSymbolAsync:
  case CallId::hipMemcpyFromSymbolAsync_spt:
    return withSymbol(p[1], [&](char *variable) { return copy(p[0], variable, n[0], int(n[2])); });
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
  case CallId::hipMemset3DAsync:
  case CallId::hipMemset3DAsync_spt: { // HIP's nodes have two dimensions: the slices must be as far apart as their rows
    const Extent &e = a.extent;
    if (e.depth != 1 && a.pitched.ySize != e.height)
      break;
    return fill(a.pitched.pointer, 1, a.pitched.pitch, e.width, e.height * e.depth, uint8_t(n[0]));
  }
  case CallId::hipMemcpy3DAsync:
  case CallId::hipMemcpy3DAsync_spt: {
    if (!p[0])
      return refuse(stream, kHipErrorInvalidValue);
    return copyRows(*static_cast<const Copy3DParams *>(p[0]));
  }
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
