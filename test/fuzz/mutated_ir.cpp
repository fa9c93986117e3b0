// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mutated_ir.h"

#include "fuzz_target.h"
#include "ir_texts.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/FuzzMutate/IRMutator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace wavesan::fuzz {

using namespace llvm;

namespace {

/// Between them most of what kernels are made of. `k` is executed.
constexpr const char *kKernels[] = {
    // Arithmetic of every width.
    R"(define amdgpu_kernel void @k(i32 %a, i64 %b, float %c, double %d, half %e, i8 %f) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %p = alloca [16 x i32], align 16, addrspace(5)
  %x = add i32 %id, %a
  %y = zext i32 %x to i64
  %z = mul i64 %y, %b
  %w = sext i64 %z to i128
  %v = udiv i128 %w, 7
  %u = trunc i128 %v to i32
  %g = sitofp i32 %u to float
  %h = fmul float %g, %c
  %i = fpext float %h to double
  %j = fadd double %i, %d
  %k = fptrunc double %j to half
  %l = fdiv half %k, %e
  %m = fptosi half %l to i16
  %n = trunc i16 %m to i8
  %o = shl i8 %n, %f
  %q = icmp ugt i8 %o, 3
  %r = select i1 %q, i32 %u, i32 %x
  %s = and i32 %r, 15
  %t = getelementptr [16 x i32], ptr addrspace(5) %p, i32 0, i32 %s
  store i32 %r, ptr addrspace(5) %t
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
)",
    // Divergent control flow, loops, barriers, LDS.
    R"(@lds = internal addrspace(3) global [256 x i32] poison, align 16
define amdgpu_kernel void @k(i32 %n, i32 %a) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %slot = getelementptr [256 x i32], ptr addrspace(3) @lds, i32 0, i32 %id
  store i32 %a, ptr addrspace(3) %slot
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %limit = and i32 %n, 7
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %sum = phi i32 [ 0, %entry ], [ %more, %join ]
  %odd = trunc i32 %id to i1
  br i1 %odd, label %left, label %right
left:
  %l = load i32, ptr addrspace(3) %slot
  br label %join
right:
  %r = atomicrmw add ptr addrspace(3) @lds, i32 %i syncscope("workgroup") monotonic
  br label %join
join:
  %v = phi i32 [ %l, %left ], [ %r, %right ]
  %more = add i32 %sum, %v
  %next = add i32 %i, 1
  %again = icmp ule i32 %next, %limit
  br i1 %again, label %loop, label %pick
pick:
  switch i32 %more, label %out [ i32 1, label %one i32 2, label %two ]
one:
  br label %out
two:
  br label %out
out:
  %x = phi i32 [ %more, %pick ], [ 10, %one ], [ 20, %two ]
  store i32 %x, ptr addrspace(3) %slot
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
)",
    // Vectors, aggregates, cross-lane operations, calls.
    R"(%pair = type { <4 x float>, [2 x i16] }
@lds = internal addrspace(3) global [64 x <4 x float>] poison, align 16
define amdgpu_kernel void @k(<4 x float> %a, <2 x i16> %b, i32 %n) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %id)
  %other = call i32 @llvm.amdgcn.ds.bpermute(i32 %n, i32 %id)
  %moved = call i32 @llvm.amdgcn.update.dpp.i32(i32 %id, i32 %other, i32 273, i32 15, i32 15, i1 false)
  %votes = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %ones = call i64 @llvm.ctpop.i64(i64 %votes)
  %low = trunc i64 %ones to i32
  %f = uitofp i32 %low to float
  %v0 = insertelement <4 x float> %a, float %f, i32 %first
  %v1 = shufflevector <4 x float> %v0, <4 x float> %a, <4 x i32> <i32 3, i32 5, i32 0, i32 6>
  %v2 = call <4 x float> @llvm.fma.v4f32(<4 x float> %v1, <4 x float> %a, <4 x float> %v0)
  %s = call i16 @llvm.vector.reduce.add.v2i16(<2 x i16> %b)
  %p0 = insertvalue %pair poison, <4 x float> %v2, 0
  %p1 = insertvalue %pair %p0, i16 %s, 1, 1
  %r = call %pair @f(%pair %p1, i32 %moved)
  %o = extractvalue %pair %r, 0
  %lane = and i32 %id, 63
  %slot = getelementptr [64 x <4 x float>], ptr addrspace(3) @lds, i32 0, i32 %lane
  store <4 x float> %o, ptr addrspace(3) %slot
  %sat = call i32 @llvm.uadd.sat.i32(i32 %moved, i32 %low)
  %ov = call { i32, i1 } @llvm.smul.with.overflow.i32(i32 %sat, i32 %n)
  %bit = extractvalue { i32, i1 } %ov, 1
  br i1 %bit, label %then, label %end
then:
  %g = freeze i32 %sat
  %c = cmpxchg ptr addrspace(3) @lds, i32 %g, i32 %n syncscope("agent") acq_rel monotonic
  br label %end
end:
  ret void
}
define internal %pair @f(%pair %x, i32 %n) noinline {
  %e = extractvalue %pair %x, 0
  %g = extractelement <4 x float> %e, i32 %n
  %h = call float @llvm.sqrt.f32(float %g)
  %i = insertelement <4 x float> %e, float %h, i32 1
  %y = insertvalue %pair %x, <4 x float> %i, 0
  ret %pair %y
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i64 @llvm.ctpop.i64(i64)
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare i16 @llvm.vector.reduce.add.v2i16(<2 x i16>)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare { i32, i1 } @llvm.smul.with.overflow.i32(i32, i32)
declare float @llvm.sqrt.f32(float)
)"};

