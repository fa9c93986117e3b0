// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "InlineAsmFacts.h"

#include "AsmMnemonics.h"
#include "LlvmVersions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace wavesan;

static void addCount(WaitFacts &Facts, uint64_t Count, uint64_t NoWait, uint32_t Completed) {
  if (Count == 0)
    Facts.Completed |= Completed;
  else
    Facts.Partial |= Count < NoWait;
}

WaitFacts wavesan::decodePackedWait(uint64_t Immediate, const GpuTarget &Target) {
  WaitFacts Facts;
  addCount(Facts, Target.Lgkmcnt.decode(Immediate), Target.Lgkmcnt.largest(), abi::kWaitLds);
  addCount(Facts, Target.Vmcnt.decode(Immediate), Target.Vmcnt.largest(), abi::kWaitVmem);
  return Facts;
}

namespace {

/// The operands of an inline asm by the numbers that its text uses.
class Operands {
public:
  explicit Operands(const CallBase &Call) {
    auto Constraints = cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints();
    unsigned Next = 0;
    for (const InlineAsm::ConstraintInfo &C : Constraints) {
      Value *V = nullptr;
      if (C.Type == InlineAsm::isInput || (C.Type == InlineAsm::isOutput && C.isIndirect))
        V = Next < Call.arg_size() ? Call.getArgOperand(Next++) : nullptr;
      // The value of an indirect operand is in memory.
      Values.push_back(C.isIndirect ? nullptr : V);
    }
    // "+v": the input that is tied to the output is its value before.
    for (auto [C, V] : zip(Constraints, Values))
      if (C.Type == InlineAsm::isOutput && C.hasMatchingInput() && unsigned(C.MatchingInput) < Values.size())
        V = Values[unsigned(C.MatchingInput)];
  }

  /// `$N`, `${N}` or `${N:modifier}`; null for anything else.
  Value *at(StringRef Text) const {
    unsigned Number;
    if (!Text.consume_front("$"))
      return nullptr;
    if (Text.consume_front("{")) {
      if (!Text.consume_back("}"))
        return nullptr;
      Text = Text.split(':').first;
    }
    if (Text.getAsInteger(10, Number) || Number >= Values.size())
      return nullptr;
    return Values[Number];
  }

  /// A literal or an operand that is a constant.
  std::optional<int64_t> constant(StringRef Text) const {
    if (Text.starts_with("$")) {
      auto *C = dyn_cast_or_null<ConstantInt>(at(Text));
      return C && C->getBitWidth() <= 64 ? std::optional(C->getSExtValue()) : std::nullopt;
    }
    int64_t Number;
    return Text.getAsInteger(0, Number) ? std::nullopt : std::optional(Number);
  }

private:
  SmallVector<Value *, 8> Values;
};

/// Statements without comments. The assembler ends them at line ends only; ';' begins a comment.
SmallVector<std::string, 4> statementsOf(StringRef Text) {
  std::string Plain;
  while (!Text.empty()) {
    size_t Comment = Text.find("/*"), Line = std::min(Text.find("//"), Text.find(';'));
    size_t Cut = std::min(Comment, Line);
    Plain += Text.substr(0, Cut);
    Text = Text.substr(std::min(Cut, Text.size()));
    if (Text.empty())
      break;
    const size_t End = Comment < Line ? Text.find("*/", 2) : Text.find('\n');
    Plain += Comment < Line ? " " : "";
    Text = End == StringRef::npos ? "" : Text.substr(Comment < Line ? End + 2 : End);
  }
  std::replace(Plain.begin(), Plain.end(), '\t', ' ');
  SmallVector<std::string, 4> Statements;
  SmallVector<StringRef, 4> Lines;
  StringRef(Plain).split(Lines, '\n');
  for (StringRef Line : Lines)
    if (!Line.trim().empty())
      Statements.push_back(Line.trim().str());
  return Statements;
}

class Reader {
public:
  Reader(const CallBase &Call, const GpuTarget &Target) : Call(Call), Target(Target), Args(Call) {}

