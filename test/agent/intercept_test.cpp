// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The API table as tools see it, and intercept queues, which exist only there.
#include "hsa_support.h"

#include <deque>
#include <dlfcn.h>
#include <thread>

namespace wavesan::agent::test {
namespace {

const bool ToolIsNamed = setenv("HSA_TOOLS_LIB", "no-such-tool.so " WAVESAN_TABLE_TOOL, 1) == 0;

class InterceptTest : public HsaTest {
protected:
  void SetUp() override {
    ASSERT_TRUE(ToolIsNamed);
    testing::internal::CaptureStderr();
    HsaTest::SetUp();
    LoadMessages = testing::internal::GetCapturedStderr();
    Tool = dlopen(WAVESAN_TABLE_TOOL, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(Tool, nullptr);
    Table = *static_cast<HsaApiTable **>(dlsym(Tool, "ToolTable"));
    ASSERT_NE(Table, nullptr);
    Executable = load("fake_v4.hsaco");
    Append = kernelObject(Executable, "append.kd");
    Log = allocate<uint32_t>(1 << 16);
  }
  int toolCounter(const char *name) { return *static_cast<int *>(dlsym(Tool, name)); }

  hsa_queue_t *interceptQueue(uint32_t size) {
    hsa_queue_t *q = nullptr;
    EXPECT_OK(Table->amd_ext_->hsa_amd_queue_intercept_create_fn(gpu, size, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0,
                                                                 0, &q));
    return q;
  }
  void intercept(hsa_queue_t *q, hsa_amd_queue_intercept_handler handler, void *data) {
    EXPECT_OK(Table->amd_ext_->hsa_amd_queue_intercept_register_fn(q, handler, data));
  }
  hsa_kernel_dispatch_packet_t append(uint32_t value) {
    Arguments.push_back({Log, value});
    return dispatch(Append, &Arguments.back());
  }
  void finish(hsa_queue_t *q) {
    hsa_signal_t done = signal(1);
    submit(q, barrier(true, {}, done));
    EXPECT_TRUE(becomes(done, 0));
  }

  void *Tool = nullptr;
  HsaApiTable *Table = nullptr;
  std::string LoadMessages;
  hsa_executable_t Executable{};
  uint64_t Append = 0;
  uint32_t *Log = nullptr;
  std::deque<AppendArguments> Arguments;
};

TEST_F(InterceptTest, EveryTableEntryIsAFunction) {
  auto check = [](const char *name, const void *table, size_t size) {
    const auto *entries = reinterpret_cast<void *const *>(static_cast<const char *>(table) + sizeof(ApiTableVersion));
    for (size_t i = 0; i < (size - sizeof(ApiTableVersion)) / sizeof(void *); ++i)
      EXPECT_NE(entries[i], nullptr) << name << " entry " << i;
  };
  check("core", Table->core_, Table->core_->version.minor_id);
  check("amd", Table->amd_ext_, Table->amd_ext_->version.minor_id);
  check("finalizer", Table->finalizer_ext_, Table->finalizer_ext_->version.minor_id);
  check("image", Table->image_ext_, Table->image_ext_->version.minor_id);
  EXPECT_EQ(Table->core_->version.minor_id, sizeof(CoreApiTable));
  EXPECT_EQ(Table->amd_ext_->version.minor_id, sizeof(AmdExtTable));
}

TEST_F(InterceptTest, MissingToolIsNamedAndOthersAreLoaded) {
  EXPECT_NE(LoadMessages.find("wavesan: HSA tool library no-such-tool.so: "), std::string::npos);
  EXPECT_EQ(toolCounter("ToolLoads"), toolCounter("ToolUnloads") + 1);
}

TEST_F(InterceptTest, OverridesTakeEffectForExportedFunctions) {
  const int before = toolCounter("ToolSignalCreations");
  signal(3);
  EXPECT_EQ(toolCounter("ToolSignalCreations"), before + 1);
}

TEST_F(InterceptTest, UnsupportedFunctionSaysItsNameOnce) {
  testing::internal::CaptureStderr();
  hsa_amd_ipc_memory_t handle;
  EXPECT_EQ(hsa_amd_ipc_memory_create(Log, 4096, &handle), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_amd_ipc_memory_create(Log, 4096, &handle), HSA_STATUS_ERROR);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wavesan: hsa_amd_ipc_memory_create is not supported by the CPU agent\n");
}

struct Trace {
  std::vector<std::string> *events;
  const char *name;
  std::vector<std::thread::id> *threads;
};

void traceAndPass(const void *packets, uint64_t count, uint64_t index, void *data,
                  hsa_amd_queue_intercept_packet_writer writer) {
  auto *trace = static_cast<Trace *>(data);
  trace->events->push_back(trace->name + std::to_string(index) + "x" + std::to_string(count));
  trace->threads->push_back(std::this_thread::get_id());
  writer(packets, count);
}

TEST_F(InterceptTest, HandlersRunOnTheRingingThreadLastRegisteredFirst) {
  hsa_queue_t *q = interceptQueue(8);
  std::vector<std::string> events;
  std::vector<std::thread::id> threads;
  Trace a{&events, "a", &threads}, b{&events, "b", &threads};
  intercept(q, traceAndPass, &a);
  intercept(q, traceAndPass, &b);
  submit(q, append(1), /*ring=*/false);
  submit(q, append(2), /*ring=*/false);
  EXPECT_TRUE(events.empty());
  submit(q, append(3)); // one doorbell for three packets
  EXPECT_EQ(events, (std::vector<std::string>{"b0x1", "a0x1", "b1x1", "a1x1", "b2x1", "a2x1"}));
  for (std::thread::id id : threads)
    EXPECT_EQ(id, std::this_thread::get_id());
  finish(q);
  EXPECT_EQ(Log[0], 3u);
  EXPECT_OK(hsa_queue_destroy(q));
}

/// Sends every packet `copies` times.
void multiply(const void *packets, uint64_t count, uint64_t, void *data, hsa_amd_queue_intercept_packet_writer writer) {
  const int copies = *static_cast<int *>(data);
  std::vector<hsa_kernel_dispatch_packet_t> out;
  const auto *in = static_cast<const hsa_kernel_dispatch_packet_t *>(packets);
  for (uint64_t i = 0; i < count; ++i) {
    const bool kernel = (in[i].header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    out.insert(out.end(), kernel ? copies : 1, in[i]);
  }
  writer(out.data(), out.size());
}

TEST_F(InterceptTest, MorePacketsThanTheRingHoldsArriveInOrder) {
  hsa_queue_t *q = interceptQueue(8);
  int copies = 50;
  intercept(q, multiply, &copies);
  constexpr uint32_t count = 40;
  for (uint32_t i = 0; i < count; ++i)
    submit(q, append(i));
  finish(q);
  ASSERT_EQ(Log[0], count * copies);
  for (uint32_t i = 0; i < count * copies; ++i)
    ASSERT_EQ(Log[1 + i], i / copies);
  EXPECT_OK(hsa_queue_destroy(q));
}

TEST_F(InterceptTest, HandlersStack) {
  hsa_queue_t *q = interceptQueue(64);
  int twice = 2, thrice = 3;
  intercept(q, multiply, &twice);
  intercept(q, multiply, &thrice);
  submit(q, append(9));
  finish(q);
  EXPECT_EQ(Log[0], 6u);
  EXPECT_OK(hsa_queue_destroy(q));
}

/// Writes packets one by one, which calls the handlers below more than once.
void oneByOne(const void *packets, uint64_t count, uint64_t, void *, hsa_amd_queue_intercept_packet_writer writer) {
  for (uint64_t i = 0; i < count; ++i)
    for (int twice = 0; twice < 2; ++twice)
      writer(static_cast<const hsa_kernel_dispatch_packet_t *>(packets) + i, 1);
}

TEST_F(InterceptTest, WriterMayBeCalledSeveralTimes) {
  hsa_queue_t *q = interceptQueue(64);
  int thrice = 3;
  intercept(q, multiply, &thrice);
  intercept(q, oneByOne, nullptr);
  submit(q, append(9));
  hsa_signal_t done = signal(2); // the barrier is doubled as well
  submit(q, barrier(true, {}, done));
  EXPECT_TRUE(becomes(done, 0));
  EXPECT_EQ(Log[0], 6u);
  EXPECT_OK(hsa_queue_destroy(q));
}

struct Nested {
  hsa_queue_t *other;
  hsa_kernel_dispatch_packet_t packet;
};
void submitElsewhere(const void *packets, uint64_t count, uint64_t index, void *data,
                     hsa_amd_queue_intercept_packet_writer writer) {
  auto *nested = static_cast<Nested *>(data);
  if (index == 0) { // rings the doorbell of an intercept queue while in a handler
    auto *slot = static_cast<hsa_kernel_dispatch_packet_t *>(nested->other->base_address);
    const uint64_t at = hsa_queue_add_write_index_relaxed(nested->other, 1);
    slot[at & (nested->other->size - 1)] = nested->packet;
    hsa_signal_store_screlease(nested->other->doorbell_signal, int64_t(at));
  }
  writer(packets, count);
}

TEST_F(InterceptTest, HandlerMayUseAnotherInterceptQueue) {
  hsa_queue_t *outer = interceptQueue(8), *inner = interceptQueue(8);
  int once = 1;
  intercept(inner, multiply, &once);
  hsa_signal_t innerDone = signal(1);
  AppendArguments elsewhere{Log + 1000, 5}; // the two queues run at the same time
  Nested nested{inner, dispatch(Append, &elsewhere, innerDone)};
  intercept(outer, submitElsewhere, &nested);
  submit(outer, append(6));
  finish(outer);
  EXPECT_TRUE(becomes(innerDone, 0));
  EXPECT_EQ(Log[0], 1u);
  EXPECT_EQ(Log[1000], 1u);
  EXPECT_OK(hsa_queue_destroy(outer));
  EXPECT_OK(hsa_queue_destroy(inner));
}

TEST_F(InterceptTest, ReadIndexFollowsThePackets) {
  hsa_queue_t *q = interceptQueue(8);
  int copies = 1;
  intercept(q, multiply, &copies);
  for (uint32_t i = 0; i < 5; ++i)
    submit(q, append(i));
  finish(q);
  EXPECT_EQ(hsa_queue_load_read_index_scacquire(q), 6u);
  EXPECT_OK(hsa_queue_destroy(q));
}

TEST_F(InterceptTest, PlainQueueRefusesHandlers) {
  int copies = 1;
  EXPECT_EQ(Table->amd_ext_->hsa_amd_queue_intercept_register_fn(queue(8), multiply, &copies),
            HSA_STATUS_ERROR_INVALID_QUEUE);
}

TEST_F(InterceptTest, WriterOutsideOfAHandlerIsSaid) {
  hsa_queue_t *q = interceptQueue(8);
  static hsa_amd_queue_intercept_packet_writer leaked;
  intercept(
      q, [](const void *, uint64_t, uint64_t, void *, hsa_amd_queue_intercept_packet_writer w) { leaked = w; },
      nullptr);
  submit(q, append(1));
  hsa_kernel_dispatch_packet_t p = append(2);
  testing::internal::CaptureStderr();
  leaked(&p, 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("outside of its intercept handler"), std::string::npos);
  EXPECT_OK(hsa_queue_destroy(q));
}

} // namespace
} // namespace wavesan::agent::test
