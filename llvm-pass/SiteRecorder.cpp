// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "SiteRecorder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace wavesan;
using abi::StringRef32;

/// The last `::` component of a demangled name, outside of brackets; "tile" of "windowed(float*)::tile".
static StringRef lastComponent(StringRef Name) {
  // LLVM's suffixes of renamed symbols are demangled to " (.1)".
  Name = Name.substr(0, Name.find(" (."));
  size_t Begin = 0;
  int Depth = 0;
  for (size_t I = 0; I < Name.size(); ++I) {
    char C = Name[I];
    if (C == '(' || C == '<' || C == '[' || C == '{')
      ++Depth;
    else if (C == ')' || C == '>' || C == ']' || C == '}')
      --Depth;
    else if (Depth == 0 && Name.substr(I).starts_with("::"))
      Begin = I + 2;
  }
  return Name.substr(Begin);
}

std::string wavesan::sourceName(const GlobalVariable &Variable) {
  // A twin's clone of a variable carries no debug info of its own.
  if (StringRef Name = Variable.getName(); Name.consume_back(abi::kTwinSuffix))
    if (const GlobalVariable *Original = Variable.getParent()->getNamedGlobal(Name))
      return sourceName(*Original);
  SmallVector<DIGlobalVariableExpression *, 1> Expressions;
  Variable.getDebugInfo(Expressions);
  for (const DIGlobalVariableExpression *E : Expressions)
    if (!E->getVariable()->getName().empty())
      return E->getVariable()->getName().str();
  if (!Variable.hasName())
    return "";
  return lastComponent(demangle(Variable.getName())).str();
}

std::string wavesan::pathOfFile(const DIFile *File) {
  if (!File)
    return "";
  if (File->getDirectory().empty() || sys::path::is_absolute(File->getFilename()))
    return File->getFilename().str();
  SmallString<128> Path(File->getDirectory());
  sys::path::append(Path, File->getFilename());
  return std::string(Path);
}

/// Relative names are relative to the compile unit's directory when the file itself names none.
static std::string fileName(const DIFile *File, const DISubprogram *Function) {
  std::string Name = pathOfFile(File);
  if (!Name.empty() && !sys::path::is_absolute(Name) && Function && Function->getUnit() &&
      Function->getUnit()->getFile()) {
    SmallString<128> Path(Function->getUnit()->getFile()->getDirectory());
    sys::path::append(Path, Name);
    return std::string(Path);
  }
  return Name;
}

static std::string displayName(const DISubprogram *Function) {
  if (!Function)
    return "";
  if (!Function->getLinkageName().empty())
    return demangle(Function->getLinkageName());
  return Function->getName().str();
}

StringRef32 SiteRecorder::intern(StringRef S) {
  auto [It, New] = Strings.try_emplace(S);
  if (New)
    It->second = Builder.intern(S);
  return It->second;
}

uint32_t SiteRecorder::addFrame(const DISubprogram *Function, StringRef32 File, uint32_t Line, uint32_t Column,
                                uint32_t InlinedAt) {
  auto [It, New] = Frames.try_emplace({Function, File.offset, File.length, Line, Column, InlinedAt},
                                      uint32_t(Builder.frames.size()));
  if (New)
    Builder.frames.push_back({intern(displayName(Function)), File, Line, Column, InlinedAt});
  return It->second;
}

uint32_t SiteRecorder::frameOf(const DILocation *Location) {
  if (auto It = Locations.find(Location); It != Locations.end())
    return It->second;
  // Callers first: a frame may only name an earlier one.
  uint32_t InlinedAt = Location->getInlinedAt() ? frameOf(Location->getInlinedAt()) : abi::kNoFrame;
  const DISubprogram *Function = Location->getScope()->getSubprogram();
  StringRef32 File = intern(fileName(Location->getFile(), Function));
  uint32_t Frame = addFrame(Function, File, Location->getLine(), Location->getColumn(), InlinedAt);
  Locations.insert({Location, Frame});
  return Frame;
}

