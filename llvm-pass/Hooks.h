// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the hooks of abi/hooks.h in a module and emits calls to them.
#ifndef WAVESAN_PASS_HOOKS_H
#define WAVESAN_PASS_HOOKS_H

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <optional>

namespace llvm {
class CallInst;
class Function;
class FunctionType;
class IRBuilderBase;
class LLVMContext;
class Module;
class Value;
} // namespace llvm

namespace wavesan {

/// The LLVM type of a hook, as listed in abi/hooks.h.
llvm::FunctionType *hookType(abi::Hook H, llvm::LLVMContext &Context);

/// The hook that a function is, by name.
std::optional<abi::Hook> hookOf(const llvm::Function &F);

/// Emits hook calls, declaring each hook at its first use.
class HookEmitter {
public:
  explicit HookEmitter(llvm::Module &M) : M(M) {}
  llvm::CallInst *call(llvm::IRBuilderBase &B, abi::Hook H, llvm::ArrayRef<llvm::Value *> Arguments);

private:
  llvm::Module &M;
  std::array<llvm::Function *, size_t(abi::Hook::Count)> Declared{};
};

} // namespace wavesan

#endif // WAVESAN_PASS_HOOKS_H
