// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AccessCollection.h"

#include "CallGraphFacts.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace wavesan;

unsigned Access::granuleLog2() const {
  constexpr unsigned kLargest = 2;
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

enum class Region { Lds, MaybeLds, Global, Constant, Private, Other };

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

Region regionOfAddressSpace(unsigned AddressSpace) {
  switch (AddressSpace) {
  case 0:
    return Region::MaybeLds;
  case 3:
    return Region::Lds;
  case 1:
  case 7: // buffer resources and fat pointers
  case 8:
  case 9:
    return Region::Global;
  case 4:
  case 6:
    return Region::Constant;
  case 5:
    return Region::Private;
  default:
    return Region::Other;
  }
}

/// Pointers that the host passed to the kernel cannot point to LDS.
bool comesFromHost(const Value *Object) {
  if (auto *Argument = dyn_cast<llvm::Argument>(Object))
    return Argument->getParent()->getCallingConv() == CallingConv::AMDGPU_KERNEL;
  auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load || Load->getPointerAddressSpace() != 4)
    return false;
  const Value *Base = getUnderlyingObject(Load->getPointerOperand());
  if (auto *Argument = dyn_cast<llvm::Argument>(Base))
    return Argument->getParent()->getCallingConv() == CallingConv::AMDGPU_KERNEL;
  auto *Call = dyn_cast<IntrinsicInst>(Base);
  return Call && (Call->getIntrinsicID() == Intrinsic::amdgcn_kernarg_segment_ptr ||
                  Call->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr);
}

using VariableArguments = ArrayRef<std::pair<Argument *, GlobalVariable *>>;

struct Place {
  Region Where;
  const GlobalVariable *Variable = nullptr;
  const Value *VariableAddress = nullptr;
};

const GlobalVariable *variableOf(const Value *Object, VariableArguments LdsArguments) {
  for (const auto &[Argument, V] : LdsArguments)
    if (Argument == Object)
      return V;
  return dyn_cast<GlobalVariable>(Object);
}

Place placeOf(const Value *Pointer, VariableArguments LdsArguments) {
  Region Where = regionOfAddressSpace(Pointer->getType()->getPointerAddressSpace());
  if (Where != Region::Lds && Where != Region::MaybeLds)
    return {Where};
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/64);
  const GlobalVariable *Variable = nullptr;
  const Value *VariableAddress = nullptr;
  bool OneVariable = !Objects.empty(), AllLds = !Objects.empty(), NoneLds = !Objects.empty();
  Region Outside = Region::Private;
  for (const Value *Object : Objects) {
    Region R = regionOfAddressSpace(Object->getType()->getPointerAddressSpace());
    if (R == Region::MaybeLds && comesFromHost(Object))
      R = Region::Global;
    const GlobalVariable *V = variableOf(Object, LdsArguments);
    OneVariable &= R == Region::Lds && V && (!Variable || Variable == V);
    Variable = V;
    VariableAddress = Object;
    AllLds &= R == Region::Lds;
    NoneLds &= R != Region::Lds && R != Region::MaybeLds;
    if (R != Region::Private)
      Outside = R;
  }
  if (Where == Region::MaybeLds && AllLds)
    Where = Region::Lds;
  if (Where == Region::MaybeLds && NoneLds)
    return {Outside};
  if (Where == Region::Lds && OneVariable)
    return {Where, Variable, VariableAddress};
  return {Where};
}

class Chooser {
public:
  Chooser(Function &F, VariableArguments LdsArguments) : F(F), LdsArguments(LdsArguments), Layout(F.getDataLayout()) {}

