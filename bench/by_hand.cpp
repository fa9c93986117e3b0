// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "by_hand.h"

#include <cstring>

namespace {

constexpr unsigned kTile = 16, kLanes = 64, kWaves = kTile * kTile / kLanes, kRows = kLanes / kTile;

typedef float Row __attribute__((vector_size(kTile * sizeof(float)))); ///< 16 lanes

struct Wave {
  Row sum[kRows];
};

} // namespace

void matrixProductByHand(const float *a, const float *b, float *c, unsigned n) {
  for (unsigned groupY = 0; groupY < n / kTile; ++groupY)
    for (unsigned groupX = 0; groupX < n / kTile; ++groupX) {
      alignas(64) float as[kTile][kTile], bs[kTile][kTile];
      Wave waves[kWaves] = {};
      const unsigned row = groupY * kTile, column = groupX * kTile;
      for (unsigned t = 0; t < n / kTile; ++t) {
        for (unsigned y = 0; y < kTile; ++y) { // wave after wave, 16 consecutive lanes at a time
          std::memcpy(as[y], &a[(row + y) * n + t * kTile], sizeof(Row));
          std::memcpy(bs[y], &b[(t * kTile + y) * n + column], sizeof(Row));
        }
        // The barrier: all waves have stored.
        for (unsigned w = 0; w < kWaves; ++w) {
          Wave wave = waves[w];
          for (unsigned k = 0; k < kTile; ++k) {
            Row second;
            std::memcpy(&second, bs[k], sizeof(Row));
            for (unsigned y = 0; y < kRows; ++y) // 16 lanes read one word
              wave.sum[y] += as[w * kRows + y][k] * second;
          }
          waves[w] = wave;
        }
      }
      for (unsigned y = 0; y < kTile; ++y)
        std::memcpy(&c[(row + y) * n + column], &waves[y / kRows].sum[y % kRows], sizeof(Row));
    }
}
