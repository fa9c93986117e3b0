// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.h"

__global__ void reduce(const float *in, float *out, int n) {
  __shared__ float tile[256];
  float sum = 0;
  for (int i = BID * 256 + TID; i < n; i += 256 * 64)
    sum += in[i];
  tile[TID] = sum;
  barrier();
  for (int s = 128; s > 0; s /= 2) {
    if ((int)TID < s)
      tile[TID] += tile[TID + s];
    barrier();
  }
  if (TID == 0)
    out[BID] = tile[0];
}

__global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[16][16], tb[16][17];
  const int x = TID % 16, y = TID / 16;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    ta[y][x] = a[y * n + t + x];
    tb[y][x] = b[(t + y) * n + x];
    barrier();
    for (int k = 0; k < 16; ++k)
      sum += ta[y][k] * tb[k][x];
    barrier();
  }
  c[y * n + x] = sum;
}

__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  local[TID] = 0;
  barrier();
  for (int i = TID; i < n; i += 256)
    __hip_atomic_fetch_add(&local[in[i]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  __hip_atomic_fetch_add(&bins[TID], local[TID], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

struct Wide {
  double x, y, z, w;
};
__global__ void exchange(Wide *data) {
  __shared__ Wide tile[64];
  Wide v = data[TID];
  tile[TID ^ 1] = v;
  barrier();
  v.x += tile[TID].y;
  v.w *= tile[TID ^ 3].z;
  data[TID] = v;
}

__global__ void scan(int *data) {
  __shared__ int a[2][256];
  int cur = 0;
  a[0][TID] = data[TID];
  for (int d = 1; d < 256; d *= 2) {
    barrier();
    a[1 - cur][TID] = (int)TID >= d ? a[cur][TID] + a[cur][TID - d] : a[cur][TID];
    cur = 1 - cur;
  }
  data[TID] = a[cur][TID];
}

__global__ void lanes(int *data) {
  int v = data[TID];
  v += __builtin_amdgcn_ds_bpermute((TID ^ 5) * 4, v);
  v += __builtin_amdgcn_ds_swizzle(v, 0x1f);
  v += __builtin_amdgcn_readfirstlane(data[BID]);
  data[TID] = v;
}
