// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "programs.h"

#include <hip/hip_runtime.h>

#include <string>

#define KERNEL extern "C" __global__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_ID(d) int((d) == 0 ? threadIdx.x : threadIdx.y)
#define GROUP_ID(d) int((d) == 0 ? blockIdx.x : blockIdx.y)
#define BARRIER __syncthreads()
#define ADD_LOCAL(p, v) atomicAdd(p, v)
#define ADD_GLOBAL(p, v) atomicAdd(p, v)
#define RSQRT(x) rsqrtf(x)
#include "kernels.inc"

namespace {

void must(hipError_t error, const char *what) {
  if (error != hipSuccess)
    stop(what, error);
}

struct HipSide {
  using Buffer = void *;
  Buffer alloc(size_t bytes) {
    void *p = nullptr;
    must(hipMalloc(&p, bytes), "hipMalloc");
    return p;
  }
  void write(Buffer b, const void *from, size_t bytes) {
    must(hipMemcpy(b, from, bytes, hipMemcpyHostToDevice), "write");
  }
  void read(Buffer b, void *to, size_t bytes) { must(hipMemcpy(to, b, bytes, hipMemcpyDeviceToHost), "read"); }
  void fill(Buffer b, size_t bytes) { must(hipMemsetAsync(b, 0, bytes, nullptr), "fill"); }
  void launch(const std::string &name, Extent groups, Extent items, std::initializer_list<Argument> arguments) {
    const std::pair<const char *, const void *> kernels[] = {
        {"matrix_product", reinterpret_cast<const void *>(matrix_product)},
        {"histogram", reinterpret_cast<const void *>(histogram)},
        {"stencil", reinterpret_cast<const void *>(stencil)},
        {"n_body", reinterpret_cast<const void *>(n_body)},
        {"scan_groups", reinterpret_cast<const void *>(scan_groups)},
        {"scan_add", reinterpret_cast<const void *>(scan_add)}};
    void *values[8];
    size_t n = 0;
    for (const Argument &a : arguments)
      values[n++] = const_cast<void *>(a.value);
    for (const auto &[known, function] : kernels)
      if (name == known)
        return must(hipLaunchKernel(function, dim3(groups.x, groups.y), dim3(items.x, items.y), values, 0, nullptr),
                    "launch");
    stop("no such kernel", 0);
  }
  void finish() { must(hipDeviceSynchronize(), "finish"); }
};

} // namespace

int main(int argc, char **argv) {
  HipSide side;
  Programs<HipSide>(side).run(argc > 1 ? argv[1] : nullptr);
}