std::unique_ptr<Module> mutate(LLVMContext &context, unsigned kernel, unsigned mutations, uint32_t seed) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module =
      parseAssemblyString(std::string(cpu::test::kModuleHeader) + kKernels[kernel % std::size(kKernels)], diagnostic, context);
  require(module != nullptr, "a kernel of the target does not parse");
  std::vector<TypeGetter> types = {Type::getInt1Ty,
                                   Type::getInt8Ty,
                                   Type::getInt16Ty,
                                   Type::getInt32Ty,
                                   Type::getInt64Ty,
                                   Type::getFloatTy,
                                   Type::getDoubleTy,
                                   Type::getHalfTy,
                                   Type::getBFloatTy,
                                   [](LLVMContext &c) { return Type::getInt128Ty(c); },
                                   [](LLVMContext &c) { return FixedVectorType::get(Type::getInt16Ty(c), 2); },
                                   [](LLVMContext &c) { return FixedVectorType::get(Type::getFloatTy(c), 3); },
                                   [](LLVMContext &c) { return FixedVectorType::get(Type::getInt64Ty(c), 4); },
                                   [](LLVMContext &c) { return PointerType::get(c, 3); },
                                   [](LLVMContext &c) { return PointerType::get(c, 5); }};
  std::vector<std::unique_ptr<IRMutationStrategy>> strategies;
  strategies.push_back(std::make_unique<InjectorIRStrategy>());
  strategies.push_back(std::make_unique<InstDeleterIRStrategy>());
  strategies.push_back(std::make_unique<InstModificationIRStrategy>());
  strategies.push_back(std::make_unique<InsertCFGStrategy>());
  strategies.push_back(std::make_unique<InsertPHIStrategy>());
  strategies.push_back(std::make_unique<SinkInstructionStrategy>());
  strategies.push_back(std::make_unique<ShuffleBlockStrategy>());
  IRMutator mutator(std::move(types), std::move(strategies));
  for (unsigned i = 0; i < mutations; ++i)
    mutator.mutateModule(*module, int((seed + i * 0x9e3779b9u) & 0x7fffffff), 400);
  return module;
}

bool isInsideTheWorkgroup(unsigned addressSpace) { return addressSpace == 3 || addressSpace == 5; }

/// Takes out what touches memory other than LDS and private memory: where a random pointer leads to is the program's
/// own fault.
void removeOtherAccesses(Module &module) {
  for (Function &function : module)
    for (Instruction &i : make_early_inc_range(instructions(function))) {
      const Value *pointer = getLoadStorePointerOperand(&i);
      if (const auto *rmw = dyn_cast<AtomicRMWInst>(&i))
        pointer = rmw->getPointerOperand();
      if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&i))
        pointer = exchange->getPointerOperand();
      if (!pointer || isInsideTheWorkgroup(pointer->getType()->getPointerAddressSpace()))
        continue;
      if (!i.getType()->isVoidTy())
        i.replaceAllUsesWith(Constant::getNullValue(i.getType()));
      i.eraseFromParent();
    }
}

/// Ends a run that takes too long: mutated loops seldom end.
class Watch {
public:
  Watch() : Thread([this] { watch(); }) {}
  void begin() {
    std::lock_guard lock(Mutex);
    Cancel = false;
    Until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    Changed.notify_one();
  }
  std::atomic<bool> Cancel{false};

private:
  void watch() {
    std::unique_lock lock(Mutex);
    for (;;) {
      Changed.wait_until(lock, Until);
      if (std::chrono::steady_clock::now() >= Until) {
        Cancel = true;
        Until = std::chrono::steady_clock::time_point::max();
      }
    }
  }
  std::mutex Mutex;
  std::condition_variable Changed;
  std::chrono::steady_clock::time_point Until = std::chrono::steady_clock::time_point::max();
  std::thread Thread;
};

} // namespace

bool MutatedIr::read(const uint8_t *data, size_t size) {
  if (size < 6)
    return false;
  kernel = data[0];
  mutations = uint8_t(1 + data[1] % 40);
  std::memcpy(&seed, data + 2, 4);
  return true;
}

std::unique_ptr<Module> MutatedIr::module(LLVMContext &context) const {
  std::unique_ptr<Module> made = mutate(context, kernel & 0x7f, mutations, seed);
  removeOtherAccesses(*made);
  static const bool print = std::getenv("WAVESAN_FUZZ_PRINT") != nullptr;
  if (print)
    made->print(errs(), nullptr);
  return verifyModule(*made) ? nullptr : std::move(made);
}

std::string bitcodeOf(const Module &module) {
  std::string bitcode;
  raw_string_ostream os(bitcode);
  WriteBitcodeToFile(module, os);
  return bitcode;
}

cpu::Outcome runBounded(cpu::Program &program, const char *kernel, uint64_t seed) {
  static Watch &watch = *new Watch;
  alignas(16) static uint8_t packet[64], kernarg[512];
  std::memset(kernarg, 3, sizeof(kernarg));
  cpu::Launch launch{};
  launch.kernel = kernel;
  launch.packet = packet;
  launch.kernarg = kernarg;
  launch.kernargBytes = sizeof(kernarg);
  launch.grid[0] = 80;
  launch.workgroup[0] = 40;
  launch.grid[1] = launch.grid[2] = launch.workgroup[1] = launch.workgroup[2] = 1;
  launch.fixedLdsBytes = launch.groupSegmentBytes = 4096;
  launch.seed = seed;
  launch.cancel = &watch.Cancel;
  watch.begin();
  return program.run(launch);
}

} // namespace wavesan::fuzz
