// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which chunks of a snapshot's memory the passes have written, noted by the device runtime (abi/touch_map.h).
#ifndef WAVESAN_HSA_TOUCH_MAP_H
#define WAVESAN_HSA_TOUCH_MAP_H

#include "agent_info.h"
#include "api.h"
#include "snapshot_tiers.h"

#include "wavesan/abi/touch_map.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Its memory is within the budgets: the copy here is pageable, the block near the device counts with the device's if
/// there is room, else with pageable memory. Not thread-safe.
class TouchMap {
public:
  struct Region {
    uint64_t begin, bytes;
  };
  /// Null where there is no memory for it. `regions`: as abi::TouchMap wants them.
  static std::unique_ptr<TouchMap> make(const Api &api, const AgentInfo &agent, TierBudgets &budgets,
                                        const std::vector<Region> &regions);
  ~TouchMap();
  TouchMap(const TouchMap &) = delete;
  TouchMap &operator=(const TouchMap &) = delete;

  /// For the context of a pass.
  uint64_t address() const { return reinterpret_cast<uint64_t>(Block); }
  /// Of a region, by its index: the bytes of its chunks as read() found them, for as long as this lives.
  const uint8_t *chunksOf(size_t region) const { return Bytes.data() + Offsets[region]; }
  /// Behind a pass. If it cannot be read, all counts as written.
  void read();
  /// Something has written that does not note it.
  void noteEverything();
  /// A pass that nobody waits for any more may still write there: the block stays until the process ends.
  void abandon() { Block = nullptr; }

private:
  TouchMap(const Api &api, TierBudgets &budgets) : Runtime(api), Budgets(budgets) {}

  const Api &Runtime;
  TierBudgets &Budgets;
  uint8_t *Block = nullptr;
  uint64_t HeadBytes = 0;      ///< of the block, in front of the chunks' bytes
  std::vector<uint8_t> Bytes;  ///< of all chunks
  std::vector<size_t> Offsets; ///< in it, of each region
  TierBytes Taken{};
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_TOUCH_MAP_H
