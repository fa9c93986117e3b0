// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as a code object, as the HSA tool library reads it: ELF, notes, kernel metadata, site table.
#include "fuzz_target.h"

#include "code_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  const std::vector<uint8_t> exact(data, data + size); // so that a read beyond the end is seen
  std::vector<std::string> errors;
  auto object = hsa::CodeObject::parse({reinterpret_cast<const char *>(exact.data()), exact.size()}, errors);
  for (const std::string &error : errors)
    fuzz::requireOneLine(error);
  for (const std::string &name : object->kernels()) {
    const hsa::TwinInfo *twin = object->twin(name);
    fuzz::require(!twin || twin->kernarg || !twin->problem.empty(), "a twin without plan and without reason");
    if (!twin || !twin->kernarg)
      continue;
    // The plan copies from a block of the program's size into one of its own.
    const std::vector<uint8_t> source(twin->kernarg->sourceBytes(), 0x55);
    std::vector<uint8_t> block(twin->kernarg->bytes());
    twin->kernarg->fill(source.data(), block.data(), 0x1234, hsa::DispatchShape{});
  }
  return 0;
}
