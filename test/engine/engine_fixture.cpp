// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine_fixture.h"

#include "executed_intrinsics.h"
#include "handlers.h"
#include "ir_texts.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace wavesan::cpu::test {

// CTest runs the suite again with the operations of less able machines.
static const bool kChosen = [] {
  const char *set = std::getenv("WAVESAN_TEST_INSTRUCTION_SET");
  if (!set)
    return true;
  using enum engine::InstructionSet;
  for (const auto &[name, which] : {std::pair("portable", Portable), std::pair("avx2", Avx2)})
    if (std::string(set) == name)
      return engine::useInstructionSet(which);
  return false;
}();

std::string assemble(const std::string &ir) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kModuleHeader + ir, diagnostic, context);
  std::string bitcode;
  if (!module) {
    std::string message;
    llvm::raw_string_ostream os(message);
    diagnostic.print("test", os);
    ADD_FAILURE() << message;
    return bitcode;
  }
  llvm::raw_string_ostream os(bitcode);
  llvm::WriteBitcodeToFile(*module, os);
  return bitcode;
}

std::string compiledKernels(const std::string &target) {
  std::ifstream file(std::string(WAVESAN_TEST_KERNELS) + "/kernels." + target + ".bc", std::ios::binary);
  EXPECT_TRUE(file.good()) << "kernels.hip was not compiled for " << target;
  std::ostringstream os;
  os << file.rdbuf();
  return os.str();
}

std::unique_ptr<Program> load(const std::string &bitcode, const Options &options) {
  std::string error;
  auto program = Program::load(bitcode, options.target, options.resolve, error);
  EXPECT_NE(program, nullptr) << error;
  if (program)
    moduleLoaded(program.get(), bitcode);
  return program;
}

Outcome run(Program &program, const std::string &kernel, const Size &size, const Arguments &arguments,
            const Options &options) {
  // The head of hsa_kernel_dispatch_packet_t that device code reads.
  struct Packet {
    uint16_t header, setup, workgroup[3], reserved0;
    uint32_t grid[3], privateBytes, groupBytes;
    uint64_t kernelObject, kernarg, reserved2, signal;
  };
  static_assert(sizeof(Packet) == 64);
  std::vector<uint8_t> kernarg = arguments.data();
  while (kernarg.size() % 8)
    kernarg.push_back(0);
  const size_t hidden = kernarg.size();
  kernarg.resize(hidden + 256);
  if (options.codeObjectVersion >= 5) {
    for (int axis = 0; axis < 3; ++axis) {
      const uint32_t blocks = size.grid[axis] / size.workgroup[axis];
      const uint16_t block = uint16_t(size.workgroup[axis]), rest = uint16_t(size.grid[axis] % size.workgroup[axis]);
      std::memcpy(&kernarg[hidden + 4 * size_t(axis)], &blocks, 4);
      std::memcpy(&kernarg[hidden + 12 + 2 * size_t(axis)], &block, 2);
      std::memcpy(&kernarg[hidden + 18 + 2 * size_t(axis)], &rest, 2);
    }
  }
  Packet packet{};
  Launch launch{};
  launch.kernel = kernel;
  launch.packet = &packet;
  launch.kernarg = kernarg.data();
  launch.kernargBytes = uint32_t(kernarg.size());
  for (int axis = 0; axis < 3; ++axis) {
    packet.workgroup[axis] = uint16_t(size.workgroup[axis]);
    packet.grid[axis] = size.grid[axis];
    launch.grid[axis] = size.grid[axis];
    launch.workgroup[axis] = size.workgroup[axis];
  }
  launch.fixedLdsBytes = options.fixedLds;
  launch.groupSegmentBytes = options.fixedLds + options.dynamicLds;
  packet.groupBytes = launch.groupSegmentBytes;
  launch.seed = options.seed;
  launch.hooks = options.hooks;
  launch.cancel = options.cancel;
  launch.forced = options.forced;
  launch.perturb = options.perturb;
  launch.threads = options.threads;
  launch.aroundThread = options.aroundThread;
  launch.trialMemory = options.trialMemory;
  launch.notes = options.notes;
  launch.watchAfterMs = options.watchAfterMs;
  launch.standing = options.standing;
  launch.queue = options.queue;
  launch.dispatchId = options.dispatchId;
  const Outcome outcome = program.run(launch);
  if (outcome.kind == Outcome::Success || outcome.kind == Outcome::Trap)
    kernelExecuted(&program, kernel);
  return outcome;
}

Outcome runText(const std::string &ir, const Size &size, const Arguments &arguments, const Options &options) {
  auto program = load(assemble(ir), options);
  EXPECT_NE(program, nullptr);
  Outcome outcome = program ? run(*program, "k", size, arguments, options) : Outcome{Outcome::InvalidLaunch, {}};
  EXPECT_EQ(outcome.kind, Outcome::Success) << outcome.message;
  return outcome;
}

} // namespace wavesan::cpu::test
