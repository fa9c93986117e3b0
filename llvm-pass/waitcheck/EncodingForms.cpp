// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EncodingForms.h"

#include "llvm/Support/Endian.h"

namespace wavesan::waitcheck {

using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

EncodingWord EncodingWord::read(const uint8_t *bytes, unsigned dwords) {
  if (dwords == 1)
    return {read32le(bytes), 0};
  return {read64le(bytes), dwords == 2 ? 0 : read32le(bytes + 8)};
}

void EncodingWord::write(uint8_t *bytes) const {
  llvm::support::endian::write64le(bytes, low);
  llvm::support::endian::write32le(bytes + 8, high);
}

void EncodingWord::setField(unsigned shift, unsigned width, uint32_t value) {
  const uint64_t bits = (uint64_t(1) << width) - 1;
  if (shift < 64)
    low = (low & ~(bits << shift)) | (uint64_t(value) & bits) << shift;
  else
    high = static_cast<uint32_t>((high & ~(bits << (shift - 64))) | (uint64_t(value) & bits) << (shift - 64));
}

namespace {

constexpr EncodingField reg(uint8_t shift) { return {shift, 8, FieldKind::Register}; }
constexpr EncodingField half(uint8_t shift) { return {shift, 7, FieldKind::Register}; } // half of a number
constexpr EncodingField source(uint8_t shift) { return {shift, 8, FieldKind::Source}; }
constexpr EncodingField ignored(uint8_t shift, uint8_t width) { return {shift, width, FieldKind::Ignored}; }

constexpr EncodingLayout vop2{1, 3, {source(0), reg(9), reg(17)}};
constexpr EncodingLayout vop1{1, 2, {source(0), reg(17)}};
constexpr EncodingLayout vopc{1, 2, {source(0), reg(9)}};
constexpr EncodingLayout vop2Literal{2, 3, {reg(9), reg(17), ignored(32, 32)}};
constexpr EncodingLayout vop1Literal{2, 2, {reg(17), ignored(32, 32)}};
constexpr EncodingLayout vopcLiteral{2, 2, {reg(9), ignored(32, 32)}};
constexpr EncodingLayout vop2Modified{2, 3, {reg(9), reg(17), reg(32)}};
constexpr EncodingLayout vop1Modified{2, 2, {reg(17), reg(32)}};
constexpr EncodingLayout vopcModified{2, 2, {reg(9), reg(32)}};
constexpr EncodingLayout vop3{2, 4, {reg(0), source(32), source(41), source(50)}};
constexpr EncodingLayout vopd{2, 6, {source(0), reg(9), source(32), reg(41), half(49), half(57)}};
constexpr EncodingLayout ds{2, 5, {ignored(0, 16), reg(32), reg(40), reg(48), reg(56)}};
constexpr EncodingLayout flat{2, 4, {ignored(0, 12), reg(32), reg(40), reg(56)}};
constexpr EncodingLayout buffer{2, 3, {ignored(0, 12), reg(32), reg(40)}};
constexpr EncodingLayout vbuffer{3, 3, {reg(32), reg(64), ignored(72, 24)}};
constexpr EncodingLayout vflat{3, 4, {reg(32), reg(55), reg(64), ignored(72, 24)}};
constexpr EncodingLayout smem{2, 1, {ignored(32, 20)}};

/// VOP1, VOP2 and VOPC: the first source says whether a second dword follows.
const EncodingLayout *withSource(uint32_t first, const EncodingLayout &plain, const EncodingLayout &literal, const EncodingLayout &modified) {
  switch (first & 511) {
  case 255:
    return &literal;
  case 233: // DPP8
  case 234:
  case 249: // SDWA
  case 250: // DPP
    return &modified;
  default:
    return &plain;
  }
}

} // namespace

const EncodingLayout *layoutOf(WaitEncoding encoding, uint32_t first) {
  if (first >> 31 == 0) {
    if (first >> 25 == 0x3f)
      return withSource(first, vop1, vop1Literal, vop1Modified);
    if (first >> 25 == 0x3e)
      return withSource(first, vopc, vopcLiteral, vopcModified);
    return withSource(first, vop2, vop2Literal, vop2Modified);
  }
  const bool gfx9 = encoding == WaitEncoding::Gfx9, gfx12 = encoding == WaitEncoding::Gfx12;
  switch (first >> 26) {
  case 0x30:
    return gfx9 ? &smem : nullptr;
  case 0x3d:
    return gfx9 ? nullptr : &smem;
  case 0x34:
    return gfx9 ? &vop3 : nullptr;
  case 0x33:
  case 0x35:
    return gfx9 ? nullptr : &vop3;
  case 0x32:
    return encoding == WaitEncoding::Gfx11 || gfx12 ? &vopd : nullptr;
  case 0x36:
    return &ds;
  case 0x37:
    return gfx12 ? nullptr : &flat;
  case 0x38:
  case 0x3a:
    return gfx12 ? nullptr : &buffer;
  case 0x31:
    return gfx12 ? &vbuffer : nullptr;
  case 0x3b:
    return gfx12 ? &vflat : nullptr;
  default:
    return nullptr;
  }
}

FormTable::Entry &FormTable::get(const EncodingWord &key) {
  if (2 * (count + 1) > entries.size()) {
    std::vector<Entry> old(entries.empty() ? 256 : 2 * entries.size());
    old.swap(entries);
    for (Entry &e : old)
      if (e.used) {
        size_t i = slotOf(e.key);
        while (entries[i].used)
          i = (i + 1) & (entries.size() - 1);
        entries[i] = e;
      }
  }
  size_t i = slotOf(key);
  while (entries[i].used) {
    if (entries[i].key == key)
      return entries[i];
    i = (i + 1) & (entries.size() - 1);
  }
  ++count;
  entries[i].used = true;
  entries[i].key = key;
  return entries[i];
}

} // namespace wavesan::waitcheck
