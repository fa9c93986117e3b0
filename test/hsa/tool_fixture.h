// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drives the tool library as a program and a device would: OnLoad with a fabricated table, one instrumented code
// object.
#ifndef WAVESAN_TEST_TOOL_FIXTURE_H
#define WAVESAN_TEST_TOOL_FIXTURE_H

#include "code_object_builder.h"
#include "fake_runtime.h"
#include "temporary_file.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/status_page.h"

#include <functional>
#include <gtest/gtest.h>
#include <optional>

extern "C" bool OnLoad(HsaApiTable *, uint64_t, uint64_t, const char *const *);
extern "C" void OnUnload();

namespace wavesan::test {

inline constexpr uint64_t kOriginalObject = 0x1000, kTwinObject = 0x2000, kPlainObject = 0x3000, kBlitObject = 0x4000;
inline constexpr uint32_t kStaticLds = 512, kKernargBytes = 80, kTwinKernargBytes = 88;
/// Sites of the sample code object.
inline constexpr uint32_t kStoreSite = 0, kLoadSite = 1, kBarrierSite = 2, kLateStoreSite = 3, kUnrolledLoadSite = 4,
                          kAtomicSite = 5;

/// A kernel `k(int*)` at app.hip with `tile`: store in line 8, load in line 11, barrier in line 15, store in line 20;
/// the load a second time at the same position (an unrolled loop); an atomic of workgroup scope in line 22; a
/// loop from line 7 to line 20.
/// callsHost: it gets the buffer for calls of host services.
std::string sampleCodeObject(const std::vector<SymbolSpec> &symbols = {}, bool callsHost = true);
std::vector<FakeSymbol> sampleSymbols();

class ToolTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// OnLoad with these options; loads the sample code object and creates a queue.
  void load(const std::string &options = "");
  void unload() { OnUnload(); }
  std::string log() const { return Log.read(); }
  std::string lastLine() const;

  /// A packet of the sample's kernel.
  DispatchPacket packet(uint64_t kernelObject = kOriginalObject, uint32_t dynamicLds = 0);
  DispatchPacket submit(DispatchPacket packet) { return Runtime->submit(*Queue, {packet}).at(0); }

  static abi::DispatchContext &context(const DispatchPacket &twin);
  static abi::DispatchCounters &counters(const DispatchPacket &twin);
  /// A record in global memory between two workgroups.
  static abi::RaceRecord globalRecord(const void *address, uint32_t currentSite, uint32_t previousSite);
  /// Puts a record into the race table as the device does.
  static void putRace(const DispatchPacket &twin, abi::RaceRecord record);
  static abi::RaceRecord record(uint32_t currentSite, uint32_t currentWave, uint32_t previousSite,
                                uint32_t previousWave);
  /// Waits until `condition` holds; fails the test after 10 seconds.
  static void waitFor(const std::function<bool()> &condition);
  /// Completes the packet as the CPU agent does (LDS and global memory checked) and waits until the program's signal
  /// has been completed.
  void finishDispatch(const DispatchPacket &twin, hsa_signal_t programSignal);

  std::unique_ptr<FakeRuntime> Runtime;
  TemporaryFile Log;
  FakeQueue *Queue = nullptr;
  bool CallsHost = true; ///< of the sample code object
  hsa_executable_t Executable{};
  std::vector<uint8_t> Kernarg;
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_TOOL_FIXTURE_H
