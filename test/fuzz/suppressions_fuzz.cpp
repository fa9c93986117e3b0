// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as a suppressions file, matched against a race with frames of several kinds.
#include "fuzz_target.h"
#include "sample_races.h"

#include "wavesan/report/name_filter.h"
#include "wavesan/report/suppressions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  static const report::Race race =
      test::race(report::Order::ReadAfterWrite, test::access(test::R, 0, 0, {test::at(5, 1, "load<int>", "a/tile.h")}),
                 test::access(test::W, 1, 0, {test::at(8, 1), test::at(9, 1, "k(int*)")}));
  const std::string text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> errors;
  const report::Suppressions suppressions = report::Suppressions::parse(text, "file", errors);
  for (const std::string &error : errors)
    fuzz::requireOneLine(error);
  const size_t before = suppressions.unused().size();
  const bool matched = suppressions.match(race) != nullptr;
  fuzz::require(suppressions.unused().size() == before - matched, "uses are miscounted");
  const report::KernelFilter filter(text);
  filter.accepts(race.kernel, race.kernelMangled);
  report::matchesFile(text, "a/b/c.hip");
  return 0;
}
