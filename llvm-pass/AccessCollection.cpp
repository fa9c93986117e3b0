// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AccessCollection.h"

#include "AsyncCopies.h"
#include "AtomicFacts.h"
#include "CallGraphFacts.h"
#include "InlineAsmFacts.h"
#include "LlvmVersions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace wavesan;

unsigned Access::granuleLog2() const {
  constexpr unsigned kLargest = 2;
  if (Where == Region::Global)
    return kLargest;
  if (Length)
    return 0;
  unsigned Result = kLargest;
  for (const ByteRun &Run : Runs) {
    unsigned Aligned = Log2(commonAlignment(Alignment, Run.Offset));
    Result = std::min({Result, Aligned, unsigned(countr_zero(Run.Size))});
  }
  return Result;
}

namespace {

/// Bytes that a load or store of `T` touches, without padding, merged where adjacent.
void appendRuns(Type *T, uint64_t Offset, const DataLayout &Layout, SmallVectorImpl<ByteRun> &Runs) {
  if (auto *Struct = dyn_cast<StructType>(T)) {
    const StructLayout *Fields = Layout.getStructLayout(Struct);
    for (unsigned I = 0; I < Struct->getNumElements(); ++I)
      appendRuns(Struct->getElementType(I), Offset + Fields->getElementOffset(I), Layout, Runs);
    return;
  }
  if (auto *Array = dyn_cast<ArrayType>(T)) {
    uint64_t Stride = Layout.getTypeAllocSize(Array->getElementType());
    for (uint64_t I = 0; I < Array->getNumElements(); ++I)
      appendRuns(Array->getElementType(), Offset + I * Stride, Layout, Runs);
    return;
  }
  uint64_t Size = Layout.getTypeStoreSize(T);
  if (!Size)
    return;
  if (!Runs.empty() && Runs.back().Offset + Runs.back().Size == Offset)
    Runs.back().Size += Size;
  else
    Runs.push_back({Offset, Size});
}

class Chooser {
public:
  Chooser(Function &F, LdsArgumentList LdsArguments, const GpuTarget &Target)
      : F(F), Target(Target), Places(F, LdsArguments), Atomics(F.getContext()), Layout(F.getDataLayout()) {}

