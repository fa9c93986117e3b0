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

void WaitFacts::lds(uint64_t Count, uint64_t NoWait) {
  if (Count == 0)
    Info |= abi::kWaitLds;
  else if (Count < NoWait) {
    Info |= abi::waitInfo(0, 0, 0, uint32_t(Count));
    PartialLds = true;
  }
}

void WaitFacts::vmem(uint64_t Count, const GpuTarget &Target) {
  constexpr uint64_t kNoWait = 63; // of all targets
  if (Count >= kNoWait)
    return;
  Info |= Count == 0 ? abi::waitInfo(abi::kWaitVmem, 0, 0) : abi::waitInfo(0, uint32_t(Count), 0);
  if (Count != 0 && Target.Major == 9)
    Info |= abi::kWaitVmemCountsStores;
  PartialVmem |= Count != 0;
}

void WaitFacts::async(uint64_t Count) {
  if (Count < 63)
    Info |= Count == 0 ? abi::waitInfo(abi::kWaitAsync, 0, 0) : abi::waitInfo(0, 0, uint32_t(Count));
}

WaitFacts wavesan::decodePackedWait(uint64_t Immediate, const GpuTarget &Target) {
  WaitFacts Facts;
  Facts.lds(Target.Lgkmcnt.decode(Immediate), Target.Lgkmcnt.largest());
  Facts.vmem(Target.Vmcnt.decode(Immediate), Target);
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
    const SmallVector<std::string, 4> Statements = statementsOf(Text);
    for (StringRef Statement : Statements) {
      size_t End = Statement.find(' ');
      StringRef Mnemonic = Statement.substr(0, End), Rest = Statement.substr(Mnemonic.size()).trim();
      if (Plain && !isControlFlow(Mnemonic)) {
        read(Mnemonic, Rest);
        continue;
      }
      // What follows may not be executed, or more than once.
      AsmFacts Unknown;
      Unknown.Understood = false;
      for (StringRef Any : Statements) {
        size_t Behind = Any.find(' ');
        noteNamedBarrier(Any.substr(0, Behind), Any.substr(std::min(Behind, Any.size())).trim(), Unknown);
      }
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
    int Memory; ///< index into Facts.Memory; -1: a Sync
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
    // Nothing, and caches.
    if (any_of(ArrayRef<StringRef>{"s_nop", "s_sleep", "s_setprio", "buffer_wbinvl1", "buffer_wbl2", "buffer_inv",
                                   "buffer_gl0_inv", "buffer_gl1_inv", "global_inv", "global_wb"},
               [&](StringRef Prefix) { return Mnemonic.starts_with(Prefix); }))
      return;
    LooksLikeMemory |=
        any_of(ArrayRef<StringRef>{"ds_", "global_", "flat_", "buffer_", "tbuffer_", "image_", "scratch_", "s_load",
                                   "s_store", "s_buffer", "s_atomic", "s_scratch", "tensor_"},
               [&](StringRef Prefix) { return Mnemonic.starts_with(Prefix); });
    if (readArithmetic(Mnemonic, Rest))
      return;
    const size_t Before = Facts.Memory.size();
    if (!readMemory(Mnemonic, Rest)) {
      Facts.Understood = false;
      return;
    }
    for (size_t I = Before; I < Facts.Memory.size(); ++I) {
      Facts.Memory[I].Sequence = unsigned(Events.size());
      Events.push_back({int(I), {}});
    }
  }

  /// Arithmetic that leaves the active lanes alone. What it writes is no longer what it was before the asm.
  bool readArithmetic(StringRef Mnemonic, StringRef Rest) {
    const bool Vector = Mnemonic.starts_with("v_") && !Mnemonic.starts_with("v_cmpx");
    const bool Scalar =
        any_of(ArrayRef<StringRef>{"s_mov_", "s_movk_", "s_add_", "s_addc_",    "s_addk_", "s_sub_",  "s_subb_",
                                   "s_mul_", "s_and_b", "s_or_b", "s_xor_b",    "s_not_b", "s_lsh",   "s_ashr_",
                                   "s_min_", "s_max_",  "s_cmp_", "s_cselect_", "s_bfe_",  "s_sext_", "s_getreg_"},
               [&](StringRef Prefix) { return Mnemonic.starts_with(Prefix); });
    if ((!Vector && !Scalar) || Rest.contains("exec"))
      return false;
    auto [To, Sources] = Rest.split(',');
    To = To.trim();
    if (Mnemonic.starts_with("s_mov_b32") && To == "m0")
      M0 = isChanged(Sources.trim()) ? nullptr : Args.at(Sources.trim());
    else if (To == "m0")
      M0 = nullptr;
    else
      Changed.push_back(To);
    // The second of two results.
    if (Mnemonic.contains("_co_") || Mnemonic.contains("swap"))
      Changed.push_back(Sources.split(',').first.trim());
    return true;
  }
  bool isChanged(StringRef Operand) const {
    // "+v" makes one register of two numbers: compare the values.
    return any_of(Changed, [&](StringRef C) { return C == Operand || (Args.at(C) && Args.at(C) == Args.at(Operand)); });
  }

  void addWait(const WaitFacts &Wait) {
    Facts.PartialLdsWaits += Wait.PartialLds;
    Facts.PartialVmemWaits += Wait.PartialVmem;
    if (Wait.Info)
      Events.push_back({-1, {AsmSync::Wait, Wait.Info}});
  }

  enum class Counter { Lds, Vmem, Async, Other };

  /// A wait for one counter.
  void addWait(StringRef Text, Counter Which) {
    std::optional<int64_t> N = Args.constant(Text.trim());
    WaitFacts Wait;
    if (!N || *N < 0)
      Facts.Understood = false;
    else if (Which == Counter::Lds)
      Wait.lds(uint64_t(*N));
    else if (Which == Counter::Vmem)
      Wait.vmem(uint64_t(*N), Target);
    else if (Which == Counter::Async)
      Wait.async(uint64_t(*N));
    addWait(Wait);
  }

  bool readWait(StringRef Mnemonic, StringRef Rest) {
    if (Mnemonic == "s_waitcnt") {
      if (!readPackedWait(Rest))
        Facts.Understood = false;
      return true;
    }
    if (Mnemonic == "s_wait_idle") {
      WaitFacts Wait;
      Wait.lds(0);
      Wait.vmem(0, Target);
      Wait.async(0);
      addWait(Wait);
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
      Wait.lds(uint64_t(*Packed) & 63, 63);
      if (Mnemonic == "s_wait_loadcnt_dscnt")
        Wait.vmem((uint64_t(*Packed) >> 8) & 63, Target);
      addWait(Wait);
      return true;
    }
    // gfx12: s_wait_X N; gfx10 and gfx11: s_waitcnt_X null, N.
    StringRef Name = Mnemonic;
    bool Register = false;
    if (Name.consume_front("s_waitcnt_"))
      Register = true;
    else if (!Name.consume_front("s_wait_"))
      return false;
    std::optional<Counter> Which =
        StringCases<std::optional<Counter>>(Name)
            .Cases({"loadcnt", "vmcnt"}, Counter::Vmem)
            .Cases({"dscnt", "lgkmcnt"}, Counter::Lds)
            .Case("asynccnt", Counter::Async)
            .Cases({"storecnt", "vscnt", "samplecnt", "bvhcnt", "expcnt", "kmcnt"}, Counter::Other)
            .Default(std::nullopt);
    if (!Which)
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
    addWait(Rest, *Which);
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
        Wait.vmem(uint64_t(*N), Target);
      else if (Name == "lgkmcnt")
        Wait.lds(uint64_t(*N), Target.Lgkmcnt.largest());
      else if (Name != "expcnt")
        return false;
      Rest = Next;
    }
    addWait(Wait);
    return true;
  }

  bool readBarrier(StringRef Mnemonic, StringRef Rest) {
    if (noteNamedBarrier(Mnemonic, Rest, Facts))
      return true;
    if (!Mnemonic.starts_with("s_barrier"))
      return false;
    if (!Mnemonic.starts_with("s_barrier_wait"))
      Events.push_back({-1, {AsmSync::BarrierArrive}});
    if (!Mnemonic.starts_with("s_barrier_signal"))
      Events.push_back({-1, {AsmSync::BarrierLeave}});
    return true;
  }

  /// Of a barrier that is no whole workgroup's.
  bool noteNamedBarrier(StringRef Mnemonic, StringRef Rest, AsmFacts &Noted) const {
    if (Mnemonic == "s_wakeup_barrier")
      return Noted.WakesBarrier = true;
    if (!Mnemonic.starts_with("s_barrier") || Mnemonic == "s_barrier")
      return false;
    if (Mnemonic == "s_barrier_signal" || Mnemonic == "s_barrier_signal_isfirst" || Mnemonic == "s_barrier_wait") {
      // -1: the workgroup; -3: the cluster, whose workgroups take part as wholes. The wait's operand has 16 bits.
      std::optional<int64_t> Id = Args.constant(Rest);
      if (Id && (int16_t(*Id) == -1 || int16_t(*Id) == -3))
        return false;
    }
    return Noted.NamedBarrier = true; // others (init, join, leave) are of named ones alone
  }

  /// Operands are separated by commas, modifiers by spaces behind the last operand.
  bool readMemory(StringRef Name, StringRef Rest) {
    SmallVector<StringRef, 4> Parts;
    Rest.split(Parts, ',');
    SmallVector<StringRef, 4> Modifiers;
    Parts.back().trim().split(Modifiers, ' ', -1, /*KeepEmpty=*/false);
    if (Modifiers.empty())
      return false;
    Parts.back() = Modifiers.front();
    Modifiers.erase(Modifiers.begin());
    for (StringRef &Part : Parts)
      Part = Part.trim();

    // A copy to LDS: "global_load_dword ... lds", or "global_load_lds_dword".
    std::string Plain = Name.str();
    bool Copies = is_contained(Modifiers, StringRef("lds"));
    if (size_t At = Plain.find("load_lds_"); Name.starts_with("global_") && At != std::string::npos) {
      Plain.erase(At + 5, 4);
      Copies = true;
    }
    std::optional<MemoryMnemonic> Known = memoryMnemonic(Plain);
    if (!Known || (Copies && (Known->Where != Region::Global || Known->Bits != abi::kAccessRead)))
      return false;

    bool Atomic = Known->Bits & abi::kAccessAtomic, Returns = Name.contains("_rtn");
    bool IsLds = Known->Where == Region::Lds;
    // "off": the whole address is in vector registers. Otherwise a scalar base, to which they are an offset.
    StringRef Base = "off";
    if (Known->Where == Region::Global)
      Base = Parts.pop_back_val();
    // Results come first, then the address, then what is written.
    unsigned Results = !Copies && (Known->Bits == abi::kAccessRead || Returns), Data = 0;
    if (Known->Bits & abi::kAccessWrite)
      Data = Known->PairStride ? 2 : 1;
    if (Atomic && !IsLds && Parts.size() == Data + 2)
      Results = 1; // a read-modify-write that returns says so by an operand more
    if (Parts.size() != Results + 1 + Data)
      return false;
    AsmMemory Memory{Known->Where, nullptr, nullptr, Known->Bits, 0, {}, Name.str()};
    const bool TwoParts = Base != "off";
    if (isChanged(Parts[Results]) || (TwoParts && isChanged(Base)))
      return false;
    Memory.Address = Args.at(TwoParts ? Base : Parts[Results]);
    if (TwoParts) {
      Memory.Offset = Args.at(Parts[Results]);
      if (!Memory.Offset || !Memory.Offset->getType()->isIntegerTy(32))
        return false;
    }
    unsigned AddressBits = IsLds ? 32 : 64;
    if (!Memory.Address)
      return false;
    Type *T = Memory.Address->getType();
    if (!T->isIntegerTy(AddressBits) &&
        !(T->isPointerTy() && (IsLds ? T->getPointerAddressSpace() == 3 : T->getPointerAddressSpace() <= 1)))
      return false;

    int64_t Offset = 0, Pair[2] = {0, 0};
    abi::Scope Scope = IsLds ? abi::Scope::Workgroup : abi::Scope::Agent;
    for (StringRef Modifier : Modifiers) {
      auto [Key, Text] = Modifier.split(':');
      std::optional<int64_t> N = Args.constant(Text);
      if (Key == "offset" && N && !Known->PairStride)
        Offset = *N;
      else if ((Key == "offset0" || Key == "offset1") && N && Known->PairStride)
        Pair[Key == "offset1"] = *N;
      else if (Copies && Modifier == "lds")
        continue;
      else if (!IsLds && (Modifier == "sc1" || Modifier == "scope:SCOPE_SYS"))
        Scope = abi::Scope::System;
      else if (IsLds || !isCacheModifier(Modifier))
        return false; // gds, ...
    }
    if (Atomic)
      Memory.Ordering = abi::atomicInfo(0, 0, Scope, false, false);
    if (Known->PairStride)
      for (int64_t P : Pair)
        Memory.Runs.push_back({uint64_t(P) * Known->PairStride, Known->Size});
    else
      Memory.Runs.push_back({uint64_t(Offset), Known->Size});
    Memory.IsOfCopy = Copies;
    if (!Copies) {
      Facts.Memory.push_back(std::move(Memory));
      return true;
    }
    // Its LDS side begins at M0, which only the same text can tell.
    if (!M0 || !M0->getType()->isIntegerTy(32))
      return false;
    Facts.Memory.push_back(std::move(Memory));
    AsmMemory Copy{Region::Lds, M0, nullptr, abi::kAccessWrite, abi::kCopyConsecutive, {}, Name.str()};
    Copy.Runs.push_back({uint64_t(Offset), std::max(Known->Size, 4u)});
    Copy.IsCopy = true;
    Facts.Memory.push_back(std::move(Copy));
    return true;
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
    int Arrive = last(AsmSync::BarrierArrive), Leave = last(AsmSync::BarrierLeave), Memory = -1, First = -1;
    bool Atomic = false;
    for (auto [I, E] : enumerate(Events))
      if (E.Memory >= 0) {
        Memory = int(I);
        Atomic |= (Facts.Memory[size_t(E.Memory)].Bits & abi::kAccessAtomic) != 0;
      } else if (E.Sync.What != AsmSync::Wait && First < 0) {
        First = int(I);
      }
    if (Arrive >= 0 && Leave >= 0 && Leave < Arrive) {
      Facts.SplitReversed = true;
      return;
    }
    const bool Barrier = First >= 0;
    // Nothing may come between an atomic and the hook behind it.
    if (Atomic && (Barrier || Facts.Memory.size() > 1))
      Facts.Understood = false;
    for (auto [I, E] : enumerate(Events))
      if (E.Memory >= 0 && Barrier) {
        const bool Behind = int(I) > std::max(Arrive, Leave);
        Facts.Memory[size_t(E.Memory)].After = Behind;
        Facts.Understood &= Behind || int(I) < First;
      }
    // Neither the active lanes nor the addresses are known to be those before the asm.
    if (!Facts.Understood)
      Facts.Memory.clear();
    int LastBefore = Arrive >= 0 ? Arrive : !Facts.Memory.empty() && !Barrier ? Memory : -1;
    if (Arrive < 0 && Barrier) // a wait for a barrier: what its accesses need comes before it
      for (auto [I, E] : enumerate(Events))
        if (E.Memory >= 0 && int(I) < First && !Facts.Memory.empty())
          LastBefore = int(I);
    for (auto [I, E] : enumerate(Events)) {
      bool Dropped = E.Memory >= 0 || (E.Sync.What == AsmSync::BarrierArrive && int(I) != Arrive) ||
                     (E.Sync.What == AsmSync::BarrierLeave && int(I) != Leave);
      if (Dropped)
        continue;
      AsmSync Sync = E.Sync;
      Sync.Sequence = unsigned(I);
      (int(I) <= LastBefore ? Facts.Before : Facts.After).push_back(Sync);
    }
  }

  int last(AsmSync::Kind Kind) const {
    for (int I = int(Events.size()) - 1; I >= 0; --I)
      if (Events[unsigned(I)].Memory < 0 && Events[unsigned(I)].Sync.What == Kind)
        return I;
    return -1;
  }

  const CallBase &Call;
  const GpuTarget &Target;
  Operands Args;
  AsmFacts Facts;
  SmallVector<Event, 4> Events;
  bool LooksLikeMemory = false;
  SmallVector<StringRef, 4> Changed; ///< operands that an instruction of the text writes
  Value *M0 = nullptr;               ///< what the text has put there
};

} // namespace

AsmFacts wavesan::readInlineAsm(const CallBase &Call, const GpuTarget &Target) { return Reader(Call, Target).run(); }
