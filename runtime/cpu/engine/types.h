// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR types as lists of scalars ("leaves"), each of which lives in one register.
#ifndef WAVESAN_CPU_ENGINE_TYPES_H
#define WAVESAN_CPU_ENGINE_TYPES_H

#include "handlers.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace llvm {
class DataLayout;
class Type;
} // namespace llvm

namespace wavesan::cpu::engine {

struct Leaf {
  Width width;
  bool packed;     ///< element of a vector whose elements are no whole bytes: has no address of its own
  uint32_t bits;   ///< significant bits; the container's others are zero
  uint64_t offset; ///< in memory, in bytes from the value's first
  llvm::Type *type;
};

/// Appends the leaves of `type`. False with `error` set if the engine cannot hold such a value.
bool flatten(llvm::Type *type, const llvm::DataLayout &layout, llvm::SmallVectorImpl<Leaf> &leaves, std::string &error);

/// Number of leaves of a type that flatten() accepts.
uint32_t leafCount(llvm::Type *type);

std::optional<FloatKind> floatKindOf(llvm::Type *type);

/// Address space of buffer resources: values of 128 bits.
inline constexpr unsigned kBufferResource = 8;
/// How the engine reaches an IR address space; nullopt for buffer resources and the like.
std::optional<Space> spaceOf(unsigned addressSpace);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_TYPES_H
