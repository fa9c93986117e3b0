// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Capsule files taken apart and put together again, checksums right, whatever else they say.
#ifndef WAVESAN_TEST_CAPSULE_CAPSULE_FILE_H
#define WAVESAN_TEST_CAPSULE_CAPSULE_FILE_H

#include "format.h"

#include <functional>
#include <string>

namespace wavesan::capsule::test {

inline constexpr uint64_t kLimit = 64 << 20;

/// A capsule with two regions of memory and one variable.
Capsule sample();
/// The file that writeCapsule() makes of it.
std::string fileOf(const Capsule &capsule);

struct Section {
  SectionEntry entry;
  std::string stored;
};
struct Parts {
  FileHeader header;
  std::vector<Section> sections;
  Section &of(SectionKind kind);
};
Parts takeApart(const std::string &file);
/// With offsets, sizes of the file and checksums of what is there now.
std::string putTogether(Parts parts);
std::string deflated(const std::string &bytes);
/// A section's contents replaced as a whole.
void setContents(Section &section, const std::string &bytes);
std::string contents(const Section &section);

} // namespace wavesan::capsule::test

#endif // WAVESAN_TEST_CAPSULE_CAPSULE_FILE_H
