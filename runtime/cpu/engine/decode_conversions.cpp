// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: conversions from and to floats of eight, six and four bits that gfx950 and gfx12.5 have.
#include "decoder.h"
#include "scaled_conversions.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

/// Operands: [old,] source[, second source][, scale][, which part of the narrow register][, which half of the result].
enum class Form {
  All,            ///< source, scale
  Interleaved,    ///< two sources of sixteen whose elements take turns, scale
  Select,         ///< [old,] one source or two, scale, part
  IntoHalf,       ///< old, source, scale, part, half
  Unscaled,       ///< source
  UnscaledSelect, ///< source, part
};

struct ConversionShape {
  bool toWide;
  WideFormat wide;
  MxFormat narrow;
  uint32_t count;
  Form form;
  bool since1250;
};

std::optional<ConversionShape> conversionShape(unsigned intrinsic) {
  using W = WideFormat;
  using M = MxFormat;
  using F = Form;
  const auto toWide = [](W wide, M narrow, uint32_t count, F form, bool since1250 = false) {
    return ConversionShape{true, wide, narrow, count, form, since1250};
  };
  const auto toNarrow = [](W wide, M narrow, uint32_t count, F form, bool since1250 = false) {
    return ConversionShape{false, wide, narrow, count, form, since1250};
  };
  switch (intrinsic) {
  case Intrinsic::amdgcn_cvt_scalef32_f32_fp8:
    return toWide(W::Single, M::E4M3, 1, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_f16_fp8:
    return toWide(W::Half, M::E4M3, 1, F::IntoHalf);
  case Intrinsic::amdgcn_cvt_scalef32_pk_f32_fp8:
    return toWide(W::Single, M::E4M3, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_fp8_f32:
    return toNarrow(W::Single, M::E4M3, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_f16_fp8:
    return toWide(W::Half, M::E4M3, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_fp8_f16:
    return toNarrow(W::Half, M::E4M3, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_bf16_fp8:
    return toWide(W::BFloat, M::E4M3, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_fp8_bf16:
    return toNarrow(W::BFloat, M::E4M3, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_f32_bf8:
    return toWide(W::Single, M::E5M2, 1, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_f16_bf8:
    return toWide(W::Half, M::E5M2, 1, F::IntoHalf);
  case Intrinsic::amdgcn_cvt_scalef32_pk_f32_bf8:
    return toWide(W::Single, M::E5M2, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_bf8_f32:
    return toNarrow(W::Single, M::E5M2, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_f16_bf8:
    return toWide(W::Half, M::E5M2, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_bf8_f16:
    return toNarrow(W::Half, M::E5M2, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_bf16_bf8:
    return toWide(W::BFloat, M::E5M2, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_bf8_bf16:
    return toNarrow(W::BFloat, M::E5M2, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_f32_fp4:
    return toWide(W::Single, M::E2M1, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_fp4_f32:
    return toNarrow(W::Single, M::E2M1, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_f16_fp4:
    return toWide(W::Half, M::E2M1, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_fp4_f16:
    return toNarrow(W::Half, M::E2M1, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_bf16_fp4:
    return toWide(W::BFloat, M::E2M1, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk_fp4_bf16:
    return toNarrow(W::BFloat, M::E2M1, 2, F::Select);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_f32_fp6:
    return toWide(W::Single, M::E2M3, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_f16_fp6:
    return toWide(W::Half, M::E2M3, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_fp6_f16:
    return toNarrow(W::Half, M::E2M3, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_bf16_fp6:
    return toWide(W::BFloat, M::E2M3, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_fp6_bf16:
    return toNarrow(W::BFloat, M::E2M3, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_2xpk16_fp6_f32:
    return toNarrow(W::Single, M::E2M3, 32, F::Interleaved);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_f32_bf6:
    return toWide(W::Single, M::E3M2, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_f16_bf6:
    return toWide(W::Half, M::E3M2, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_bf6_f16:
    return toNarrow(W::Half, M::E3M2, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_bf16_bf6:
    return toWide(W::BFloat, M::E3M2, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_pk32_bf6_bf16:
    return toNarrow(W::BFloat, M::E3M2, 32, F::All);
  case Intrinsic::amdgcn_cvt_scalef32_2xpk16_bf6_f32:
    return toNarrow(W::Single, M::E3M2, 32, F::Interleaved);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_fp8_f32:
    return toNarrow(W::Single, M::E4M3, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_bf8_f32:
    return toNarrow(W::Single, M::E5M2, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_fp4_f32:
    return toNarrow(W::Single, M::E2M1, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk16_fp6_f32:
    return toNarrow(W::Single, M::E2M3, 16, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk16_bf6_f32:
    return toNarrow(W::Single, M::E3M2, 16, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_fp8_f16:
    return toNarrow(W::Half, M::E4M3, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_bf8_f16:
    return toNarrow(W::Half, M::E5M2, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_fp4_f16:
    return toNarrow(W::Half, M::E2M1, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk16_fp6_f16:
    return toNarrow(W::Half, M::E2M3, 16, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk16_bf6_f16:
    return toNarrow(W::Half, M::E3M2, 16, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_fp8_bf16:
    return toNarrow(W::BFloat, M::E4M3, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_bf8_bf16:
    return toNarrow(W::BFloat, M::E5M2, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk8_fp4_bf16:
    return toNarrow(W::BFloat, M::E2M1, 8, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk16_fp6_bf16:
    return toNarrow(W::BFloat, M::E2M3, 16, F::All, true);
  case Intrinsic::amdgcn_cvt_scalef32_pk16_bf6_bf16:
    return toNarrow(W::BFloat, M::E3M2, 16, F::All, true);
  case Intrinsic::amdgcn_cvt_f16_fp8:
    return toWide(W::Half, M::E4M3, 1, F::UnscaledSelect, true);
  case Intrinsic::amdgcn_cvt_pk_f16_fp8:
    return toWide(W::Half, M::E4M3, 2, F::Unscaled, true);
  case Intrinsic::amdgcn_cvt_pk_fp8_f16:
    return toNarrow(W::Half, M::E4M3, 2, F::Unscaled, true);
  case Intrinsic::amdgcn_cvt_f16_bf8:
    return toWide(W::Half, M::E5M2, 1, F::UnscaledSelect, true);
  case Intrinsic::amdgcn_cvt_pk_f16_bf8:
    return toWide(W::Half, M::E5M2, 2, F::Unscaled, true);
  case Intrinsic::amdgcn_cvt_pk_bf8_f16:
    return toNarrow(W::Half, M::E5M2, 2, F::Unscaled, true);
  default:
    return std::nullopt;
  }
}

} // namespace

bool Decoder::decodeConversion(CallBase &i, unsigned id) {
  const auto shape = conversionShape(id);
  if (!shape)
    return false;
  if (StringRef(context.processor) != (shape->since1250 ? "gfx1250" : "gfx950"))
    return fail("this target"), true;
  const Form form = shape->form;
  unsigned next = 0;
  const auto isFloat = [&](unsigned k) { return i.getArgOperand(k)->getType()->isFloatTy(); };
  ScaledConversion o{shape->toWide, shape->wide, shape->narrow, shape->count, 0, {}, {}, 32, {}, {}};
  const auto take = [&](std::vector<Register> &to) {
    const Registers r = use(i.getArgOperand(next++));
    to.insert(to.end(), r.begin(), r.end());
  };
  const bool keepsOld = form == Form::IntoHalf || (form == Form::Select && !o.toWide);
  if (keepsOld)
    take(o.old);
  const unsigned source = next;
  take(o.toWide ? o.narrows : o.wides);
  if (form == Form::Interleaved) {
    std::vector<Register> second, both;
    take(second);
    for (size_t k = 0; k < o.wides.size() && k < second.size(); ++k)
      both.insert(both.end(), {o.wides[k], second[k]});
    o.wides = std::move(both);
  } else if (form == Form::Select && !o.toWide && isFloat(source)) {
    take(o.wides);
  }
  if (form != Form::Unscaled && form != Form::UnscaledSelect)
    o.scale = use1(i.getArgOperand(next++));
  const uint32_t bits = MxLayout(o.narrow).bits() * o.count;
  if (form == Form::Select || form == Form::IntoHalf || form == Form::UnscaledSelect)
    o.firstBit = bits * uint32_t(cast<ConstantInt>(i.getArgOperand(next++))->getZExtValue());
  const Registers d = define(&i);
  if (failed())
    return true;
  if (o.toWide)
    o.wides.assign(d.begin(), d.end());
  else
    o.narrows.assign(d.begin(), d.end());
  if (keepsOld || !o.toWide)
    o.whole.assign(d.begin(), d.end());
  if (form == Form::IntoHalf)
    o.wides = {d[cast<ConstantInt>(i.getArgOperand(next))->isZero() ? 0 : 1]};
  const Width narrow = o.toWide ? widthOf(i.getArgOperand(source)) : widthOf(&i);
  o.narrowBits = 8 * bytesOf(narrow);
  if ((narrow != Width::B16 && narrow != Width::B32) || o.wides.size() != o.count ||
      o.narrows.size() * o.narrowBits < o.firstBit + bits || (!o.old.empty() && o.old.size() != o.whole.size()))
    return fail("these operands"), true;
  emit(scaledConversion()).extra = extra<ScaledConversion>(std::move(o));
  return true;
}

} // namespace wavesan::cpu::engine
