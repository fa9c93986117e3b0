// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races in global memory: allocations and variables as the tool follows them.
#include "tool_fixture.h"

namespace wavesan::test {

namespace {
std::string headOf(const std::string &log) {
  size_t at = log.find(" global memory ");
  return at == std::string::npos ? "" : log.substr(at, log.find('\n', at) - at);
}
} // namespace

TEST_F(ToolTest, GlobalRaceNamesTheAllocation) {
  load();
  Runtime->allocateMemory(kKernargPool, 4096); // numbered apart
  Runtime->allocateMemory(kDevicePool, 128);
  DispatchPacket warmUp = packet(), first = submit(warmUp); // WaveSan's own allocations do not count
  finishDispatch(first, warmUp.completion_signal);
  char *out = static_cast<char *>(Runtime->allocateMemory(kDevicePool, 4096));
  DispatchPacket original = packet(), twin = submit(original);
  abi::RaceRecord r = globalRecord(out + 16, kLoadSite, kStoreSite);
  r.previous.lane = abi::kUnknownLane;
  putRace(twin, r);
  finishDispatch(twin, original.completion_signal);
  unload();
  std::string text = log();
  size_t end = text.find("  fix:");
  EXPECT_EQ(
      text.substr(0, end),
      "wavesan: race: global memory write-read (read after write) on `tile`, 4 bytes at allocation 2 (4096 bytes) "
      "+ 16\n"
      "  kernel k(int*), dispatch 2, wave size 64\n"
      "  read  of 4 bytes by workgroup (1,0,0) wave 0 lane 0 at app.hip:11:14 in k(int*)\n"
      "  write of 4 bytes by workgroup (0,0,0) wave 1 lane ? at app.hip:8:13 in k(int*)\n"
      "  no order between workgroups of one dispatch: workgroups (0,0,0) and (1,0,0) may execute these in either "
      "order\n");
  EXPECT_EQ(text.find("0x"), std::string::npos) << text;
  Runtime->freeMemory(out);
}

TEST_F(ToolTest, MemoryFreedBeforeTheDrainIsStillNamed) {
  load();
  char *out = static_cast<char *>(Runtime->allocateMemory(kFinePool, 256));
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(out + 8, kLoadSite, kStoreSite));
  // HIP learns of the completion by a later packet, which may be ahead of the drain.
  EXPECT_EQ(Runtime->freeMemory(out), HSA_STATUS_SUCCESS);
  EXPECT_EQ(Runtime->freeMemory(out), HSA_STATUS_ERROR_INVALID_ALLOCATION); // passed on
  finishDispatch(twin, original.completion_signal);
  EXPECT_EQ(headOf(log()),
            " global memory write-read (read after write) on `tile`, 4 bytes at allocation 1 (256 bytes) + 8");
}

TEST_F(ToolTest, RefusedFreeKeepsTheAllocation) {
  load();
  char *out = static_cast<char *>(Runtime->allocateMemory(kFinePool, 256));
  {
    std::lock_guard lock(Runtime->Mutex);
    Runtime->Memory.erase(out); // makes the runtime refuse
  }
  EXPECT_EQ(Runtime->freeMemory(out), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(out, kLoadSite, kStoreSite));
  finishDispatch(twin, original.completion_signal);
  EXPECT_NE(headOf(log()).find("allocation 1 (256 bytes) + 0"), std::string::npos) << log();
  std::free(out);
}

TEST_F(ToolTest, OtherWaysToAllocate) {
  load("verbosity=1");
  void *byRegion = nullptr, *arguments = nullptr, *device = nullptr;
  Runtime->core().hsa_memory_allocate_fn({kFinePool}, 64, &byRegion);
  Runtime->core().hsa_memory_allocate_fn({kKernargPool}, 32, &arguments);
  std::vector<int> host(100);
  Runtime->amd().hsa_amd_memory_lock_fn(host.data(), 400, nullptr, 0, &device);
  std::string text = log();
  EXPECT_NE(text.find("wavesan: allocation 1: 64 bytes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: kernel argument memory 1: 32 bytes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: registered host memory 1: 400 bytes\n"), std::string::npos) << text;
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(&host[3], kLoadSite, kStoreSite));
  finishDispatch(twin, original.completion_signal);
  Runtime->amd().hsa_amd_memory_unlock_fn(host.data());
  Runtime->core().hsa_memory_free_fn(byRegion);
  EXPECT_NE(headOf(log()).find("registered host memory 1 (400 bytes) + 12"), std::string::npos) << log();
}

TEST_F(ToolTest, VariablesAndUnknownMemory) {
  load();
  static int counter[4];
  hsa_executable_t executable = Runtime->loadExecutable(
      sampleCodeObject(), {{"_ZN2ns7counterE", 0, 0, 0, 0, reinterpret_cast<uint64_t>(counter), sizeof(counter)}});
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(&counter[2], kLoadSite, kStoreSite));
  finishDispatch(twin, original.completion_signal);
  EXPECT_NE(headOf(log()).find(", 4 bytes at ns::counter+8 (__device__ variable, 16 bytes)"), std::string::npos)
      << log();
  Runtime->core().hsa_executable_destroy_fn(executable);
  DispatchPacket second = packet(), secondTwin = submit(second);
  abi::RaceRecord r = globalRecord(&counter[2], kStoreSite, kStoreSite);
  putRace(secondTwin, r);
  finishDispatch(secondTwin, second.completion_signal);
  EXPECT_NE(log().find("write-write (write after write) on `tile`, 4 bytes at an unknown offset\n"), std::string::npos)
      << log();
}

