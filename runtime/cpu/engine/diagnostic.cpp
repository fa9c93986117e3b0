// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diagnostic.h"

#include "wavesan/abi/system_files.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace wavesan::cpu::engine {

namespace {

const llvm::Instruction *originOf(const WaveState &wave, const Op *op) {
  for (uint32_t d = wave.depth; d-- > 0;) {
    const Function &f = *wave.frames[d].function;
    if (op >= f.ops.data() && op < f.ops.data() + f.ops.size())
      return static_cast<const llvm::Instruction *>(f.origin[size_t(op - f.ops.data())]);
  }
  return nullptr;
}

std::string nameOf(const llvm::Instruction *i) {
  if (!i)
    return "access";
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(i))
    if (const llvm::Function *callee = call->getCalledFunction())
      return callee->getName().str();
  return i->getOpcodeName();
}

} // namespace

std::string lineOf(const WaveState &wave, const Op *op) {
  const llvm::Instruction *origin = op ? originOf(wave, op) : nullptr;
  const llvm::DILocation *location = origin ? origin->getDebugLoc().get() : nullptr;
  // Barriers are mostly inlined from a header: the user's line is the outermost call.
  while (location && location->getInlinedAt() && abi::isSystemFile({location->getFilename().data(), location->getFilename().size()}))
    location = location->getInlinedAt();
  return location ? location->getFilename().str() + ":" + std::to_string(location->getLine()) : std::string();
}

std::string locate(const LaunchState &launch, const WaveState &wave, const Op *op, const std::string &what) {
  std::string message;
  llvm::raw_string_ostream os(message);
  os << what << " (kernel " << llvm::StringRef(launch.launch->kernel);
  const llvm::Instruction *origin = op ? originOf(wave, op) : nullptr;
  if (const llvm::DILocation *location = origin ? origin->getDebugLoc().get() : nullptr)
    os << ", " << location->getFilename() << ":" << location->getLine();
  os << ")";
  return message;
}

Outcome describeFault(const LaunchState &launch, const WaveState &wave) {
  const Fault &fault = wave.fault;
  std::string what;
  llvm::raw_string_ostream os(what);
  const std::string name = nameOf(originOf(wave, fault.op));
  switch (fault.detail) {
  case Fault::Detail::None: os << (fault.text ? fault.text : "fault"); break;
  case Fault::Detail::LdsRange:
    os << name << " at LDS offset " << llvm::format_hex(fault.address, 1) << " of lane " << fault.lane
       << " is outside the group segment of " << wave.ldsBytes << " bytes";
    break;
  case Fault::Detail::HostAddress:
    os << name << " at the invalid address " << llvm::format_hex(fault.address, 1) << " of lane " << fault.lane;
    break;
  case Fault::Detail::PrivateRange:
    os << name << " at private offset " << llvm::format_hex(fault.address, 1) << " of lane " << fault.lane
       << " is outside the lane's private memory of " << wave.scratchStride << " bytes";
    break;
  }
  return {fault.kind, locate(launch, wave, fault.op, what)};
}

} // namespace wavesan::cpu::engine
