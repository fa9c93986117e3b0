// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole structures copied into LDS and out of it.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128;

struct Particle {
  double mass;
  float position[3];
  int id;
  short flags[4];
  bool operator==(const Particle &o) const {
    return mass == o.mass && position[0] == o.position[0] && position[2] == o.position[2] && id == o.id &&
           flags[3] == o.flags[3];
  }
};

static Particle particle(int i) {
  return {0.5 * i, {float(i), float(i + 1), float(i + 2)}, i, {short(i), short(i + 1), short(i + 2), short(i + 3)}};
}

__global__ void swap(const Particle *in, Particle *out) {
  __shared__ Particle tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  out[t] = tile[t ^ 64]; // RACE-B
}

int main() {
  std::vector<Particle> particles;
  for (int i = 0; i < kThreads; ++i)
    particles.push_back(particle(i));
  Particle *in = twin::onDevice(particles), *out = twin::onDevice(std::vector<Particle>(kThreads));
  swap<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return particle(int(i) ^ 64); });
}
