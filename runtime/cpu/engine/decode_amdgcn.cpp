// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: AMDGPU intrinsics.
#include "decoder.h"
#include "fp8_conversions.h"
#include "named_barriers.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

using namespace llvm;

static uint32_t immediate(const CallBase &i, unsigned k) {
  return uint32_t(cast<ConstantInt>(i.getArgOperand(k))->getZExtValue());
}

void Decoder::miscCall(CallBase &i, Misc which) {
  const auto take = [&](unsigned k) {
    return k < i.arg_size() && !i.getArgOperand(k)->getType()->isIntegerTy(1) ? use1(i.getArgOperand(k)) : kNoRegister;
  };
  const Register a = take(0), b = take(1), c = take(2);
  const Registers d = define(&i);
  if (failed())
    return;
  Op &op = emit(misc(which));
  op.d = d[0], op.a = a, op.b = b, op.c = c;
}

/// The last operand is an immediate: the byte or half.
void Decoder::fp8Call(CallBase &i, Handler handler, bool fiveBits) {
  const unsigned operands = i.arg_size() - 1;
  const auto take = [&](unsigned k) { return k < operands ? use1(i.getArgOperand(k)) : kNoRegister; };
  const Register a = take(0), b = take(1), c = take(2);
  const Registers d = define(&i);
  if (failed())
    return;
  auto *conversion = extra<Fp8Conversion>();
  conversion->format = fp8Format(fiveBits, hasOcpFloats());
  conversion->select = immediate(i, operands);
  Op &op = emit(handler);
  op.d = d[0], op.a = a, op.b = b, op.c = c, op.extra = conversion;
}

