// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly: moves, integer and single-precision arithmetic, comparisons and cross-lane operations. Modifiers of
// operands (negation, absolute value, clamping, SDWA, DPP) are not understood, and refused as operands of no known
// form.
#include "decode_asm.h"

#include "llvm/ADT/StringSwitch.h"

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

struct Binary {
  IntBinary op;
  bool reversed; ///< the second source is the first operand
  bool shifts;
};

std::optional<Binary> vectorBinary(StringRef name) {
  using B = std::optional<Binary>;
  const auto plain = [](IntBinary op) { return B(Binary{op, false, false}); };
  const auto shift = [](IntBinary op) { return B(Binary{op, true, true}); };
  return StringSwitch<B>(name)
      .Case("v_add_u32", plain(IntBinary::Add)) // gfx9; without carry
      .Case("v_add_nc_u32", plain(IntBinary::Add))
      .Case("v_sub_u32", plain(IntBinary::Sub))
      .Case("v_sub_nc_u32", plain(IntBinary::Sub))
      .Case("v_subrev_u32", B(Binary{IntBinary::Sub, true, false}))
      .Case("v_subrev_nc_u32", B(Binary{IntBinary::Sub, true, false}))
      .Case("v_mul_lo_u32", plain(IntBinary::Mul))
      .Case("v_mul_hi_u32", plain(IntBinary::MulHiU))
      .Case("v_mul_hi_i32", plain(IntBinary::MulHiS))
      .Case("v_and_b32", plain(IntBinary::And))
      .Case("v_or_b32", plain(IntBinary::Or))
      .Case("v_xor_b32", plain(IntBinary::Xor))
      .Case("v_min_u32", plain(IntBinary::UMin))
      .Case("v_max_u32", plain(IntBinary::UMax))
      .Case("v_min_i32", plain(IntBinary::SMin))
      .Case("v_max_i32", plain(IntBinary::SMax))
      .Case("v_lshlrev_b32", shift(IntBinary::Shl))
      .Case("v_lshrrev_b32", shift(IntBinary::LShr))
      .Case("v_ashrrev_i32", shift(IntBinary::AShr))
      .Default(std::nullopt);
}

std::optional<IntBinary> vectorShift64(StringRef name) {
  return StringSwitch<std::optional<IntBinary>>(name)
      .Case("v_lshlrev_b64", IntBinary::Shl)
      .Case("v_lshrrev_b64", IntBinary::LShr)
      .Case("v_ashrrev_i64", IntBinary::AShr)
      .Default(std::nullopt);
}

std::optional<FloatBinary> vectorFloat(StringRef name) {
  return StringSwitch<std::optional<FloatBinary>>(name)
      .Case("v_add_f32", FloatBinary::Add)
      .Case("v_sub_f32", FloatBinary::Sub)
      .Case("v_mul_f32", FloatBinary::Mul)
      .Case("v_min_f32", FloatBinary::MinNum)
      .Case("v_max_f32", FloatBinary::MaxNum)
      .Case("v_min_num_f32", FloatBinary::MinNum)
      .Case("v_max_num_f32", FloatBinary::MaxNum)
      .Default(std::nullopt);
}

std::optional<Misc> vectorMisc(StringRef name) {
  return StringSwitch<std::optional<Misc>>(name)
      .Case("v_perm_b32", Misc::Perm)
      .Case("v_alignbit_b32", Misc::AlignBit)
      .Case("v_alignbyte_b32", Misc::AlignByte)
      .Case("v_bfe_u32", Misc::Ubfe)
      .Case("v_bfe_i32", Misc::Sbfe)
      .Default(std::nullopt);
}

/// "lt_u32" and so on, also of scalar comparisons.
std::optional<IntCompare> comparison(StringRef name) {
  const auto [relation, type] = name.split('_');
  const bool isSigned = type == "i32" || type == "i64";
  if (!isSigned && type != "u32" && type != "u64")
    return std::nullopt;
  return StringSwitch<std::optional<IntCompare>>(relation)
      .Case("eq", IntCompare::Eq)
      .Case("ne", IntCompare::Ne)
      .Case("lg", IntCompare::Ne)
      .Case("lt", isSigned ? IntCompare::Slt : IntCompare::Ult)
      .Case("le", isSigned ? IntCompare::Sle : IntCompare::Ule)
      .Case("gt", isSigned ? IntCompare::Sgt : IntCompare::Ugt)
      .Case("ge", isSigned ? IntCompare::Sge : IntCompare::Uge)
      .Default(std::nullopt);
}

} // namespace

