// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stand-ins of the table against HIP's own header: number, size and class of all parameters, and which of them are
// streams and events. A difference does not compile.
#include "call_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

// HIP's declarations as a C program sees them: in C++ templates overload many of them.
// clang-format off
#pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#define __HIP_PLATFORM_AMD__
#undef __cplusplus
#define _Bool bool
#define wchar_t wchar_t_of_c
extern "C" {
#include <hip/hip_runtime_api.h>
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>
}
#define __cplusplus 202002L
#undef bool
#undef true
#undef false
#undef wchar_t
// clang-format on

namespace {

template <class Ours, class Theirs> constexpr bool sameParameter() {
  using wavesan::hip::Event, wavesan::hip::Stream;
  return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs) &&
         std::is_class_v<Ours> == std::is_class_v<Theirs> &&
         std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs> && std::is_trivially_copyable_v<Ours> &&
         std::is_trivially_copyable_v<Theirs> && std::is_same_v<Ours, Stream> == std::is_same_v<Theirs, hipStream_t> &&
         std::is_same_v<Ours, Event> == std::is_same_v<Theirs, hipEvent_t> &&
         std::is_same_v<Ours, Stream *> == std::is_same_v<Theirs, hipStream_t *> &&
         std::is_same_v<Ours, Event *> == std::is_same_v<Theirs, hipEvent_t *>;
}

template <class Ours, class Theirs> struct Same;
template <class... Ours, class... Theirs> struct Same<int(Ours...), hipError_t (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return (sameParameter<Ours, Theirs>() && ...);
    return false;
  }();
};

int compared = 0;

template <class Ours, class Theirs> void compare() {
  static_assert(Same<Ours, Theirs>::value);
  ++compared;
}

namespace table {
using namespace wavesan::hip;
#define WAVESAN_HIP_NEWER(Name, Category, Action, ...)
#define WAVESAN_HIP_MANGLED(Name, Symbol, Category, Action, ...)
#define WAVESAN_HIP_ENTRY(Name, Symbol, Category, Action, ...)                                                         \
  void check_##Name() { compare<__VA_ARGS__, decltype(&::Name)>(); }
#include "hip_calls.def"
#undef WAVESAN_HIP_ENTRY
} // namespace table

template <class Ours, class Theirs> constexpr bool sameStruct() {
  return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
}
#define SAME_PLACE(Ours, Mine, Theirs, Yours)                                                                          \
  static_assert(offsetof(wavesan::hip::Ours, Mine) == offsetof(Theirs, Yours))
static_assert(sameStruct<wavesan::hip::KernelNodeParams, hipKernelNodeParams>());
SAME_PLACE(KernelNodeParams, workgroup, hipKernelNodeParams, blockDim);
SAME_PLACE(KernelNodeParams, extra, hipKernelNodeParams, extra);
SAME_PLACE(KernelNodeParams, function, hipKernelNodeParams, func);
SAME_PLACE(KernelNodeParams, grid, hipKernelNodeParams, gridDim);
SAME_PLACE(KernelNodeParams, arguments, hipKernelNodeParams, kernelParams);
SAME_PLACE(KernelNodeParams, groupBytes, hipKernelNodeParams, sharedMemBytes);
static_assert(sameStruct<wavesan::hip::FillParams, hipMemsetParams>());
SAME_PLACE(FillParams, to, hipMemsetParams, dst);
SAME_PLACE(FillParams, elementSize, hipMemsetParams, elementSize);
SAME_PLACE(FillParams, height, hipMemsetParams, height);
SAME_PLACE(FillParams, pitch, hipMemsetParams, pitch);
SAME_PLACE(FillParams, value, hipMemsetParams, value);
SAME_PLACE(FillParams, width, hipMemsetParams, width);
static_assert(sameStruct<wavesan::hip::HostParams, hipHostNodeParams>());
SAME_PLACE(HostParams, data, hipHostNodeParams, userData);
static_assert(sameStruct<wavesan::hip::Copy3DParams, hipMemcpy3DParms>());
static_assert(sameStruct<wavesan::hip::FunctionAttributes, hipFuncAttributes>());
static_assert(sizeof(wavesan::hip::PointerAttributes) >= sizeof(hipPointerAttribute_t));
SAME_PLACE(FunctionAttributes, maxDynamicGroupBytes, hipFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FunctionAttributes, groupBytes, hipFuncAttributes, sharedSizeBytes);
SAME_PLACE(Copy3DParams, fromArray, hipMemcpy3DParms, srcArray);
SAME_PLACE(Copy3DParams, fromPosition, hipMemcpy3DParms, srcPos);
SAME_PLACE(Copy3DParams, from, hipMemcpy3DParms, srcPtr);
SAME_PLACE(Copy3DParams, toArray, hipMemcpy3DParms, dstArray);
SAME_PLACE(Copy3DParams, toPosition, hipMemcpy3DParms, dstPos);
SAME_PLACE(Copy3DParams, to, hipMemcpy3DParms, dstPtr);
SAME_PLACE(Copy3DParams, extent, hipMemcpy3DParms, extent);
SAME_PLACE(Copy3DParams, kind, hipMemcpy3DParms, kind);

} // namespace

TEST(CallTable, TypesAreThoseOfHip) {
#define WAVESAN_HIP_NEWER(Name, Category, Action, ...)
#define WAVESAN_HIP_MANGLED(Name, Symbol, Category, Action, ...)
#define WAVESAN_HIP_ENTRY(Name, Symbol, Category, Action, ...) table::check_##Name();
#include "hip_calls.def"
#undef WAVESAN_HIP_ENTRY
  EXPECT_GT(compared, 200);
}