bool Decoder::decodeAmdgcnIntrinsic(CallBase &i, unsigned id) {
  const auto argument = [&](unsigned k) { return i.getArgOperand(k); };
  const auto waveBank = [&](uint32_t index) {
    alias(&i, makeRegister(Bank::Wave, index * stride(Width::B32)));
    return true;
  };
  const auto launchBank = [&](LaunchBankRegister index) {
    alias(&i, makeRegister(Bank::Launch, index * stride(Width::B64)));
    return true;
  };
  const auto kind = floatKindOf(i.getType());
  switch (id) {
  case Intrinsic::amdgcn_workitem_id_x: return waveBank(kWaveBankWorkitem + 0);
  case Intrinsic::amdgcn_workitem_id_y: return waveBank(kWaveBankWorkitem + 1);
  case Intrinsic::amdgcn_workitem_id_z: return waveBank(kWaveBankWorkitem + 2);
  case Intrinsic::amdgcn_workgroup_id_x: return waveBank(kWaveBankWorkgroup + 0);
  case Intrinsic::amdgcn_workgroup_id_y: return waveBank(kWaveBankWorkgroup + 1);
  case Intrinsic::amdgcn_workgroup_id_z: return waveBank(kWaveBankWorkgroup + 2);
  case Intrinsic::amdgcn_implicitarg_ptr: return launchBank(kImplicitArg);
  case Intrinsic::amdgcn_dispatch_ptr: return launchBank(kDispatchPtr);
  case Intrinsic::amdgcn_queue_ptr: return launchBank(kQueuePtr);
  case Intrinsic::amdgcn_kernarg_segment_ptr: return launchBank(kKernargPtr);
  case Intrinsic::amdgcn_dispatch_id: return launchBank(kDispatchId);
  case Intrinsic::amdgcn_wavefrontsize:
    alias(&i, constant(Width::B32, context.waveSize));
    return true;
  case Intrinsic::amdgcn_groupstaticsize:
    alias(&i, constant(Width::B32, context.fixedLdsBytes));
    return true;

  // Synchronisation.
  case Intrinsic::amdgcn_s_barrier: return emit(barrier()), true;
  case Intrinsic::amdgcn_s_barrier_signal:
  case Intrinsic::amdgcn_s_barrier_wait:
    if (id == Intrinsic::amdgcn_s_barrier_wait && int16_t(immediate(i, 0)) >= 0) {
      emit(namedBarrier(abi::NamedBarrierOperation::Wait));
      return true;
    }
    if (id == Intrinsic::amdgcn_s_barrier_signal && int32_t(immediate(i, 0)) > 0) { // a named one, by its number
      emit(namedBarrier(abi::NamedBarrierOperation::Signal)).a =
          constant(Width::B32, NamedBarriers::addressOf(uint32_t(immediate(i, 0))));
      return true;
    }
    if (int16_t(immediate(i, 0)) != -1)
      return fail("another barrier than the workgroup's"), true;
    emit(id == Intrinsic::amdgcn_s_barrier_signal ? barrierSignal() : barrierWait());
    return true;
  case Intrinsic::amdgcn_s_barrier_init:
  case Intrinsic::amdgcn_s_barrier_signal_var: {
    const Register address = use1(argument(0)), members = use1(argument(1));
    Op &op = emit(namedBarrier(id == Intrinsic::amdgcn_s_barrier_init ? abi::NamedBarrierOperation::Init
                                                                      : abi::NamedBarrierOperation::Signal));
    op.a = address, op.b = members;
    return true;
  }
  case Intrinsic::amdgcn_s_barrier_join: {
    const Register address = use1(argument(0));
    emit(namedBarrier(abi::NamedBarrierOperation::Join)).a = address;
    return true;
  }
  case Intrinsic::amdgcn_s_barrier_leave: emit(namedBarrier(abi::NamedBarrierOperation::Leave)); return true;
  case Intrinsic::amdgcn_ds_gws_barrier: {
    const Register waves = use1(argument(0)), number = use1(argument(1));
    Op &op = emit(gridBarrier());
    op.a = waves, op.b = number;
    return true;
  }
  case Intrinsic::amdgcn_ds_gws_init: return emit(nop()), true; // the barrier itself says how many take part
  case Intrinsic::amdgcn_s_sleep:
  case Intrinsic::amdgcn_s_sleep_var:
    emit(sleepOp());
    return true;
  case Intrinsic::amdgcn_wave_barrier:
  case Intrinsic::amdgcn_sched_barrier:
  case Intrinsic::amdgcn_sched_group_barrier:
  case Intrinsic::amdgcn_iglp_opt:
  case Intrinsic::amdgcn_s_setprio:
  case Intrinsic::amdgcn_s_nop:
  case Intrinsic::amdgcn_s_dcache_inv:
  case Intrinsic::amdgcn_s_dcache_inv_vol:
  case Intrinsic::amdgcn_s_dcache_wb:
  case Intrinsic::amdgcn_s_dcache_wb_vol:
  case Intrinsic::amdgcn_buffer_wbinvl1:
  case Intrinsic::amdgcn_buffer_wbinvl1_sc:
  case Intrinsic::amdgcn_buffer_wbinvl1_vol:
  case Intrinsic::amdgcn_s_incperflevel:
  case Intrinsic::amdgcn_s_decperflevel:
  case Intrinsic::amdgcn_s_ttracedata:
  case Intrinsic::amdgcn_s_sendmsg: // interrupts: the host polls what they announce
    emit(nop());
    return true;
  case Intrinsic::amdgcn_s_memtime:
  case Intrinsic::amdgcn_s_memrealtime: {
    const Registers d = define(&i);
    emit(clockOp()).d = d[0];
    return true;
  }
  case Intrinsic::amdgcn_endpgm: return emit(endProgram()), true;
  case Intrinsic::amdgcn_unreachable: return emit(unreachable()), true;

  case Intrinsic::amdgcn_is_shared:
  case Intrinsic::amdgcn_is_private: {
    const Operand p = operand(argument(0));
    emitLanes(isSpace(id == Intrinsic::amdgcn_is_shared ? Space::Lds : Space::Private), result(&i), p);
    return true;
  }
  case Intrinsic::amdgcn_addrspacecast_nonnull: return spaceCast(i, *argument(0)), true;

  // Floating point.
  case Intrinsic::amdgcn_rcp: return floatUnaryCall(i, FloatUnary::Rcp), true;
  case Intrinsic::amdgcn_rsq: return floatUnaryCall(i, FloatUnary::Rsq), true;
  case Intrinsic::amdgcn_sqrt: return floatUnaryCall(i, FloatUnary::Sqrt), true;
  case Intrinsic::amdgcn_fract: return floatUnaryCall(i, FloatUnary::Fract), true;
  case Intrinsic::amdgcn_exp2: return floatUnaryCall(i, FloatUnary::Exp2), true;
  case Intrinsic::amdgcn_log: return floatUnaryCall(i, FloatUnary::Log2), true;
  case Intrinsic::amdgcn_sin: return floatUnaryCall(i, FloatUnary::SinTurns), true;
  case Intrinsic::amdgcn_cos: return floatUnaryCall(i, FloatUnary::CosTurns), true;
  case Intrinsic::amdgcn_tanh: return floatUnaryCall(i, FloatUnary::Tanh), true;
  case Intrinsic::amdgcn_frexp_mant: return floatUnaryCall(i, FloatUnary::FrexpMant), true;
  case Intrinsic::amdgcn_fmul_legacy: return floatBinaryCall(i, FloatBinary::MulLegacy), true;
  case Intrinsic::amdgcn_fma_legacy: return floatTernaryCall(i, FloatTernary::FmaLegacy), true;
  case Intrinsic::amdgcn_fmed3: return floatTernaryCall(i, FloatTernary::Med3), true;
  case Intrinsic::amdgcn_frexp_exp: {
    const auto source = floatKindOf(argument(0)->getType());
    const Operand x = operand(argument(0)), d = result(&i);
    if (!source)
      return fail("this type"), true;
    if (d.width == Width::B32)
      return emitLanes(handler.frexpExponent(*source), d, x), true;
    const Operand wide{temporary(Width::B32, 1), Width::B32};
    emitLanes(handler.frexpExponent(*source), wide, x);
    emitLanes(handler.zeroExtendOrTruncate(Width::B32, d.width), d, wide);
    return true;
  }
  case Intrinsic::amdgcn_class: {
    const auto source = floatKindOf(argument(0)->getType());
    const Operand x = operand(argument(0)), mask = operand(argument(1));
    emitLanes(source ? handler.floatClass(*source) : nullptr, result(&i), x, mask, {}, kNoClassMask);
    return true;
  }
  case Intrinsic::amdgcn_div_scale: {
    const auto source = floatKindOf(argument(0)->getType());
    const Register a = use1(argument(0)), b = use1(argument(1));
    const Registers d = define(&i);
    if (failed() || !source || d.size() != 2)
      return fail("this type"), true;
    Op &op = emit(divScale(*source));
    op.a = a, op.b = b, op.d = d[0], op.c = d[1], op.sub = immediate(i, 2);
    return true;
  }
  case Intrinsic::amdgcn_div_fmas: {
    const Register a = use1(argument(0)), b = use1(argument(1)), c = use1(argument(2)), flag = use1(argument(3));
    const Registers d = define(&i);
    if (failed() || !kind)
      return fail("this type"), true;
    Op &op = emit(divFmas(*kind));
    op.a = a, op.b = b, op.c = c, op.d = d[0];
    op.extra = extra<Register>(flag);
    return true;
  }
  case Intrinsic::amdgcn_div_fixup:
    if (kind != FloatKind::Single && kind != FloatKind::Double)
      return fail("this type"), true;
    return miscCall(i, kind == FloatKind::Single ? Misc::DivFixupF32 : Misc::DivFixupF64), true;
  case Intrinsic::amdgcn_trig_preop:
    if (kind != FloatKind::Double)
      return fail("this type"), true;
    return miscCall(i, Misc::TrigPreop), true;
  case Intrinsic::amdgcn_cvt_pkrtz: return miscCall(i, Misc::CvtPkRtz), true;
  case Intrinsic::amdgcn_cvt_pk_u16: return miscCall(i, Misc::CvtPkU16), true;
  case Intrinsic::amdgcn_cvt_pk_i16: return miscCall(i, Misc::CvtPkI16), true;
  case Intrinsic::amdgcn_cvt_pknorm_i16: return miscCall(i, Misc::CvtPkNormI16), true;
  case Intrinsic::amdgcn_cvt_pknorm_u16: return miscCall(i, Misc::CvtPkNormU16), true;

  case Intrinsic::amdgcn_cvt_f32_fp8:
  case Intrinsic::amdgcn_cvt_f32_bf8: return fp8Call(i, fp8FromByte(), id == Intrinsic::amdgcn_cvt_f32_bf8), true;
  case Intrinsic::amdgcn_cvt_pk_f32_fp8:
  case Intrinsic::amdgcn_cvt_pk_f32_bf8: return fp8Call(i, fp8FromPair(), id == Intrinsic::amdgcn_cvt_pk_f32_bf8), true;
  case Intrinsic::amdgcn_cvt_pk_fp8_f32:
  case Intrinsic::amdgcn_cvt_pk_bf8_f32: return fp8Call(i, fp8ToPair(), id == Intrinsic::amdgcn_cvt_pk_bf8_f32), true;

  // Integers.
  case Intrinsic::amdgcn_perm: return miscCall(i, Misc::Perm), true;
  case Intrinsic::amdgcn_alignbyte: return miscCall(i, Misc::AlignByte), true;
  case Intrinsic::amdgcn_sad_u8: return miscCall(i, Misc::Sad8), true;
  case Intrinsic::amdgcn_lerp: return miscCall(i, Misc::Lerp), true;
  case Intrinsic::amdgcn_ubfe:
  case Intrinsic::amdgcn_sbfe:
    if (widthOf(&i) != Width::B32)
      return fail("this type"), true;
    return miscCall(i, id == Intrinsic::amdgcn_ubfe ? Misc::Ubfe : Misc::Sbfe), true;
  case Intrinsic::amdgcn_mul_u24:
  case Intrinsic::amdgcn_mul_i24:
    if (widthOf(&i) != Width::B32)
      return fail("this type"), true;
    return miscCall(i, id == Intrinsic::amdgcn_mul_u24 ? Misc::MulU24 : Misc::MulI24), true;
  case Intrinsic::amdgcn_mulhi_u24: return miscCall(i, Misc::MulHiU24), true;
  case Intrinsic::amdgcn_mulhi_i24: return miscCall(i, Misc::MulHiI24), true;
  case Intrinsic::amdgcn_sffbh: return intUnaryCall(i, IntUnary::FindMsbS, 0), true;
  case Intrinsic::amdgcn_udot4:
  case Intrinsic::amdgcn_sdot4:
    if (immediate(i, 3))
      return fail("clamping"), true;
    return miscCall(i, id == Intrinsic::amdgcn_udot4 ? Misc::UDot4 : Misc::SDot4), true;
  default: return false;
  }
}