  AccessChoice run() {
    for (Instruction &I : instructions(F))
      visit(I);
    return std::move(Choice);
  }

private:
  void visit(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
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
    if (Call.isInlineAsm()) {
      auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
      // An empty string is a compiler barrier only.
      if (!StringRef(Asm->getAsmString()).trim().empty() && (Asm->hasSideEffects() || Call.mayReadOrWriteMemory()))
        Choice.Skips.add("inline asm");
      return;
    }
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call))
      return visitIntrinsic(*Intrinsic);
    Function *Callee = directCallee(Call);
    if (!Callee)
      Choice.Skips.add("indirect call");
    else if (isRuntimeService(*Callee))
      Choice.Skips.add("call of the device library (" + Callee->getName().str() + ")");
    // What is left are calls of recursive clones, which are instrumented themselves.
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
      typed(I, I.getArgOperand(0), I.getType(), Align(4), kReadModifyWrite, shortName(I));
      return;
    case Intrinsic::amdgcn_ds_read_tr4_b64:
    case Intrinsic::amdgcn_ds_read_tr6_b96:
    case Intrinsic::amdgcn_ds_read_tr8_b64:
    case Intrinsic::amdgcn_ds_read_tr16_b64:
    case Intrinsic::amdgcn_ds_load_tr4_b64:
    case Intrinsic::amdgcn_ds_load_tr6_b96:
    case Intrinsic::amdgcn_ds_load_tr8_b64:
    case Intrinsic::amdgcn_ds_load_tr16_b128:
      // Lanes swap what they read, but together they read what their addresses name.
      typed(I, I.getArgOperand(0), I.getType(), Align(4), abi::kAccessRead, shortName(I));
      return;
    // Handled as synchronisation (SyncCollection.cpp), or no memory that lanes share.
    case Intrinsic::amdgcn_s_barrier:
    case Intrinsic::amdgcn_s_barrier_signal:
    case Intrinsic::amdgcn_s_barrier_signal_isfirst:
    case Intrinsic::amdgcn_s_barrier_wait:
    case Intrinsic::amdgcn_s_cluster_barrier:
    case Intrinsic::amdgcn_wave_barrier:
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
    StringRef Name = I.getCalledFunction()->getName();
    if (Name.contains("async.to.lds") || Name.contains("load.to.lds") || Name.contains("load.lds") ||
        Name.contains("async.from.lds") || Name.contains("store.from.lds"))
      Choice.Skips.add("asynchronous copy to LDS");
    else if (Name.starts_with("llvm.amdgcn.ds.gws"))
      Choice.Skips.add("global wave sync");
    else if (touchesMemory(I))
      Choice.Skips.add(isBuffer(Name) ? std::string(kGlobalReason) : "intrinsic " + shortName(I));
  }

  static bool isBuffer(StringRef Name) {
    return Name.contains(".buffer.") || Name.starts_with("llvm.amdgcn.image.") ||
           Name.starts_with("llvm.amdgcn.global.") || Name.starts_with("llvm.amdgcn.tbuffer");
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
  Access *add(Instruction &I, Value *Pointer, Align Alignment, uint32_t Bits, StringRef Opcode) {
    Place P = placeOf(Pointer, LdsArguments);
    switch (P.Where) {
    case Region::Private:
      return nullptr;
    case Region::Global:
      Choice.Skips.add(kGlobalReason);
      return nullptr;
    case Region::Constant:
      Choice.Skips.add("constant memory (read only)");
      return nullptr;
    case Region::Other:
      Choice.Skips.add("address space " + std::to_string(Pointer->getType()->getPointerAddressSpace()));
      return nullptr;
    case Region::MaybeLds:
      Choice.Skips.add("generic pointer, where it is global memory (not checked yet)");
      break;
    case Region::Lds:
      break;
    }
    Access &A = Choice.Accesses.emplace_back();
    A.I = &I;
    A.Pointer = Pointer;
    A.Generic = P.Where == Region::MaybeLds;
    A.Bits = Bits;
    A.Alignment = Alignment;
    A.Variable = P.Variable;
    A.VariableAddress = const_cast<Value *>(P.VariableAddress);
    A.Opcode = Opcode.str();
    return &A;
  }

  void typed(Instruction &I, Value *Pointer, Type *T, Align Alignment, uint32_t Bits, StringRef Opcode) {
    SmallVector<ByteRun, 1> Runs;
    appendRuns(T, 0, Layout, Runs);
    if (Runs.empty())
      return;
    if (Access *A = add(I, Pointer, Alignment, Bits, Opcode))
      A->Runs = std::move(Runs);
  }

  void range(Instruction &I, Value *Pointer, Value *Length, Align Alignment, uint32_t Bits, StringRef Opcode) {
    auto *Constant = dyn_cast<ConstantInt>(Length);
    if (Constant && Constant->isZero())
      return;
    Access *A = add(I, Pointer, Alignment, Bits, Opcode);
    if (!A)
      return;
    if (Constant)
      A->Runs.push_back({0, Constant->getZExtValue()});
    else
      A->Length = Length;
  }

  static constexpr uint32_t kReadModifyWrite = abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic;
  static constexpr const char *kGlobalReason = "global memory (not checked yet)";

  Function &F;
  VariableArguments LdsArguments;
  const DataLayout &Layout;
  AccessChoice Choice;
};

} // namespace

AccessChoice wavesan::chooseAccesses(Function &F, VariableArguments LdsArguments) {
  return Chooser(F, LdsArguments).run();
}
