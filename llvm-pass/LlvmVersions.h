// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One source for LLVM 19 to 22. AMD's compilers call themselves by the version they were branched from ("20.0.0git")
// and carry changes of later ones, so what can be asked of the headers is asked of them, and version numbers decide
// nothing here. docs/rocm.md lists what an older LLVM lacks.
#ifndef WAVESAN_PASS_LLVMVERSIONS_H
#define WAVESAN_PASS_LLVMVERSIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <initializer_list>
#include <optional>

namespace wavesan {

/// llvm::StringSwitch as this project uses it: its Cases() took a list of arguments before LLVM 22.
template <class T> class StringCases {
public:
  explicit StringCases(llvm::StringRef Text) : Text(Text) {}
  StringCases &Case(llvm::StringRef Name, T Value) { return set(Text == Name, Value); }
  StringCases &Cases(std::initializer_list<llvm::StringRef> Names, T Value) {
    for (llvm::StringRef Name : Names)
      set(Text == Name, Value);
    return *this;
  }
  StringCases &StartsWith(llvm::StringRef Start, T Value) { return set(Text.starts_with(Start), Value); }
  T Default(T Value) const { return Found ? *Found : Value; }

private:
  StringCases &set(bool Matches, const T &Value) {
    if (Matches && !Found)
      Found.emplace(Value);
    return *this;
  }
  llvm::StringRef Text;
  std::optional<T> Found;
};

/// ptrtoaddr came with LLVM 22.
template <class Opcodes = llvm::Instruction> bool isPtrToAddr(unsigned Opcode) {
  if constexpr (requires { Opcodes::PtrToAddr; })
    return Opcode == Opcodes::PtrToAddr;
  return false;
}

/// Intrinsics are told by name where some supported LLVM has no enumerator for them: such an LLVM cannot make them.
inline llvm::StringRef amdgcnName(const llvm::IntrinsicInst &I) {
  llvm::StringRef Name = I.getCalledFunction()->getName();
  return Name.consume_front("llvm.amdgcn.") ? Name : llvm::StringRef();
}

/// Loads of LDS and of global memory whose lanes swap what they read (gfx950, gfx12, gfx1250).
inline bool isTransposedLoad(const llvm::IntrinsicInst &I) {
  llvm::StringRef Name = amdgcnName(I);
  return Name.starts_with("ds.read.tr") || Name.starts_with("ds.load.tr") || Name.starts_with("global.load.tr");
}

inline bool isClusterBarrier(const llvm::IntrinsicInst &I) { return amdgcnName(I) == "s.cluster.barrier"; }

inline bool isBarrierState(const llvm::IntrinsicInst &I) { return amdgcnName(I).starts_with("s.get."); }

/// Clang marks the modules that it prepares for link-time optimisation. LLVM 19 does not tell a pass in any other way.
inline bool isPreparedForLto(const llvm::Module &M) { return M.getModuleFlag("EnableSplitLTOUnit") != nullptr; }

} // namespace wavesan

#endif // WAVESAN_PASS_LLVMVERSIONS_H