uint32_t SiteRecorder::frameOf(const Instruction &I) {
  if (const DILocation *Location = I.getDebugLoc())
    return frameOf(Location);
  // Optimisation dropped the position: line 0 says so, the function is still known.
  if (const DISubprogram *Function = I.getFunction()->getSubprogram())
    return addFrame(Function, intern(fileName(Function->getFile(), Function)), 0, 0, abi::kNoFrame);
  return abi::kNoFrame;
}

uint32_t SiteRecorder::addSite(abi::SiteKind Kind, uint32_t Info, const Instruction &I, StringRef Variable,
                               StringRef Opcode, StringRef Stored) {
  Builder.sites.push_back({uint32_t(Kind), Info, frameOf(I), intern(Variable), intern(Opcode), intern(Stored)});
  return uint32_t(Builder.sites.size() - 1);
}

void SiteRecorder::addLoop(const DISubprogram &Function, uint32_t FirstLine, uint32_t LastLine) {
  StringRef32 Name = intern(displayName(&Function)), File = intern(fileName(Function.getFile(), &Function));
  if (any_of(Builder.frames, [&](const abi::FrameEntry &Frame) {
        return Frame.function == Name && Frame.file == File && Frame.line >= FirstLine && Frame.line <= LastLine;
      }))
    Builder.loops.push_back({Name, File, FirstLine, LastLine});
}

void SiteRecorder::addBranch(std::optional<const DILocation *> From, const DILocation *Barrier, const DILocation *Other,
                             uint32_t Line, uint32_t Column, uint32_t Depth) {
  auto Frame = [&](const DILocation *Location) { return Location ? frameOf(Location) : abi::kNoFrame; };
  Builder.branches.push_back(
      {From ? Frame(*From) : abi::kAnyFrame, Frame(Barrier), Frame(Other), Line, Column, Depth});
}

void SiteRecorder::addKernel(const Function &Original, const Function &Twin, const KernelSummary &Summary) {
  abi::KernelEntry Entry{};
  Entry.original = intern(Original.getName());
  Entry.twin = intern(Twin.getName());
  if (const DISubprogram *Debug = Original.getSubprogram()) {
    Entry.file = intern(fileName(Debug->getFile(), Debug));
    Entry.line = Debug->getLine();
  }
  Entry.granuleLog2 = Summary.GranuleLog2;
  Entry.flags = Summary.Flags | (Summary.NotesWrites ? abi::kKernelNotesWrites : 0u);
  Entry.siteTotal = Summary.Sites;
  Entry.skipFirst = uint32_t(Builder.skips.size());
  Entry.skipCount = uint32_t(Summary.Skips.size());
  for (const auto &[Reason, Count] : Summary.Skips)
    Builder.skips.push_back({intern(Reason), Count});
  if (Summary.Stores.Known) {
    Entry.flags |= abi::kKernelStoresKnown;
    Entry.storeFirst = uint32_t(Builder.stores.size());
    for (auto [Argument, Offset] : Summary.Stores.Arguments)
      Builder.stores.push_back({Argument, Offset, {}});
    for (const std::string &Variable : Summary.Stores.Variables)
      Builder.stores.push_back({abi::kNoArgument, 0, intern(Variable)});
    Entry.storeCount = uint32_t(Builder.stores.size()) - Entry.storeFirst;
  }
  Builder.kernels.push_back(Entry);
}

void SiteRecorder::addLeftOut(const Function &Original, StringRef Why) {
  abi::KernelEntry Entry{};
  Entry.original = intern(Original.getName());
  if (const DISubprogram *Debug = Original.getSubprogram()) {
    Entry.file = intern(fileName(Debug->getFile(), Debug));
    Entry.line = Debug->getLine();
  }
  Entry.skipFirst = uint32_t(Builder.skips.size());
  Entry.skipCount = Why.empty() ? 0 : 1;
  if (!Why.empty())
    Builder.skips.push_back({intern(Why), 1});
  Builder.kernels.push_back(Entry);
}