// One operation for each register of the value; `lane` (may be null) becomes Op::b.
void Decoder::eachLeaf(CallBase &i, Handler (*pick)(Width), const Value *lane) {
  const Registers a = use(i.getArgOperand(0));
  const Register index = lane ? use1(lane) : kNoRegister;
  const Registers d = define(&i);
  const ArrayRef<Leaf> leaves = leavesOf(i.getType());
  if (failed() || a.size() != leaves.size())
    return fail("this type");
  for (size_t k = 0; k < leaves.size(); ++k) {
    Op &op = emit(pick(leaves[k].width));
    op.a = a[k], op.b = index, op.d = d[k];
  }
}

bool Decoder::decodeCrossLaneIntrinsic(CallBase &i, unsigned id) {
  const auto argument = [&](unsigned k) { return i.getArgOperand(k); };
  const bool halves = context.gfxMajor >= 10 && context.waveSize == 64;
  // One operation with plain operands.
  const auto plain = [&](Handler h, std::initializer_list<unsigned> sources) {
    SmallVector<Register, 3> regs;
    for (const unsigned k : sources)
      regs.push_back(use1(argument(k)));
    regs.resize(3, kNoRegister);
    const Registers d = define(&i);
    if (failed() || d.size() != 1) {
      fail("this type");
      return &out->ops.emplace_back(); // dropped with the instruction
    }
    Op &op = emit(h);
    op.d = d[0], op.a = regs[0], op.b = regs[1], op.c = regs[2];
    return &op;
  };
  const auto reduce = [&](WaveReduce r) {
    if (isOdd(i.getType()))
      fail("an integer of odd width");
    else
      plain(waveReduce(r, widthOf(&i)), {0});
    return true;
  };
  const auto only32 = [&](const Value *v) {
    if (leavesOf(v->getType()).size() == 1 && widthOf(v) == Width::B32)
      return true;
    fail("this type");
    return false;
  };
  switch (id) {
  case Intrinsic::amdgcn_mbcnt_lo: return plain(mbcnt(false), {0, 1}), true;
  case Intrinsic::amdgcn_mbcnt_hi: return plain(mbcnt(true), {0, 1}), true;
  case Intrinsic::amdgcn_ballot: return plain(ballot(widthOf(&i)), {0}), true;
  case Intrinsic::amdgcn_inverse_ballot: return plain(inverseBallot(widthOf(argument(0))), {0}), true;
  case Intrinsic::amdgcn_icmp: {
    static constexpr IntCompare kCompares[] = {IntCompare::Eq,  IntCompare::Ne,  IntCompare::Ugt, IntCompare::Uge,
                                               IntCompare::Ult, IntCompare::Ule, IntCompare::Sgt, IntCompare::Sge,
                                               IntCompare::Slt, IntCompare::Sle};
    const uint32_t predicate = immediate(i, 2) - CmpInst::ICMP_EQ;
    if (predicate >= std::size(kCompares))
      return fail("this predicate"), true;
    const bool isSigned = predicate >= 6;
    const Operand a = isSigned ? signedOperand(argument(0)) : operand(argument(0));
    const Operand b = isSigned ? signedOperand(argument(1)) : operand(argument(1));
    const Operand flag{temporary(Width::B8, 1), Width::B8};
    emitLanes(handler.intCompare(kCompares[predicate], a.width), flag, a, b);
    const Registers d = define(&i);
    if (failed())
      return true;
    Op &op = emit(ballot(widthOf(&i)));
    op.a = flag.regs[0], op.d = d[0];
    return true;
  }
  case Intrinsic::amdgcn_fcmp: {
    const auto kind = floatKindOf(argument(0)->getType());
    const Operand a = operand(argument(0)), b = operand(argument(1));
    const Operand flag{temporary(Width::B8, 1), Width::B8};
    emitLanes(kind ? handler.floatCompare(*kind) : nullptr, flag, a, b, {}, immediate(i, 2) & 15);
    const Registers d = define(&i);
    if (failed())
      return true;
    Op &op = emit(ballot(widthOf(&i)));
    op.a = flag.regs[0], op.d = d[0];
    return true;
  }
  case Intrinsic::amdgcn_readfirstlane: return eachLeaf(i, readFirstLane, nullptr), true;
  case Intrinsic::amdgcn_readlane: return eachLeaf(i, readLane, argument(1)), true;
  case Intrinsic::amdgcn_writelane: {
    const Registers value = use(argument(0)), old = use(argument(2));
    const Register lane = use1(argument(1));
    const Registers d = define(&i);
    const ArrayRef<Leaf> leaves = leavesOf(i.getType());
    if (failed())
      return true;
    for (size_t k = 0; k < leaves.size(); ++k) {
      Op &op = emit(writeLane(leaves[k].width));
      op.a = value[k], op.b = lane, op.c = old[k], op.d = d[k];
    }
    return true;
  }
  case Intrinsic::amdgcn_ds_bpermute: return plain(bpermute(halves), {0, 1}), true;
  case Intrinsic::amdgcn_ds_permute: return plain(permute(halves), {0, 1}), true;
  case Intrinsic::amdgcn_ds_swizzle: {
    const uint32_t pattern = immediate(i, 1) & 0xffff;
    plain(swizzle(), {0})->sub = pattern;
    return true;
  }
  case Intrinsic::amdgcn_mov_dpp:
  case Intrinsic::amdgcn_update_dpp: {
    const bool update = id == Intrinsic::amdgcn_update_dpp;
    const unsigned first = update ? 2 : 1;
    const Registers source = use(argument(update ? 1 : 0));
    const Registers d = define(&i);
    const ArrayRef<Leaf> leaves = leavesOf(i.getType());
    if (failed())
      return true;
    auto *control = extra<DppControl>(DppControl{immediate(i, first), immediate(i, first + 1), immediate(i, first + 2),
                                                 immediate(i, first + 3) != 0});
    const uint32_t c = control->control;
    const bool known = c <= 0xff || (c >= 0x101 && c <= 0x10f) || (c >= 0x111 && c <= 0x11f) ||
                       (c >= 0x121 && c <= 0x12f) || c == 0x130 || c == 0x134 || c == 0x138 || c == 0x13c ||
                       (c >= 0x140 && c <= 0x143) || (c >= 0x150 && c <= 0x16f);
    if (!known)
      return fail(Twine("DPP control ") + Twine(c)), true;
    Registers old;
    if (update)
      old = use(argument(0));
    for (size_t k = 0; k < leaves.size(); ++k) {
      const Register before = update ? old[k] : constant(leaves[k].width, 0);
      Op &op = emit(dpp(leaves[k].width));
      op.a = before, op.b = source[k], op.d = d[k];
      op.extra = control;
    }
    return true;
  }
  case Intrinsic::amdgcn_permlane16:
  case Intrinsic::amdgcn_permlanex16: {
    if (!only32(&i))
      return true;
    auto *select = extra<PermlaneSelect>(
        PermlaneSelect{use1(argument(2)), use1(argument(3)), immediate(i, 4) != 0, immediate(i, 5) != 0});
    plain(permlane16(id == Intrinsic::amdgcn_permlanex16), {0, 1})->extra = select;
    return true;
  }
  case Intrinsic::amdgcn_permlane64:
    if (only32(&i))
      plain(permlane64(), {0});
    return true;
  case Intrinsic::amdgcn_wave_reduce_add: return reduce(WaveReduce::Add);
  case Intrinsic::amdgcn_wave_reduce_sub: return reduce(WaveReduce::Sub);
  case Intrinsic::amdgcn_wave_reduce_umin: return reduce(WaveReduce::UMin);
  case Intrinsic::amdgcn_wave_reduce_umax: return reduce(WaveReduce::UMax);
  case Intrinsic::amdgcn_wave_reduce_min: return reduce(WaveReduce::SMin);
  case Intrinsic::amdgcn_wave_reduce_max: return reduce(WaveReduce::SMax);
  case Intrinsic::amdgcn_wave_reduce_and: return reduce(WaveReduce::And);
  case Intrinsic::amdgcn_wave_reduce_or: return reduce(WaveReduce::Or);
  case Intrinsic::amdgcn_wave_reduce_xor: return reduce(WaveReduce::Xor);
  default: return false;
  }
}

bool joinsLanes(const Instruction &i) {
  const auto *intrinsic = dyn_cast<IntrinsicInst>(&i);
  StringRef name = intrinsic ? intrinsic->getCalledFunction()->getName() : StringRef();
  if (!name.consume_front("llvm.amdgcn."))
    return false;
  for (const char *prefix : {"ballot", "icmp", "fcmp", "readfirstlane", "readlane", "writelane", "ds.bpermute", "ds.permute",
                             "ds.swizzle", "mov.dpp", "update.dpp", "permlane", "wave.reduce", "wave.barrier"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

} // namespace wavesan::cpu::engine