bool AsmDecoder::decodeVector() {
  const StringRef name = now->mnemonic;
  const auto source = [&](size_t k) { return read32(operand(k)); };
  const auto single = [&](Handler h, Register a, Register b = kNoRegister, Register c = kNoRegister) {
    return lanes(h, Width::B32, a, Width::B32, b, Width::B32, c, Width::B32);
  };
  if (name == "v_mov_b32" || name.starts_with("v_accvgpr_read") || name.starts_with("v_accvgpr_write") ||
      name == "v_accvgpr_mov_b32") {
    if (plain(2))
      write32(operand(0), single(d.handler.move(Width::B32), source(1)));
    return true;
  }
  if (name == "v_not_b32") {
    if (plain(2))
      write32(operand(0), binary(IntBinary::Xor, source(1), constant32(~0u)));
    return true;
  }
  if (const auto b = vectorBinary(name)) {
    if (!plain(3))
      return true;
    const Register x = source(b->reversed ? 2 : 1), y = source(b->reversed ? 1 : 2);
    write32(operand(0), b->shifts ? shift(b->op, x, y) : binary(b->op, x, y));
    return true;
  }
  if (const auto op = vectorShift64(name)) {
    if (plain(3))
      write64(operand(0), shift(*op, read64(operand(2)), source(1), Width::B64));
    return true;
  }
  if (const auto op = vectorFloat(name)) {
    if (plain(3))
      write32(operand(0), single(d.handler.floatBinary(*op, FloatKind::Single), source(1), source(2)));
    return true;
  }
  if (name == "v_fma_f32" || name == "v_fmac_f32") {
    if (plain(name == "v_fma_f32" ? 4 : 3))
      write32(operand(0), single(d.handler.floatTernary(FloatTernary::Fma, FloatKind::Single), source(1), source(2),
                                 source(name == "v_fma_f32" ? 3 : 0)));
    return true;
  }
  if (name == "v_cvt_f32_u32" || name == "v_cvt_f32_i32") {
    if (plain(2))
      write32(operand(0),
              single(d.handler.intToFloat(Width::B32, name.ends_with("i32"), FloatKind::Single), source(1)));
    return true;
  }
  if (name == "v_cvt_u32_f32" || name == "v_cvt_i32_f32") {
    if (plain(2))
      write32(operand(0),
              lanes(d.handler.floatToInt(FloatKind::Single, name == "v_cvt_i32_f32", Width::B32), Width::B32, source(1),
                    Width::B32, kNoRegister, Width::B32, kNoRegister, Width::B32, 32));
    return true;
  }
  if (const auto op = vectorMisc(name)) {
    if (plain(4))
      write32(operand(0), single(misc(*op), source(1), source(2), source(3)));
    return true;
  }
  if (name == "v_mul_u32_u24" || name == "v_mul_i32_i24") {
    if (plain(3))
      write32(operand(0), single(misc(name == "v_mul_u32_u24" ? Misc::MulU24 : Misc::MulI24), source(1), source(2)));
    return true;
  }
  // Two operations in one, without rounding or carry.
  const auto three = [&](auto &&f) {
    if (plain(4)) {
      const Register a = source(1), b = source(2), c = source(3);
      if (!failed())
        write32(operand(0), f(a, b, c));
    }
    return true;
  };
  using I = IntBinary;
  if (name == "v_add3_u32")
    return three([&](Register a, Register b, Register c) { return binary(I::Add, binary(I::Add, a, b), c); });
  if (name == "v_lshl_add_u32")
    return three([&](Register a, Register b, Register c) { return binary(I::Add, shift(I::Shl, a, b), c); });
  if (name == "v_add_lshl_u32")
    return three([&](Register a, Register b, Register c) { return shift(I::Shl, binary(I::Add, a, b), c); });
  if (name == "v_lshl_or_b32")
    return three([&](Register a, Register b, Register c) { return binary(I::Or, shift(I::Shl, a, b), c); });
  if (name == "v_and_or_b32")
    return three([&](Register a, Register b, Register c) { return binary(I::Or, binary(I::And, a, b), c); });
  if (name == "v_or3_b32")
    return three([&](Register a, Register b, Register c) { return binary(I::Or, binary(I::Or, a, b), c); });
  if (name == "v_xad_u32")
    return three([&](Register a, Register b, Register c) { return binary(I::Add, binary(I::Xor, a, b), c); });
  if (name == "v_mad_u32_u24")
    return three(
        [&](Register a, Register b, Register c) { return binary(I::Add, single(misc(Misc::MulU24), a, b), c); });
  if (name == "v_bfi_b32")
    return three([&](Register a, Register b, Register c) {
      return binary(I::Or, binary(I::And, a, b), binary(I::And, binary(I::Xor, a, constant32(~0u)), c));
    });
  return false;
}

