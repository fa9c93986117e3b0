// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "api_table.h"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <new>
#include <system_error>
#include <type_traits>

// Extern "C" and hidden: the trampolines below name them in assembly.
extern "C" {
[[gnu::visibility("hidden")]] CoreApiTable wavesanHsaTableCORE;
[[gnu::visibility("hidden")]] AmdExtTable wavesanHsaTableAMD;
[[gnu::visibility("hidden")]] FinalizerExtTable wavesanHsaTableFINALIZER;
[[gnu::visibility("hidden")]] ImageExtTable wavesanHsaTableIMAGE;
}

namespace wavesan::agent {
namespace {

using LayoutCORE = CoreApiTable;
using LayoutAMD = AmdExtTable;
using LayoutFINALIZER = FinalizerExtTable;
using LayoutIMAGE = ImageExtTable;

HsaApiTable RootTable;

/// Said once per function: a program that polls an unsupported query must not flood stderr.
hsa_status_t notImplemented(const char *name, std::atomic<bool> &said) {
  if (!said.exchange(true))
    std::fprintf(stderr, "wavesan: %s is not supported by the CPU agent\n", name);
  return HSA_STATUS_ERROR;
}

// All missing functions return hsa_status_t; the argument list does not matter to a function that ignores it.
#define WAVESAN_HSA_MISSING(Table, Name, Export)                                                                       \
  hsa_status_t missing_##Name() {                                                                                      \
    static std::atomic<bool> said{false};                                                                              \
    return notImplemented(#Name, said);                                                                                \
  }
#include "api_functions.def"

/// What the program's C code calls. Where there is no memory or no thread for what a function that can say so needs,
/// it does.
template <auto function> struct Entry;
template <class R, class... Arguments, R (*function)(Arguments...)> struct Entry<function> {
  static R guarded(Arguments... arguments) {
    try {
      return function(arguments...);
    } catch (const std::bad_alloc &) {
    } catch (const std::system_error &) {
    }
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  static constexpr auto get() {
    if constexpr (std::is_same_v<R, hsa_status_t>)
      return guarded;
    else
      return function;
  }
};

void fillTables() {
  RootTable.version = {HSA_API_TABLE_MAJOR_VERSION, sizeof(HsaApiTable), HSA_API_TABLE_STEP_VERSION, 0};
  RootTable.core_ = &wavesanHsaTableCORE;
  RootTable.amd_ext_ = &wavesanHsaTableAMD;
  RootTable.finalizer_ext_ = &wavesanHsaTableFINALIZER;
  RootTable.image_ext_ = &wavesanHsaTableIMAGE;
  wavesanHsaTableCORE.version = {HSA_CORE_API_TABLE_MAJOR_VERSION, sizeof(CoreApiTable),
                                 HSA_CORE_API_TABLE_STEP_VERSION, 0};
  wavesanHsaTableAMD.version = {HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, sizeof(AmdExtTable),
                                HSA_AMD_EXT_API_TABLE_STEP_VERSION, 0};
  wavesanHsaTableFINALIZER.version = {HSA_FINALIZER_API_TABLE_MAJOR_VERSION, sizeof(FinalizerExtTable),
                                      HSA_FINALIZER_API_TABLE_STEP_VERSION, 0};
  wavesanHsaTableIMAGE.version = {HSA_IMAGE_API_TABLE_MAJOR_VERSION, sizeof(ImageExtTable),
                                  HSA_IMAGE_API_TABLE_STEP_VERSION, 0};
#define WAVESAN_HSA_FUNCTION(Table, Name, Export) wavesanHsaTable##Table.Name##_fn = Entry<impl::Name>::get();
#define WAVESAN_HSA_MISSING(Table, Name, Export)                                                                       \
  wavesanHsaTable##Table.Name##_fn =                                                                                   \
      reinterpret_cast<decltype(wavesanHsaTable##Table.Name##_fn)>(reinterpret_cast<void *>(missing_##Name));
#include "api_functions.def"
}

// Before every other constructor of the process that might call HSA.
[[gnu::constructor(101)]] void fillTablesAtLoad() { fillTables(); }

} // namespace

HsaApiTable &apiTable() { return RootTable; }
void resetApiTables() { fillTables(); }

} // namespace wavesan::agent

// One trampoline per exported symbol: a tail jump through the table, so that every register and stack argument of
// the caller arrives untouched, whatever the function's type.
#define WAVESAN_TRAMPOLINE(Symbol, Table, Field)                                                                       \
  extern "C" [[gnu::naked, gnu::used, gnu::visibility("default")]] void wavesanTrampoline_##Symbol() __asm__(#Symbol); \
  extern "C" [[gnu::naked, gnu::used, gnu::visibility("default")]] void wavesanTrampoline_##Symbol() {                 \
    __asm__ volatile("jmp *wavesanHsaTable" #Table "+%c0(%%rip)"                                                       \
                     :                                                                                                 \
                     : "i"(offsetof(wavesan::agent::Layout##Table, Field)));                                           \
  }
#define WAVESAN_TRAMPOLINE_EXPORTED(Table, Name) WAVESAN_TRAMPOLINE(Name, Table, Name##_fn)
#define WAVESAN_TRAMPOLINE_INTERNAL(Table, Name)
#define WAVESAN_HSA_FUNCTION(Table, Name, Export) WAVESAN_TRAMPOLINE_##Export(Table, Name)
#define WAVESAN_HSA_MISSING(Table, Name, Export) WAVESAN_TRAMPOLINE_##Export(Table, Name)
#define WAVESAN_HSA_ALIAS(Table, Name, Function) WAVESAN_TRAMPOLINE(Name, Table, Function##_fn)
#include "api_functions.def"
