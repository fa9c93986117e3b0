// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: asynchronous copies between global memory and LDS, and waits. Whatever else the engine executes is complete
// when the next operation begins, so waits concern copies only.
#include "copies.h"
#include "decoder.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace wavesan::cpu::engine {

using namespace llvm;

static StringRef copyName(const llvm::Function &f) {
  StringRef name = f.getName();
  if (!name.consume_front("llvm.amdgcn."))
    return {};
  return name == "global.load.lds" || name.starts_with("load.to.lds") || name.starts_with("global.load.async.to.lds") ||
                 name.starts_with("global.store.async.from.lds")
             ? name
             : StringRef();
}

static bool copiesFromBuffer(const llvm::Function &f) { return f.getName().contains("buffer.load.lds"); }

bool usesAsynchronousCopies(const Module &module) {
  for (const llvm::Function &f : module) {
    if (!copyName(f).empty() || copiesFromBuffer(f))
      return true;
    for (const BasicBlock &block : f)
      for (const Instruction &i : block)
        if (const auto *call = dyn_cast<CallBase>(&i); call && call->isInlineAsm()) {
          const StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString();
          if (text.contains(" lds") || text.contains("_lds"))
            return true;
        }
  }
  return false;
}

static uint64_t constantOf(const CallBase &i, unsigned k) {
  return uint64_t(cast<ConstantInt>(i.getArgOperand(k))->getSExtValue());
}

bool Decoder::decodeCopy(CallBase &i) {
  const auto *callee = dyn_cast<llvm::Function>(i.getCalledOperand());
  StringRef name = callee ? copyName(*callee) : StringRef();
  if (name.empty())
    return false;
  if (spaceOf(i.getArgOperand(0)->getType()->getPointerAddressSpace()) != Space::Flat)
    return fail("this address space"), true;
  CopyShape shape{};
  uint64_t offset;
  if (name.contains(".async.")) {
    uint32_t bits = 0;
    if (name.rsplit(".b").second.getAsInteger(10, bits) || bits % 8)
      return fail("this size"), true;
    shape = {bits / 8, bits / 8, name.contains("to.lds"), false, false, true};
    offset = constantOf(i, 2);
  } else {
    const uint32_t bytes = uint32_t(constantOf(i, 2));
    shape = {bytes, std::max(bytes, 4u), true, true, true, false};
    offset = constantOf(i, 3);
  }
  if (shape.globalBytes == 0 || shape.globalBytes > 16)
    return fail("this size"), true;
  const Register global = use1(i.getArgOperand(0)), lds = use1(i.getArgOperand(1));
  if (!shape.toLds) // written later; what matters is that nobody has yet
    noteWrite(Space::Flat, global, offset, shape.globalBytes);
  Op &op = emit(issueCopy());
  op.a = global, op.b = lds, op.imm = offset;
  op.extra = extra<CopyShape>(shape);
  return true;
}

void Decoder::emitWait(uint32_t vmem, uint32_t async) {
  Op &op = emit(waitCopies());
  op.sub = vmem, op.n = async;
}

bool Decoder::decodeWait(CallBase &i, unsigned id) {
  const auto count = [&] { return uint32_t(constantOf(i, 0)) & 0xffff; };
  switch (id) {
  case Intrinsic::amdgcn_s_waitcnt:
    if (context.gfxMajor >= 12)
      return fail("this target"), true;
    emitWait(packedVmcnt(count(), context.gfxMajor), kNoWaitCount);
    return true;
  case Intrinsic::amdgcn_s_wait_loadcnt:
    return emitWait(count(), kNoWaitCount), true;
  case Intrinsic::amdgcn_s_wait_asynccnt:
    return emitWait(kNoWaitCount, count()), true;
  case Intrinsic::amdgcn_s_wait_bvhcnt:
  case Intrinsic::amdgcn_s_wait_dscnt:
  case Intrinsic::amdgcn_s_wait_expcnt:
  case Intrinsic::amdgcn_s_wait_kmcnt:
  case Intrinsic::amdgcn_s_wait_samplecnt:
  case Intrinsic::amdgcn_s_wait_storecnt:
    return emitWait(kNoWaitCount, kNoWaitCount), true;
  default:
    return false;
  }
}

uint32_t packedVmcnt(uint32_t immediate, uint32_t gfxMajor) {
  return gfxMajor >= 11 ? immediate >> 10 & 63 : (immediate & 15) | (immediate >> 14 & 3) << 4;
}

// Where memory order asks for earlier copies: the compiler knows of those that intrinsics make, and waits for them
// before an access of LDS and at fences. It also counts what may come between a copy and a wait for a count above zero.
void Decoder::orderCopies(const Instruction &i) {
  constexpr uint64_t kManyInstructions = 1 << 20;
  bool fence = false;
  uint64_t vmem = 0;
  const auto access = [&](unsigned addressSpace, uint64_t bytes) {
    fence |= addressSpace == 3 || addressSpace == 0;
    vmem += addressSpace == 3 ? 0 : (bytes + 15) / 16;
  };
  if (const auto *load = dyn_cast<LoadInst>(&i))
    access(load->getPointerAddressSpace(), layout.getTypeStoreSize(load->getType()));
  else if (const auto *store = dyn_cast<StoreInst>(&i))
    access(store->getPointerAddressSpace(), layout.getTypeStoreSize(store->getValueOperand()->getType()));
  else if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) || isa<FenceInst>(i))
    access(0, 1);
  else if (const auto *call = dyn_cast<CallBase>(&i)) {
    if (call->isInlineAsm() || !call->mayReadOrWriteMemory())
      return;
    const auto *callee = call->getCalledFunction();
    const StringRef name = callee ? callee->getName() : StringRef();
    // Hooks are no code, and functions decide for themselves.
    if (!callee || !callee->isIntrinsic() || !copyName(*callee).empty() || copiesFromBuffer(*callee) || name.starts_with("llvm.amdgcn.s.") ||
        name.starts_with("llvm.amdgcn.sched") || name.starts_with("llvm.amdgcn.wave.barrier") ||
        cast<IntrinsicInst>(call)->isAssumeLikeIntrinsic())
      return;
    access(0, 16 * kManyInstructions);
  }
  // Of atomics: those that order what came before. Weaker ones gain a completion that is allowed.
  if (i.isAtomic())
    fence = true;
  if (fence)
    emit(fenceCopies());
  if (vmem)
    emit(countVmem()).imm = vmem;
}

} // namespace wavesan::cpu::engine
