// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hsa_support.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <sys/mman.h>
#include <thread>

namespace wavesan::agent::test {
namespace {

class MemoryTest : public HsaTest {
protected:
  hsa_amd_memory_pool_t vram() { return pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED); }

  hsa_amd_pointer_info_t info(const void *p) {
    hsa_amd_pointer_info_t result{};
    result.size = sizeof(result);
    EXPECT_OK(hsa_amd_pointer_info(p, &result, nullptr, nullptr, nullptr));
    return result;
  }

  /// Appends `value` to the log at `log` with a kernel.
  void runAppend(uint32_t *log, uint32_t value) {
    if (!Append)
      Append = kernelObject(load("fake_v4.hsaco"), "append.kd");
    AppendArguments arguments{log, value};
    hsa_signal_t done = signal(1);
    submit(queue(8), dispatch(Append, &arguments, done));
    EXPECT_TRUE(becomes(done, 0));
  }

  uint64_t Append = 0;
};

TEST_F(MemoryTest, PoolsAreThoseOfAGpuMachine) {
  for (uint32_t flag : {HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
                        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED})
    EXPECT_NE(pool(cpu, flag).handle, 0u);
  EXPECT_NE(vram().handle, 0u);
  std::vector<hsa_amd_memory_pool_t> pools;
  ASSERT_OK(hsa_amd_agent_iterate_memory_pools(gpu, collect<hsa_amd_memory_pool_t>, &pools));
  int groups = 0;
  for (hsa_amd_memory_pool_t p : pools) {
    hsa_amd_segment_t segment{};
    size_t size = 0;
    ASSERT_OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    ASSERT_OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    if (segment == HSA_AMD_SEGMENT_GROUP) {
      ++groups;
      EXPECT_EQ(size, 65536u);
      void *out = nullptr;
      EXPECT_NE(hsa_amd_memory_pool_allocate(p, 64, 0, &out), HSA_STATUS_SUCCESS);
    }
  }
  EXPECT_EQ(groups, 1);
}

TEST_F(MemoryTest, CapacityIsHonoured) {
  size_t capacity = 0;
  ASSERT_OK(hsa_amd_memory_pool_get_info(vram(), HSA_AMD_MEMORY_POOL_INFO_SIZE, &capacity));
  void *all = nullptr, *more = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(vram(), capacity + 1, 0, &more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  ASSERT_OK(hsa_amd_memory_pool_allocate(vram(), capacity - 4096, 0, &all));
  EXPECT_EQ(hsa_amd_memory_pool_allocate(vram(), 8192, 0, &more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  ASSERT_OK(hsa_amd_memory_pool_free(all));
  ASSERT_OK(hsa_amd_memory_pool_allocate(vram(), 8192, 0, &more));
  ASSERT_OK(hsa_amd_memory_pool_free(more));
}

TEST_F(MemoryTest, PointerInfoKnowsInteriorPointers) {
  char *p = allocate<char>(10000);
  ASSERT_OK(hsa_amd_pointer_info_set_userdata(p + 5000, this));
  hsa_amd_pointer_info_t i = info(p + 12287); // sizes are rounded up to whole pages
  EXPECT_EQ(i.type, HSA_EXT_POINTER_TYPE_HSA);
  EXPECT_EQ(i.agentBaseAddress, p);
  EXPECT_EQ(i.hostBaseAddress, p);
  EXPECT_EQ(i.sizeInBytes, 12288u);
  EXPECT_EQ(i.userData, this);
  EXPECT_EQ(i.agentOwner.handle, gpu.handle);
  EXPECT_EQ(i.global_flags, uint32_t(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED));
  EXPECT_EQ(info(&i).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(info(p + 12288).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_F(MemoryTest, PointerInfoKeepsToTheCallersSize) {
  char *p = allocate<char>(100);
  hsa_amd_pointer_info_t i;
  std::memset(&i, 0xee, sizeof(i));
  i.size = offsetof(hsa_amd_pointer_info_t, userData);
  ASSERT_OK(hsa_amd_pointer_info(p, &i, nullptr, nullptr, nullptr));
  EXPECT_EQ(i.size, offsetof(hsa_amd_pointer_info_t, userData));
  EXPECT_EQ(i.sizeInBytes, 4096u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(i.userData), 0xeeeeeeeeeeeeeeeeu);
}

TEST_F(MemoryTest, RunningOffTheEndFaults) {
  volatile char *p = allocate<char>(4096);
  p[4095] = 1;
  EXPECT_DEATH(p[4096] = 1, "");
}

TEST_F(MemoryTest, AllocationsAreAlignedLikeADriversAre) {
  for (const size_t kib : {4, 8, 12, 64, 100, 1024, 2048, 5000, 8192}) {
    const uintptr_t alignment = std::min<size_t>(std::bit_floor(kib), 2048) * 1024;
    std::vector<char *> all;
    for (int i = 0; i < 3; ++i) {
      char *p = allocate<char>(kib * 1024);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u) << kib;
      p[0] = p[kib * 1024 - 1] = 1;
      all.push_back(p);
    }
  }
}

TEST_F(MemoryTest, FreeIsChecked) {
  void *p = nullptr;
  ASSERT_OK(hsa_amd_memory_pool_allocate(vram(), 100, 0, &p));
  EXPECT_EQ(hsa_amd_memory_pool_free(static_cast<char *>(p) + 8), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_OK(hsa_amd_memory_pool_free(p));
  EXPECT_EQ(hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_OK(hsa_amd_memory_pool_free(nullptr));
  EXPECT_EQ(hsa_amd_memory_pool_allocate(vram(), 0, 0, &p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_allocate({99}, 64, 0, &p), hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL));
}

TEST_F(MemoryTest, DeallocationCallbacksComeBeforeTheFree) {
  void *p = nullptr;
  ASSERT_OK(hsa_amd_memory_pool_allocate(vram(), 100, 0, &p));
  static_cast<char *>(p)[0] = 42;
  static char seen;
  static int calls;
  seen = 0, calls = 0;
  auto callback = [](void *pointer, void *data) {
    seen = static_cast<char *>(pointer)[0];
    calls += *static_cast<int *>(data);
  };
  int weight = 3;
  ASSERT_OK(hsa_amd_register_deallocation_callback(p, callback, &weight));
  ASSERT_OK(hsa_amd_memory_pool_free(p));
  EXPECT_EQ(seen, 42);
  EXPECT_EQ(calls, 3);
}

TEST_F(MemoryTest, LockedMemoryHasAnAddressOfItsOwn) {
  std::vector<char> host(10000, 1);
  void *device = nullptr;
  ASSERT_OK(hsa_amd_memory_lock(host.data() + 10, 9000, &gpu, 1, &device));
  EXPECT_NE(device, host.data() + 10);
  for (const void *p :
       {static_cast<const void *>(host.data() + 100), static_cast<const void *>(static_cast<char *>(device) + 90)}) {
    hsa_amd_pointer_info_t i = info(p);
    EXPECT_EQ(i.type, HSA_EXT_POINTER_TYPE_LOCKED);
    EXPECT_EQ(i.agentBaseAddress, device);
    EXPECT_EQ(i.hostBaseAddress, host.data() + 10);
    EXPECT_EQ(i.sizeInBytes, 9000u);
  }
  void *again = nullptr;
  ASSERT_OK(hsa_amd_memory_lock(host.data() + 10, 9000, &gpu, 1, &again));
  EXPECT_EQ(again, device);
  ASSERT_OK(hsa_amd_memory_unlock(host.data() + 10));
  EXPECT_EQ(info(device).type, HSA_EXT_POINTER_TYPE_LOCKED);
  ASSERT_OK(hsa_amd_memory_unlock(host.data() + 10));
  EXPECT_EQ(info(device).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(info(host.data() + 100).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(hsa_amd_memory_unlock(host.data() + 10), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryTest, CopiesReachLockedMemoryThroughEitherAddress) {
  std::vector<uint32_t> host(3000);
  std::iota(host.begin(), host.end(), 0);
  uint32_t *device = allocate<uint32_t>(3000);
  void *alias = nullptr;
  ASSERT_OK(hsa_amd_memory_lock(host.data(), 12000, &gpu, 1, &alias));
  ASSERT_OK(hsa_memory_copy(device, static_cast<uint32_t *>(alias) + 1000, 4000));
  EXPECT_EQ(device[0], 1000u);
  EXPECT_EQ(device[999], 1999u);
  hsa_signal_t done = signal(1);
  ASSERT_OK(hsa_amd_memory_async_copy(alias, gpu, device, gpu, 4000, 0, nullptr, done));
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(host[0], 1000u);
  EXPECT_EQ(host[1000], 1000u);
  ASSERT_OK(hsa_amd_memory_fill(alias, 0xabcd, 10));
  EXPECT_EQ(host[9], 0xabcdu);
  EXPECT_EQ(host[10], 1010u);
  ASSERT_OK(hsa_amd_memory_unlock(host.data()));
}

/// Memory of every kind that programs register.
enum class HostKind { Heap, Stack, Shared, Mapped };

TEST_F(MemoryTest, KernelsReachLockedMemory) {
  for (HostKind kind : {HostKind::Heap, HostKind::Stack, HostKind::Shared, HostKind::Mapped}) {
    SCOPED_TRACE(int(kind));
    constexpr size_t words = 5000;
    uint32_t onStack[words] = {};
    std::vector<uint32_t> onHeap(words);
    uint32_t *host = kind == HostKind::Stack ? onStack : onHeap.data();
    if (kind == HostKind::Shared || kind == HostKind::Mapped)
      host =
          static_cast<uint32_t *>(mmap(nullptr, words * 4, PROT_READ | PROT_WRITE,
                                       MAP_ANONYMOUS | (kind == HostKind::Shared ? MAP_SHARED : MAP_PRIVATE), -1, 0));
    for (size_t i = 1; i < words; ++i)
      host[i] = uint32_t(i);
    void *alias = nullptr;
    ASSERT_OK(hsa_amd_memory_lock(host, words * 4, &gpu, 1, &alias));
    runAppend(static_cast<uint32_t *>(alias), 77);
    EXPECT_EQ(host[0], 1u);
    EXPECT_EQ(host[1], 77u);
    for (size_t i = 2; i < words; ++i)
      ASSERT_EQ(host[i], uint32_t(i));
    host[2] = 1234; // and back
    EXPECT_EQ(static_cast<uint32_t *>(alias)[2], 1234u);
    ASSERT_OK(hsa_amd_memory_unlock(host));
    host[3] = 5; // stays the program's memory
    EXPECT_EQ(host[1], 77u);
    if (kind == HostKind::Shared || kind == HostKind::Mapped)
      munmap(host, words * 4);
  }
}

TEST_F(MemoryTest, NeighboursInOnePageCanBothBeLocked) {
  alignas(4096) static uint32_t host[4096];
  std::memset(host, 0, sizeof(host));
  uint32_t *second = host + 1500; // shares a page with the end of the first
  void *aliasA = nullptr, *aliasB = nullptr;
  ASSERT_OK(hsa_amd_memory_lock(host, 1400 * 4, &gpu, 1, &aliasA));
  runAppend(static_cast<uint32_t *>(aliasA), 1);
  ASSERT_OK(hsa_amd_memory_lock(second, 2000 * 4, &gpu, 1, &aliasB));
  runAppend(static_cast<uint32_t *>(aliasB), 2);
  runAppend(static_cast<uint32_t *>(aliasA), 3);
  EXPECT_EQ(host[0], 2u);
  EXPECT_EQ(host[2], 3u);
  EXPECT_EQ(second[0], 1u);
  EXPECT_EQ(second[1], 2u);
  static_cast<uint32_t *>(aliasB)[1999] = 9;
  EXPECT_EQ(second[1999], 9u);
  ASSERT_OK(hsa_amd_memory_unlock(second));
  ASSERT_OK(hsa_amd_memory_unlock(host));
}

TEST_F(MemoryTest, ALockOfTheSameAddressOutlivesAnEarlierOneThatIsUnlockedLate) {
  alignas(4096) static uint32_t host[4096];
  std::memset(host, 0, sizeof(host));
  void *first = nullptr, *second = nullptr;
  ASSERT_OK(hsa_amd_memory_lock(host, 4096, &gpu, 1, &first));
  ASSERT_OK(hsa_amd_memory_lock(host, 8192, &gpu, 1, &second)); // larger: not part of the first one
  ASSERT_NE(first, second);
  ASSERT_OK(hsa_amd_memory_unlock(host));
  runAppend(static_cast<uint32_t *>(second), 7);
  EXPECT_EQ(host[1], 7u);
  ASSERT_OK(hsa_amd_memory_unlock(host));
  EXPECT_EQ(hsa_amd_memory_unlock(host), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryTest, NoWriteIsLostWhilePagesMove) {
  // Threads count in memory next to the locked words while it is moved again and again.
  constexpr int rounds = 40, threads = 3;
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint32_t> host(100000);
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    std::vector<uint32_t> counts(threads * 16);
    for (int t = 0; t < threads; ++t)
      writers.emplace_back([&, t] {
        volatile uint32_t *word = &host[1000 + t * 30000];
        uint32_t n = 0;
        while (!stop) {
          *word = *word + 1;
          ++n;
        }
        counts[t * 16] = n;
      });
    void *alias = nullptr;
    ASSERT_OK(hsa_amd_memory_lock(host.data(), host.size() * 4, &gpu, 1, &alias));
    runAppend(static_cast<uint32_t *>(alias), 1);
    stop = true;
    for (std::thread &w : writers)
      w.join();
    for (int t = 0; t < threads; ++t)
      ASSERT_EQ(host[1000 + t * 30000], counts[t * 16]);
    ASSERT_OK(hsa_amd_memory_unlock(host.data()));
  }
}

class CopyTest : public MemoryTest {};

TEST_F(CopyTest, CopyWaitsForItsDependencies) {
  uint32_t *a = allocate<uint32_t>(16), *b = allocate<uint32_t>(16);
  a[0] = 1;
  hsa_signal_t first = signal(1), second = signal(1), done = signal(1);
  const hsa_signal_t dependencies[] = {first, second};
  ASSERT_OK(hsa_amd_memory_async_copy(b, gpu, a, gpu, 64, 2, dependencies, done));
  hsa_signal_store_relaxed(first, 0);
  EXPECT_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 10'000'000, HSA_WAIT_STATE_BLOCKED), 1);
  a[0] = 2; // the copy happens after this
  hsa_signal_store_screlease(second, 0);
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(b[0], 2u);
  hsa_amd_profiling_async_copy_time_t time{};
  ASSERT_OK(hsa_amd_profiling_get_async_copy_time(done, &time));
  EXPECT_LE(time.start, time.end);
  EXPECT_GT(time.start, 0u);
}

TEST_F(CopyTest, LaterCopyMayReleaseAnEarlierOne) {
  uint32_t *a = allocate<uint32_t>(16), *b = allocate<uint32_t>(16), *c = allocate<uint32_t>(16);
  a[0] = 7;
  hsa_signal_t mid = signal(1), done = signal(1);
  ASSERT_OK(hsa_amd_memory_async_copy(c, gpu, b, gpu, 64, 1, &mid, done));
  ASSERT_OK(hsa_amd_memory_async_copy(b, gpu, a, gpu, 64, 0, nullptr, mid));
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(c[0], 7u);
}

TEST_F(CopyTest, CopyAfterAFailureFails) {
  uint32_t *a = allocate<uint32_t>(16), *b = allocate<uint32_t>(16);
  a[0] = 7;
  hsa_signal_t failed = signal(-1), done = signal(1);
  ASSERT_OK(hsa_amd_memory_async_copy(b, gpu, a, gpu, 64, 1, &failed, done));
  ASSERT_TRUE(becomes(done, -1));
  EXPECT_EQ(b[0], 0u);
}

TEST_F(CopyTest, RectangleCopiesTheRectangleOnly) {
  constexpr uint32_t pitch = 64, slice = pitch * 8;
  auto *a = allocate<uint8_t>(slice * 4), *b = allocate<uint8_t>(slice * 4);
  for (uint32_t i = 0; i < slice * 4; ++i)
    a[i] = uint8_t(i * 7);
  const hsa_pitched_ptr_t dst{b, pitch, slice}, src{a, pitch, slice};
  const hsa_dim3_t to{3, 1, 1}, from{10, 2, 0}, range{20, 4, 3};
  hsa_signal_t done = signal(1);
  ASSERT_OK(hsa_amd_memory_async_copy_rect(&dst, &to, &src, &from, &range, gpu, hsaDeviceToDevice, 0, nullptr, done));
  ASSERT_TRUE(becomes(done, 0));
  for (uint32_t z = 0; z < 4; ++z)
    for (uint32_t y = 0; y < 8; ++y)
      for (uint32_t x = 0; x < pitch; ++x) {
        const bool inside =
            x >= to.x && x < to.x + range.x && y >= to.y && y < to.y + range.y && z >= to.z && z < to.z + range.z;
        const uint8_t expected =
            inside ? a[(z - to.z + from.z) * slice + (y - to.y + from.y) * pitch + (x - to.x + from.x)] : 0;
        ASSERT_EQ(b[z * slice + y * pitch + x], expected) << x << "," << y << "," << z;
      }
}

TEST_F(CopyTest, ArgumentsAreChecked) {
  uint32_t *a = allocate<uint32_t>(16);
  hsa_signal_t done = signal(1);
  EXPECT_EQ(hsa_amd_memory_async_copy(nullptr, gpu, a, gpu, 4, 0, nullptr, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_async_copy(a, gpu, a + 1, gpu, 4, 1, nullptr, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_async_copy(a, {5}, a + 1, gpu, 4, 0, nullptr, done), HSA_STATUS_ERROR_INVALID_AGENT);
}

} // namespace
} // namespace wavesan::agent::test
