// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_mfma_scale_f32_*_f8f6f4 of gfx950: D = A * B + C, where A and B have elements of eight, six or four bits, each in a
// format of its own, and every 32 elements along k have a scale.
#ifndef WAVESAN_CPU_ENGINE_SCALED_MATRIX_H
#define WAVESAN_CPU_ENGINE_SCALED_MATRIX_H

#include "mx_float.h"
#include "wave.h"

#include <optional>
#include <vector>

namespace wavesan::cpu::engine {

/// Rows of A and columns of B of an intrinsic (llvm::Intrinsic::ID): 16 or 32; none if it is not one of them.
std::optional<uint32_t> scaledMatrixRows(unsigned intrinsic);

struct ScaledMatrixOperands {
  struct Input {
    std::vector<Register> dwords; ///< the first of them hold 32 elements
    MxFormat format;
    Register scale = kNoRegister; ///< none: 1
    uint32_t scaleByte = 0;
  };
  uint32_t rows;
  Input a, b;
  std::vector<Register> c, d;

  /// All of A or B: 32 in each of 64 lanes.
  uint32_t k() const { return 64 * 32 / rows; }
};
Handler scaledMatrixMultiply(); ///< extra: ScaledMatrixOperands

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_SCALED_MATRIX_H
