// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly as a list of instructions: LLVM's assembler for the target parses the text, and its printer writes
// each instruction in one canonical form, whatever aliases, number formats and spaces the source used.
#ifndef WAVESAN_CPU_ENGINE_ASM_TEXT_H
#define WAVESAN_CPU_ENGINE_ASM_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace wavesan::cpu::engine {

struct AsmInstruction {
  std::string mnemonic;               ///< without the suffix of an encoding (_e32, _e64)
  std::vector<std::string> operands;  ///< "v32", "v[4:5]", "s[16:19]", "off", "0x10", "-1", "1.0", ...
  std::vector<std::string> modifiers; ///< behind the last operand: "offset:16", "glc", ...
  std::string text;                   ///< the whole, for messages
};

/// A register or a run of them. `bank` 'v', 's' or 'a'; "vcc", "m0" and so on are not of this kind.
struct AsmRegister {
  char bank;
  uint32_t first, count;
};
std::optional<AsmRegister> asmRegister(llvm::StringRef text);

/// Assembles `text` for the processor, in waves of `waveSize`. On failure returns nothing and one line in `error`: what
/// the assembler said, or that the text holds labels or directives that emit something.
std::optional<std::vector<AsmInstruction>> parseAsm(llvm::StringRef text, llvm::StringRef processor, uint32_t waveSize,
                                                    std::string &error);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_ASM_TEXT_H
