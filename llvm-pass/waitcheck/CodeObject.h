// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An AMDGPU ELF file: its target, code sections, functions and kernels.
#ifndef WAVESAN_WAITCHECK_CODEOBJECT_H
#define WAVESAN_WAITCHECK_CODEOBJECT_H

#include "Program.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace wavesan::waitcheck {

class CodeObject {
public:
  /// Parses the file image, which must outlive the result. Errors: not ELF, not AMDGPU, target unknown to the checker, damaged.
  static llvm::Expected<std::unique_ptr<CodeObject>> parse(llvm::MemoryBufferRef buffer);

  const TargetEntry &target() const { return *entry; }
  /// The file image.
  llvm::StringRef image() const { return bytes; }
  /// Before linking: addresses are offsets in their sections.
  bool isRelocatable() const { return relocatable; }
  llvm::ArrayRef<CodeSection> sections() const { return codeSections; }
  /// Kernels and functions, by section and address; one per address (the first name).
  llvm::ArrayRef<FunctionEntry> functions() const { return entries; }
  /// Whether code may be called that lies outside of this file.
  bool hasUndefinedSymbols() const { return undefinedSymbols; }
  /// Adds a function that only calls lead to. Does nothing if the address is in no code section, or known.
  bool addFunction(uint64_t address, bool wave64);
  /// By code section and dword: in no function, and no padding. Empty for a section without such code.
  std::vector<std::vector<bool>> outsideFunctions() const;

private:
  CodeObject() = default;
  llvm::Error read();
  void finishSizes();

  llvm::StringRef bytes;
  bool relocatable = false;
  const TargetEntry *entry = nullptr;
  std::vector<CodeSection> codeSections;
  std::vector<FunctionEntry> entries;
  bool undefinedSymbols = false;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_CODEOBJECT_H
