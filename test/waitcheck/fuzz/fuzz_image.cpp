// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer: any bytes as an image: code object, host program, bundle, archive. Everything from reading to the audit and source lines.
#include "Checker.h"
#include "InputReader.h"

using namespace wavesan::waitcheck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Decoders decoders; // slow to start
  Inputs inputs;
  const llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  readImage("image", std::shared_ptr<llvm::MemoryBuffer>(llvm::MemoryBuffer::getMemBufferCopy(bytes)), {}, inputs);
  CheckOptions options;
  options.audit = size % 2;
  for (const InputObject &o : inputs.objects) {
    auto r = checkObject(o.buffer(), options, decoders);
    if (!r)
      llvm::consumeError(r.takeError());
  }
  return 0;
}