  AsmFacts run() {
    auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
    StringRef Text = Asm->getAsmString();
    // Alternatives by dialect, and numbers made for labels.
    const bool Plain = isa<CallInst>(Call) && !Text.contains("$(") && !Text.contains("${:");
    for (StringRef Statement : statementsOf(Text)) {
      size_t End = Statement.find(' ');
      StringRef Mnemonic = Statement.substr(0, End), Rest = Statement.substr(Mnemonic.size()).trim();
      if (Plain && !isControlFlow(Mnemonic)) {
        read(Mnemonic, Rest);
        continue;
      }
      // What follows may not be executed, or more than once.
      AsmFacts Unknown;
      Unknown.Understood = false;
      return Unknown;
    }
    place();
    // Without side effects, what does not look like memory is arithmetic.
    if (!Asm->hasSideEffects() && !Call.mayReadOrWriteMemory() && !LooksLikeMemory)
      Facts.Understood = true;
    return std::move(Facts);
  }

private:
  struct Event {
    bool IsMemory;
    AsmSync Sync;
  };

  static bool isControlFlow(StringRef Mnemonic) {
    // Labels and directives too: macros and conditional assembly are not followed.
    return Mnemonic.contains(':') || Mnemonic.starts_with(".") ||
           any_of(ArrayRef<StringRef>{"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm", "s_rfe",
                                      "s_trap", "s_subvector", "s_cbranch_join"},
                  [&](StringRef Prefix) { return Mnemonic.starts_with(Prefix); });
  }

  void read(StringRef Mnemonic, StringRef Rest) {
    if (readWait(Mnemonic, Rest) || readBarrier(Mnemonic, Rest))
      return;
    if (Mnemonic == "s_nop" || Mnemonic == "s_sleep" || Mnemonic == "s_setprio")
      return;
    LooksLikeMemory |=
        any_of(ArrayRef<StringRef>{"ds_", "global_", "flat_", "buffer_", "tbuffer_", "image_", "scratch_", "s_load",
                                   "s_store", "s_buffer", "s_atomic", "s_scratch", "tensor_"},
               [&](StringRef Prefix) { return Mnemonic.starts_with(Prefix); });
    std::optional<AsmMemory> Memory = readMemory(Mnemonic, Rest);
    if (!Memory || Facts.Memory) {
      Facts.Understood = false;
      return;
    }
    Facts.Memory = std::move(Memory);
    Events.push_back({true, {}});
  }

  void addWait(const WaitFacts &Wait) {
    Facts.PartialWaits += Wait.Partial;
    if (Wait.Completed)
      Events.push_back({false, {AsmSync::Wait, Wait.Completed}});
  }

  /// A wait for one counter; `Completed` 0: for something that no hook is about.
  void addWait(StringRef Count, uint32_t Completed) {
    std::optional<int64_t> N = Args.constant(Count.trim());
    if (!N || *N < 0)
      Facts.Understood = false;
    else if (Completed)
      addWait(WaitFacts{*N == 0 ? Completed : 0, *N != 0});
  }

  bool readWait(StringRef Mnemonic, StringRef Rest) {
    if (Mnemonic == "s_waitcnt") {
      if (!readPackedWait(Rest))
        Facts.Understood = false;
      return true;
    }
    if (Mnemonic == "s_wait_idle") {
      addWait(WaitFacts{abi::kWaitLds | abi::kWaitVmem, false});
      return true;
    }
    if (Mnemonic == "s_wait_loadcnt_dscnt" || Mnemonic == "s_wait_storecnt_dscnt") {
      // dscnt in bits 5:0, the other in bits 13:8.
      std::optional<int64_t> Packed = Args.constant(Rest);
      WaitFacts Wait;
      if (!Packed) {
        Facts.Understood = false;
        return true;
      }
      addCount(Wait, *Packed & 63, 63, abi::kWaitLds);
      if (Mnemonic == "s_wait_loadcnt_dscnt")
        addCount(Wait, (*Packed >> 8) & 63, 63, abi::kWaitVmem);
      addWait(Wait);
      return true;
    }
    // gfx12: s_wait_X N; gfx10 and gfx11: s_waitcnt_X null, N.
    StringRef Counter = Mnemonic;
    bool Register = false;
    if (Counter.consume_front("s_waitcnt_"))
      Register = true;
    else if (!Counter.consume_front("s_wait_"))
      return false;
    std::optional<uint32_t> Completed = StringCases<std::optional<uint32_t>>(Counter)
                                            .Cases({"loadcnt", "vmcnt"}, abi::kWaitVmem)
                                            .Cases({"dscnt", "lgkmcnt"}, abi::kWaitLds)
                                            .Cases({"storecnt", "vscnt", "samplecnt", "bvhcnt", "expcnt", "kmcnt"}, 0u)
                                            .Default(std::nullopt);
    if (!Completed)
      return false;
    if (Register) {
      auto [Base, Count] = Rest.split(',');
      if (Base.trim() != "null") {
        // A register is added to the count.
        Facts.Understood = false;
        return true;
      }
      Rest = Count;
    }
    addWait(Rest, *Completed);
    return true;
  }

