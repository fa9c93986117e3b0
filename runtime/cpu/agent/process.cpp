// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.h"

#include "api_table.h"
#include "copies.h"
#include "fault_handler.h"
#include "program_targets.h"
#include "queue.h"
#include "signals.h"
#include "tools.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace wavesan::agent {
namespace {

struct Process {
  std::recursive_mutex mutex; ///< recursive: a tool's OnLoad may call hsa_init
  uint32_t references = 0;
  bool configured = false;
  abi::Options options;
  const GpuTarget *gpu = nullptr;
};

Process &process() {
  static Process &p = *new Process;
  return p;
}

std::atomic<bool> Initialized{false};
std::atomic<pid_t> Owner{0}; ///< the process that called hsa_init; differs from getpid() in a forked child

/// Reads the options and chooses the GPU. False, with one line on stderr, if that cannot be done.
bool configure(Process &p) {
  if (p.configured)
    return true;
  abi::OptionErrors errors;
  p.options = abi::optionsFromEnvironment(errors);
  if (!std::getenv("HSA_TOOLS_LIB")) // the tool library reads the same text and says the same
    for (const std::string &error : errors.names)
      std::fprintf(stderr, "wavesan: %s\n", error.c_str());
  for (const std::string &error : errors.values) // not another GPU, seed or checker than the user asked for
    std::fprintf(stderr, "wavesan: %s\n", error.c_str());
  if (!errors.values.empty())
    return false;
  const ProgramTargets program = findProgramTargets();
  p.gpu = findGpuTarget(p.options.gpu == "auto" ? chooseGpu(program) : p.options.gpu);
  // HIP ends the program in both cases, and does not say why.
  for (const std::string &what : program.damage)
    std::fprintf(stderr, "wavesan: the program's GPU code is damaged: %s\n", what.c_str());
  if (const std::string line = missingTarget(program, p.gpu->name); !line.empty())
    std::fprintf(stderr, "wavesan: %s\n", line.c_str());
  if (p.options.verbosity >= 1)
    std::fprintf(stderr, "wavesan: CPU agent: presenting %s, waves of %u\n", p.gpu->name, p.gpu->waveSize);
  p.configured = true;
  return true;
}

void forkedChild() { Initialized = false; }

/// Runs once when the process ends: after HIP's tear-down (which this library's dependents do first), before the
/// static destructors of the libraries below (LLVM's), whose objects running kernels use.
void endProcess() {
  if (Owner != getpid())
    return; // never initialised, or a forked child: the threads are elsewhere
  Owner = 0;
  constexpr uint64_t patienceNs = 10'000'000'000, graceNs = 1'000'000'000;
  stopThreadsThatFault();
  stopAsyncHandlers(); // their functions belong to libraries that have been torn down
  // A program may end without waiting for its kernels. A GPU would drop them; here they are run, for what is found in
  // them is the purpose of the run.
  finishAllQueues(patienceNs);
  stopCopies();
  parkAllQueues(graceNs);
  unloadTools();
}

// The loader runs this after the destructors of all libraries that depend on this one (HIP's), and before those of the
// libraries that this one depends on.
[[gnu::destructor]] void endAtUnload() { endProcess(); }
// Where this library came by dlopen, static destructors of all libraries run before the loader's turn, the youngest
// first: this takes the same place among them.
[[gnu::constructor]] void registerEnd() { std::atexit(endProcess); }

} // namespace

bool isInitialized() { return Initialized.load(std::memory_order_acquire); }
const abi::Options &options() { return process().options; }
const GpuTarget &gpuTarget() { return *process().gpu; }

uint64_t gpuMemoryCapacity() {
  const uint64_t installed = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  return std::min<uint64_t>(uint64_t(16) << 30, installed);
}

namespace impl {

hsa_status_t hsa_init() {
  Process &p = process();
  std::lock_guard lock(p.mutex);
  if (p.references == UINT32_MAX)
    return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
  const pid_t self = getpid();
  if (Owner != 0 && Owner != self)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES; // forked after hsa_init
  if (p.references == 0) {
    if (!configure(p))
      return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (Owner == 0) {
      Owner = self;
      static bool registered = false;
      if (!std::exchange(registered, true))
        pthread_atfork(nullptr, nullptr, forkedChild);
    }
    ++p.references;
    Initialized.store(true, std::memory_order_release);
    loadTools();
    return HSA_STATUS_SUCCESS;
  }
  ++p.references;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_shut_down() {
  Process &p = process();
  std::lock_guard lock(p.mutex);
  if (p.references == 0 || !isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (--p.references > 0)
    return HSA_STATUS_SUCCESS;
  unloadTools();
  resetApiTables();
  Initialized.store(false, std::memory_order_release);
  return HSA_STATUS_SUCCESS;
}

} // namespace impl
} // namespace wavesan::agent
