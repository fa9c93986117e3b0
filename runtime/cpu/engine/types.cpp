// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "types.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/raw_ostream.h"

namespace wavesan::cpu::engine {

using namespace llvm;

// Values of more leaves than this are not worth registers; nothing real comes near.
static constexpr uint64_t kMaxLeaves = 4096;

static std::optional<Width> widthForBits(uint64_t bits) {
  if (bits <= 8)
    return Width::B8;
  if (bits <= 16)
    return Width::B16;
  if (bits <= 32)
    return Width::B32;
  if (bits <= 64)
    return Width::B64;
  if (bits <= 128)
    return Width::B128;
  return std::nullopt;
}

static bool flattenAt(Type *type, const DataLayout &layout, uint64_t offset, SmallVectorImpl<Leaf> &leaves) {
  if (leaves.size() > kMaxLeaves)
    return false;
  if (auto *s = dyn_cast<StructType>(type)) {
    if (s->isOpaque())
      return false;
    const StructLayout *l = layout.getStructLayout(s);
    for (unsigned i = 0; i < s->getNumElements(); ++i)
      if (!flattenAt(s->getElementType(i), layout, offset + uint64_t(l->getElementOffset(i)), leaves))
        return false;
    return true;
  }
  if (auto *a = dyn_cast<ArrayType>(type)) {
    if (a->getNumElements() > kMaxLeaves)
      return false;
    const uint64_t stride = layout.getTypeAllocSize(a->getElementType());
    for (uint64_t i = 0; i < a->getNumElements(); ++i)
      if (!flattenAt(a->getElementType(), layout, offset + i * stride, leaves))
        return false;
    return true;
  }
  if (auto *v = dyn_cast<FixedVectorType>(type)) {
    const uint64_t bits = layout.getTypeSizeInBits(v->getElementType());
    for (unsigned i = 0; i < v->getNumElements(); ++i) {
      const size_t first = leaves.size();
      if (!flattenAt(v->getElementType(), layout, offset + i * bits / 8, leaves))
        return false;
      leaves[first].packed = bits % 8 != 0;
    }
    return leaves.size() <= kMaxLeaves;
  }
  uint64_t bits = 0;
  if (auto *i = dyn_cast<IntegerType>(type))
    bits = i->getBitWidth();
  else if (auto *p = dyn_cast<PointerType>(type)) {
    if (!spaceOf(p->getAddressSpace()) && p->getAddressSpace() != kBufferResource)
      return false;
    bits = layout.getPointerSizeInBits(p->getAddressSpace());
  } else if (floatKindOf(type))
    bits = type->getPrimitiveSizeInBits();
  const auto width = widthForBits(bits);
  if (!bits || !width)
    return false;
  leaves.push_back({*width, false, uint32_t(bits), offset, type});
  return true;
}

bool flatten(Type *type, const DataLayout &layout, SmallVectorImpl<Leaf> &leaves, std::string &error) {
  if (type->isVoidTy())
    return true;
  if (flattenAt(type, layout, 0, leaves))
    return true;
  raw_string_ostream(error) << "a value of type " << *type;
  leaves.clear();
  return false;
}

uint32_t leafCount(Type *type) {
  if (type->isVoidTy())
    return 0;
  if (auto *s = dyn_cast<StructType>(type)) {
    uint32_t n = 0;
    for (Type *e : s->elements())
      n += leafCount(e);
    return n;
  }
  if (auto *a = dyn_cast<ArrayType>(type))
    return uint32_t(a->getNumElements()) * leafCount(a->getElementType());
  if (auto *v = dyn_cast<FixedVectorType>(type))
    return v->getNumElements();
  return 1;
}

std::optional<FloatKind> floatKindOf(Type *type) {
  type = type->getScalarType();
  if (type->isHalfTy())
    return FloatKind::Half;
  if (type->isBFloatTy())
    return FloatKind::BFloat;
  if (type->isFloatTy())
    return FloatKind::Single;
  if (type->isDoubleTy())
    return FloatKind::Double;
  return std::nullopt;
}

std::optional<Space> spaceOf(unsigned addressSpace) {
  switch (addressSpace) {
  case 0: // generic
  case 1: // global
  case 4: // constant
    return Space::Flat;
  case 3: return Space::Lds;
  case 5: return Space::Private;
  default: return std::nullopt;
  }
}

} // namespace wavesan::cpu::engine
