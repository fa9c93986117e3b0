// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as users write them. hip_kernels_test.cpp runs them and checks the results on the host.
#include <hip/hip_runtime.h>

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

extern "C" __global__ void reduce(const float *in, float *out, int n) {
  extern __shared__ float partial[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(out, partial[0]);
}

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width)
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t * 16 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&bins[i], local[i]);
}

// Inclusive scan within the wave by shuffles, and the number of lanes with odd values.
extern "C" __global__ void wave_scan(const int *in, int *out, int *odd) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
  int v = in[i];
  int odds = __popcll(__ballot(v & 1));
  for (int d = 1; d < warpSize; d *= 2) {
    int other = __shfl_up(v, d);
    if (lane >= d)
      v += other;
  }
  out[i] = v;
  odd[i] = odds;
}

// Exchange through LDS within one wave, without a barrier: legal on hardware that runs a wave in lockstep.
extern "C" __global__ void wave_reverse(int *data) {
  __shared__ int buffer[64];
  volatile int *v = buffer;
  v[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = v[blockDim.x - 1 - threadIdx.x];
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 5); }

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};
extern "C" __global__ void virtual_calls(float *out) {
  Square square(threadIdx.x);
  Circle circle(threadIdx.x);
  const Shape *shapes[2] = {&square, &circle};
  out[threadIdx.x] = shapes[(threadIdx.x / 3) % 2]->area();
}

__constant__ float coefficients[4];
__device__ int counter;
extern "C" __global__ void globals(float *out) {
  out[threadIdx.x] = coefficients[threadIdx.x % 4];
  atomicAdd(&counter, 1);
}

extern "C" __global__ void math(const float *in, float *out, const double *din, double *dout) {
  int i = threadIdx.x;
  float x = in[i];
  double y = din[i];
  out[i * 8 + 0] = sqrtf(x);
  out[i * 8 + 1] = expf(-x);
  out[i * 8 + 2] = logf(x + 1);
  out[i * 8 + 3] = sinf(x);
  out[i * 8 + 4] = powf(x, 1.5f);
  out[i * 8 + 5] = 1.0f / (x + 0.5f);
  out[i * 8 + 6] = fmodf(x, 0.7f);
  out[i * 8 + 7] = floorf(x * 3) + ceilf(x) + rintf(x);
  dout[i * 4 + 0] = sqrt(y);
  dout[i * 4 + 1] = exp(-y);
  dout[i * 4 + 2] = log(y + 1);
  dout[i * 4 + 3] = y / (y + 3);
}

extern "C" __global__ void ids(int *out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  atomicAdd(&out[(z * ny + y) * nx + x], 1 + threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z);
}

// Private arrays through generic pointers, with indices that stay dynamic.
__device__ __noinline__ int sum_of(const int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i)
    s += p[i];
  return s;
}
extern "C" __global__ void private_arrays(int *out) {
  int local[16];
  for (int i = 0; i < 16; ++i)
    local[(i * 7 + threadIdx.x) % 16] = i * threadIdx.x;
  __shared__ int shared[64];
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = sum_of(local, 16) + sum_of(&shared[0], 8);
}