  /// One number, or named counts: "vmcnt(0) & lgkmcnt(0)".
  bool readPackedWait(StringRef Text) {
    if (std::optional<int64_t> Packed = Args.constant(Text)) {
      if (!Target.HasPackedWait)
        return false;
      addWait(decodePackedWait(uint64_t(*Packed), Target));
      return true;
    }
    std::string Dense;
    for (char C : Text)
      if (!isSpace(C) && C != '&' && C != ',')
        Dense += C;
    WaitFacts Wait;
    if (Dense.empty())
      return false;
    for (StringRef Rest = Dense; !Rest.empty();) {
      auto [Name, Behind] = Rest.split('(');
      auto [Count, Next] = Behind.split(')');
      Name.consume_back("_sat");
      std::optional<int64_t> N = Args.constant(Count);
      if (!N || *N < 0)
        return false;
      if (Name == "vmcnt")
        addCount(Wait, uint64_t(*N), Target.Vmcnt.largest(), abi::kWaitVmem);
      else if (Name == "lgkmcnt")
        addCount(Wait, uint64_t(*N), Target.Lgkmcnt.largest(), abi::kWaitLds);
      else if (Name != "expcnt")
        return false;
      Rest = Next;
    }
    addWait(Wait);
    return true;
  }

  bool readBarrier(StringRef Mnemonic, StringRef Rest) {
    bool Whole = Mnemonic == "s_barrier";
    bool Signal = Mnemonic == "s_barrier_signal" || Mnemonic == "s_barrier_signal_isfirst";
    bool Wait = Mnemonic == "s_barrier_wait";
    if (!Whole && !Signal && !Wait) {
      // Others (init, join, leave) are of named barriers.
      if (!Mnemonic.starts_with("s_barrier"))
        return false;
      Facts.NamedBarrier = true;
      return true;
    }
    if (!Whole) {
      // -1: the workgroup; -3: the cluster, whose workgroups take part as wholes. The wait's operand has 16 bits.
      std::optional<int64_t> Id = Args.constant(Rest);
      if (!Id || (int16_t(*Id) != -1 && int16_t(*Id) != -3)) {
        Facts.NamedBarrier = true;
        return true;
      }
    }
    if (Whole || Signal)
      Events.push_back({false, {AsmSync::BarrierArrive}});
    if (Whole || Wait)
      Events.push_back({false, {AsmSync::BarrierLeave}});
    return true;
  }

  /// Operands are separated by commas, modifiers by spaces behind the last operand.
  std::optional<AsmMemory> readMemory(StringRef Name, StringRef Rest) {
    std::optional<MemoryMnemonic> Known = memoryMnemonic(Name);
    if (!Known)
      return std::nullopt;
    SmallVector<StringRef, 4> Parts;
    Rest.split(Parts, ',');
    SmallVector<StringRef, 4> Modifiers;
    Parts.back().trim().split(Modifiers, ' ', -1, /*KeepEmpty=*/false);
    if (Modifiers.empty())
      return std::nullopt;
    Parts.back() = Modifiers.front();
    Modifiers.erase(Modifiers.begin());
    for (StringRef &Part : Parts)
      Part = Part.trim();

    bool Atomic = Known->Bits & abi::kAccessAtomic, Returns = Name.contains("_rtn");
    bool IsLds = Known->Where == Region::Lds;
    if (Known->Where == Region::Global && Parts.pop_back_val() != "off")
      return std::nullopt; // address in two parts
    // Results come first, then the address, then what is written.
    unsigned Results = Known->Bits == abi::kAccessRead || Returns, Data = 0;
    if (Known->Bits & abi::kAccessWrite)
      Data = Known->PairStride ? 2 : 1;
    if (Atomic && !IsLds && Parts.size() == Data + 2)
      Results = 1; // a read-modify-write that returns says so by an operand more
    if (Parts.size() != Results + 1 + Data)
      return std::nullopt;
    AsmMemory Memory{Known->Where, Args.at(Parts[Results]), Known->Bits, 0, {}, Name.str()};
    unsigned AddressBits = IsLds ? 32 : 64;
    if (!Memory.Address)
      return std::nullopt;
    Type *T = Memory.Address->getType();
    if (!T->isIntegerTy(AddressBits) &&
        !(T->isPointerTy() && (IsLds ? T->getPointerAddressSpace() == 3 : T->getPointerAddressSpace() <= 1)))
      return std::nullopt;

    int64_t Offset = 0, Pair[2] = {0, 0};
    abi::Scope Scope = IsLds ? abi::Scope::Workgroup : abi::Scope::Agent;
    for (StringRef Modifier : Modifiers) {
      auto [Key, Text] = Modifier.split(':');
      std::optional<int64_t> N = Args.constant(Text);
      if (Key == "offset" && N && !Known->PairStride)
        Offset = *N;
      else if ((Key == "offset0" || Key == "offset1") && N && Known->PairStride)
        Pair[Key == "offset1"] = *N;
      else if (!IsLds && (Modifier == "sc1" || Modifier == "scope:SCOPE_SYS"))
        Scope = abi::Scope::System;
      else if (IsLds || !isCacheModifier(Modifier))
        return std::nullopt; // gds, lds, ...
    }
    if (Atomic)
      Memory.Ordering = abi::atomicInfo(0, 0, Scope, false, false);
    if (Known->PairStride)
      for (int64_t P : Pair)
        Memory.Runs.push_back({uint64_t(P) * Known->PairStride, Known->Size});
    else
      Memory.Runs.push_back({uint64_t(Offset), Known->Size});
    return Memory;
  }

