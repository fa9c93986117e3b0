// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers access sites and builds the site table (abi/site_table.h) of a module.
#ifndef WAVESAN_PASS_SITERECORDER_H
#define WAVESAN_PASS_SITERECORDER_H

#include "StoreSet.h"

#include "wavesan/abi/site_table.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace llvm {
class DIFile;
class DILocalScope;
class DILocation;
class DISubprogram;
class Function;
class GlobalVariable;
class Instruction;
} // namespace llvm

namespace wavesan {

/// Skipped accesses: number of sites by reason, in order of first appearance. There are few reasons.
class SkipCounts {
public:
  void add(llvm::StringRef Reason, uint32_t Count = 1) {
    for (auto &[Known, Total] : Reasons)
      if (Known == Reason) {
        Total += Count;
        return;
      }
    Reasons.push_back({Reason.str(), Count});
  }
  void add(const SkipCounts &Other) {
    for (const auto &[Reason, Count] : Other.Reasons)
      add(Reason, Count);
  }
  auto begin() const { return Reasons.begin(); }
  auto end() const { return Reasons.end(); }
  size_t size() const { return Reasons.size(); }

private:
  std::vector<std::pair<std::string, uint32_t>> Reasons;
};

/// What a kernel entry says beyond names and positions.
struct KernelSummary {
  uint32_t GranuleLog2 = 2;
  uint32_t Flags = 0;
  uint32_t LdsOrder = 0; ///< LdsOrderFacts
  uint32_t Sites = 0;
  bool ChecksAll = false; ///< abi::kChecksAllAttribute
  bool NotesWrites = false; ///< abi::kKernelNotesWrites
  SkipCounts Skips;
  StoreSet Stores;
};

/// Name of a variable as its author wrote it: from debug info, else the last component of the demangled name.
std::string sourceName(const llvm::GlobalVariable &Variable);

/// The path of a file as debug info has it, with its own directory in front of a relative name; "" for null.
std::string pathOfFile(const llvm::DIFile *File);

class SiteRecorder {
public:
  /// A new site at the source position of `I`. Ids are dense from 0. `Variable`: source name, empty when unknown.
  /// `Stored`: SiteEntry::stored.
  uint32_t addSite(abi::SiteKind Kind, uint32_t Info, const llvm::Instruction &I, llvm::StringRef Variable,
                   llvm::StringRef Opcode, llvm::StringRef Stored = {});
  void addKernel(const llvm::Function &Original, const llvm::Function &Twin, const KernelSummary &Summary);
  /// A kernel that runs unchecked: an entry without a twin. `Why`: empty if the user wants it so.
  void addLeftOut(const llvm::Function &Original, llvm::StringRef Why = {});
  /// A loop of the source (SourceLoops.h). One that has no site in it is left out of the table.
  void addLoop(const llvm::DISubprogram &Function, uint32_t FirstLine, uint32_t LastLine);
  /// A branch that decides between barriers, by their positions (abi::BranchEntry). `From` empty: wherever the last barrier
  /// was; null: there was none. `Other` null: the end.
  void addBranch(std::optional<const llvm::DILocation *> From, const llvm::DILocation *Barrier,
                 const llvm::DILocation *Other, uint32_t Line, uint32_t Column, uint32_t Depth);
  size_t siteCount() const { return Builder.sites.size(); }
  std::string finish() const { return Builder.finish(); }

private:
  abi::StringRef32 intern(llvm::StringRef S);
  uint32_t frameOf(const llvm::Instruction &I);
  uint32_t frameOf(const llvm::DILocation *Location);
  uint32_t addFrame(const llvm::DISubprogram *Function, abi::StringRef32 File, uint32_t Line, uint32_t Column,
                    uint32_t InlinedAt);

  abi::SiteTableBuilder Builder;
  llvm::StringMap<abi::StringRef32> Strings;
  llvm::DenseMap<const llvm::DILocation *, uint32_t> Locations;
  std::map<std::tuple<const llvm::DISubprogram *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> Frames;
};

} // namespace wavesan

#endif // WAVESAN_PASS_SITERECORDER_H
