// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From file names to code objects: ELF code objects, programs and libraries with fat binaries, bundles (compressed or not), archives,
// assembly text, directory trees.
#ifndef WAVESAN_WAITCHECK_INPUTREADER_H
#define WAVESAN_WAITCHECK_INPUTREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace wavesan::waitcheck {

/// One code object and where it was found: "app", "libx.a(y.o)", "app:hipv4-amdgcn-amd-amdhsa--gfx90a".
struct InputObject {
  std::string name;
  std::shared_ptr<llvm::MemoryBuffer> storage; ///< keeps `image` alive
  llvm::StringRef image;

  llvm::MemoryBufferRef buffer() const { return {image, name}; }
};

struct InputOptions {
  std::string arch;            ///< only objects of this target; also the target of assembly text without .amdgcn_target
  std::string entryPattern;    ///< glob over bundle entry ids; empty: all
  bool recursive = false;      ///< look into directories
  bool hostFilesToo = false;   ///< a named ELF file or archive without GPU code is no problem
};

struct InputProblem {
  std::string name, message;
};

struct Inputs {
  std::vector<InputObject> objects;
  std::vector<InputProblem> problems; ///< files and entries that could not be read
  unsigned withoutGpuCode = 0;        ///< files of a directory tree, and host files, that hold none
  unsigned skippedByArch = 0;         ///< objects of other targets than the one asked for
};

/// Reads one path into `inputs`. Never fails as a whole.
void readInput(llvm::StringRef path, const InputOptions &options, Inputs &inputs);

/// Reads an image that is already in memory (C API, tests).
void readImage(llvm::StringRef name, std::shared_ptr<llvm::MemoryBuffer> image, const InputOptions &options, Inputs &inputs);

/// Assembles text for that target (empty: what its .amdgcn_target says). Errors carry the assembler's messages.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> assemble(llvm::StringRef name, llvm::StringRef text, llvm::StringRef arch);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_INPUTREADER_H
