// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Generations.h"

#include "llvm/BinaryFormat/ELF.h"

namespace wavesan::waitcheck {
namespace {

using C = Counter;
using O = OrderClass;
constexpr C none = C::Count;
constexpr uint8_t unbounded = unboundedCounter;

// Each row answers, per order class in the order of the enumeration: which counter, and with which class it ages.
//
// Sources: the counters as the assembler documents them, and the compiler's own wait insertion, whose output must be clean here.

constexpr std::array<Counter, numOrderClasses> gfx9Counters = {
    C::Load, // VMem
    C::Load, // FlatVMem
    none, // VStore
    C::Load, // Sample
    C::Load, // Bvh
    C::Ds, // Lds
    C::Ds, // FlatLds
    C::Ds, // Gds
    C::Ds, // Scalar
    C::Exp, // ExportMrt
    C::Exp, // ExportPos
    C::Exp, // ExportPar
    C::Exp, // GdsSource
    none, // LdsDirect
    none, // AsyncLoad
    none, // AsyncStore
    none, // AsyncMisc
    none, // Tensor
    none, // XVMem
    none, // XScalar
    C::Load, // EntryLoad
    C::Ds, // EntryDs
    none, // EntrySample
    none, // EntryBvh
    none, // EntryKm
    none, // WaitStates
};
constexpr std::array<OrderClass, numOrderClasses> gfx9Groups = {
    O::VMem,
    O::FlatVMem,
    O::VStore,
    O::VMem,
    O::VMem,
    O::Lds,
    O::FlatLds,
    O::Gds,
    O::Scalar,
    O::ExportMrt,
    O::ExportPos,
    O::ExportPar,
    O::GdsSource,
    O::LdsDirect,
    O::AsyncLoad,
    O::AsyncStore,
    O::AsyncMisc,
    O::Tensor,
    O::XVMem,
    O::XScalar,
    O::EntryLoad,
    O::EntryDs,
    O::EntrySample,
    O::EntryBvh,
    O::EntryKm,
    O::WaitStates,
};

constexpr std::array<Counter, numOrderClasses> gfx10Counters = {
    C::Load, // VMem
    none, // FlatVMem
    C::Store, // VStore
    C::Load, // Sample
    C::Load, // Bvh
    C::Ds, // Lds
    none, // FlatLds
    C::Ds, // Gds
    C::Ds, // Scalar
    C::Exp, // ExportMrt
    C::Exp, // ExportPos
    C::Exp, // ExportPar
    C::Exp, // GdsSource
    C::Exp, // LdsDirect
    none, // AsyncLoad
    none, // AsyncStore
    none, // AsyncMisc
    none, // Tensor
    none, // XVMem
    none, // XScalar
    C::Load, // EntryLoad
    C::Ds, // EntryDs
    none, // EntrySample
    none, // EntryBvh
    none, // EntryKm
    none, // WaitStates
};
constexpr std::array<OrderClass, numOrderClasses> gfx10Groups = {
    O::VMem,
    O::FlatVMem,
    O::VStore,
    O::VMem,
    O::VMem,
    O::Lds,
    O::FlatLds,
    O::Gds,
    O::Scalar,
    O::ExportMrt,
    O::ExportPos,
    O::ExportPar,
    O::GdsSource,
    O::LdsDirect,
    O::AsyncLoad,
    O::AsyncStore,
    O::AsyncMisc,
    O::Tensor,
    O::XVMem,
    O::XScalar,
    O::EntryLoad,
    O::EntryDs,
    O::EntrySample,
    O::EntryBvh,
    O::EntryKm,
    O::WaitStates,
};

constexpr std::array<Counter, numOrderClasses> gfx12Counters = {
    C::Load, // VMem
    none, // FlatVMem
    C::Store, // VStore
    C::Sample, // Sample
    C::Bvh, // Bvh
    C::Ds, // Lds
    none, // FlatLds
    none, // Gds
    C::Km, // Scalar
    C::Exp, // ExportMrt
    C::Exp, // ExportPos
    C::Exp, // ExportPar
    none, // GdsSource
    C::Exp, // LdsDirect
    none, // AsyncLoad
    none, // AsyncStore
    none, // AsyncMisc
    none, // Tensor
    none, // XVMem
    none, // XScalar
    C::Load, // EntryLoad
    C::Ds, // EntryDs
    C::Sample, // EntrySample
    C::Bvh, // EntryBvh
    C::Km, // EntryKm
    none, // WaitStates
};
constexpr std::array<OrderClass, numOrderClasses> gfx12Groups = {
    O::VMem,
    O::FlatVMem,
    O::VStore,
    O::Sample,
    O::Bvh,
    O::Lds,
    O::FlatLds,
    O::Gds,
    O::Scalar,
    O::ExportMrt,
    O::ExportPos,
    O::ExportPar,
    O::GdsSource,
    O::LdsDirect,
    O::AsyncLoad,
    O::AsyncStore,
    O::AsyncMisc,
    O::Tensor,
    O::XVMem,
    O::XScalar,
    O::EntryLoad,
    O::EntryDs,
    O::EntrySample,
    O::EntryBvh,
    O::EntryKm,
    O::WaitStates,
};

constexpr std::array<Counter, numOrderClasses> gfx1250Counters = {
    C::Load, // VMem
    none, // FlatVMem
    C::Store, // VStore
    none, // Sample
    none, // Bvh
    C::Ds, // Lds
    none, // FlatLds
    none, // Gds
    C::Km, // Scalar
    C::Exp, // ExportMrt
    C::Exp, // ExportPos
    C::Exp, // ExportPar
    none, // GdsSource
    none, // LdsDirect
    C::Async, // AsyncLoad
    C::Async, // AsyncStore
    C::Async, // AsyncMisc
    C::Tensor, // Tensor
    C::X, // XVMem
    C::X, // XScalar
    C::Load, // EntryLoad
    C::Ds, // EntryDs
    none, // EntrySample
    none, // EntryBvh
    C::Km, // EntryKm
    none, // WaitStates
};
constexpr std::array<OrderClass, numOrderClasses> gfx1250Groups = {
    O::VMem,
    O::FlatVMem,
    O::VStore,
    O::Sample,
    O::Bvh,
    O::Lds,
    O::FlatLds,
    O::Gds,
    O::Scalar,
    O::ExportMrt,
    O::ExportPos,
    O::ExportPar,
    O::GdsSource,
    O::LdsDirect,
    O::AsyncLoad,
    O::AsyncStore,
    O::AsyncMisc,
    O::Tensor,
    O::XVMem,
    O::XScalar,
    O::EntryLoad,
    O::EntryDs,
    O::EntrySample,
    O::EntryBvh,
    O::EntryKm,
    O::WaitStates,
};

// Capacities: the width of the field of the wait instruction. Where the hardware may be wider than the field, unbounded.
constexpr Generation gfx900 = {
    .name = "gfx9 (Vega)",
    .encoding = WaitEncoding::Gfx9,
    .capacity = {63, 15, 7, 0, 0, 0, 0, 0, 0, 0},
    .counterName = {"vmcnt", "lgkmcnt", "expcnt", "", "", "", "", "", "", ""},
    .counterOf = gfx9Counters,
    .groupOf = gfx9Groups,
    .vmemWritesInOrder = true,
    .d16WritesWhole = false,
    .sourceTranslation = false,
    .flatInOrder = false,
    .wideStoreStates = 1,
    .wideRegisters = false,
    .packedWorkItemIds = false,
    .wavesOf64Only = true,
};

constexpr Generation gfx906 = {
    .name = "gfx9 (Vega with ECC, CDNA1)",
    .encoding = WaitEncoding::Gfx9,
    .capacity = {63, 15, 7, 0, 0, 0, 0, 0, 0, 0},
    .counterName = {"vmcnt", "lgkmcnt", "expcnt", "", "", "", "", "", "", ""},
    .counterOf = gfx9Counters,
    .groupOf = gfx9Groups,
    .vmemWritesInOrder = true,
    .d16WritesWhole = true,
    .sourceTranslation = false,
    .flatInOrder = false,
    .wideStoreStates = 1,
    .wideRegisters = false,
    .packedWorkItemIds = false,
    .wavesOf64Only = true,
};

constexpr Generation gfx90a = {
    .name = "gfx90a (CDNA2)",
    .encoding = WaitEncoding::Gfx9,
    .capacity = {63, 15, 7, 0, 0, 0, 0, 0, 0, 0},
    .counterName = {"vmcnt", "lgkmcnt", "expcnt", "", "", "", "", "", "", ""},
    .counterOf = gfx9Counters,
    .groupOf = gfx9Groups,
    .vmemWritesInOrder = true,
    .d16WritesWhole = true,
    .sourceTranslation = false,
    .flatInOrder = false,
    .wideStoreStates = 1,
    .wideRegisters = false,
    .packedWorkItemIds = true,
    .wavesOf64Only = true,
};

constexpr Generation gfx940 = {
    .name = "gfx942, gfx950 (CDNA3, CDNA4)",
    .encoding = WaitEncoding::Gfx9,
    .capacity = {63, 15, 7, 0, 0, 0, 0, 0, 0, 0},
    .counterName = {"vmcnt", "lgkmcnt", "expcnt", "", "", "", "", "", "", ""},
    .counterOf = gfx9Counters,
    .groupOf = gfx9Groups,
    .vmemWritesInOrder = true,
    .d16WritesWhole = true,
    .sourceTranslation = false,
    .flatInOrder = false,
    .wideStoreStates = 2,
    .wideRegisters = false,
    .packedWorkItemIds = true,
    .wavesOf64Only = true,
};

constexpr Generation gfx10 = {
    .name = "gfx10 (RDNA1, RDNA2)",
    .encoding = WaitEncoding::Gfx10,
    .capacity = {63, 63, 7, 63, 0, 0, 0, 0, 0, 0},
    .counterName = {"vmcnt", "lgkmcnt", "expcnt", "vscnt", "", "", "", "", "", ""},
    .counterOf = gfx10Counters,
    .groupOf = gfx10Groups,
    .vmemWritesInOrder = true,
    .d16WritesWhole = false,
    .sourceTranslation = false,
    .flatInOrder = true,
    .wideStoreStates = 0,
    .wideRegisters = false,
    .packedWorkItemIds = false,
    .wavesOf64Only = false,
};

constexpr Generation gfx11 = {
    .name = "gfx11 (RDNA3)",
    .encoding = WaitEncoding::Gfx11,
    .capacity = {63, 63, 7, 63, 0, 0, 0, 0, 0, 0},
    .counterName = {"vmcnt", "lgkmcnt", "expcnt", "vscnt", "", "", "", "", "", ""},
    .counterOf = gfx10Counters,
    .groupOf = gfx10Groups,
    .vmemWritesInOrder = true,
    .d16WritesWhole = false,
    .sourceTranslation = false,
    .flatInOrder = true,
    .wideStoreStates = 0,
    .wideRegisters = false,
    .packedWorkItemIds = true,
    .wavesOf64Only = false,
};

constexpr Generation gfx12 = {
    .name = "gfx12 (RDNA4)",
    .encoding = WaitEncoding::Gfx12,
    .capacity = {63, 63, 7, 63, 63, 7, 31, 0, 0, 0},
    .counterName = {"loadcnt", "dscnt", "expcnt", "storecnt", "samplecnt", "bvhcnt", "kmcnt", "", "", ""},
    .counterOf = gfx12Counters,
    .groupOf = gfx12Groups,
    .vmemWritesInOrder = false,
    .d16WritesWhole = false,
    .sourceTranslation = false,
    .flatInOrder = true,
    .wideStoreStates = 0,
    .wideRegisters = false,
    .packedWorkItemIds = true,
    .wavesOf64Only = false,
};

constexpr Generation gfx1250 = {
    .name = "gfx1250",
    .encoding = WaitEncoding::Gfx12,
    .capacity = {63, 63, 7, 63, 0, 0, 31, 63, unbounded, unbounded},
    .counterName = {"loadcnt", "dscnt", "expcnt", "storecnt", "", "", "kmcnt", "asynccnt", "tensorcnt", "xcnt"},
    .counterOf = gfx1250Counters,
    .groupOf = gfx1250Groups,
    .vmemWritesInOrder = false,
    .d16WritesWhole = true,
    .sourceTranslation = true,
    .flatInOrder = true,
    .wideStoreStates = 0,
    .wideRegisters = true,
    .packedWorkItemIds = true,
    .wavesOf64Only = false,
};

constexpr TargetEntry targets[] = {
    {"gfx900", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX900, &gfx900},
    {"gfx902", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX902, &gfx900},
    {"gfx904", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX904, &gfx900},
    {"gfx906", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX906, &gfx906},
    {"gfx908", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX908, &gfx906},
    {"gfx909", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX909, &gfx900},
    {"gfx90a", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A, &gfx90a},
    {"gfx90c", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90C, &gfx900},
    {"gfx942", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942, &gfx940},
    {"gfx950", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950, &gfx940},
    {"gfx1010", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1010, &gfx10},
    {"gfx1011", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1011, &gfx10},
    {"gfx1012", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1012, &gfx10},
    {"gfx1013", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1013, &gfx10},
    {"gfx1030", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030, &gfx10},
    {"gfx1031", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1031, &gfx10},
    {"gfx1032", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1032, &gfx10},
    {"gfx1033", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1033, &gfx10},
    {"gfx1034", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1034, &gfx10},
    {"gfx1035", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1035, &gfx10},
    {"gfx1036", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1036, &gfx10},
    {"gfx1100", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100, &gfx11},
    {"gfx1101", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1101, &gfx11},
    {"gfx1102", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1102, &gfx11},
    {"gfx1103", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1103, &gfx11},
    {"gfx1150", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1150, &gfx11},
    {"gfx1151", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1151, &gfx11},
    {"gfx1152", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1152, &gfx11},
    {"gfx1153", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1153, &gfx11},
    {"gfx1200", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200, &gfx12},
    {"gfx1201", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201, &gfx12},
    {"gfx1250", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1250, &gfx1250},
    {"gfx9-generic", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX9_GENERIC, &gfx906},
    {"gfx9-4-generic", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC, &gfx940},
    {"gfx10-1-generic", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX10_1_GENERIC, &gfx10},
    {"gfx10-3-generic", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX10_3_GENERIC, &gfx10},
    {"gfx11-generic", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX11_GENERIC, &gfx11},
    {"gfx12-generic", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX12_GENERIC, &gfx12},
};

// The gfx9-generic target may run on gfx906 with ECC, where a 16-bit load writes the whole register; the half-register precision of
// gfx900 must then not be used. It is listed with gfx906's row instead of gfx900's.
} // namespace

llvm::ArrayRef<TargetEntry> knownTargets() { return targets; }

const TargetEntry *findTarget(llvm::StringRef name) {
  for (const TargetEntry &t : targets)
    if (name == t.name)
      return &t;
  return nullptr;
}

const TargetEntry *findMachine(unsigned machine) {
  for (const TargetEntry &t : targets)
    if (machine == t.machine)
      return &t;
  return nullptr;
}

} // namespace wavesan::waitcheck
