// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "Filters.h"

#include "SiteRecorder.h"
#include "wavesan/abi/hooks.h"
#include "wavesan/abi/system_files.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace wavesan;

static cl::list<std::string> IgnoreLists("wavesan-ignorelist", cl::value_desc("file"),
                                         cl::desc("WaveSan: special case list of accesses and kernels not to check"));
static cl::opt<std::string> KernelList("wavesan-kernels", cl::value_desc("globs"),
                                       cl::desc("WaveSan: kernels to check, e.g. 'app::*;!*_init'"));

static constexpr StringLiteral kMarks = "wavesan.ignore.marked", kListed = "wavesan.ignore.listed";
static constexpr StringLiteral kSection = "wavesan";

Filters::Filters() = default;
Filters::Filters(Filters &&) = default;
Filters::~Filters() = default;

/// Null and an empty `Why`: there is none.
static std::unique_ptr<SpecialCaseList> readList(std::string &Why) {
  if (IgnoreLists.empty())
    return nullptr;
  return SpecialCaseList::create(IgnoreLists, *vfs::getRealFileSystem(), Why);
}

Expected<Filters> Filters::load(Module &M) {
  Filters Result;
  std::string Why;
  Result.List = readList(Why);
  if (!Why.empty())
    return createStringError("ignore list: " + Why);
  auto Take = [&](StringRef Name, DenseSet<const DISubprogram *> &Into) {
    NamedMDNode *Marks = M.getNamedMetadata(Name);
    if (!Marks)
      return;
    for (const MDNode *Node : Marks->operands())
      if (auto *Code = dyn_cast<DISubprogram>(Node))
        Into.insert(Code);
    M.eraseNamedMetadata(Marks);
  };
  Take(kMarks, Result.Marked);
  Take(kListed, Result.Listed);
  return Result;
}

/// "void app::scale<float>(float*, int)" -> "app::scale".
static StringRef plainName(StringRef Name) {
  int Depth = 0;
  size_t Begin = 0, End = Name.size();
  for (size_t I = 0; I < Name.size(); ++I) {
    char C = Name[I];
    if (C == '(' && Name.substr(I).starts_with("(anonymous namespace)")) {
      I += StringRef("(anonymous namespace)").size() - 1;
    } else if (C == '<' || C == '(') {
      if (Depth++ == 0)
        End = std::min(End, I);
    } else if (C == '>' || C == ')') {
      --Depth;
    } else if (C == ' ' && Depth == 0 && End == Name.size()) {
      Begin = I + 1; // what stood before was the return type
    }
  }
  return Depth == 0 && Begin < End ? Name.slice(Begin, End) : Name;
}

/// The names under which a user may know a function: as linked, in full, without template arguments and parameters,
/// that without namespaces.
static SmallVector<std::string, 4> namesOf(StringRef Linkage) {
  std::string Full = demangle(Linkage);
  StringRef Plain = plainName(Full);
  SmallVector<std::string, 4> Names{Linkage.str(), Full, Plain.str()};
  if (size_t Colons = Plain.rfind("::"); Colons != StringRef::npos)
    Names.push_back(Plain.substr(Colons + 2).str());
  return Names;
}

static bool isListedFunction(const SpecialCaseList &List, StringRef Linkage) {
  return any_of(namesOf(Linkage), [&](const std::string &Name) { return List.inSection(kSection, "fun", Name); });
}

PreservedAnalyses RememberMarksPass::run(Module &M, ModuleAnalysisManager &) {
  if (!Triple(M.getTargetTriple()).isAMDGCN())
    return PreservedAnalyses::all();
  std::string Why; // reported when the twins are made
  std::unique_ptr<SpecialCaseList> List = readList(Why);
  for (const Function &F : M) {
    DISubprogram *Code = F.getSubprogram();
    if (!Code)
      continue;
    if (F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
      M.getOrInsertNamedMetadata(kMarks)->addOperand(Code);
    // With line tables only, a DISubprogram does not know its full name.
    if (List && isListedFunction(*List, F.getName()))
      M.getOrInsertNamedMetadata(kListed)->addOperand(Code);
  }
  return PreservedAnalyses::all();
}

bool Filters::leavesOut(const Function &Kernel) const {
  SmallVector<std::string, 4> Names = namesOf(Kernel.getName());
  if (List && any_of(Names, [&](const std::string &Name) { return List->inSection(kSection, "kernel", Name); }))
    return true;
  auto Matches = [&](StringRef Glob) {
    Expected<GlobPattern> Pattern = GlobPattern::create(Glob);
    if (!Pattern) { // not a pattern: a name
      consumeError(Pattern.takeError());
      return is_contained(Names, Glob);
    }
    return any_of(Names, [&](const std::string &Name) { return Pattern->match(Name); });
  };
  bool Includes = false, Included = false;
  SmallVector<StringRef, 4> Globs;
  StringRef(KernelList).split(Globs, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Glob : Globs) {
    Glob = Glob.trim();
    if (Glob.consume_front("!")) {
      if (Matches(Glob.trim()))
        return true;
    } else if (!Glob.empty()) {
      Includes = true;
      Included |= Matches(Glob);
    }
  }
  return Includes && !Included;
}

/// The position that an access belongs to; null without debug info.
static const DILocation *authorOf(const Instruction &I) {
  const DILocation *Innermost = I.getDebugLoc();
  for (const DILocation *L = Innermost; L; L = L->getInlinedAt())
    if (!abi::isSystemFile(pathOfFile(L->getFile())))
      return L;
  return Innermost;
}

static StringRef originalName(const Function &F) {
  StringRef Name = F.getName();
  Name.consume_back(abi::kTwinSuffix);
  return Name;
}

/// The function in the source. A twin's own debug info is a copy of its original's.
static const DISubprogram *codeAt(const DILocation &Where, const Instruction &I) {
  const Function &F = *I.getFunction();
  const DISubprogram *Code = Where.getScope()->getSubprogram();
  if (Code != F.getSubprogram())
    return Code;
  const Function *Original = I.getModule()->getFunction(originalName(F));
  return Original ? Original->getSubprogram() : Code;
}

bool Filters::marked(const Instruction &I) const {
  if (const DILocation *Where = authorOf(I))
    return Marked.contains(codeAt(*Where, I));
  return I.getFunction()->hasFnAttribute(Attribute::DisableSanitizerInstrumentation);
}

bool Filters::listed(const Instruction &I) const {
  if (!List)
    return false;
  const DILocation *Where = authorOf(I);
  std::string File = Where ? pathOfFile(Where->getFile()) : I.getModule()->getSourceFileName();
  if (!File.empty() && List->inSection(kSection, "src", File))
    return true;
  return Where ? Listed.contains(codeAt(*Where, I)) : isListedFunction(*List, originalName(*I.getFunction()));
}

StringRef Filters::ignored(const Instruction &I) const {
  if (marked(I))
    return "ignored: marked with WAVESAN_IGNORE";
  if (listed(I))
    return "ignored: in the ignore list";
  return "";
}