bool AsmDecoder::decodeScalar() {
  const StringRef name = now->mnemonic;
  if (name == "s_mov_b32" || name == "s_movk_i32") {
    if (plain(2))
      write32(operand(0), lanes(d.handler.move(Width::B32), Width::B32, read32(operand(1)), Width::B32));
    return true;
  }
  if (name == "s_mov_b64") {
    if (plain(2))
      write64(operand(0), read64(operand(1)));
    return true;
  }
  if (name == "s_add_u32" || name == "s_sub_u32" || name == "s_add_i32" || name == "s_sub_i32" ||
      name == "s_add_co_u32" || name == "s_sub_co_u32" || name == "s_add_co_i32" || name == "s_sub_co_i32") {
    const Overflow op = name.starts_with("s_add") ? (name.ends_with("u32") ? Overflow::UAdd : Overflow::SAdd)
                                                  : (name.ends_with("u32") ? Overflow::USub : Overflow::SSub);
    if (!plain(3))
      return true;
    const Register a = read32(operand(1)), b = read32(operand(2)), flag = d.newRegister(Width::B8);
    write32(operand(0),
            lanes(d.handler.overflow(op, Width::B32), Width::B32, a, Width::B32, b, Width::B32, flag, Width::B8));
    scc = flag;
    return true;
  }
  if (name == "s_addc_u32" || name == "s_add_co_ci_u32") {
    if (!plain(3))
      return true;
    if (scc == kNoRegister)
      return fail("scc, which nothing in the assembly sets"), true;
    const Register carry = lanes(d.handler.zeroExtendOrTruncate(Width::B8, Width::B32), Width::B32, scc, Width::B8);
    const Register f1 = d.newRegister(Width::B8), f2 = d.newRegister(Width::B8);
    const Handler add = d.handler.overflow(Overflow::UAdd, Width::B32);
    const Register sum = lanes(add, Width::B32, read32(operand(1)), Width::B32, read32(operand(2)), Width::B32, f1);
    write32(operand(0), lanes(add, Width::B32, sum, Width::B32, carry, Width::B32, f2));
    scc = binary(IntBinary::Or, f1, f2, Width::B8);
    return true;
  }
  struct Bitwise {
    IntBinary op;
    bool shifts;
  };
  using B = std::optional<Bitwise>;
  const auto op = StringSwitch<B>(name)
                      .Case("s_and_b32", Bitwise{IntBinary::And, false})
                      .Case("s_or_b32", Bitwise{IntBinary::Or, false})
                      .Case("s_xor_b32", Bitwise{IntBinary::Xor, false})
                      .Case("s_lshl_b32", Bitwise{IntBinary::Shl, true})
                      .Case("s_lshr_b32", Bitwise{IntBinary::LShr, true})
                      .Case("s_ashr_i32", Bitwise{IntBinary::AShr, true})
                      .Default(std::nullopt);
  if (op) {
    if (!plain(3))
      return true;
    const Register a = read32(operand(1)), b = read32(operand(2));
    const Register result = op->shifts ? shift(op->op, a, b) : binary(op->op, a, b);
    write32(operand(0), result);
    scc = lanes(d.handler.intCompare(IntCompare::Ne, Width::B32), Width::B8, result, Width::B32, constant32(0));
    return true;
  }
  if (name == "s_mul_i32") { // leaves scc as it is
    if (plain(3))
      write32(operand(0), binary(IntBinary::Mul, read32(operand(1)), read32(operand(2))));
    return true;
  }
  if (name == "s_cselect_b32") {
    if (!plain(3))
      return true;
    if (scc == kNoRegister)
      return fail("scc, which nothing in the assembly sets"), true;
    write32(operand(0), lanes(d.handler.select(Width::B32), Width::B32, read32(operand(1)), Width::B32,
                              read32(operand(2)), Width::B32, scc, Width::B8));
    return true;
  }
  return false;
}

