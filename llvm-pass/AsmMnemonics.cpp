// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AsmMnemonics.h"

#include "LlvmVersions.h"

#include "wavesan/abi/hooks.h"

using namespace llvm;
using namespace wavesan;

static constexpr uint32_t kReadModifyWrite = abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic;

/// Bytes by the suffix of an untyped load or store, in the words of gfx9/gfx10 and of gfx11 and later; 0: unknown.
static unsigned plainSize(StringRef Type) {
  return StringCases<unsigned>(Type)
      .Cases({"b8", "u8", "i8", "ubyte", "sbyte", "byte"}, 1)
      .Cases({"b8_d16_hi", "u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi"}, 1)
      .Cases({"ubyte_d16", "ubyte_d16_hi", "sbyte_d16", "sbyte_d16_hi", "byte_d16_hi"}, 1)
      .Cases({"d16_u8", "d16_i8", "d16_hi_u8", "d16_hi_i8", "d16_hi_b8"}, 1)
      .Cases({"b16", "u16", "i16", "ushort", "sshort", "short"}, 2)
      .Cases({"b16_d16_hi", "u16_d16", "u16_d16_hi", "short_d16", "short_d16_hi"}, 2)
      .Cases({"d16_b16", "d16_hi_b16"}, 2)
      .Cases({"b32", "dword"}, 4)
      .Cases({"b64", "dwordx2"}, 8)
      .Cases({"b96", "dwordx3"}, 12)
      .Cases({"b128", "dwordx4"}, 16)
      .Default(0);
}

static unsigned atomicSize(StringRef Type) {
  return StringCases<unsigned>(Type)
      .Cases({"b32", "u32", "i32", "f32"}, 4)
      .Cases({"b64", "u64", "i64", "f64"}, 8)
      .Default(0);
}

static bool isOperation(StringRef Name) {
  return StringCases<bool>(Name)
      .Cases({"add", "sub", "rsub", "inc", "dec", "min", "max", "and", "or", "xor"}, true)
      .Cases({"wrxchg", "storexchg", "swap", "smin", "smax", "umin", "umax", "min_num", "max_num"}, true)
      .Default(false);
}

/// `Name` without ds_: reads and writes of one or two addresses.
static std::optional<MemoryMnemonic> ldsPlain(StringRef Name) {
  uint32_t Bits;
  if (Name.consume_front("read") || Name.consume_front("load"))
    Bits = abi::kAccessRead;
  else if (Name.consume_front("write") || Name.consume_front("store"))
    Bits = abi::kAccessWrite;
  else
    return std::nullopt;
  bool Pair = false, Stride64 = false;
  if (Name.consume_front("2st64_") || Name.consume_front("_2addr_stride64_"))
    Pair = Stride64 = true;
  else if (Name.consume_front("2_") || Name.consume_front("_2addr_"))
    Pair = true;
  else if (!Name.consume_front("_"))
    return std::nullopt;
  unsigned Size = Pair ? (Name == "b32" ? 4 : Name == "b64" ? 8 : 0) : plainSize(Name);
  if (!Size)
    return std::nullopt;
  return MemoryMnemonic{Region::Lds, Bits, Size, Pair ? Size * (Stride64 ? 64 : 1) : 0};
}

/// `Name` is operation[_rtn]_type, of either family.
static std::optional<MemoryMnemonic> typedAtomic(Region Where, StringRef Name) {
  if (Name.consume_front("pk_add_")) {
    Name.consume_front("rtn_");
    if (Name == "f16" || Name == "bf16")
      return MemoryMnemonic{Where, kReadModifyWrite, 4};
    return std::nullopt;
  }
  auto [Operation, Type] = Name.rsplit('_');
  Operation.consume_back("_rtn");
  if (!isOperation(Operation) || !atomicSize(Type))
    return std::nullopt;
  return MemoryMnemonic{Where, kReadModifyWrite, atomicSize(Type)};
}

std::optional<MemoryMnemonic> wavesan::memoryMnemonic(StringRef Name) {
  Region Where = Region::Lds;
  if (Name.consume_front("ds_")) {
    if (auto Plain = ldsPlain(Name))
      return Plain;
    return typedAtomic(Where, Name);
  }
  if (Name.consume_front("global_"))
    Where = Region::Global;
  else if (Name.consume_front("flat_"))
    Where = Region::Generic;
  else
    return std::nullopt;
  if (Name.consume_front("atomic_")) {
    if (auto Typed = typedAtomic(Where, Name))
      return Typed;
    // gfx9 and gfx10: the type is part of the operation's name or implied.
    unsigned Size = Name.consume_back("_x2") ? 8 : 4;
    if (isOperation(Name))
      return MemoryMnemonic{Where, kReadModifyWrite, Size};
    return std::nullopt;
  }
  uint32_t Bits = Name.consume_front("load_") ? abi::kAccessRead : 0;
  if (!Bits && Name.consume_front("store_"))
    Bits = abi::kAccessWrite;
  unsigned Size = plainSize(Name);
  if (!Bits || !Size)
    return std::nullopt;
  return MemoryMnemonic{Where, Bits, Size};
}
