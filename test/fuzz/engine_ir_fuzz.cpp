// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutated kernels on the engine: it executes them or says in one line why not.
#include "fuzz_target.h"
#include "mutated_ir.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  fuzz::MutatedIr input;
  if (!input.read(data, size))
    return 0;
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = input.module(context);
  if (!module)
    return 0;
  std::string error;
  const std::unique_ptr<cpu::Program> program = cpu::Program::load(fuzz::bitcodeOf(*module), input.target(), {}, error);
  if (!program) {
    fuzz::requireOneLine(error);
    return 0;
  }
  fuzz::require(program->hasKernel("k"), "the kernel is lost");
  const cpu::Outcome outcome = fuzz::runBounded(*program, "k", input.seed);
  if (outcome.kind != cpu::Outcome::Success)
    fuzz::requireOneLine(outcome.message);
  return 0;
}
