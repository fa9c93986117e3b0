// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed device module and the addresses of its global variables and functions.
#ifndef WAVESAN_CPU_ENGINE_MODULE_STATE_H
#define WAVESAN_CPU_ENGINE_MODULE_STATE_H

#include "lanes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::cpu::engine {

struct LdsLayout;

class ModuleState {
public:
  /// Parses and verifies. `hookBodies`: bitcode that defines the functions the module declares, or empty. Null with
  /// `error` set on failure.
  static std::unique_ptr<ModuleState> parse(std::string_view bitcode, std::string_view hookBodies, std::string &error);

  /// Gives every global variable outside LDS an address: the one that `resolve` knows, else storage of its own,
  /// initialised from the IR. False with `error` set if an initialiser cannot be evaluated.
  bool placeGlobals(const std::function<uint64_t(std::string_view)> &resolve, std::string &error);

  llvm::Module &module() const { return *parsed; }
  const llvm::DataLayout &layout() const { return parsed->getDataLayout(); }

  /// Address of a global variable outside LDS, or of a function (a token; see functionAt). nullopt: not defined.
  std::optional<uint64_t> addressOf(const llvm::GlobalValue &global) const;
  /// The function with this address, or null.
  const llvm::Function *functionAt(uint64_t address) const;

  /// Value of a scalar constant. `lds` gives LDS addresses; null where they have none (initialisers). nullopt with
  /// `error` set if it cannot be evaluated.
  std::optional<u128> evaluate(const llvm::Constant &constant, const LdsLayout *lds, std::string &error) const;

private:
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> parsed;
  llvm::DenseMap<const llvm::GlobalValue *, uint64_t> addresses;
  std::unique_ptr<std::byte[]> functionTokens; ///< one byte for each function; its address is the function's
  std::vector<const llvm::Function *> functions;
  struct Free {
    void operator()(std::byte *p) const;
  };
  std::vector<std::unique_ptr<std::byte[], Free>> storage;

  bool initialise(const llvm::Constant &value, std::byte *to, std::string &error) const;
};

/// True if `constant` is executed like an instruction: it depends on where the workgroup's LDS or a lane's private memory
/// lies (it casts an LDS or private address to a generic pointer), or is an expression of vectors.
bool needsCode(const llvm::Constant &constant);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MODULE_STATE_H
