// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole processes: initialisation, forks, the end, and what the options do.
#include "hsa_support.h"

#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace wavesan::agent::test {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WAVESAN_TEST_SLOW_COPIES
#endif
#endif
#ifdef WAVESAN_TEST_SLOW_COPIES
constexpr bool kSlowCopies = true;
#else
constexpr bool kSlowCopies = false;
#endif

struct ProcessResult {
  int status; ///< as from waitpid
  std::string output;
};

/// Runs `body` in a forked child with stderr captured; the child ends with exit(), as programs do.
ProcessResult inChild(const std::function<void()> &body) {
  int pipeEnds[2];
  EXPECT_EQ(pipe(pipeEnds), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipeEnds[1], STDERR_FILENO);
    close(pipeEnds[0]);
    close(pipeEnds[1]);
    alarm(20); // a hang is a failure
    body();
    std::exit(0);
  }
  close(pipeEnds[1]);
  ProcessResult result{0, {}};
  char buffer[4096];
  for (ssize_t n; (n = read(pipeEnds[0], buffer, sizeof(buffer))) > 0;)
    result.output.append(buffer, size_t(n));
  close(pipeEnds[0]);
  waitpid(child, &result.status, 0);
  return result;
}

std::string gpuName() {
  std::vector<hsa_agent_t> agents;
  hsa_iterate_agents(collect<hsa_agent_t>, &agents);
  char name[64] = {};
  if (agents.size() == 2)
    hsa_agent_get_info(agents[1], HSA_AGENT_INFO_NAME, name);
  return name;
}

// This process never calls hsa_init itself: every test forks before first use.

TEST(Process, NothingWorksBeforeInit) {
  EXPECT_EQ(hsa_iterate_agents(collect<hsa_agent_t>, nullptr), HSA_STATUS_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
  uint64_t time = 0;
  EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &time), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

TEST(Process, InitIsCounted) {
  const ProcessResult r = inChild([] {
    if (hsa_init() || hsa_init() || hsa_shut_down() || gpuName().empty() || hsa_shut_down() || !gpuName().empty() ||
        hsa_init() || gpuName().empty())
      _exit(1);
  });
  EXPECT_EQ(r.status, 0) << r.output;
}

// A program that may have no more memory, not even for the stack of a thread, gets an error that it can handle. Later
// it may have some.
TEST(Process, WithoutThreadsThereAreErrors) {
  const ProcessResult r = inChild([] {
    hsa_init();
    std::vector<hsa_agent_t> agents;
    hsa_iterate_agents(collect<hsa_agent_t>, &agents);
    std::vector<hsa_amd_memory_pool_t> pools;
    hsa_amd_agent_iterate_memory_pools(agents.at(1), collect<hsa_amd_memory_pool_t>, &pools);
    void *memory = nullptr;
    hsa_signal_t signal{};
    hsa_queue_t *queue = nullptr;
    if (hsa_amd_memory_pool_allocate(pools.at(0), 4096, 0, &memory) || hsa_signal_create(1, 0, nullptr, &signal))
      _exit(1);
    const auto handler = [](hsa_signal_value_t, void *called) {
      return *static_cast<volatile bool *>(called) = true, false;
    };
    bool called = false;
    const auto statuses = [&] {
      return std::vector<hsa_status_t>{
          hsa_queue_create(agents[1], 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue),
          hsa_amd_memory_async_copy(memory, agents[1], static_cast<char *>(memory) + 64, agents[1], 64, 0, nullptr,
                                    signal),
          hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, handler, &called)};
    };
    const rlimit none{0, RLIM_INFINITY}, all{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &none);
    const auto before = statuses();
    setrlimit(RLIMIT_AS, &all);
    if (before != std::vector<hsa_status_t>(3, HSA_STATUS_ERROR_OUT_OF_RESOURCES) || queue || called ||
        hsa_signal_load_scacquire(signal) != 1)
      _exit(2);
    if (statuses() != std::vector<hsa_status_t>(3, HSA_STATUS_SUCCESS) || !queue)
      _exit(3);
    while (!*static_cast<volatile bool *>(&called) || hsa_signal_load_scacquire(signal) != 0)
      usleep(1000);
  });
  EXPECT_EQ(r.status, 0) << r.output;
}