  static bool isCacheModifier(StringRef Modifier) {
    return StringCases<bool>(Modifier)
        .Cases({"glc", "slc", "dlc", "scc", "sc0", "nt"}, true)
        .StartsWith("th:", true)
        .StartsWith("scope:", true)
        .Default(false);
  }

  /// Distributes the events before and after the asm.
  void place() {
    // Of several barriers the last one counts: what is between them is not checked, and whatever was complete at any of
    // them is complete at the last.
    int Arrive = last(AsmSync::BarrierArrive), Leave = last(AsmSync::BarrierLeave), Memory = -1;
    for (auto [I, E] : enumerate(Events))
      if (E.IsMemory)
        Memory = int(I);
    if (Arrive >= 0 && Leave >= 0 && Leave < Arrive) {
      Facts.SplitReversed = true;
      return;
    }
    const bool Barrier = Arrive >= 0 || Leave >= 0;
    bool WaitsFirst = false;
    for (int I = 0; I < Memory; ++I)
      WaitsFirst |= Events[unsigned(I)].Sync.What == AsmSync::Wait;
    if (Facts.Memory) {
      // The access comes before the barrier and before or after all that goes before the asm; nothing may come between
      // an atomic and the hook behind it.
      bool Atomic = Facts.Memory->Bits & abi::kAccessAtomic;
      bool Placed = !Barrier || (!Atomic && !WaitsFirst && (Arrive < 0 || Memory < firstBarrier()) &&
                                 (Leave < 0 || Memory < firstBarrier()));
      Facts.Understood &= Placed;
      Facts.Memory->PrecedesSync = Barrier;
    }
    // One unknown instruction, and neither the active lanes nor the address are known to be those before the asm.
    if (!Facts.Understood)
      Facts.Memory.reset();
    int LastBefore = Arrive >= 0 ? Arrive : Facts.Memory && !Barrier ? Memory : -1;
    for (auto [I, E] : enumerate(Events)) {
      bool Dropped = E.IsMemory || (E.Sync.What == AsmSync::BarrierArrive && int(I) != Arrive) ||
                     (E.Sync.What == AsmSync::BarrierLeave && int(I) != Leave);
      if (!Dropped)
        (int(I) <= LastBefore ? Facts.Before : Facts.After).push_back(E.Sync);
    }
  }

  int last(AsmSync::Kind Kind) const {
    for (int I = int(Events.size()) - 1; I >= 0; --I)
      if (!Events[unsigned(I)].IsMemory && Events[unsigned(I)].Sync.What == Kind)
        return I;
    return -1;
  }
  int firstBarrier() const {
    for (auto [I, E] : enumerate(Events))
      if (!E.IsMemory && E.Sync.What != AsmSync::Wait)
        return int(I);
    return int(Events.size());
  }

  const CallBase &Call;
  const GpuTarget &Target;
  Operands Args;
  AsmFacts Facts;
  SmallVector<Event, 4> Events;
  bool LooksLikeMemory = false;
};

} // namespace

AsmFacts wavesan::readInlineAsm(const CallBase &Call, const GpuTarget &Target) { return Reader(Call, Target).run(); }
