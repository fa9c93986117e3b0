// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workgroups of a dispatch, which the records number: x first, then y, then z. Sizes are in work-items, as in the AQL
// packet. Freestanding.
#ifndef WAVESAN_ABI_WORKGROUP_NUMBER_H
#define WAVESAN_ABI_WORKGROUP_NUMBER_H

#include <stdint.h>

namespace wavesan::abi {

/// Along one dimension, the partial one at the grid's edge included. `workgroupSize` is not 0.
constexpr uint32_t workgroupsAlong(uint32_t gridSize, uint32_t workgroupSize) {
  return gridSize / workgroupSize + (gridSize % workgroupSize != 0);
}

/// The coordinates of a workgroup. Sizes and number may come from damaged memory: any are taken, and what comes out
/// means something only for a number of the grid.
constexpr void workgroupOf(uint32_t number, const uint32_t (&gridSize)[3], const uint32_t (&workgroupSize)[3],
                           uint32_t (&id)[3]) {
  for (int d = 0; d < 3; ++d) {
    const uint32_t along = workgroupsAlong(gridSize[d], workgroupSize[d] ? workgroupSize[d] : 1);
    id[d] = along ? number % along : 0;
    number = along ? number / along : number;
  }
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_WORKGROUP_NUMBER_H
