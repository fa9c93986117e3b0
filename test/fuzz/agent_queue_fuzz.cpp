// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any packets in a queue of the CPU agent: each is executed or ends the queue with one error, every completion signal
// gets its value, and the queue can be destroyed. Kernel arguments are real ones: a wrong pointer is the kernel's
// fault.
#include "fuzz_target.h"

#include "hsa_headers.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

using wavesan::fuzz::require;

hsa_agent_t gpu() {
  static const hsa_agent_t found = [] {
    require(hsa_init() == HSA_STATUS_SUCCESS, "hsa_init");
    hsa_agent_t last{};
    hsa_iterate_agents(
        [](hsa_agent_t agent, void *to) {
          *static_cast<hsa_agent_t *>(to) = agent;
          return HSA_STATUS_SUCCESS;
        },
        &last);
    return last;
  }();
  return found;
}

hsa_executable_t executable() {
  static const hsa_executable_t loaded = [] {
    std::ifstream in(WAVESAN_AGENT_TEST_DIR "/fake_v4.hsaco", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    hsa_code_object_reader_t reader{};
    hsa_executable_t e{};
    require(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader) == HSA_STATUS_SUCCESS &&
                hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &e) ==
                    HSA_STATUS_SUCCESS &&
                hsa_executable_load_agent_code_object(e, gpu(), reader, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
                hsa_executable_freeze(e, nullptr) == HSA_STATUS_SUCCESS,
            "the kernels cannot be loaded");
    return e;
  }();
  return loaded;
}

uint64_t kernel(const char *name) {
  hsa_executable_symbol_t symbol{};
  const hsa_agent_t agent = gpu();
  uint64_t object = 0;
  require(hsa_executable_get_symbol_by_name(executable(), name, &agent, &symbol) == HSA_STATUS_SUCCESS &&
              hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) ==
                  HSA_STATUS_SUCCESS,
          "a kernel is missing");
  return object;
}

class Input {
public:
  Input(const uint8_t *data, size_t size) : Data(data), Left(size) {}
  bool empty() const { return Left == 0; }
  template <class T> T take() {
    T value{};
    const size_t n = std::min(sizeof(T), Left);
    std::memcpy(&value, Data, n);
    Data += n, Left -= n;
    return value;
  }

private:
  const uint8_t *Data;
  size_t Left;
};

constexpr uint32_t kPackets = 16; // as many as the ring holds

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint64_t objects[] = {kernel("append.kd"), kernel("unsupported.kd"), kernel("bumpCounter.kd")};
  static uint32_t log[1 << 16];
  struct {
    uint32_t *log;
    uint64_t value;
  } arguments{log, 1};
  log[0] = 0;

  std::atomic<int> errors{0};
  hsa_queue_t *queue = nullptr;
  require(hsa_queue_create(
              gpu(), kPackets, HSA_QUEUE_TYPE_MULTI,
              [](hsa_status_t status, hsa_queue_t *, void *count) {
                require(status != HSA_STATUS_SUCCESS, "an error that is none");
                ++*static_cast<std::atomic<int> *>(count);
              },
              &errors, 0, 0, &queue) == HSA_STATUS_SUCCESS,
          "no queue");
  hsa_signal_t ready{}, last{};
  require(hsa_signal_create(0, 0, nullptr, &ready) == HSA_STATUS_SUCCESS &&
              hsa_signal_create(1, 0, nullptr, &last) == HSA_STATUS_SUCCESS,
          "no signal");
  std::vector<hsa_signal_t> completions;

  Input in(data, size);
  const auto submit = [&](const void *packet) {
    const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    char *slot = static_cast<char *>(queue->base_address) + (index & (kPackets - 1)) * 64;
    std::memcpy(slot + 2, static_cast<const char *>(packet) + 2, 62);
    uint16_t header;
    std::memcpy(&header, packet, 2);
    if ((header & 0xff) == HSA_PACKET_TYPE_INVALID) // it would be waited for
      header = HSA_PACKET_TYPE_BARRIER_OR;
    __atomic_store_n(reinterpret_cast<uint16_t *>(slot), header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, int64_t(index));
  };
  // Signals that are never set would be waited for, so they are none of the choices.
  const auto anySignal = [&]() -> hsa_signal_t {
    const uint8_t choice = in.take<uint8_t>() % 3;
    return choice == 0 ? hsa_signal_t{0} : choice == 1 ? ready : hsa_signal_t{in.take<uint64_t>()};
  };
  for (uint32_t n = 0; n + 1 < kPackets && !in.empty(); ++n) {
    union {
      hsa_kernel_dispatch_packet_t dispatch;
      hsa_barrier_and_packet_t barrier;
      hsa_amd_barrier_value_packet_t value;
    } p;
    std::memset(&p, 0, sizeof(p));
    const uint16_t header = in.take<uint16_t>();
    p.dispatch.header = header;
    switch (header & 0xff) {
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
      p.value.header.AmdFormat = in.take<uint8_t>();
      p.value.signal = anySignal();
      p.value.value = 0;
      p.value.mask = 0;
      p.value.cond = HSA_SIGNAL_CONDITION_EQ; // holds: nobody changes the signal
      break;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
      for (hsa_signal_t &dependency : p.barrier.dep_signal)
        dependency = anySignal();
      break;
    default: {
      p.dispatch.setup = in.take<uint16_t>();
      p.dispatch.workgroup_size_x = in.take<uint16_t>();
      p.dispatch.workgroup_size_y = p.dispatch.workgroup_size_z = 1;
      p.dispatch.grid_size_x = in.take<uint32_t>();
      p.dispatch.grid_size_y = p.dispatch.grid_size_z = in.take<uint8_t>();
      p.dispatch.private_segment_size = in.take<uint32_t>();
      p.dispatch.group_segment_size = in.take<uint32_t>();
      const uint8_t which = in.take<uint8_t>();
      p.dispatch.kernel_object = which % 4 == 3 ? in.take<uint64_t>() : objects[which % 4];
      p.dispatch.kernarg_address = which & 0x80 ? nullptr : &arguments;
    }
    }
    if (const uint8_t choice = in.take<uint8_t>(); choice % 4 == 1) {
      hsa_signal_create(1, 0, nullptr, &p.dispatch.completion_signal);
      completions.push_back(p.dispatch.completion_signal);
    } else if (choice % 4 == 2) {
      p.dispatch.completion_signal = {in.take<uint64_t>()};
    }
    submit(&p);
  }
  hsa_barrier_and_packet_t end{};
  end.header = HSA_PACKET_TYPE_BARRIER_AND;
  end.completion_signal = last;
  submit(&end);
  const int64_t outcome =
      hsa_signal_wait_scacquire(last, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000'000, HSA_WAIT_STATE_BLOCKED);
  require(outcome == 0 || outcome == -1, "the queue has stopped");
  require(errors == (outcome == -1 ? 1 : 0), "a failed queue has not reported one error");
  for (const hsa_signal_t s : completions) {
    const int64_t value = hsa_signal_load_scacquire(s);
    require(value == 0 || (value == -1 && outcome == -1), "a completion signal has no value");
    hsa_signal_destroy(s);
  }
  require(hsa_queue_destroy(queue) == HSA_STATUS_SUCCESS, "the queue cannot be destroyed");
  hsa_signal_destroy(ready);
  hsa_signal_destroy(last);
  return 0;
}
