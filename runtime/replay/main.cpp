// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wavesan-replay CAPSULE RESULT [ACCESSES]: executes the dispatch of a capsule once, through the HSA runtime that the
// environment names. The HSA tool, loaded by that runtime, reports. RESULT gets one line: the digest of memory
// afterwards, or "failed"; ACCESSES what the dispatch touched.
#include "accesses.h"
#include "memory_placement.h"

#include "wavesan/abi/replay.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <unistd.h>

using namespace wavesan;
using namespace wavesan::replay;

namespace {

/// How often this process tries again for a layout of its own libraries that leaves the recorded addresses free.
constexpr int kTries = 8;
constexpr char kTriesVariable[] = "WAVESAN_REPLAY_TRIES";
constexpr size_t kChunk = 1 << 20;

[[noreturn]] void giveUp(const std::string &why) {
  std::fprintf(stderr, "wavesan: replay: cannot run: %s\n", why.c_str());
  std::_Exit(int(abi::ReplayExit::CannotRun));
}

void must(const HsaRuntime &runtime, hsa_status_t status, const char *what) {
  if (status != HSA_STATUS_SUCCESS)
    giveUp(std::string(what) + ": " + runtime.text(status));
}

/// What this process may allocate for a capsule.
uint64_t availableBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? uint64_t(pages) * uint64_t(page) : UINT64_MAX;
}

/// The next process of this name gets another layout of addresses.
void tryAgain(char **argv) {
  const char *text = std::getenv(kTriesVariable);
  const int tries = text ? std::atoi(text) : 0;
  if (tries >= kTries)
    return;
  setenv(kTriesVariable, std::to_string(tries + 1).c_str(), 1);
  execv("/proc/self/exe", argv);
}

/// Tells the HSA tool what the memory is called in reports.
void namePlaces(const capsule::Capsule &capsule) {
  const char *list = std::getenv("HSA_TOOLS_LIB");
  const std::string tools = list ? list : "";
  const std::string name = tools.substr(tools.rfind(' ') + 1);
  void *tool = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  auto *place =
      tool ? reinterpret_cast<void (*)(const abi::PlacedMemory *)>(dlsym(tool, abi::kPlaceMemorySymbol)) : nullptr;
  if (!place)
    giveUp("the HSA tool library is not loaded");
  for (const capsule::Region &region : capsule.regions)
    if (region.place == capsule::Region::Place::Address) {
      const abi::PlacedMemory memory{region.address, region.bytes.size(), region.number, region.kind};
      place(&memory);
    }
}

/// Loads the code object. Returns the kernel's object, which is its descriptor's address.
uint64_t loadKernel(const HsaRuntime &hsa, const capsule::Capsule &capsule) {
  hsa_code_object_reader_t reader{};
  must(hsa,
       hsa.hsa_code_object_reader_create_from_memory(capsule.codeObject.data(), capsule.codeObject.size(), &reader),
       "its code object cannot be read");
  hsa_executable_t executable{};
  must(hsa,
       hsa.hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
       "no executable");
  must(hsa, hsa.hsa_executable_load_agent_code_object(executable, hsa.gpu, reader, nullptr, nullptr),
       "its code object cannot be loaded on this GPU");
  must(hsa, hsa.hsa_executable_freeze(executable, nullptr), "its code object cannot be loaded on this GPU");
  hsa_executable_symbol_t symbol{};
  const std::string descriptor = capsule.dispatch.kernel + ".kd";
  hsa_agent_t gpu = hsa.gpu;
  must(hsa, hsa.hsa_executable_get_symbol_by_name(executable, descriptor.c_str(), &gpu, &symbol),
       "its code object lacks the kernel");
  uint64_t object = 0;
  must(hsa, hsa.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object),
       "its code object lacks the kernel");
  return object;
}

void *kernelArguments(const HsaRuntime &hsa, size_t bytes) {
  struct Search {
    const HsaRuntime *hsa;
    hsa_amd_memory_pool_t pool;
  } search{&hsa, {}};
  hsa.hsa_amd_agent_iterate_memory_pools(
      hsa.host,
      [](hsa_amd_memory_pool_t pool, void *data) {
        auto &s = *static_cast<Search *>(data);
        uint32_t flags = 0;
        if (s.hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) ==
                HSA_STATUS_SUCCESS &&
            (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT))
          s.pool = pool;
        return HSA_STATUS_SUCCESS;
      },
      &search);
  void *memory = nullptr;
  if (search.pool.handle)
    must(hsa, hsa.hsa_amd_memory_pool_allocate(search.pool, std::max<size_t>(bytes, 64), 0, &memory),
         "no memory for the arguments");
  if (!memory)
    giveUp("no memory for the arguments");
  must(hsa, hsa.hsa_amd_agents_allow_access(1, &hsa.gpu, nullptr, memory), "no memory for the arguments");
  return memory;
}

uint64_t addressOf(const capsule::Region &region, const capsule::Capsule &capsule, uint64_t base) {
  return region.place == capsule::Region::Place::Address ? region.address
                                                         : base + (region.address - capsule.loadAddress);
}

