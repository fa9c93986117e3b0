// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA queue functions.
#include "agents.h"
#include "api_table.h"
#include "intercept_queue.h"
#include "process.h"
#include "queue.h"

namespace wavesan::agent::impl {
namespace {

/// The amd_queue_t behind a public queue; index functions are too hot for a look into the registry.
amd_queue_t *record(const hsa_queue_t *queue) {
  return reinterpret_cast<amd_queue_t *>(const_cast<hsa_queue_t *>(queue));
}

template <class Kind>
hsa_status_t createQueue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, QueueErrorCallback callback,
                         void *data, hsa_queue_t **queue) {
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (hsa_status_t status = checkQueueArguments(agent, size, type, queue); status != HSA_STATUS_SUCCESS)
    return status;
  auto created = std::make_unique<Kind>(QueueDescription{agent, size, type, callback, data});
  if (!created->valid())
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *queue = registerQueue(std::move(created));
  return HSA_STATUS_SUCCESS;
}

} // namespace

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                              uint32_t /*privateSegmentSize*/, uint32_t /*groupSegmentSize*/, hsa_queue_t **queue) {
  return createQueue<PlainQueue>(agent, size, type, callback, data, queue);
}

hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                            void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                            uint32_t /*privateSegmentSize*/, uint32_t /*groupSegmentSize*/,
                                            hsa_queue_t **queue) {
  return createQueue<InterceptQueue>(agent, size, type, callback, data, queue);
}

hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t *queue, hsa_amd_queue_intercept_handler callback,
                                              void *data) {
  if (!queue || !callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto *intercept = dynamic_cast<InterceptQueue *>(findQueue(queue));
  if (!intercept)
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  intercept->addHandler(callback, data);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback, void *) {
  // Notifies about queues that the runtime makes for itself; this one makes none.
  return callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  if (!queue)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return destroyQueue(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue) {
  Queue *q = findQueue(queue);
  if (!q)
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  q->processor().pause(true);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t) {
  return findQueue(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t count, const uint32_t *mask) {
  if (!findQueue(queue))
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  return count % 32 == 0 && (count == 0 || mask) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *queue, uint32_t count, uint32_t *mask) {
  if (!findQueue(queue))
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (count == 0 || count % 32 != 0 || !mask)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i)
    if (i % 32 == 0 || i < kComputeUnits)
      mask[i / 32] = (i % 32 == 0 ? 0 : mask[i / 32]) | (i < kComputeUnits ? 1u << (i % 32) : 0);
  return HSA_STATUS_SUCCESS;
}

#define WAVESAN_QUEUE_LOAD(Suffix, Order)                                                                              \
  uint64_t hsa_queue_load_read_index_##Suffix(const hsa_queue_t *queue) {                                              \
    return __atomic_load_n(&record(queue)->read_dispatch_id, Order);                                                   \
  }                                                                                                                    \
  uint64_t hsa_queue_load_write_index_##Suffix(const hsa_queue_t *queue) {                                             \
    return __atomic_load_n(&record(queue)->write_dispatch_id, Order);                                                  \
  }
WAVESAN_QUEUE_LOAD(relaxed, __ATOMIC_RELAXED)
WAVESAN_QUEUE_LOAD(scacquire, __ATOMIC_ACQUIRE)

#define WAVESAN_QUEUE_STORE(Suffix, Order)                                                                             \
  void hsa_queue_store_write_index_##Suffix(const hsa_queue_t *queue, uint64_t value) {                                \
    __atomic_store_n(&record(queue)->write_dispatch_id, value, Order);                                                 \
  }                                                                                                                    \
  /* The packet processor alone moves the read index of a hardware queue. */                                           \
  void hsa_queue_store_read_index_##Suffix(const hsa_queue_t *, uint64_t) {}
WAVESAN_QUEUE_STORE(relaxed, __ATOMIC_RELAXED)
WAVESAN_QUEUE_STORE(screlease, __ATOMIC_RELEASE)

#define WAVESAN_QUEUE_UPDATE(Suffix, Order, FailureOrder)                                                              \
  uint64_t hsa_queue_add_write_index_##Suffix(const hsa_queue_t *queue, uint64_t value) {                              \
    return __atomic_fetch_add(&record(queue)->write_dispatch_id, value, Order);                                        \
  }                                                                                                                    \
  uint64_t hsa_queue_cas_write_index_##Suffix(const hsa_queue_t *queue, uint64_t expected, uint64_t value) {           \
    __atomic_compare_exchange_n(&record(queue)->write_dispatch_id, &expected, value, false, Order, FailureOrder);      \
    return expected;                                                                                                   \
  }
WAVESAN_QUEUE_UPDATE(relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
WAVESAN_QUEUE_UPDATE(scacquire, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
WAVESAN_QUEUE_UPDATE(screlease, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
WAVESAN_QUEUE_UPDATE(scacq_screl, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

} // namespace wavesan::agent::impl