TEST(Process, GpuOptionChoosesTheGpu) {
  setenv("WAVESAN_OPTIONS", "gpu=gfx1030", 1);
  const ProcessResult r = inChild([] {
    hsa_init();
    std::vector<hsa_agent_t> agents;
    hsa_iterate_agents(collect<hsa_agent_t>, &agents);
    uint32_t wave = 0;
    hsa_agent_get_info(agents.at(1), HSA_AGENT_INFO_WAVEFRONT_SIZE, &wave);
    std::fprintf(stderr, "%s %u", gpuName().c_str(), wave);
  });
  EXPECT_EQ(r.output, "gfx1030 32");
  unsetenv("WAVESAN_OPTIONS");
}

TEST(Process, UnknownGpuIsAnError) {
  setenv("WAVESAN_OPTIONS", "gpu=gfx77", 1);
  const ProcessResult r = inChild([] { _exit(hsa_init() == HSA_STATUS_SUCCESS ? 1 : 0); });
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output.find("wavesan: option gpu: 'gfx77' is none of auto, gfx900, "), 0u) << r.output;
  unsetenv("WAVESAN_OPTIONS");
}

TEST(Process, ValuesThatDoNotFitAreErrors) {
  for (auto [options, line] :
       {std::pair("hooks=devise", "wavesan: option hooks: 'devise' is none of native, device\n"),
        std::pair("seed=-1", "wavesan: option seed: '-1' is not a number from 0 to 18446744073709551615\n")}) {
    setenv("WAVESAN_OPTIONS", options, 1);
    const ProcessResult r = inChild([] { _exit(hsa_init() == HSA_STATUS_SUCCESS ? 1 : 0); });
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.output, line);
  }
  unsetenv("WAVESAN_OPTIONS");
}

TEST(Process, UnknownOptionIsSaid) {
  setenv("WAVESAN_OPTIONS", "sed=3", 1);
  const ProcessResult r = inChild([] { hsa_init(); });
  EXPECT_EQ(r.output, "wavesan: unknown option 'sed'; did you mean 'seed'?\n");
  unsetenv("WAVESAN_OPTIONS");
}

TEST(Process, ToolIsUnloadedAtExitWithoutShutDown) {
  setenv("HSA_TOOLS_LIB", WAVESAN_TABLE_TOOL, 1);
  setenv("TABLE_TOOL_SPEAKS", "1", 1);
  const ProcessResult r = inChild([] {
    hsa_init();
    hsa_init();
  });
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output, "table_tool: unloaded 1\n");
}

TEST(Process, ToolIsUnloadedOnceByShutDown) {
  const ProcessResult r = inChild([] {
    hsa_init();
    hsa_shut_down();
    std::fprintf(stderr, "after\n");
  });
  EXPECT_EQ(r.output, "table_tool: unloaded 1\nafter\n");
}

TEST(Process, ToolThatRefusesIsSaid) {
  setenv("TABLE_TOOL_REFUSES", "1", 1);
  const ProcessResult r = inChild([] { hsa_init(); });
  EXPECT_EQ(r.output, "wavesan: HSA tool library " WAVESAN_TABLE_TOOL ": refused to load\n");
  unsetenv("TABLE_TOOL_REFUSES");
}

TEST(Process, ForkedChildIsRefusedAndEndsQuietly) {
  const ProcessResult r = inChild([] {
    hsa_init();
    const ProcessResult inner = inChild([] {
      std::fprintf(stderr, "%s %s", hsa_init() == HSA_STATUS_SUCCESS ? "works" : "refused",
                   gpuName().empty() ? "nothing" : "something");
    });
    std::fprintf(stderr, "[%s %d]\n", inner.output.c_str(), inner.status);
  });
  EXPECT_EQ(r.output, "[refused nothing 0]\ntable_tool: unloaded 1\n");
  unsetenv("HSA_TOOLS_LIB");
  unsetenv("TABLE_TOOL_SPEAKS");
}