TEST_F(ToolTest, VariablesOfInternalLinkageComeFromTheSymbolTable) {
  load();
  Runtime->core().hsa_executable_destroy_fn(Executable);
  const std::vector<SymbolSpec> symbols = {
      {"_Z1kPi.kd", 0x100, 64}, {"_Z5plainv.kd", 0x2100, 64}, {"_ZL6hidden", 0x800, 16}};
  Executable = Runtime->loadExecutable(sampleCodeObject(symbols), sampleSymbols()); // loaded at 0xf00
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(reinterpret_cast<void *>(0xf00 + 0x804), kLoadSite, kStoreSite));
  finishDispatch(twin, original.completion_signal);
  EXPECT_NE(headOf(log()).find(", 4 bytes at hidden+4 (__device__ variable, 16 bytes)"), std::string::npos) << log();
}

TEST_F(ToolTest, KernelsThatDisagreeAboutTheLoadAddressNameNoVariable) {
  load();
  Runtime->core().hsa_executable_destroy_fn(Executable);
  const std::vector<SymbolSpec> symbols = {
      {"_Z1kPi.kd", 0x100, 64}, {"_Z5plainv.kd", 0x2200, 64}, {"_ZL6hidden", 0x800, 16}};
  Executable = Runtime->loadExecutable(sampleCodeObject(symbols), sampleSymbols());
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(reinterpret_cast<void *>(0xf00 + 0x804), kLoadSite, kStoreSite));
  finishDispatch(twin, original.completion_signal);
  EXPECT_NE(headOf(log()).find("on `tile`, 4 bytes at an unknown offset"), std::string::npos) << log();
}

TEST_F(ToolTest, TwoAtomicsConflictBecauseOfTheirScope) {
  load();
  char *out = static_cast<char *>(Runtime->allocateMemory(kDevicePool, 64));
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, globalRecord(out, kAtomicSite, kAtomicSite));
  finishDispatch(twin, original.completion_signal);
  EXPECT_EQ(log().find("wavesan: scope-too-small: global memory atomic against atomic on `tile`, "), 0u) << log();
  EXPECT_NE(log().find("  both are atomic, but at workgroup scope, which does not include both workgroups (0,0,0) and "
                       "(1,0,0)\n"
                       "  fix: use __HIP_MEMORY_SCOPE_AGENT / __threadfence() instead of workgroup scope\n"),
            std::string::npos)
      << log();
}

TEST_F(ToolTest, SpacesAreDifferentRacesAndScopesAreNamed) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  char *out = static_cast<char *>(Runtime->allocateMemory(kDevicePool, 64));
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  putRace(twin, globalRecord(out, kLoadSite, kStoreSite));
  abi::RaceRecord scope = globalRecord(out, kLoadSite, kStoreSite);
  scope.raceClass = uint32_t(abi::RaceClass::ScopeTooSmall);
  scope.neededScope = uint32_t(abi::Scope::Agent);
  putRace(twin, scope);
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 0 accesses in 1 kernels: 3 races");
  EXPECT_NE(log().find("wavesan: scope-too-small: global memory "), std::string::npos) << log();
  EXPECT_NE(log().find("  fix: use __HIP_MEMORY_SCOPE_AGENT / __threadfence() instead of a smaller scope\n"),
            std::string::npos)
      << log();
}

TEST_F(ToolTest, ReportsOfGlobalMemoryDoNotDependOnAddresses) {
  // Two records that only their addresses tell apart at first sight, in both orders of addresses.
  std::string texts[2];
  for (int run = 0; run < 2; ++run) {
    TemporaryFile own;
    load("log_path=" + own.path());
    char *memory[2] = {static_cast<char *>(Runtime->allocateMemory(kDevicePool, 64)),
                       static_cast<char *>(Runtime->allocateMemory(kDevicePool, 64))};
    if ((memory[0] < memory[1]) != (run == 0))
      std::swap(memory[0], memory[1]);
    DispatchPacket original = packet(), twin = submit(original);
    putRace(twin, globalRecord(memory[0], kLoadSite, kStoreSite));
    putRace(twin, globalRecord(memory[1], kLateStoreSite, kStoreSite));
    finishDispatch(twin, original.completion_signal);
    unload();
    texts[run] = own.read();
    // Which allocation is which differs by construction; everything else must not.
    for (size_t at = texts[run].find("allocation "); at != std::string::npos;
         at = texts[run].find("allocation ", at + 1))
      texts[run][at + 11] = '#';
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0].find("2 races"), std::string::npos) << texts[0];
}

TEST_F(ToolTest, WhatNobodyCheckedIsSaidOnce) {
  load();
  for (int i = 0; i < 2; ++i) {
    DispatchPacket original = packet(), twin = submit(original);
    counters(twin).checkedSpaces = abi::kChecksLds; // a GPU
    Runtime->complete(twin);
    waitFor([&] { return Runtime->signalValue(original.completion_signal) <= 0; });
  }
  unload();
  const std::string line = "wavesan: not checked: global memory (no memory for its shadow, option shadow_budget_mb, or too many workgroups)\n";
  size_t at = log().find(line);
  ASSERT_NE(at, std::string::npos) << log();
  EXPECT_EQ(log().find(line, at + 1), std::string::npos) << log();
}

} // namespace wavesan::test