void fillVariables(const HsaRuntime &hsa, const capsule::Capsule &capsule, uint64_t base) {
  const uint64_t bytes = loadedBytes(capsule.codeObject);
  for (const capsule::Region &region : capsule.regions) {
    if (region.place != capsule::Region::Place::Variable)
      continue;
    const uint64_t offset = region.address - capsule.loadAddress;
    if (offset > bytes || bytes - offset < region.bytes.size())
      giveUp("a variable lies outside of its code object");
    // What is as it was is not written: constants cannot be.
    std::string now(region.bytes.size(), '\0');
    void *at = reinterpret_cast<void *>(base + offset);
    must(hsa, hsa.hsa_memory_copy(now.data(), at, now.size()), "a variable cannot be read");
    if (now != region.bytes)
      must(hsa, hsa.hsa_memory_copy(at, region.bytes.data(), region.bytes.size()), "a variable cannot be written");
  }
}

void onError(hsa_status_t status, hsa_queue_t *, void *data) {
  if (status != HSA_STATUS_SUCCESS)
    *static_cast<volatile bool *>(data) = true;
}

/// False: it ended with an error.
bool execute(const HsaRuntime &hsa, const capsule::Capsule &capsule, uint64_t kernel) {
  static volatile bool failed = false;
  hsa_queue_t *queue = nullptr;
  must(hsa,
       hsa.hsa_queue_create(hsa.gpu, 64, HSA_QUEUE_TYPE_MULTI, onError, const_cast<bool *>(&failed), UINT32_MAX,
                            UINT32_MAX, &queue),
       "no queue");
  const capsule::Dispatch &d = capsule.dispatch;
  auto *arguments = static_cast<char *>(kernelArguments(hsa, capsule.arguments.size()));
  std::memcpy(arguments, capsule.arguments.data(), capsule.arguments.size());
  const uint64_t queueAddress = reinterpret_cast<uint64_t>(queue);
  for (uint32_t offset : capsule.queuePointers)
    std::memcpy(arguments + offset, &queueAddress, sizeof(queueAddress));
  hsa_signal_t done{};
  must(hsa, hsa.hsa_signal_create(1, 0, nullptr, &done), "no signal");

  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = uint16_t(d.dimensions << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
  packet.grid_size_x = d.grid[0], packet.grid_size_y = d.grid[1], packet.grid_size_z = d.grid[2];
  packet.workgroup_size_x = uint16_t(d.workgroup[0]);
  packet.workgroup_size_y = uint16_t(d.workgroup[1]);
  packet.workgroup_size_z = uint16_t(d.workgroup[2]);
  packet.group_segment_size = d.groupBytes;
  packet.private_segment_size = d.privateBytes;
  packet.kernel_object = kernel;
  packet.kernarg_address = arguments;
  packet.completion_signal = done;
  const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                          HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                          HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  const uint64_t index = hsa.hsa_queue_add_write_index_screlease(queue, 1);
  auto *slot = static_cast<hsa_kernel_dispatch_packet_t *>(queue->base_address) + index % queue->size;
  std::memcpy(reinterpret_cast<char *>(slot) + 2, reinterpret_cast<const char *>(&packet) + 2, sizeof(packet) - 2);
  __atomic_store_n(&slot->header, header, __ATOMIC_RELEASE);
  hsa.hsa_signal_store_screlease(queue->doorbell_signal, hsa_signal_value_t(index));
  hsa_signal_value_t value = 1;
  constexpr uint64_t kStep = 100'000'000;
  while (value >= 1 && !failed)
    value = hsa.hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, kStep, HSA_WAIT_STATE_BLOCKED);
  return value == 0 && !failed;
}

uint64_t digest(const HsaRuntime &hsa, const capsule::Capsule &capsule, uint64_t base) {
  capsule::RegionDigest hash;
  std::string now;
  for (const capsule::Region &region : capsule.regions)
    for (size_t at = 0; at < region.bytes.size(); at += kChunk) {
      now.resize(std::min(kChunk, region.bytes.size() - at));
      const auto *from = reinterpret_cast<const void *>(addressOf(region, capsule, base) + at);
      must(hsa, hsa.hsa_memory_copy(now.data(), from, now.size()), "memory cannot be read");
      hash.add(now.data(), now.size());
    }
  return hash.value();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fputs("usage: wavesan-replay CAPSULE RESULT [ACCESSES] (run by `wavesan replay`)\n", stderr);
    return 2;
  }
  std::string error;
  const std::optional<capsule::Capsule> capsule = capsule::readCapsule(argv[1], availableBytes(), error);
  if (!capsule)
    giveUp(error);
  if (!mapRegions(*capsule, error)) {
    tryAgain(argv);
    giveUp(error);
  }
  HsaRuntime hsa;
  if (!hsa.open(error) || !giveToGpu(*capsule, hsa, error))
    giveUp(error);
  namePlaces(*capsule);
  const uint64_t kernel = loadKernel(hsa, *capsule);
  if (capsule->descriptorOffset >= loadedBytes(capsule->codeObject))
    giveUp("its kernel's descriptor lies outside of its code object");
  const uint64_t base = kernel - capsule->descriptorOffset;
  if (base != capsule->loadAddress && pointsToVariables(*capsule))
    giveUp("memory holds a pointer to a __device__ variable, which lies elsewhere now");
  fillVariables(hsa, *capsule, base);
  const bool good = execute(hsa, *capsule, kernel);
  std::ofstream result(argv[2]);
  result << (good ? std::to_string(digest(hsa, *capsule, base)) : std::string("failed")) << std::endl;
  if (!result)
    giveUp("the result cannot be written");
  hsa.hsa_shut_down();
  if (argc == 4 && !writeAccesses(argv[3], base, loadedBytes(capsule->codeObject), capsule->loadAddress))
    giveUp("the accesses cannot be written");
  return int(abi::ReplayExit::Ran);
}