bool AsmDecoder::decodeCompare() {
  StringRef name = now->mnemonic;
  if (name.consume_front("v_cmp_") || name.consume_front("s_cmp_")) {
    const auto op = comparison(name);
    if (!op)
      return false;
    const bool scalar = now->mnemonic[0] == 's', wide = name.ends_with("64");
    if (!plain(scalar ? 2 : 3))
      return true;
    const size_t first = scalar ? 0 : 1;
    const Width w = wide ? Width::B64 : Width::B32;
    const Register a = wide ? read64(operand(first)) : read32(operand(first)),
                   b = wide ? read64(operand(first + 1)) : read32(operand(first + 1));
    const Register flag = lanes(d.handler.intCompare(*op, w), Width::B8, a, w, b, w);
    if (scalar)
      scc = flag;
    else
      writeFlag(operand(0), flag);
    return true;
  }
  if (name == "v_cndmask_b32") {
    if (!plain(4))
      return true;
    const Register otherwise = read32(operand(1)), then = read32(operand(2)), flag = readFlag(operand(3));
    write32(operand(0),
            lanes(d.handler.select(Width::B32), Width::B32, then, Width::B32, otherwise, Width::B32, flag, Width::B8));
    return true;
  }
  const bool withCarry = name == "v_addc_co_u32" || name == "v_add_co_ci_u32";
  if (name == "v_add_co_u32" || withCarry) {
    if (!plain(withCarry ? 5 : 4))
      return true;
    const Handler add = d.handler.overflow(Overflow::UAdd, Width::B32);
    Register carry = d.newRegister(Width::B8);
    Register sum =
        lanes(add, Width::B32, read32(operand(2)), Width::B32, read32(operand(3)), Width::B32, carry, Width::B8);
    if (withCarry) {
      const Register in =
          lanes(d.handler.zeroExtendOrTruncate(Width::B8, Width::B32), Width::B32, readFlag(operand(4)), Width::B8);
      const Register second = d.newRegister(Width::B8);
      sum = lanes(add, Width::B32, sum, Width::B32, in, Width::B32, second, Width::B8);
      carry = binary(IntBinary::Or, carry, second, Width::B8);
    }
    write32(operand(0), sum);
    writeFlag(operand(1), carry);
    return true;
  }
  return false;
}

bool AsmDecoder::decodeCrossLane() {
  const StringRef name = now->mnemonic;
  const auto source = [&](size_t k) { return read32(operand(k)); };
  if (name.starts_with("v_mbcnt_")) {
    if (plain(3))
      write32(operand(0), lanes(mbcnt(name.starts_with("v_mbcnt_hi")), Width::B32, source(1), Width::B32, source(2)));
    return true;
  }
  if (name == "v_readfirstlane_b32") {
    if (plain(2))
      write32(operand(0), lanes(readFirstLane(Width::B32), Width::B32, source(1), Width::B32));
    return true;
  }
  if (name == "v_readlane_b32") {
    if (plain(3))
      write32(operand(0), lanes(readLane(Width::B32), Width::B32, source(1), Width::B32, source(2)));
    return true;
  }
  if (name == "v_writelane_b32") {
    // The lane may be inactive: then its old value in the register of the program is out of reach.
    if (plain(3))
      write32(operand(0),
              lanes(writeLane(Width::B32), Width::B32, source(1), Width::B32, source(2), Width::B32, source(0)));
    return true;
  }
  if (name == "ds_bpermute_b32" || name == "ds_permute_b32") {
    if (!plain(3))
      return true;
    const bool halves = d.context.gfxMajor >= 10 && d.context.waveSize == 64;
    write32(operand(0), lanes(name == "ds_permute_b32" ? permute(halves) : bpermute(halves), Width::B32, source(1),
                              Width::B32, source(2)));
    return true;
  }
  return false;
}

} // namespace wavesan::cpu::engine
