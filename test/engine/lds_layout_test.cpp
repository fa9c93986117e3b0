// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lds_layout.h"

#include <gtest/gtest.h>

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
}

namespace wavesan::cpu::engine {
namespace {

struct Variable {
  uint32_t elements, elementBits, align; // align 0: none is stated
};

/// A kernel that stores the address of each variable.
std::string moduleOf(const std::vector<Variable> &variables) {
  std::string globals, body;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable &v = variables[i];
    // Names in another order than the variables are used in.
    const std::string name = "@v" + std::to_string(i * 7 % 11) + "_" + std::to_string(i);
    globals += name + " = internal addrspace(3) global [" + std::to_string(v.elements) + " x i" +
               std::to_string(v.elementBits) + "] poison" + (v.align ? ", align " + std::to_string(v.align) : "") +
               "\n";
    body += "  %p" + std::to_string(i) + " = getelementptr ptr addrspace(3), ptr addrspace(1) %out, i64 " +
            std::to_string(i) + "\n  store ptr addrspace(3) " + name + ", ptr addrspace(1) %p" + std::to_string(i) +
            "\n";
  }
  return "target triple = \"amdgcn-amd-amdhsa\"\n" + globals +
         "define amdgpu_kernel void @k(ptr addrspace(1) %out) {\n" + body + "  ret void\n}\n";
}

std::vector<const llvm::Value *> storedAddresses(const llvm::Function &kernel) {
  std::vector<const llvm::Value *> result;
  for (const llvm::Instruction &i : kernel.getEntryBlock())
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      result.push_back(store->getValueOperand());
  return result;
}

class LdsLayoutTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
  }

  void SetUp() override {
    std::string error;
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    ASSERT_TRUE(target) << error;
    machine.reset(target->createTargetMachine(triple, "gfx90a", "", {}, std::nullopt));
  }

  std::unique_ptr<llvm::Module> parse(const std::vector<Variable> &variables) {
    llvm::SMDiagnostic error;
    auto module = llvm::parseAssemblyString(moduleOf(variables), error, context);
    if (module)
      module->setDataLayout(machine->createDataLayout());
    else
      ADD_FAILURE() << error.getMessage().str();
    return module;
  }

  /// The compiler's own layout: its pass puts the variables into one structure, which lies at address 0.
  void lower(llvm::Module &module, std::vector<uint64_t> &offsets, uint64_t &bytes) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(machine.get());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::ModulePassManager passes;
    ASSERT_FALSE(bool(builder.parsePassPipeline(passes, "amdgpu-lower-module-lds")));
    passes.run(module, modules);
    const llvm::GlobalVariable *structure = nullptr;
    for (const llvm::Value *v : storedAddresses(*module.getFunction("k"))) {
      llvm::APInt offset(module.getDataLayout().getIndexTypeSizeInBits(v->getType()), 0);
      structure = llvm::dyn_cast<llvm::GlobalVariable>(
          v->stripAndAccumulateConstantOffsets(module.getDataLayout(), offset, true));
      ASSERT_TRUE(structure);
      offsets.push_back(offset.getZExtValue());
    }
    ASSERT_TRUE(structure);
    bytes = module.getDataLayout().getTypeAllocSize(structure->getValueType());
  }

  void expectTheCompilersLayout(const std::vector<Variable> &variables) {
    auto mine = parse(variables), lowered = parse(variables);
    ASSERT_TRUE(mine && lowered);
    std::vector<uint64_t> expected;
    uint64_t bytes = 0;
    ASSERT_NO_FATAL_FAILURE(lower(*lowered, expected, bytes));
    const llvm::Function &kernel = *mine->getFunction("k");
    const LdsLayout layout = layOutLds(kernel, uint32_t(bytes));
    EXPECT_LE(layout.staticBytes, bytes);
    const std::vector<const llvm::Value *> stored = storedAddresses(kernel);
    for (size_t i = 0; i < stored.size(); ++i)
      EXPECT_EQ(layout.offsets.lookup(llvm::cast<llvm::GlobalVariable>(stored[i])), expected[i]) << "variable " << i;
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
};

// Two arrays of an odd number of words, and words that the compiler puts into the gap between them.
TEST_F(LdsLayoutTest, SmallVariablesFillGaps) {
  expectTheCompilersLayout({{129, 32, 16}, {129, 32, 16}, {1, 32, 4}, {1, 32, 4}, {1, 32, 4}, {1, 32, 4}});
}

TEST_F(LdsLayoutTest, RandomVariablesLieWhereTheCompilerPutsThem) {
  constexpr uint32_t kBits[] = {8, 16, 32, 64, 128}, kLengths[] = {1, 1, 2, 3, 5, 7, 33, 129, 256};
  for (uint32_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<Variable> variables(1 + random() % 12);
    for (Variable &v : variables) {
      v.elementBits = kBits[random() % std::size(kBits)];
      v.elements = kLengths[random() % std::size(kLengths)];
      const uint32_t choice = random() % 4; // none, natural, wider
      v.align = choice == 0 ? 0 : choice == 3 ? 1u << (random() % 8) : v.elementBits / 8;
    }
    expectTheCompilersLayout(variables);
  }
}

// The segment is what counts: where the compiler's alignments do not fit, those that the module states are used.
TEST_F(LdsLayoutTest, ATighterSegment) {
  auto module = parse({{3, 8, 1}, {3, 8, 1}, {3, 8, 1}});
  ASSERT_TRUE(module);
  EXPECT_EQ(layOutLds(*module->getFunction("k"), 9).staticBytes, 9u);
  EXPECT_EQ(layOutLds(*module->getFunction("k"), 8).staticBytes, 9u);
}

TEST_F(LdsLayoutTest, VariablesBeyondAnyAddress) {
  auto module = parse({{0xffffffff, 64, 8}, {0xffffffff, 64, 8}});
  ASSERT_TRUE(module);
  EXPECT_EQ(layOutLds(*module->getFunction("k"), 64).staticBytes, UINT32_MAX);
}

} // namespace
} // namespace wavesan::cpu::engine
