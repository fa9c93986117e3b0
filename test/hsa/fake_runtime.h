// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fabricated HSA runtime: signals, pools, queues, executables in plain host memory behind an API table.
//
// One instance at a time (HSA functions carry no context). Functions a tool must not need are null.
#ifndef WAVESAN_TEST_FAKE_RUNTIME_H
#define WAVESAN_TEST_FAKE_RUNTIME_H

#include "api.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace wavesan::test {

inline constexpr hsa_agent_t kCpuAgent{1}, kGpuAgent{2};
inline constexpr uint64_t kKernargPool = 10, kFinePool = 11, kGroupPool = 20, kDevicePool = 21;

struct FakeQueue {
  hsa_queue_t queue{};
  hsa_agent_t agent{};
  bool intercepted = false, profiling = false;
  void (*errorCallback)(hsa_status_t, hsa_queue_t *, void *) = nullptr;
  void *errorData = nullptr;
  hsa_amd_queue_intercept_handler handler = nullptr;
  void *handlerData = nullptr;
};

struct FakeSymbol {
  std::string name;
  uint64_t kernelObject = 0;
  uint32_t kernargBytes = 0, groupBytes = 0, privateBytes = 0;
  uint64_t variableAddress = 0; ///< not 0: a variable
  uint32_t variableBytes = 0;
};

using DispatchPacket = hsa_kernel_dispatch_packet_t;
static_assert(sizeof(DispatchPacket) == 64);

class FakeRuntime {
public:
  FakeRuntime();
  ~FakeRuntime();
  static FakeRuntime &current();

  HsaApiTable *table() { return &Root; }
  CoreApiTable &core() { return Core; }
  AmdExtTable &amd() { return Amd; }

  // What the program does.
  hsa_signal_t createSignal(int64_t value = 1);
  int64_t signalValue(hsa_signal_t signal);
  FakeQueue &createQueue(hsa_queue_type32_t type = HSA_QUEUE_TYPE_MULTI);
  /// Rings the doorbell with these packets; returns what reached the hardware queue. Thread-safe.
  std::vector<DispatchPacket> submit(FakeQueue &queue, std::vector<DispatchPacket> packets, uint64_t index = 0);
  /// Loads and freezes a code object through the (possibly replaced) table; its symbols get the given sizes.
  hsa_executable_t loadExecutable(const std::string &codeObject, const std::vector<FakeSymbol> &symbols);
  hsa_executable_symbol_t symbol(hsa_executable_t executable, const std::string &name);

  /// Allocates through the (possibly replaced) table.
  void *allocateMemory(uint64_t pool, size_t bytes);
  hsa_status_t freeMemory(void *pointer) { return Amd.hsa_amd_memory_pool_free_fn(pointer); }

  // What the device does.
  void complete(const DispatchPacket &packet, int64_t newValue = 0, uint64_t start = 0, uint64_t end = 0);

  // Knobs and observations.
  uint32_t ldsBytes = 65536, computeUnits = 4, wavesPerComputeUnit = 32;
  bool havePools = true;
  std::atomic<int> failAllocations{0}; ///< the next n allocations fail
  std::atomic<bool> failIntercept{false};
  std::atomic<bool> holdFences{false};                   ///< barrier packets without a dependency do not pass
  std::function<void(const DispatchPacket &)> device;    ///< called for each dispatch that reaches the hardware
  std::atomic<uint64_t> allocations{0}, frees{0}, signalsCreated{0};
  std::set<uint64_t> poolsUsed; ///< under Mutex

  std::mutex Mutex;
  std::map<uint64_t, std::unique_ptr<FakeQueue>> Queues;         ///< by hsa_queue_t address
  std::map<uint64_t, std::map<std::string, FakeSymbol>> Symbols; ///< by executable
  std::map<uint64_t, std::string> AccessibleTo;                  ///< allocations made accessible to an agent
  std::vector<std::unique_ptr<amd_signal_t>> Signals;
  std::map<void *, size_t> Memory;
  /// Barrier packets that have reached the hardware and not passed; one passes while somebody waits for a signal and
  /// its first dependency is 0.
  std::vector<hsa_barrier_and_packet_t> Barriers;
  uint64_t NextHandle = 1000;

private:
  void fillCore();
  void fillAmd();
  HsaApiTable Root{};
  CoreApiTable Core{};
  AmdExtTable Amd{};
  FinalizerExtTable Finalizer{};
  ImageExtTable Image{};
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_FAKE_RUNTIME_H
