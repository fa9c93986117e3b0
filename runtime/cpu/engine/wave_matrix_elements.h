// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What dense and sparse matrix instructions of RDNA share: the elements of A and B, and how sums are read from C,
// rounded and written to D (wave_matrix.cpp has the layouts in words).
#ifndef WAVESAN_CPU_ENGINE_WAVE_MATRIX_ELEMENTS_H
#define WAVESAN_CPU_ENGINE_WAVE_MATRIX_ELEMENTS_H

#include "lanes.h"
#include "small_float.h"
#include "wave_matrix.h"

#include <algorithm>
#include <cmath>

namespace wavesan::cpu::engine {

inline constexpr uint32_t kWaveMatrixRows = 16;

inline uint32_t packedElement(const Wave &w, const std::vector<Register> &from, uint32_t index, uint32_t lane,
                              uint32_t bits) {
  const uint32_t perDword = 32 / bits;
  return w.at<uint32_t>(from[index / perDword])[lane] >> (index % perDword * bits) & ((1u << bits) - 1);
}

inline int32_t integerElement(const Wave &w, const std::vector<Register> &from, uint32_t index, uint32_t lane,
                              uint32_t bits, bool isSigned) {
  const uint32_t value = packedElement(w, from, index, lane, bits);
  return isSigned && value >> (bits - 1) ? int32_t(value) - (1 << bits) : int32_t(value);
}

inline float floatElement(const Wave &w, const std::vector<Register> &from, uint32_t index, uint32_t lane,
                          WaveMatrixElement element, Fp8 format) {
  switch (element) {
  case WaveMatrixElement::Half:
    return halfToFloat(w.at<uint16_t>(from[index])[lane]);
  case WaveMatrixElement::BFloat:
    return bfloatToFloat(w.at<uint16_t>(from[index])[lane]);
  default:
    return fp8ToFloat(uint8_t(packedElement(w, from, index, lane, 8)), format);
  }
}

/// C and D, where they have the same type.
struct WaveMatrixSums {
  const std::vector<Register> &c, &d;
  WaveMatrixSum kind;
  uint32_t gfxMajor;
  bool high = false; ///< as in WaveMatrixOperands

  uint32_t rowOf(uint32_t group, uint32_t index, uint32_t lanes) const {
    if (gfxMajor == 11)
      return lanes / 16 * index + group;
    return lanes == 32 ? 8 * group + index : 8 * (group % 2) + 4 * (group / 2) + index;
  }

  /// f(row, column, register of D, lane) for all sums of active lanes.
  template <class F> void forEach(const Wave &w, F f) const {
    const bool apart = gfxMajor == 11 && (kind == WaveMatrixSum::Half || kind == WaveMatrixSum::BFloat);
    forEachLane(w.exec, [&](uint32_t lane) {
      for (uint32_t index = 0; index < WaveMatrixOperands::sumsPerLane(w.lanes); ++index)
        f(rowOf(lane / 16, index, w.lanes), lane % 16, apart ? 2 * index + high : index, lane);
    });
  }

  /// D = add(row, column, C)
  template <class Add> void addFloats(const Wave &w, Add add) const {
    if (kind == WaveMatrixSum::Single)
      return forEach(w, [&](uint32_t row, uint32_t column, uint32_t at, uint32_t lane) {
        w.at<float>(d[at])[lane] = add(row, column, w.at<float>(c[at])[lane]);
      });
    const bool half = kind == WaveMatrixSum::Half;
    // What is no sum (the other halves on gfx11) stays as in C.
    for (size_t k = 0; k < d.size(); ++k)
      forEachLane(w.exec, [&](uint32_t lane) { w.at<uint16_t>(d[k])[lane] = w.at<uint16_t>(c[k])[lane]; });
    forEach(w, [&](uint32_t row, uint32_t column, uint32_t at, uint32_t lane) {
      const uint16_t bits = w.at<uint16_t>(c[at])[lane];
      const float sum = add(row, column, half ? halfToFloat(bits) : bfloatToFloat(bits));
      w.at<uint16_t>(d[at])[lane] = half ? floatToHalf(sum) : floatToBFloat(sum);
    });
  }

  /// Sums of 64 bits; clamp: to the range of 32, else they wrap.
  template <class Add> void addIntegers(const Wave &w, bool clamp, Add add) const {
    forEach(w, [&](uint32_t row, uint32_t column, uint32_t at, uint32_t lane) {
      int64_t sum = add(row, column, int64_t(w.at<int32_t>(c[at])[lane]));
      if (clamp)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      w.at<int32_t>(d[at])[lane] = int32_t(uint32_t(sum));
    });
  }
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WAVE_MATRIX_ELEMENTS_H