  Expected<AccessChoice> run() {
    for (Instruction &I : instructions(F)) {
      Expected<std::optional<AtomicFacts>> Atomic = Atomics.atomic(I);
      if (!Atomic)
        return Atomic.takeError();
      const size_t Before = Choice.Accesses.size();
      visit(I);
      if (*Atomic)
        for (size_t A = Before; A < Choice.Accesses.size(); ++A)
          Choice.Accesses[A].Ordering = (*Atomic)->infoBits();
    }
    return std::move(Choice);
  }

private:
  void visit(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (Load->hasMetadata(LLVMContext::MD_invariant_load) && !Load->isAtomic())
        return;
      typed(I, Load->getPointerOperand(), Load->getType(), Load->getAlign(),
            abi::kAccessRead | (Load->isAtomic() ? abi::kAccessAtomic : 0), Load->isAtomic() ? "atomic load" : "load");
    } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
      typed(I, Store->getPointerOperand(), Store->getValueOperand()->getType(), Store->getAlign(),
            abi::kAccessWrite | (Store->isAtomic() ? abi::kAccessAtomic : 0),
            Store->isAtomic() ? "atomic store" : "store");
    } else if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I)) {
      typed(I, Rmw->getPointerOperand(), Rmw->getType(), Rmw->getAlign(), kReadModifyWrite,
            ("atomicrmw " + AtomicRMWInst::getOperationName(Rmw->getOperation())).str());
    } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
      typed(I, Exchange->getPointerOperand(), Exchange->getCompareOperand()->getType(), Exchange->getAlign(),
            kReadModifyWrite, "cmpxchg");
    } else if (auto *Call = dyn_cast<CallBase>(&I)) {
      visitCall(*Call);
    } else if (I.mayReadOrWriteMemory() && !isa<FenceInst>(I)) {
      Choice.Skips.add(std::string("instruction ") + I.getOpcodeName());
    }
  }

  void visitCall(CallBase &Call) {
    if (Call.isInlineAsm())
      return visitInlineAsm(Call);
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call))
      return visitIntrinsic(*Intrinsic);
    Function *Callee = directCallee(Call);
    if (!Callee)
      Choice.Skips.add("indirect call");
    else if (isRuntimeService(*Callee) && !isHeapAllocation(*Callee) && !isHeapRelease(*Callee))
      Choice.Skips.add("call of the device library (" + Callee->getName().str() + ")");
    // What is left are calls of recursive clones, which are instrumented themselves.
  }

  void visitInlineAsm(CallBase &Call) {
    AsmFacts Facts = readInlineAsm(Call, Target);
    if (!Facts.Understood)
      Choice.Skips.add("inline asm");
    else
      Choice.KnownAsm.push_back(&Call);
    for (const AsmMemory &Memory : Facts.Memory)
      addAsmMemory(Call, Memory);
  }

  void addAsmMemory(CallBase &Call, const AsmMemory &Memory) {
    Place P = Places.ofAddress(Memory.Address);
    // The instruction decides; only flat ones leave it to the address.
    if (Memory.Where != Region::Generic && P.Where != Memory.Where)
      P = {Memory.Where};
    KnownBits Known = computeKnownBits(Memory.Address, Layout);
    Align Alignment(uint64_t(1) << std::min(Known.countMinTrailingZeros(), 4u));
    if (Memory.IsCopy)
      Alignment = Align(4); // the hardware wants whole dwords
    const std::string Name =
        (Memory.IsCopy || Memory.IsOfCopy ? "asynchronous copy by inline asm " : "inline asm ") + Memory.Mnemonic;
    if (Access *A = add(Call, Memory.Address, P, Alignment, Memory.Bits, Name)) {
      A->Runs.append(Memory.Runs.begin(), Memory.Runs.end());
      A->Offset = Memory.Offset;
      A->Ordering = Memory.Ordering | (Memory.IsOfCopy ? abi::kAccessOfCopy : 0);
      if (!Memory.IsCopy && !Memory.IsOfCopy)
        A->Ordering |= abi::kAccessOneInstruction;
      A->IsCopy = Memory.IsCopy;
      A->Sequence = Memory.Sequence;
      A->After = Memory.After;
    }
  }

  void visitIntrinsic(IntrinsicInst &I) {
    if (auto *Transfer = dyn_cast<AnyMemTransferInst>(&I)) {
      const char *Name = isa<AnyMemMoveInst>(I) ? "memmove" : "memcpy";
      range(I, Transfer->getRawSource(), Transfer->getLength(), Transfer->getSourceAlign().valueOrOne(),
            abi::kAccessRead, Name);
      range(I, Transfer->getRawDest(), Transfer->getLength(), Transfer->getDestAlign().valueOrOne(), abi::kAccessWrite,
            Name);
      return;
    }
    if (auto *Set = dyn_cast<AnyMemSetInst>(&I)) {
      range(I, Set->getRawDest(), Set->getLength(), Set->getDestAlign().valueOrOne(), abi::kAccessWrite, "memset");
      return;
    }
    switch (I.getIntrinsicID()) {
    case Intrinsic::amdgcn_ds_append:
    case Intrinsic::amdgcn_ds_consume:
      if (Access *A = typed(I, I.getArgOperand(0), I.getType(), Align(4), kReadModifyWrite, shortName(I)))
        A->Ordering = abi::atomicInfo(0, 0, abi::Scope::Workgroup, false, false);
      return;
    // Handled as synchronisation (SyncCollection.cpp), or no memory that lanes share.
    case Intrinsic::amdgcn_s_barrier:
    case Intrinsic::amdgcn_s_barrier_signal:
    case Intrinsic::amdgcn_s_barrier_signal_isfirst:
    case Intrinsic::amdgcn_s_barrier_wait:
    case Intrinsic::amdgcn_s_barrier_init:
    case Intrinsic::amdgcn_s_barrier_join:
    case Intrinsic::amdgcn_s_barrier_signal_var:
    case Intrinsic::amdgcn_s_barrier_leave:
    case Intrinsic::amdgcn_wave_barrier:
    case Intrinsic::amdgcn_ds_gws_barrier:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::invariant_start:
    case Intrinsic::invariant_end:
    case Intrinsic::assume:
    case Intrinsic::prefetch:
      return;
    default:
      break;
    }
    if (isClusterBarrier(I) || isBarrierState(I))
      return;                  // as the other barriers above
    if (isTransposedLoad(I)) { // lanes swap what they read, but together they read what their addresses name
      typed(I, I.getArgOperand(0), I.getType(), Align(4), abi::kAccessRead, shortName(I));
      return;
    }
    if (std::optional<AsyncCopy> Copy = asyncCopy(I)) {
      addCopy(I, *Copy);
      return;
    }
    if (std::optional<BufferAccess> Buffer = bufferAccess(I)) {
      if (Access *A = addBuffer(I, *Buffer, Layout.getTypeStoreSize(Buffer->Data), shortName(I)); A && A->isAtomic())
        // Executed by the level-2 cache; the intrinsic names neither scope nor order.
        A->Ordering |=
            abi::atomicInfo(0, 0, abi::Scope::Agent, false, false) | (Buffer->Compare ? abi::kAtomicMayFail : 0u);
      return;
    }
    StringRef Name = I.getCalledFunction()->getName();
    if (Name.contains("async.to.lds") || Name.contains("load.to.lds") || Name.contains("load.lds") ||
        Name.contains("async.from.lds") || Name.contains("store.from.lds"))
      Choice.Skips.add("asynchronous copy to LDS");
    else if (Name.starts_with("llvm.amdgcn.ds.gws"))
      Choice.Skips.add("global wave sync");
    else if (touchesMemory(I))
      Choice.Skips.add(isBuffer(Name) ? std::string(kBufferReason) : "intrinsic " + shortName(I));
  }

  void addCopy(IntrinsicInst &I, const AsyncCopy &Copy) {
    const std::string Name = "asynchronous copy " + shortName(I);
    const uint32_t FromLds = abi::kAccessRead, Write = abi::kAccessWrite;
    if (!Copy.Global) {
      if (std::optional<BufferAccess> Buffer = bufferAccess(I))
        addBuffer(I, *Buffer, Copy.Size, Name);
      else
        Choice.Skips.add(kBufferReason);
    } else if (Access *A =
                   add(I, Copy.Global, Places.of(Copy.Global), Align(1), Copy.ToLds ? abi::kAccessRead : Write, Name)) {
      A->Runs.push_back({Copy.Offset, Copy.Size});
      A->Ordering = abi::kAccessOfCopy;
    }
    // Consecutive lanes begin at M0, of which the hardware wants whole dwords.
    const Align Alignment =
        Copy.isConsecutive() ? Align(4) : Align(uint64_t(1) << Log2_64(std::min<uint64_t>(Copy.Size, 4)));
    if (Access *A = add(I, Copy.Lds, Places.of(Copy.Lds), Alignment, Copy.ToLds ? Write : FromLds, Name)) {
      A->Runs.push_back({Copy.Offset, Copy.ldsSize()});
      A->Ordering = Copy.CopyBits;
      A->IsCopy = true;
    }
  }

  Access *addBuffer(IntrinsicInst &I, const BufferAccess &Buffer, uint64_t Size, StringRef Name) {
    if (Target.HasWideBuffers || !Size || Size > 16) {
      Choice.Skips.add(kBufferReason);
      return nullptr;
    }
    Access *A = add(I, nullptr, {Region::Global}, Align(1), Buffer.Bits, Name);
    A->Runs.push_back({0, Size});
    A->Buffer = Buffer;
    // Lanes out of range reach no hook, and some reach one of their own: an issued hook counts the instruction.
    A->Ordering = abi::kAccessOfCopy;
    return A;
  }

  static bool isBuffer(StringRef Name) {
    return Name.contains(".buffer.") || Name.contains(".tbuffer.") || Name.starts_with("llvm.amdgcn.image.");
  }

  /// An intrinsic that reads or writes memory through one of its operands.
  static bool touchesMemory(IntrinsicInst &I) {
    if (!I.mayReadOrWriteMemory() || I.isAssumeLikeIntrinsic())
      return false;
    StringRef Name = I.getCalledFunction()->getName();
    if (isBuffer(Name) || Name.starts_with("llvm.amdgcn.ds."))
      return true;
    return any_of(I.args(), [](const Use &Operand) {
      if (!Operand->getType()->isPtrOrPtrVectorTy())
        return false;
      unsigned AddressSpace = Operand->getType()->getPointerAddressSpace();
      return AddressSpace != 4 && AddressSpace != 5;
    });
  }

  static std::string shortName(const IntrinsicInst &I) {
    StringRef Name = Intrinsic::getBaseName(I.getIntrinsicID());
    if (!Name.consume_front("llvm.amdgcn."))
      Name.consume_front("llvm.");
    return Name.str();
  }

  /// Creates the access, or counts why there is none.
  Access *add(Instruction &I, Value *Pointer, const Place &P, Align Alignment, uint32_t Bits, StringRef Opcode) {
    switch (P.Where) {
    case Region::Private:
      return nullptr;
    case Region::Constant:
      if (Bits & abi::kAccessWrite)
        Choice.Skips.add("write to constant memory");
      return nullptr;
    case Region::Buffer:
      Choice.Skips.add(kBufferReason);
      return nullptr;
    case Region::Other:
      Choice.Skips.add("address space " + std::to_string(Pointer->getType()->getPointerAddressSpace()));
      return nullptr;
    case Region::Lds:
    case Region::Global:
    case Region::Generic:
      break;
    }
    Access &A = Choice.Accesses.emplace_back();
    A.I = &I;
    A.Pointer = Pointer;
    A.Where = P.Where;
    A.Bits = Bits;
    A.Alignment = Alignment;
    A.Variable = P.Name;
    A.VariableAddress = P.VariableAddress;
    A.Opcode = Opcode.str();
    return &A;
  }

  Access *typed(Instruction &I, Value *Pointer, Type *T, Align Alignment, uint32_t Bits, StringRef Opcode) {
    SmallVector<ByteRun, 1> Runs;
    appendRuns(T, 0, Layout, Runs);
    if (Runs.empty())
      return nullptr;
    Access *A = add(I, Pointer, Places.of(Pointer), Alignment, Bits, Opcode);
    if (A)
      A->Runs = std::move(Runs);
    return A;
  }

  void range(Instruction &I, Value *Pointer, Value *Length, Align Alignment, uint32_t Bits, StringRef Opcode) {
    auto *Constant = dyn_cast<ConstantInt>(Length);
    if (Constant && Constant->isZero())
      return;
    Access *A = add(I, Pointer, Places.of(Pointer), Alignment, Bits, Opcode);
    if (!A)
      return;
    if (Constant)
      A->Runs.push_back({0, Constant->getZExtValue()});
    else
      A->Length = Length;
  }

  static constexpr uint32_t kReadModifyWrite = abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic;
  static constexpr const char *kBufferReason = "buffer with a format, fat pointer or image memory (not checked yet)";

  Function &F;
  const GpuTarget &Target;
  MemoryPlaces Places;
  AtomicReader Atomics;
  const DataLayout &Layout;
  AccessChoice Choice;
};

} // namespace

