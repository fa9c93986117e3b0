// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as a site table; whatever is accepted must be readable without a look outside of it.
#include "fuzz_target.h"

#include "wavesan/abi/site_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  const std::vector<char> exact(data, data + size);
  std::string error;
  auto table = abi::parseSiteTable({exact.data(), exact.size()}, error);
  if (!table) {
    fuzz::requireOneLine(error);
    return 0;
  }
  uint64_t sum = 0; // reads every byte that the table speaks of
  auto read = [&](abi::StringRef32 s) {
    for (char c : table->string(s))
      sum += uint8_t(c);
  };
  for (uint32_t i = 0; i < table->kernelCount(); ++i) {
    const abi::KernelEntry k = table->kernel(i);
    read(k.original), read(k.twin), read(k.file);
    for (uint32_t s = 0; s < k.skipCount; ++s)
      read(table->skip(k.skipFirst + s).reason);
  }
  for (uint32_t i = 0; i < table->siteCount(); ++i) {
    const abi::SiteEntry s = table->site(i);
    read(s.variable), read(s.opcode);
    uint32_t steps = 0;
    for (uint32_t f = s.frame; f != abi::kNoFrame; f = table->frame(f).inlinedAt)
      fuzz::require(++steps <= table->frameCount(), "a chain of calls that does not end");
  }
  for (uint32_t i = 0; i < table->frameCount(); ++i)
    read(table->frame(i).function), read(table->frame(i).file);
  for (uint32_t i = 0; i < table->loopCount(); ++i)
    read(table->loop(i).function), read(table->loop(i).file);
  fuzz::require(sum != UINT64_MAX, "never; keeps the reads");
  return 0;
}
