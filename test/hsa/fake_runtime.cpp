// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fake_runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace wavesan::test {

namespace {

FakeRuntime *Current = nullptr;
thread_local std::vector<DispatchPacket> *Written = nullptr;

amd_signal_t *record(hsa_signal_t s) { return reinterpret_cast<amd_signal_t *>(s.handle); }
int64_t load(hsa_signal_t s) { return __atomic_load_n(&record(s)->value, __ATOMIC_ACQUIRE); }
void store(hsa_signal_t s, hsa_signal_value_t v) { __atomic_store_n(&record(s)->value, v, __ATOMIC_RELEASE); }

void passBarriers() {
  std::lock_guard lock(Current->Mutex);
  std::erase_if(Current->Barriers, [](const hsa_barrier_and_packet_t &barrier) {
    if (load(barrier.dep_signal[0]) != 0)
      return false;
    store(barrier.completion_signal, load(barrier.completion_signal) - 1);
    return true;
  });
}

hsa_signal_value_t waitSignal(hsa_signal_t s, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                              uint64_t timeout, hsa_wait_state_t) {
  auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::min<uint64_t>(timeout, 1'000'000'000));
  auto holds = [&](int64_t v) {
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return v == compare;
    case HSA_SIGNAL_CONDITION_NE:
      return v != compare;
    case HSA_SIGNAL_CONDITION_LT:
      return v < compare;
    default:
      return v >= compare;
    }
  };
  passBarriers();
  while (!holds(load(s)) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    passBarriers();
  }
  return load(s);
}

hsa_status_t iteratePools(hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *), void *data) {
  if (!Current->havePools)
    return HSA_STATUS_SUCCESS;
  for (uint64_t pool : agent.handle == kCpuAgent.handle ? std::vector<uint64_t>{kKernargPool, kFinePool}
                                                        : std::vector<uint64_t>{kGroupPool, kDevicePool})
    callback({pool}, data);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t poolInfo(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what, void *out) {
  switch (what) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    *static_cast<hsa_amd_segment_t *>(out) = pool.handle == kGroupPool ? HSA_AMD_SEGMENT_GROUP : HSA_AMD_SEGMENT_GLOBAL;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    *static_cast<uint32_t *>(out) = pool.handle == kKernargPool ? 1 | 2 : pool.handle == kFinePool ? 2 : 4;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    *static_cast<bool *>(out) = pool.handle != kGroupPool;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    *static_cast<size_t *>(out) = pool.handle == kGroupPool ? Current->ldsBytes : size_t(1) << 30;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t, void **out) {
  FakeRuntime &r = *Current;
  if (r.failAllocations.load() > 0) {
    --r.failAllocations;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  std::lock_guard lock(r.Mutex);
  *out = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  std::memset(*out, 0xcd, size); // garbage, as fresh device memory
  r.Memory[*out] = size;
  r.poolsUsed.insert(pool.handle);
  ++r.allocations;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t release(void *pointer) {
  FakeRuntime &r = *Current;
  std::lock_guard lock(r.Mutex);
  if (!r.Memory.erase(pointer))
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  std::free(pointer);
  ++r.frees;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t allowAccess(uint32_t count, const hsa_agent_t *agents, const uint32_t *, const void *pointer) {
  FakeRuntime &r = *Current;
  std::lock_guard lock(r.Mutex);
  for (uint32_t i = 0; i < count; ++i)
    r.AccessibleTo[reinterpret_cast<uint64_t>(pointer)] += std::to_string(agents[i].handle) + ";";
  return HSA_STATUS_SUCCESS;
}

// The AMD attributes lie beyond the range of the C enumeration.
__attribute__((no_sanitize("enum"))) hsa_status_t agentInfo(hsa_agent_t agent, hsa_agent_info_t what, void *out) {
  switch (int(what)) {
  case HSA_AGENT_INFO_DEVICE:
    *static_cast<hsa_device_type_t *>(out) =
        agent.handle == kCpuAgent.handle ? HSA_DEVICE_TYPE_CPU : HSA_DEVICE_TYPE_GPU;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    *static_cast<uint32_t *>(out) = Current->computeUnits;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
    *static_cast<uint32_t *>(out) = Current->wavesPerComputeUnit;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t makeQueue(hsa_agent_t agent, hsa_queue_type32_t type,
                       void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, bool intercepted,
                       hsa_queue_t **out) {
  auto queue = std::make_unique<FakeQueue>();
  queue->agent = agent;
  queue->queue.type = type;
  queue->errorCallback = callback;
  queue->errorData = data;
  queue->intercepted = intercepted;
  *out = &queue->queue;
  std::lock_guard lock(Current->Mutex);
  Current->Queues[reinterpret_cast<uint64_t>(*out)] = std::move(queue);
  return HSA_STATUS_SUCCESS;
}

FakeQueue *findQueue(const hsa_queue_t *queue) {
  std::lock_guard lock(Current->Mutex);
  auto it = Current->Queues.find(reinterpret_cast<uint64_t>(queue));
  return it == Current->Queues.end() ? nullptr : it->second.get();
}

void writePackets(const void *packets, uint64_t count) {
  const auto *list = static_cast<const DispatchPacket *>(packets);
  Written->insert(Written->end(), list, list + count);
  for (const DispatchPacket *packet = list; Current->device && packet != list + count; ++packet)
    if ((packet->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
      Current->device(*packet);
  std::lock_guard lock(Current->Mutex);
  for (const DispatchPacket *packet = list; packet != list + count; ++packet) {
    hsa_barrier_and_packet_t barrier;
    std::memcpy(&barrier, packet, sizeof(barrier));
    unsigned type = barrier.header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
    if (type == HSA_PACKET_TYPE_BARRIER_AND && barrier.dep_signal[0].handle && barrier.completion_signal.handle)
      Current->Barriers.push_back(barrier);
    else if (type == HSA_PACKET_TYPE_BARRIER_AND && barrier.completion_signal.handle && !Current->holdFences)
      store(barrier.completion_signal, load(barrier.completion_signal) - 1);
  }
}

hsa_status_t symbolInfo(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *out) {
  const auto &s = *reinterpret_cast<const FakeSymbol *>(symbol.handle);
  switch (what) {
  case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
    *static_cast<hsa_symbol_kind_t *>(out) = s.variableAddress ? HSA_SYMBOL_KIND_VARIABLE : HSA_SYMBOL_KIND_KERNEL;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
    *static_cast<uint64_t *>(out) = s.variableAddress;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
    *static_cast<uint32_t *>(out) = s.variableBytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
    *static_cast<uint64_t *>(out) = s.kernelObject;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
    *static_cast<uint32_t *>(out) = s.kernargBytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
    *static_cast<uint32_t *>(out) = s.groupBytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
    *static_cast<uint32_t *>(out) = s.privateBytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
    *static_cast<uint32_t *>(out) = uint32_t(s.name.size());
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
    std::memcpy(out, s.name.data(), s.name.size());
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

} // namespace

FakeRuntime &FakeRuntime::current() { return *Current; }

FakeRuntime::FakeRuntime() {
  Current = this;
  Root.version = {HSA_API_TABLE_MAJOR_VERSION, sizeof(HsaApiTable), 0, 0};
  Core.version = {HSA_CORE_API_TABLE_MAJOR_VERSION, sizeof(CoreApiTable), 0, 0};
  Amd.version = {HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, sizeof(AmdExtTable), 0, 0};
  Root.core_ = &Core;
  Root.amd_ext_ = &Amd;
  Root.finalizer_ext_ = &Finalizer;
  Root.image_ext_ = &Image;
  fillCore();
  fillAmd();
}

FakeRuntime::~FakeRuntime() {
  for (auto &[pointer, size] : Memory)
    std::free(pointer);
}

void FakeRuntime::fillCore() {
  Core.hsa_iterate_agents_fn = [](hsa_status_t (*callback)(hsa_agent_t, void *), void *data) {
    callback(kCpuAgent, data);
    return callback(kGpuAgent, data);
  };
  Core.hsa_agent_get_info_fn = agentInfo;
  Core.hsa_queue_create_fn = [](hsa_agent_t agent, uint32_t, hsa_queue_type32_t type,
                                void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t, uint32_t,
                                hsa_queue_t **queue) { return makeQueue(agent, type, callback, data, false, queue); };
  Core.hsa_queue_destroy_fn = [](hsa_queue_t *queue) {
    std::lock_guard lock(Current->Mutex);
    return Current->Queues.erase(reinterpret_cast<uint64_t>(queue)) ? HSA_STATUS_SUCCESS
                                                                    : HSA_STATUS_ERROR_INVALID_QUEUE;
  };
  Core.hsa_signal_create_fn = [](hsa_signal_value_t value, uint32_t, const hsa_agent_t *, hsa_signal_t *out) {
    auto signal = std::make_unique<amd_signal_t>();
    signal->kind = AMD_SIGNAL_KIND_USER;
    signal->value = value;
    signal->start_ts = signal->end_ts = 77; // must be cleared by whoever needs zeros
    out->handle = reinterpret_cast<uint64_t>(signal.get());
    std::lock_guard lock(Current->Mutex);
    Current->Signals.push_back(std::move(signal));
    ++Current->signalsCreated;
    return HSA_STATUS_SUCCESS;
  };
  Core.hsa_signal_destroy_fn = [](hsa_signal_t) { return HSA_STATUS_SUCCESS; };
  Core.hsa_signal_load_scacquire_fn = load;
  Core.hsa_signal_store_screlease_fn = store;
  Core.hsa_signal_store_relaxed_fn = store;
  Core.hsa_signal_subtract_screlease_fn = [](hsa_signal_t s, hsa_signal_value_t v) {
    __atomic_fetch_sub(&record(s)->value, v, __ATOMIC_ACQ_REL);
  };
  Core.hsa_signal_wait_scacquire_fn = waitSignal;
  Core.hsa_code_object_reader_create_from_memory_fn = [](const void *, size_t, hsa_code_object_reader_t *reader) {
    std::lock_guard lock(Current->Mutex);
    reader->handle = Current->NextHandle++;
    return HSA_STATUS_SUCCESS;
  };
  Core.hsa_code_object_reader_create_from_file_fn = [](hsa_file_t, hsa_code_object_reader_t *reader) {
    std::lock_guard lock(Current->Mutex);
    reader->handle = Current->NextHandle++;
    return HSA_STATUS_SUCCESS;
  };
  Core.hsa_code_object_reader_destroy_fn = [](hsa_code_object_reader_t) { return HSA_STATUS_SUCCESS; };
  Core.hsa_executable_load_agent_code_object_fn = [](hsa_executable_t, hsa_agent_t, hsa_code_object_reader_t,
                                                     const char *,
                                                     hsa_loaded_code_object_t *) { return HSA_STATUS_SUCCESS; };
  Core.hsa_executable_freeze_fn = [](hsa_executable_t, const char *) { return HSA_STATUS_SUCCESS; };
  Core.hsa_executable_destroy_fn = [](hsa_executable_t) { return HSA_STATUS_SUCCESS; };
  Core.hsa_executable_get_symbol_by_name_fn = [](hsa_executable_t executable, const char *name,
                                                 const hsa_agent_t *agent, hsa_executable_symbol_t *symbol) {
    if (!agent || agent->handle != kGpuAgent.handle)
      return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    *symbol = Current->symbol(executable, name);
    return symbol->handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  };
  Core.hsa_executable_symbol_get_info_fn = symbolInfo;
  Core.hsa_executable_iterate_agent_symbols_fn =
      [](hsa_executable_t executable, hsa_agent_t agent,
         hsa_status_t (*callback)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *), void *data) {
        std::vector<uint64_t> handles;
        {
          std::lock_guard lock(Current->Mutex);
          for (auto &[name, s] : Current->Symbols[executable.handle])
            handles.push_back(reinterpret_cast<uint64_t>(&s));
        }
        for (uint64_t handle : handles)
          callback(executable, agent, {handle}, data);
        return HSA_STATUS_SUCCESS;
      };
  Core.hsa_region_get_info_fn = [](hsa_region_t region, hsa_region_info_t what, void *out) {
    if (what != HSA_REGION_INFO_GLOBAL_FLAGS)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *static_cast<uint32_t *>(out) = region.handle == kKernargPool ? HSA_REGION_GLOBAL_FLAG_KERNARG : 0;
    return HSA_STATUS_SUCCESS;
  };
  Core.hsa_memory_allocate_fn = [](hsa_region_t region, size_t size, void **out) {
    return allocate({region.handle}, size, 0, out);
  };
  Core.hsa_memory_free_fn = release;
}

void FakeRuntime::fillAmd() {
  Amd.hsa_amd_queue_intercept_create_fn = [](hsa_agent_t agent, uint32_t, hsa_queue_type32_t type,
                                             void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                             uint32_t, uint32_t, hsa_queue_t **queue) {
    if (Current->failIntercept)
      return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    return makeQueue(agent, type, callback, data, true, queue);
  };
  Amd.hsa_amd_queue_intercept_register_fn = [](hsa_queue_t *queue, hsa_amd_queue_intercept_handler handler,
                                               void *data) {
    FakeQueue *found = findQueue(queue);
    if (!found || !found->intercepted)
      return HSA_STATUS_ERROR_INVALID_QUEUE;
    found->handler = handler;
    found->handlerData = data;
    return HSA_STATUS_SUCCESS;
  };
  Amd.hsa_amd_profiling_set_profiler_enabled_fn = [](hsa_queue_t *queue, int enable) {
    findQueue(queue)->profiling = enable != 0;
    return HSA_STATUS_SUCCESS;
  };
  Amd.hsa_amd_agent_iterate_memory_pools_fn = iteratePools;
  Amd.hsa_amd_memory_pool_get_info_fn = poolInfo;
  Amd.hsa_amd_memory_pool_allocate_fn = allocate;
  Amd.hsa_amd_memory_pool_free_fn = release;
  Amd.hsa_amd_agents_allow_access_fn = allowAccess;
  Amd.hsa_amd_memory_lock_fn = [](void *host, size_t, hsa_agent_t *, int, void **device) {
    *device = host;
    return HSA_STATUS_SUCCESS;
  };
  Amd.hsa_amd_memory_unlock_fn = [](void *) { return HSA_STATUS_SUCCESS; };
}

void *FakeRuntime::allocateMemory(uint64_t pool, size_t bytes) {
  void *pointer = nullptr;
  return Amd.hsa_amd_memory_pool_allocate_fn({pool}, bytes, 0, &pointer) == HSA_STATUS_SUCCESS ? pointer : nullptr;
}

hsa_signal_t FakeRuntime::createSignal(int64_t value) {
  hsa_signal_t signal{};
  Core.hsa_signal_create_fn(value, 0, nullptr, &signal);
  return signal;
}

int64_t FakeRuntime::signalValue(hsa_signal_t signal) { return load(signal); }

FakeQueue &FakeRuntime::createQueue(hsa_queue_type32_t type) {
  hsa_queue_t *queue = nullptr;
  Core.hsa_queue_create_fn(kGpuAgent, 64, type, nullptr, nullptr, 0, 0, &queue);
  return *findQueue(queue);
}

std::vector<DispatchPacket> FakeRuntime::submit(FakeQueue &queue, std::vector<DispatchPacket> packets, uint64_t index) {
  if (!queue.handler)
    return packets;
  std::vector<DispatchPacket> written, *const outer = Written; // a handler's callbacks may submit, too
  Written = &written;
  queue.handler(packets.data(), packets.size(), index, queue.handlerData, writePackets);
  Written = outer;
  return written;
}

hsa_executable_t FakeRuntime::loadExecutable(const std::string &codeObject, const std::vector<FakeSymbol> &symbols) {
  hsa_executable_t executable{};
  {
    std::lock_guard lock(Mutex);
    executable.handle = NextHandle++;
    for (const FakeSymbol &s : symbols)
      Symbols[executable.handle][s.name] = s;
  }
  hsa_code_object_reader_t reader{};
  Core.hsa_code_object_reader_create_from_memory_fn(codeObject.data(), codeObject.size(), &reader);
  Core.hsa_executable_load_agent_code_object_fn(executable, kGpuAgent, reader, nullptr, nullptr);
  Core.hsa_code_object_reader_destroy_fn(reader);
  Core.hsa_executable_freeze_fn(executable, nullptr);
  return executable;
}

hsa_executable_symbol_t FakeRuntime::symbol(hsa_executable_t executable, const std::string &name) {
  std::lock_guard lock(Mutex);
  auto &symbols = Symbols[executable.handle];
  auto it = symbols.find(name);
  return {it == symbols.end() ? 0 : reinterpret_cast<uint64_t>(&it->second)};
}

void FakeRuntime::complete(const DispatchPacket &packet, int64_t newValue, uint64_t start, uint64_t end) {
  record(packet.completion_signal)->start_ts = start;
  record(packet.completion_signal)->end_ts = end;
  store(packet.completion_signal, newValue);
}

} // namespace wavesan::test
