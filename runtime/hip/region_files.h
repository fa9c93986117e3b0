// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recorded region as files, and in words.
#ifndef WAVESAN_HIP_REGION_FILES_H
#define WAVESAN_HIP_REGION_FILES_H

#include "region_recorder.h"

#include <functional>

namespace wavesan::hip {

/// `prefix` with the region's number in it where it is not the first.
std::string regionPrefix(const std::string &prefix, const RecordedRegion &region);

struct RegionReport {
  bool written = false;
  std::vector<std::string> lines; ///< for people; errors begin with "error: "
};
/// Writes `json` and `dot`.
RegionReport writeRegion(const RecordedRegion &region, const std::string &json, const std::string &dot);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_REGION_FILES_H
