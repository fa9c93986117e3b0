// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry of the pass plugin: -fpass-plugin= and opt -load-pass-plugin=.
#include "FatPointers.h"
#include "Filters.h"
#include "HostAccesses.h"
#include "OldIntrinsics.h"
#include "SourceLoops.h"
#include "WaveSanPass.h"

#include "wavesan/abi/hooks.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h") // since LLVM 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

using namespace llvm;
using wavesan::WaveSanPass;

static void registerPasses(PassBuilder &Builder) {
  Builder.registerPipelineStartEPCallback([](ModulePassManager &Passes, OptimizationLevel) {
    Passes.addPass(wavesan::UpgradeOldIntrinsicsPass());
    Passes.addPass(wavesan::RememberMarksPass());
    Passes.addPass(wavesan::RememberLoopsPass());
  });
  Builder.registerOptimizerLastEPCallback([&Builder](ModulePassManager &Passes, OptimizationLevel, auto... Phase) {
    wavesan::addFatPointerLowering(Builder, Passes);
    // LLVM 19 tells no phase.
    Passes.addPass(WaveSanPass(WaveSanPass::Stop::AtEnd, (... || (Phase != ThinOrFullLTOPhase::None))));
    Passes.addPass(wavesan::HostAccessesPass());
  });
  Builder.registerPipelineParsingCallback(
      [&Builder](StringRef Name, ModulePassManager &Passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (Name == "wavesan" || Name == "wavesan-instrument")
          wavesan::addFatPointerLowering(Builder, Passes);
        if (Name == "wavesan")
          Passes.addPass(WaveSanPass());
        else if (Name == "wavesan-host")
          Passes.addPass(wavesan::HostAccessesPass());
        else if (Name == "wavesan-instrument")
          Passes.addPass(WaveSanPass(WaveSanPass::Stop::BeforeRuntime));
        else
          return false;
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "wavesan", LLVM_VERSION_STRING, registerPasses};
}
