// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "executed_intrinsics.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

namespace wavesan::cpu::test {
namespace {

using Names = std::set<std::string>;

struct Record {
  const char *path = std::getenv("WAVESAN_TEST_INTRINSICS");
  std::mutex mutex;
  std::map<std::pair<const void *, std::string>, Names> ofKernel;
  Names executed;

  ~Record() {
    if (!path)
      return;
    std::ofstream file(path);
    for (const std::string &name : executed)
      file << name << '\n';
  }
};
Record record;

std::string enumerator(const llvm::Function &intrinsic) {
  std::string name = llvm::Intrinsic::getBaseName(intrinsic.getIntrinsicID()).str().substr(5); // without "llvm."
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// Of the function and of all that it refers to.
void collect(const llvm::Function &f, std::set<const llvm::Function *> &seen, Names &names) {
  if (!seen.insert(&f).second)
    return;
  for (const llvm::Instruction &i : llvm::instructions(f))
    for (const llvm::Use &operand : i.operands())
      if (const auto *callee = llvm::dyn_cast<llvm::Function>(operand->stripPointerCastsAndAliases())) {
        if (callee->isIntrinsic())
          names.insert(enumerator(*callee));
        else
          collect(*callee, seen, names);
      }
}

} // namespace

void moduleLoaded(const void *program, const std::string &bitcode) {
  if (!record.path)
    return;
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "test"), context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return;
  }
  const std::lock_guard lock(record.mutex);
  for (const llvm::Function &f : **module)
    if (!f.isDeclaration()) {
      std::set<const llvm::Function *> seen;
      Names &names = record.ofKernel[{program, f.getName().str()}];
      names.clear();
      collect(f, seen, names);
    }
}

void kernelExecuted(const void *program, const std::string &kernel) {
  if (!record.path)
    return;
  const std::lock_guard lock(record.mutex);
  if (const auto it = record.ofKernel.find({program, kernel}); it != record.ofKernel.end())
    record.executed.insert(it->second.begin(), it->second.end());
}

} // namespace wavesan::cpu::test
