// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user does not want checked: kernels left out as a whole, and accesses that are ignored.
//
//   -mllvm -wavesan-ignorelist=FILE   special case list, as for -fsanitize-ignorelist= (may be given several times):
//                                     fun:GLOB, src:GLOB, kernel:GLOB in section [wavesan] or outside of sections
//   -mllvm -wavesan-kernels=LIST      "app::*;!*_init": globs between semicolons, those with '!' exclude
//   WAVESAN_IGNORE                    on a function (wavesan/attributes.h): clang's disable_sanitizer_instrumentation
//
// An access belongs to the innermost function of its inlining chain that is not in a header of HIP or of the compiler.
// Nothing disappears: ignored accesses are counted as not checked, left-out kernels are in the site table.
#ifndef WAVESAN_PASS_FILTERS_H
#define WAVESAN_PASS_FILTERS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class DISubprogram;
class Function;
class Instruction;
class Module;
class SpecialCaseList;
} // namespace llvm

namespace wavesan {

/// At the beginning of the pipeline: functions that are marked or in the list are written down while they exist, as
/// metadata with their DISubprograms. Most of them have been inlined and deleted when the twins are made.
class RememberMarksPass : public llvm::PassInfoMixin<RememberMarksPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

class Filters {
public:
  /// Reads the options and the marks of `M`, which it removes. Fails with one line that names the file that cannot be
  /// read.
  static llvm::Expected<Filters> load(llvm::Module &M);
  Filters(Filters &&);
  ~Filters();

  bool leavesOut(const llvm::Function &Kernel) const;

  /// Why the plain access `I` is ignored; empty if it is checked.
  llvm::StringRef ignored(const llvm::Instruction &I) const;

private:
  Filters();
  bool marked(const llvm::Instruction &I) const;
  bool listed(const llvm::Instruction &I) const;

  std::unique_ptr<llvm::SpecialCaseList> List; ///< null: none
  llvm::DenseSet<const llvm::DISubprogram *> Marked, Listed;
};

} // namespace wavesan

#endif // WAVESAN_PASS_FILTERS_H
