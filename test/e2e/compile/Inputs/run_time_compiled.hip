// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that is compiled when the program runs (hiprtc), beside one that is not. An argument damages its code object
// before it is loaded: header (it does not begin as an ELF file).
#include <cstdio>
#include <cstring>
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <vector>

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    if (int status = int(call); status != 0) {                                                                         \
      std::printf("%s: %d\n", #call, status);                                                                          \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

static constexpr char kSource[] = "extern \"C\" __global__ void late(int *out) {"
                                  "  __shared__ int tile[128];"
                                  "  tile[threadIdx.x] = 1;"
                                  "  out[threadIdx.x] = tile[127 - threadIdx.x];"
                                  "}";

__global__ void known(int *out) {
  __shared__ int tile[128];
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

int main(int argc, char **argv) {
  int *out;
  TRY(hipMalloc(&out, 128 * sizeof(int)));
  known<<<1, 128>>>(out);
  TRY(hipDeviceSynchronize());
  hiprtcProgram program;
  const char *options[] = {"--gpu-architecture=gfx90a"};
  TRY(hiprtcCreateProgram(&program, kSource, "late.hip", 0, nullptr, nullptr));
  TRY(hiprtcCompileProgram(program, 1, options));
  size_t size;
  TRY(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  TRY(hiprtcGetCode(program, code.data()));
  const char *damage = argc > 1 ? argv[1] : "";
  if (!std::strcmp(damage, "header"))
    code[0] = '-';
  std::printf("compiled\n");
  std::fflush(stdout);
  hipModule_t module;
  hipFunction_t late;
  TRY(hipModuleLoadData(&module, code.data()));
  TRY(hipModuleGetFunction(&late, module, "late"));
  std::printf("loaded\n");
  std::fflush(stdout);
  void *arguments[] = {&out};
  TRY(hipModuleLaunchKernel(late, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  TRY(hipDeviceSynchronize());
}