TEST(Process, ExitWithBusyThreadsDoesNotHang) {
  const ProcessResult r = inChild([] {
    hsa_init();
    std::vector<hsa_agent_t> agents;
    hsa_iterate_agents(collect<hsa_agent_t>, &agents);
    const hsa_agent_t gpu = agents.at(1);
    // A barrier that will never be met, a copy that will never start, a handler that will never be called.
    hsa_signal_t never{};
    hsa_signal_create(1, 0, nullptr, &never);
    hsa_queue_t *queue = nullptr;
    hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue);
    auto *packet = static_cast<hsa_barrier_and_packet_t *>(queue->base_address);
    hsa_queue_add_write_index_relaxed(queue, 1);
    packet->dep_signal[0] = never;
    __atomic_store_n(&packet->header, uint16_t(HSA_PACKET_TYPE_BARRIER_AND), __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, 0);
    static char a[64], b[64];
    hsa_amd_memory_async_copy(a, gpu, b, gpu, 64, 1, &never, {0});
    hsa_amd_signal_async_handler(never, HSA_SIGNAL_CONDITION_EQ, 0, [](int64_t, void *) { return false; }, nullptr);
    // And a thread of the program that goes on using the runtime.
    std::thread([] {
      for (;;) {
        hsa_signal_t s{};
        hsa_signal_create(0, 0, nullptr, &s);
        hsa_signal_destroy(s);
      }
    }).detach();
    usleep(2000);
  });
  EXPECT_EQ(r.status, 0) << r.output;
}

TEST(Process, WorkThatWasSubmittedIsDoneAtExit) {
  // The program ends right after it has submitted; the last packet says whether all were executed.
  const ProcessResult r = inChild([] {
    setenv("HSA_TOOLS_LIB", WAVESAN_TABLE_TOOL, 1);
    hsa_init();
    std::vector<hsa_agent_t> agents;
    hsa_iterate_agents(collect<hsa_agent_t>, &agents);
    const hsa_agent_t gpu = agents.at(1);
    auto &a = *new std::vector<char>(8 << 20), &b = *new std::vector<char>(8 << 20); // outlive the copies
    hsa_signal_t copied[8], *last = new hsa_signal_t{};
    for (hsa_signal_t &s : copied) {
      hsa_signal_create(1, 0, nullptr, &s);
      hsa_amd_memory_async_copy(a.data(), gpu, b.data(), gpu, a.size(), 0, nullptr, s);
    }
    hsa_signal_create(1, 0, nullptr, last);
    hsa_queue_t *queue = nullptr;
    hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue);
    auto *packets = static_cast<hsa_barrier_and_packet_t *>(queue->base_address);
    hsa_queue_add_write_index_relaxed(queue, 8);
    for (int i = 0; i < 8; ++i) {
      packets[i].dep_signal[0] = copied[i];
      packets[i].completion_signal = i == 7 ? *last : hsa_signal_t{0};
      __atomic_store_n(&packets[i].header, uint16_t(HSA_PACKET_TYPE_BARRIER_AND), __ATOMIC_RELEASE);
    }
    hsa_signal_store_screlease(queue->doorbell_signal, 7);
    void *tool = dlopen(WAVESAN_TABLE_TOOL, RTLD_NOW | RTLD_NOLOAD);
    *static_cast<hsa_signal_t **>(dlsym(tool, "ToolWatchedSignal")) = last;
  });
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output, "table_tool: watched signal is 0\n");
}

/// A queue, and memory of one page that an inaccessible one follows.
struct FaultSetting {
  hsa_agent_t gpu;
  char *page;

