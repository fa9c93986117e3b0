// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: wavesan_pocl_bench DIRECTORY-OF-KERNELS [PROGRAM]
#define CL_TARGET_OPENCL_VERSION 120
#include "programs.h"

#include <CL/cl.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

void must(cl_int error, const char *what) {
  if (error != CL_SUCCESS)
    stop(what, error);
}

std::string contents(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    stop(path.c_str(), 0);
  return text.str();
}

class OpenClSide {
public:
  using Buffer = cl_mem;

  explicit OpenClSide(const std::string &directory) {
    cl_uint count = 0;
    must(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    must(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    cl_platform_id pocl = nullptr;
    for (cl_platform_id p : platforms) {
      char name[256] = {}, version[256] = {};
      clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof(name), name, nullptr);
      clGetPlatformInfo(p, CL_PLATFORM_VERSION, sizeof(version), version, nullptr);
      if (std::strcmp(name, "Portable Computing Language") == 0) {
        pocl = p;
        std::printf("# %s\n", version);
      }
    }
    if (!pocl)
      stop("no PoCL among the OpenCL platforms", int(count));
    cl_device_id device;
    must(clGetDeviceIDs(pocl, CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "clGetDeviceIDs");
    cl_int error;
    Context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    must(error, "clCreateContext");
    Queue = clCreateCommandQueue(Context, device, 0, &error);
    must(error, "clCreateCommandQueue");
    const std::string source = contents(directory + "/opencl_prelude.cl") + contents(directory + "/kernels.inc");
    const char *text = source.c_str();
    Program = clCreateProgramWithSource(Context, 1, &text, nullptr, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(Program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  }
  Buffer alloc(size_t bytes) {
    cl_int error;
    Buffer b = clCreateBuffer(Context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    must(error, "clCreateBuffer");
    return b;
  }
  void write(Buffer b, const void *from, size_t bytes) {
    must(clEnqueueWriteBuffer(Queue, b, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr), "write");
  }
  void read(Buffer b, void *to, size_t bytes) {
    must(clEnqueueReadBuffer(Queue, b, CL_TRUE, 0, bytes, to, 0, nullptr, nullptr), "read");
  }
  void fill(Buffer b, size_t bytes) {
    const cl_uint zero = 0;
    must(clEnqueueFillBuffer(Queue, b, &zero, sizeof(zero), 0, bytes, 0, nullptr, nullptr), "fill");
  }
  void launch(const std::string &name, Extent groups, Extent items, std::initializer_list<Argument> arguments) {
    cl_kernel &kernel = Kernels[name];
    if (!kernel) {
      cl_int error;
      kernel = clCreateKernel(Program, name.c_str(), &error);
      must(error, name.c_str());
    }
    cl_uint n = 0;
    for (const Argument &a : arguments)
      must(clSetKernelArg(kernel, n++, a.bytes, a.value), "clSetKernelArg");
    const size_t global[] = {groups.x * items.x, groups.y * items.y}, local[] = {items.x, items.y};
    must(clEnqueueNDRangeKernel(Queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr), "launch");
  }
  void finish() { must(clFinish(Queue), "finish"); }

private:
  cl_context Context;
  cl_command_queue Queue;
  cl_program Program;
  std::map<std::string, cl_kernel> Kernels;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    stop("usage: wavesan_pocl_bench DIRECTORY-OF-KERNELS [PROGRAM]", argc);
  OpenClSide side(argv[1]);
  Programs<OpenClSide>(side).run(argc > 2 ? argv[2] : nullptr);
}
