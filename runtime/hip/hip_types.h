// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stand-ins for HIP's types: what crosses the call boundary and nothing more. So the interposer is built without HIP's
// headers and serves every version of HIP; test/hip checks them against the installed header.
#ifndef WAVESAN_HIP_HIP_TYPES_H
#define WAVESAN_HIP_HIP_TYPES_H

#include <cstdint>

namespace wavesan::hip {

struct OpaqueStream;
struct OpaqueEvent;
using Stream = OpaqueStream *;
using Event = OpaqueEvent *;

struct Dim3 {
  uint32_t x, y, z;
};
struct Extent {
  uint64_t width, height, depth;
};
struct PitchedPtr {
  void *pointer;
  uint64_t pitch, xSize, ySize;
};

// Parameters of the nodes of graphs.
struct KernelNodeParams {
  Dim3 workgroup;
  void **extra;
  const void *function;
  Dim3 grid; ///< in workgroups
  void **arguments;
  uint32_t groupBytes;
};
struct FillParams {
  void *to;
  uint32_t elementSize;
  uint64_t height, pitch;
  uint32_t value;
  uint64_t width; ///< in elements
};
struct HostParams {
  void (*function)(void *);
  void *data;
};
struct PointerAttributes {
  int memoryType, device;
  void *devicePointer, *hostPointer;
  int managed;
  uint32_t allocationFlags;
  uint64_t more[8]; ///< of newer versions
};
struct FunctionAttributes {
  int binaryVersion, cacheMode;
  uint64_t constantBytes, scratchBytes;
  int maxDynamicGroupBytes, maxThreadsPerBlock, registers, carveout, ptxVersion;
  uint64_t groupBytes;
};
struct Position {
  uint64_t x, y, z;
};
struct Copy3DParams {
  void *fromArray;
  Position fromPosition;
  PitchedPtr from;
  void *toArray;
  Position toPosition;
  PitchedPtr to;
  Extent extent;
  int kind;
};

struct IpcHandle {
  char reserved[64];
};

/// hipError_t values that have a meaning here.
enum HipError : int {
  kHipSuccess = 0,
  kHipErrorNotReady = 600,
  kHipErrorNotSupported = 801,
  kHipErrorStreamCaptureInvalidated = 901,
  kHipErrorStreamCaptureUnjoined = 904,
};

/// The handles that stand for streams nobody created.
inline constexpr uintptr_t kLegacyStreamHandle = 1, kPerThreadStreamHandle = 2;

inline constexpr uint64_t kStreamNonBlocking = 1; ///< flag of hipStreamCreateWithFlags

} // namespace wavesan::hip

#endif // WAVESAN_HIP_HIP_TYPES_H
