// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which access hook of a twin stands for what an instruction writes: the places where the pass puts hooks.
#ifndef WAVESAN_CPU_ENGINE_WRITE_HOOKS_H
#define WAVESAN_CPU_ENGINE_WRITE_HOOKS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class CallBase;
class Instruction;
class Value;
} // namespace llvm

namespace wavesan::cpu::engine {

struct WriteHook {
  uint32_t info, site;
  const llvm::Value *variable = nullptr; ///< of LDS hooks
};

/// Immediately before the instruction, but for address computations; a copy has one for each side.
std::optional<WriteHook> writeHookOf(const llvm::Instruction &access);
/// Of a buffer store: in blocks before it, of the lanes that are in range.
std::optional<WriteHook> bufferWriteHookOf(const llvm::Instruction &store);
/// Of the plain stores in a text of inline assembly, in its order: `before` before the call and `behind` behind it.
/// Empty: they have none.
std::vector<WriteHook> asmWriteHooksOf(const llvm::CallBase &call, size_t before, size_t behind);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WRITE_HOOKS_H
