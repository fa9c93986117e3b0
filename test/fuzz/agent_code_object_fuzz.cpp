// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as a code object that a program loads on the CPU agent, and as the offload bundles in a program.
#include "fuzz_target.h"

#include "code_object.h"
#include "gpu_target.h"
#include "program_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  static const agent::GpuTarget *target = agent::findGpuTarget("gfx90a");
  fuzz::require(target != nullptr, "gfx90a is unknown");
  agent::ProgramTargets targets;
  agent::addBundles({reinterpret_cast<const char *>(data), size}, targets);
  for (const std::string &line : targets.damage)
    fuzz::requireOneLine(line);
  fuzz::require(agent::findGpuTarget(agent::chooseGpu(targets)) != nullptr, "an unknown GPU was chosen");
  if (const std::string line = agent::missingTarget(targets, "gfx90a"); !line.empty())
    fuzz::requireOneLine(line);
  auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char *>(data), size);
  std::string error;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  auto object = agent::LoadedCodeObject::load(bytes, *target, {}, status, error);
  fuzz::require((object != nullptr) == (status == HSA_STATUS_SUCCESS), "status and result disagree");
  if (!object) {
    fuzz::requireOneLine(error);
    return 0;
  }
  for (const auto &symbol : object->symbols()) {
    fuzz::require(symbol->address >= reinterpret_cast<uint64_t>(object->base()) && symbol->size <= object->span() &&
                      symbol->address - reinterpret_cast<uint64_t>(object->base()) <= object->span() - symbol->size,
                  "a symbol outside of the loaded memory");
    if (symbol->kind == agent::Symbol::Kernel)
      object->argumentsOf(symbol->kernelName());
  }
  fuzz::require(object->ir().size() <= size, "IR outside of the file");
  return 0;
}
