// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Valid IR that no compiler would write: LLVM's own mutator changes one of some kernels a few times. And running the
// result for a bounded time.
#ifndef WAVESAN_TEST_FUZZ_MUTATED_IR_H
#define WAVESAN_TEST_FUZZ_MUTATED_IR_H

#include "engine.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace wavesan::fuzz {

/// The number of a kernel, how often it is changed, and the seed of the changes. Kernels are called "k".
struct MutatedIr {
  uint8_t kernel = 0, mutations = 0;
  uint32_t seed = 0;

  /// From the six bytes of an input; false if there are fewer.
  bool read(const uint8_t *data, size_t size);
  const char *target() const { return kernel & 0x80 ? "gfx1030" : "gfx90a"; }
  /// Touches LDS and private memory only, maybe out of bounds. Null if the mutator made no valid module. Prints it if
  /// the environment has WAVESAN_FUZZ_PRINT.
  std::unique_ptr<llvm::Module> module(llvm::LLVMContext &context) const;
};

std::string bitcodeOf(const llvm::Module &module);

/// Two workgroups of 40 lanes. Ends after 50 ms as Cancelled: mutated loops seldom end.
cpu::Outcome runBounded(cpu::Program &program, const char *kernel, uint64_t seed);

} // namespace wavesan::fuzz

#endif // WAVESAN_TEST_FUZZ_MUTATED_IR_H
