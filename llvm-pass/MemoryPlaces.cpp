// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "MemoryPlaces.h"

#include "LlvmVersions.h"
#include "SiteRecorder.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace wavesan;

static Region regionOfAddressSpace(unsigned AddressSpace) {
  switch (AddressSpace) {
  case 0:
    return Region::Generic;
  case 1:
    return Region::Global;
  case 3:
    return Region::Lds;
  case 4:
  case 6: // constant, with 32-bit pointers
    return Region::Constant;
  case 5:
    return Region::Private;
  case 7: // fat pointers, resources, strided pointers
  case 8:
  case 9:
    return Region::Buffer;
  default:
    return Region::Other;
  }
}

static bool isKernel(const Function *F) { return F->getCallingConv() == CallingConv::AMDGPU_KERNEL; }

/// Pointers that the host passed to the kernel are global memory.
static bool comesFromHost(const Value *Object) {
  if (auto *Argument = dyn_cast<llvm::Argument>(Object))
    return isKernel(Argument->getParent());
  auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load || Load->getPointerAddressSpace() != 4)
    return false;
  const Value *Base = getUnderlyingObject(Load->getPointerOperand());
  if (auto *Argument = dyn_cast<llvm::Argument>(Base))
    return isKernel(Argument->getParent());
  auto *Call = dyn_cast<IntrinsicInst>(Base);
  return Call && (Call->getIntrinsicID() == Intrinsic::amdgcn_kernarg_segment_ptr ||
                  Call->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr);
}

static Region regionOfObject(const Value *Object) {
  Region R = regionOfAddressSpace(Object->getType()->getPointerAddressSpace());
  return R == Region::Generic && comesFromHost(Object) ? Region::Global : R;
}

/// Of a flat pointer to any of `Objects`. Constants are read only, so a read of either is a read of global memory.
static Region mergedRegion(ArrayRef<const Value *> Objects) {
  bool Lds = false, Global = false, Constant = false, Private = false;
  for (const Value *Object : Objects)
    switch (regionOfObject(Object)) {
    case Region::Lds:
      Lds = true;
      break;
    case Region::Global:
      Global = true;
      break;
    case Region::Constant:
      Constant = true;
      break;
    case Region::Private:
      Private = true;
      break;
    default:
      return Region::Generic;
    }
  if (Lds)
    return Global || Constant || Private ? Region::Generic : Region::Lds;
  if (Global)
    return Private ? Region::Generic : Region::Global;
  if (Constant)
    return Region::Constant;
  return Private ? Region::Private : Region::Generic;
}

/// The pointer that an integer was made from; null if there is none or more than one.
static const Value *pointerBehind(const Value *Address, unsigned Depth = 0) {
  auto *O = dyn_cast<Operator>(Address);
  if (!O || Depth > 8)
    return nullptr;
  if (isPtrToAddr(O->getOpcode()))
    return O->getOperand(0);
  switch (O->getOpcode()) {
  case Instruction::PtrToInt:
    return O->getOperand(0);
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::Freeze:
    return pointerBehind(O->getOperand(0), Depth + 1);
  case Instruction::Add:
  case Instruction::Or: {
    const Value *Left = pointerBehind(O->getOperand(0), Depth + 1), *Right = pointerBehind(O->getOperand(1), Depth + 1);
    return Left && Right ? nullptr : Left ? Left : Right;
  }
  default:
    return nullptr;
  }
}

MemoryPlaces::MemoryPlaces(const Function &F, LdsArgumentList LdsArguments) : LdsArguments(LdsArguments) {
  if (!isKernel(&F))
    return;
  const DISubprogram *Subprogram = F.getSubprogram();
  for (const Instruction &I : instructions(F))
    for (const DbgVariableRecord &Record : filterDbgVars(I.getDbgRecordRange())) {
      const DILocalVariable *Variable = Record.getVariable();
      const DILocation *Location = Record.getDebugLoc();
      if (!Variable->isParameter() || Variable->getScope()->getSubprogram() != Subprogram ||
          (Location && Location->getInlinedAt()) || Record.hasArgList())
        continue;
      const Value *V = Record.getVariableLocationOp(0);
      if (auto *A = V ? dyn_cast<Argument>(V->stripPointerCasts()) : nullptr)
        ArgumentNames.try_emplace(A, Variable->getName().str());
    }
  // Front ends call an argument that is passed as another type `name.coerce`.
  for (const Argument &A : F.args())
    if (StringRef Name = A.getName(); !Name.empty()) {
      Name.consume_back(".coerce");
      ArgumentNames.try_emplace(&A, Name.str());
    }
}

const GlobalVariable *MemoryPlaces::variableOf(const Value *Object) const {
  for (const auto &[Argument, V] : LdsArguments)
    if (Argument == Object)
      return V;
  return dyn_cast<GlobalVariable>(Object);
}

std::string MemoryPlaces::nameOf(const Value *Object) const {
  if (const GlobalVariable *V = variableOf(Object))
    return sourceName(*V);
  if (auto *A = dyn_cast<Argument>(Object))
    if (auto It = ArgumentNames.find(A); It != ArgumentNames.end())
      return It->second;
  return "";
}

Place MemoryPlaces::of(const Value *Pointer) const {
  Region Where = regionOfAddressSpace(Pointer->getType()->getPointerAddressSpace());
  if (Where != Region::Lds && Where != Region::Generic && Where != Region::Global)
    return {Where};
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/64);
  if (Where == Region::Generic)
    Where = mergedRegion(Objects);
  if (Objects.size() != 1)
    return {Where};
  const Value *Object = Objects.front();
  if (Where == Region::Global && regionOfObject(Object) == Region::Global)
    return {Where, nameOf(Object)};
  if (Where == Region::Lds && regionOfObject(Object) == Region::Lds && variableOf(Object))
    return {Where, nameOf(Object), const_cast<Value *>(Object)};
  return {Where};
}

Place MemoryPlaces::ofAddress(const Value *Address) const {
  if (!Address->getType()->isPointerTy())
    Address = pointerBehind(Address);
  return Address ? of(Address) : Place{Region::Generic};
}