Expected<AccessChoice> wavesan::chooseAccesses(Function &F, LdsArgumentList LdsArguments, const GpuTarget &Target) {
  return Chooser(F, LdsArguments, Target).run();
}

namespace {

constexpr uint32_t kAnyNumber = 255;

bool isHiddenArgument(const Value &Pointer) {
  auto *Base = dyn_cast<IntrinsicInst>(Pointer.stripInBoundsConstantOffsets());
  return Base && (Base->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr ||
                  Base->getIntrinsicID() == Intrinsic::amdgcn_dispatch_ptr ||
                  Base->getIntrinsicID() == Intrinsic::amdgcn_kernarg_segment_ptr);
}

/// What an instruction without a hook may become.
uint32_t issuedBy(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I); Load && isHiddenArgument(*Load->getPointerOperand()))
    return 0; // read by the scalar unit
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return abi::issuedInfo(0, 0, Load->getPointerAddressSpace() == 3 ? 0 : kAnyNumber, 0);
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return abi::issuedInfo(0, 0, 0, Store->getPointerAddressSpace() == 3 ? 0 : kAnyNumber);
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || !Call->mayReadOrWriteMemory() || isa<FenceInst>(I))
    return 0;
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(Call)) {
    if (Intrinsic->isAssumeLikeIntrinsic() || asyncCopy(*Intrinsic))
      return 0;
    StringRef Name = amdgcnName(*Intrinsic);
    // A resource's loads and stores are what they are called; an atomic counts with either.
    if (std::optional<BufferAccess> Buffer = bufferAccess(*Intrinsic))
      return Buffer->allOrNothing()            ? abi::issuedInfo(0, 0, 1, 1)
             : Buffer->Bits & abi::kAccessRead ? abi::issuedInfo(1, 0, 0, 0)
                                               : abi::issuedInfo(0, 1, 0, 0);
    if (Name.starts_with("s.") || Name.starts_with("wave.barrier") || Name.starts_with("sched") ||
        Name.starts_with("ds.") || Name.starts_with("iglp"))
      return 0;
    return abi::issuedInfo(0, 0, kAnyNumber, kAnyNumber);
  }
  return abi::issuedInfo(0, 0, kAnyNumber, kAnyNumber);
}

} // namespace

std::vector<Issued> wavesan::chooseIssued(Function &F, const AccessChoice &Choice) {
  SmallPtrSet<const Instruction *, 32> Hooked;
  for (const Access &A : Choice.Accesses)
    if (!A.Buffer)
      Hooked.insert(A.I);
  Hooked.insert(Choice.KnownAsm.begin(), Choice.KnownAsm.end());
  std::vector<Issued> All;
  for (Instruction &I : instructions(F))
    if (!Hooked.contains(&I))
      if (uint32_t Info = issuedBy(I))
        All.push_back({&I, Info});
  return All;
}
