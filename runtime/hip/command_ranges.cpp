// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command_ranges.h"

#include <string_view>

namespace wavesan::hip {

namespace {

/// hipMemcpyKind.
enum CopyDirection : uint64_t { kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

/// Rows of a pitched copy that are told apart; more of them count as one block, gaps included.
constexpr uint64_t kMaxRows = 1 << 14;

struct Ranges {
  CommandRanges out;

  void add(const void *begin, uint64_t bytes, uint8_t bits) {
    const auto b = reinterpret_cast<uint64_t>(begin);
    if (b && bytes && b + bytes > b)
      out.ranges.push_back({b, b + bytes, bits});
  }
  void read(const void *begin, uint64_t bytes) { add(begin, bytes, abi::kAccessRead); }
  void write(const void *begin, uint64_t bytes) { add(begin, bytes, abi::kAccessWrite); }
  void rows(const void *begin, uint64_t pitch, uint64_t width, uint64_t height, uint8_t bits) {
    if (width == 0 || height == 0)
      return;
    if (pitch == width || height == 1) {
      add(begin, width * height, bits);
    } else if (height > kMaxRows) {
      out.complete = false; // the gaps may belong to others
    } else {
      for (uint64_t y = 0; y < height; ++y)
        add(static_cast<const char *>(begin) + y * pitch, width, bits);
    }
  }
};

bool isPageable(const KnownMemory &memory, const void *to, const void *from, uint64_t direction) {
  switch (direction) {
  case kHostToDevice:
    return !memory.contains(from);
  case kDeviceToHost:
    return !memory.contains(to);
  case kDeviceToDevice:
    return false;
  default: // host to host, or by the addresses
    return !memory.contains(to) || !memory.contains(from);
  }
}

} // namespace

CommandRanges rangesOf(CallId id, const CallArguments &a, const KnownMemory &memory) {
  Ranges r;
  const void *const *p = a.pointers;
  const uint64_t *n = a.numbers;
  auto copy = [&](const void *to, const void *from, uint64_t bytes, uint64_t direction) {
    r.write(to, bytes);
    r.read(from, bytes);
    r.out.pageable = isPageable(memory, to, from, direction);
  };
  switch (id) {
  case CallId::hipMemcpy:
  case CallId::hipMemcpy_spt:
  case CallId::hipMemcpyAsync:
  case CallId::hipMemcpyAsync_spt:
  case CallId::hipMemcpyWithStream:
    copy(p[0], p[1], n[0], n[1]);
    break;
  case CallId::hipMemcpyHtoD:
  case CallId::hipMemcpyHtoDAsync:
    copy(p[0], p[1], n[0], kHostToDevice);
    break;
  case CallId::hipMemcpyDtoH:
  case CallId::hipMemcpyDtoHAsync:
    copy(p[0], p[1], n[0], kDeviceToHost);
    break;
  case CallId::hipMemcpyDtoD:
  case CallId::hipMemcpyDtoDAsync:
    copy(p[0], p[1], n[0], kDeviceToDevice);
    break;
  case CallId::hipMemcpyPeer:
  case CallId::hipMemcpyPeerAsync:
    copy(p[0], p[1], n[2], kDeviceToDevice);
    break;
  case CallId::hipMemcpy2D:
  case CallId::hipMemcpy2D_spt:
  case CallId::hipMemcpy2DAsync:
  case CallId::hipMemcpy2DAsync_spt:
    r.rows(p[0], n[0], n[2], n[3], abi::kAccessWrite);
    r.rows(p[1], n[1], n[2], n[3], abi::kAccessRead);
    r.out.pageable = isPageable(memory, p[0], p[1], n[4]);
    break;
  case CallId::hipMemcpyToSymbol:
  case CallId::hipMemcpyToSymbol_spt:
  case CallId::hipMemcpyToSymbolAsync:
  case CallId::hipMemcpyToSymbolAsync_spt: // where the variable lies is not known here
    r.read(p[1], n[0]);
    r.out.pageable = isPageable(memory, nullptr, p[1], n[2] == kDeviceToDevice ? kDeviceToDevice : kHostToDevice);
    r.out.complete = false;
    break;
  case CallId::hipMemcpyFromSymbol:
  case CallId::hipMemcpyFromSymbol_spt:
  case CallId::hipMemcpyFromSymbolAsync:
  case CallId::hipMemcpyFromSymbolAsync_spt:
    r.write(p[0], n[0]);
    r.out.pageable = isPageable(memory, p[0], nullptr, n[2] == kDeviceToDevice ? kDeviceToDevice : kDeviceToHost);
    r.out.complete = false;
    break;
  case CallId::hipMemPrefetchAsync: // moves memory without changing it
    break;
  case CallId::hipMemset:
  case CallId::hipMemset_spt:
  case CallId::hipMemsetAsync:
  case CallId::hipMemsetAsync_spt:
  case CallId::hipMemsetD8:
  case CallId::hipMemsetD8Async:
    r.write(p[0], n[1]);
    break;
  case CallId::hipMemsetD16:
  case CallId::hipMemsetD16Async:
    r.write(p[0], n[1] * 2);
    break;
  case CallId::hipMemsetD32:
  case CallId::hipMemsetD32Async:
    r.write(p[0], n[1] * 4);
    break;
  case CallId::hipMemset2D:
  case CallId::hipMemset2D_spt:
  case CallId::hipMemset2DAsync:
  case CallId::hipMemset2DAsync_spt:
    r.rows(p[0], n[0], n[2], n[3], abi::kAccessWrite);
    break;
  case CallId::hipMemset3D:
  case CallId::hipMemset3D_spt:
  case CallId::hipMemset3DAsync:
  case CallId::hipMemset3DAsync_spt:
    if (a.extent.depth > kMaxRows)
      r.out.complete = false;
    for (uint64_t z = 0; z < a.extent.depth && r.out.complete; ++z)
      r.rows(static_cast<const char *>(a.pitched.pointer) + z * a.pitched.pitch * a.pitched.ySize, a.pitched.pitch,
             a.extent.width, a.extent.height, abi::kAccessWrite);
    break;
  default: // arrays, and copies that are described by a record
    r.out.complete = false;
    r.out.pageable = true; // perhaps: then the host waits, and nothing is reported that a wait orders
  }
  return r.out;
}

streams::Range allocatedBy(CallId id, const CallArguments &a) {
  const auto *out = static_cast<void *const *>(a.pointers[0]);
  if (!out)
    return {};
  auto range = [&](uint64_t bytes) {
    const auto begin = reinterpret_cast<uint64_t>(*out);
    return begin ? streams::Range{begin, begin + bytes, 0} : streams::Range{};
  };
  switch (id) {
  case CallId::hipMalloc:
  case CallId::hipMallocAsync:
  case CallId::hipMallocFromPoolAsync:
  case CallId::hipExtMallocWithFlags:
  case CallId::hipHostAlloc:
  case CallId::hipHostMalloc:
  case CallId::hipMallocHost:
  case CallId::hipMallocManaged:
  case CallId::hipMemAllocHost:
  case CallId::hipExtHostAlloc:
    return range(a.numbers[0]);
  case CallId::hipMallocPitch:
  case CallId::hipMemAllocPitch:
    return a.pointers[1] ? range(*static_cast<const uint64_t *>(a.pointers[1]) * a.numbers[1]) : streams::Range{};
  case CallId::hipMalloc3D: {
    const auto *pitched = static_cast<const PitchedPtr *>(a.pointers[0]);
    return range(pitched->pitch * a.extent.height * a.extent.depth);
  }
  default: // arrays have no address
    return {};
  }
}

bool isSynchronous(CallId id) {
  const CallInfo &info = infoOf(id);
  return (info.category == Category::Copy || info.category == Category::Set) &&
         std::string_view(info.name).find("Async") == std::string_view::npos;
}

LaunchArguments launchArgumentsOf(CallId id, const CallArguments &a) {
  LaunchArguments launch;
  abi::DispatchShapeSeen &shape = launch.shape;
  auto set = [&](const uint32_t (&grid)[3], const uint32_t (&group)[3], bool inGroups) {
    for (int i = 0; i < 3; ++i) {
      shape.grid[i] = inGroups ? grid[i] * group[i] : grid[i];
      shape.workgroup[i] = group[i];
    }
  };
  const auto *n = a.numbers;
  switch (id) {
  case CallId::hipLaunchKernel:
  case CallId::hipLaunchKernel_spt:
  case CallId::hipLaunchCooperativeKernel:
  case CallId::hipLaunchCooperativeKernel_spt:
  case CallId::hipExtLaunchKernel:
    set({a.dims[0].x, a.dims[0].y, a.dims[0].z}, {a.dims[1].x, a.dims[1].y, a.dims[1].z}, true);
    launch.groupBytes = uint32_t(n[0]);
    break;
  case CallId::hipModuleLaunchKernel:
  case CallId::hipModuleLaunchCooperativeKernel:
    set({uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2])}, {uint32_t(n[3]), uint32_t(n[4]), uint32_t(n[5])}, true);
    launch.groupBytes = uint32_t(n[6]);
    break;
  case CallId::hipExtModuleLaunchKernel:
  case CallId::hipHccModuleLaunchKernel:
    set({uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2])}, {uint32_t(n[3]), uint32_t(n[4]), uint32_t(n[5])}, false);
    launch.groupBytes = uint32_t(n[6]);
    break;
  default:
    break;
  }
  return launch;
}

} // namespace wavesan::hip
