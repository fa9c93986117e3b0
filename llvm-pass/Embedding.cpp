// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "Embedding.h"

#include "wavesan/abi/hooks.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace wavesan;

std::string wavesan::moduleBitcode(const Module &M) {
  std::string Buffer;
  raw_string_ostream Stream(Buffer);
  WriteBitcodeToFile(M, Stream);
  return Buffer;
}

static GlobalVariable *addSection(Module &M, StringRef Symbol, StringRef Section, StringRef Data) {
  Constant *Bytes = ConstantDataArray::getString(M.getContext(), Data, /*AddNull=*/false);
  // A strong symbol: two instrumented modules linked into one code object (-fgpu-rdc, which is not supported because
  // site ids are per module) collide with an error of the linker that names it. And an exported one: code objects are
  // shared objects, so that --gc-sections keeps it (amdgcn objects have no SHF_GNU_RETAIN).
  auto *V = new GlobalVariable(M, Bytes->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, Bytes, Symbol,
                               nullptr, GlobalValue::NotThreadLocal, /*AddressSpace=*/4);
  V->setVisibility(GlobalValue::ProtectedVisibility);
  V->setSection(Section);
  V->setAlignment(Align(16));
  return V;
}

void wavesan::embed(Module &M, StringRef SiteTable, StringRef Bitcode) {
  GlobalValue *Sections[] = {
      addSection(M, "__wavesan_sites_and_gpu_rdc_is_not_supported", abi::kSiteTableSection, SiteTable),
      addSection(M, "__wavesan_ir_and_gpu_rdc_is_not_supported", abi::kIrSection, Bitcode)};
  appendToUsed(M, Sections);
}