  FaultSetting() {
    hsa_init();
    std::vector<hsa_agent_t> agents;
    hsa_iterate_agents(collect<hsa_agent_t>, &agents);
    gpu = agents.at(1);
    std::vector<hsa_amd_memory_pool_t> pools;
    hsa_amd_agent_iterate_memory_pools(gpu, collect<hsa_amd_memory_pool_t>, &pools);
    void *p = nullptr;
    hsa_amd_memory_pool_allocate(pools.at(0), 100, 0, &p);
    page = static_cast<char *>(p);
  }
};

TEST(Process, FaultOfAKernelIsTold) {
  const ProcessResult r = inChild([] {
    FaultSetting setting;
    const std::string bytes = readTestFile("fake_v4.hsaco");
    hsa_code_object_reader_t reader{};
    hsa_executable_t executable{};
    hsa_executable_symbol_t symbol{};
    hsa_queue_t *queue = nullptr;
    hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader);
    hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable);
    hsa_executable_load_agent_code_object(executable, setting.gpu, reader, nullptr, nullptr);
    hsa_executable_get_symbol_by_name(executable, "append.kd", &setting.gpu, &symbol);
    hsa_queue_create(setting.gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue);
    AppendArguments arguments{reinterpret_cast<uint32_t *>(setting.page + 4104), 1};
    auto *packet = static_cast<hsa_kernel_dispatch_packet_t *>(queue->base_address);
    packet->setup = 1;
    packet->workgroup_size_x = packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernarg_address = &arguments;
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet->kernel_object);
    hsa_queue_add_write_index_relaxed(queue, 1);
    __atomic_store_n(&packet->header, uint16_t(HSA_PACKET_TYPE_KERNEL_DISPATCH), __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, 0);
    sleep(10);
  });
  EXPECT_TRUE(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGSEGV) << r.status;
  EXPECT_EQ(r.output.find("wavesan: kernel append touched address 0x"), 0u) << r.output;
  EXPECT_NE(r.output.find(", which it may not (8 bytes behind the end of an allocation of 4096 bytes)\n"),
            std::string::npos)
      << r.output;
}

TEST(Process, FaultOfACopyIsTold) {
  const ProcessResult r = inChild([] {
    FaultSetting setting;
    hsa_amd_memory_async_copy(setting.page, setting.gpu, setting.page + 64, setting.gpu, 4096, 0, nullptr, {0});
    sleep(10);
  });
  EXPECT_TRUE(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGSEGV) << r.status;
  EXPECT_EQ(r.output.find("wavesan: an asynchronous copy touched address 0x"), 0u) << r.output;
}

TEST(Process, MemoryMayGoBeforeACopyThatNobodyWaitsFor) {
  const ProcessResult r = inChild([] {
    FaultSetting setting;
    // The process is in its tear-down long before this copy is done, which must not take longer than the process waits.
    constexpr size_t large = kSlowCopies ? 16 << 20 : 256 << 20;
    auto *from = new char[large], *to = new char[large];
    hsa_amd_memory_async_copy(to, setting.gpu, from, setting.gpu, large, 0, nullptr, {0});
    hsa_amd_memory_async_copy(setting.page, setting.gpu, setting.page + 64, setting.gpu, 64, 0, nullptr, {0});
    hsa_amd_memory_pool_free(setting.page);
  });
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output.find("wavesan: an asynchronous copy touched address 0x"), 0u) << r.output;
}

TEST(Process, FaultOfTheProgramIsItsOwn) {
  const ProcessResult r = inChild([] {
    FaultSetting setting;
    hsa_amd_memory_async_copy(setting.page, setting.gpu, setting.page + 64, setting.gpu, 64, 0, nullptr, {0});
    usleep(5000); // the handler is installed by now
    *static_cast<volatile char *>(setting.page + 4096) = 1;
  });
  EXPECT_TRUE(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGSEGV) << r.status;
  EXPECT_EQ(r.output, "");
}

} // namespace
} // namespace wavesan::agent::test
