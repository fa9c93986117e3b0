// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutated kernels in the pass plugin: it makes a valid module or says in one line why not, leaves the kernel, and adds
// a twin that ends as the kernel does.
#include "fuzz_target.h"
#include "mutated_ir.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/Support/raw_ostream.h"

namespace {

using namespace llvm;

/// The default handler ends the process at an error.
class Diagnostics final : public DiagnosticHandler {
public:
  explicit Diagnostics(std::string &error) : Error(error) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() == DS_Error) {
      raw_string_ostream os(Error);
      DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }

private:
  std::string &Error;
};

const PassPlugin &plugin() {
  static Expected<PassPlugin> loaded = PassPlugin::Load(WAVESAN_FUZZ_PLUGIN);
  if (!loaded)
    errs() << toString(loaded.takeError()) << '\n';
  wavesan::fuzz::require(bool(loaded), "the plugin cannot be loaded");
  return *loaded;
}

void instrument(Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  plugin().registerPassBuilderCallbacks(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(passes, "wavesan-instrument"));
  passes.run(module, modules);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  fuzz::MutatedIr input;
  if (!input.read(data, size))
    return 0;
  LLVMContext context;
  std::string error;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(error));
  const std::unique_ptr<Module> module = input.module(context);
  if (!module)
    return 0;
  for (Function &function : *module)
    if (!function.isDeclaration())
      function.addFnAttr("target-cpu", input.target());
  instrument(*module);
  fuzz::require(!verifyModule(*module, &errs()), "the pass has made an invalid module");
  if (!error.empty()) {
    fuzz::requireOneLine(error);
    return 0;
  }
  const std::unique_ptr<cpu::Program> program = cpu::Program::load(fuzz::bitcodeOf(*module), input.target(), {}, error);
  if (!program) {
    fuzz::requireOneLine(error);
    return 0;
  }
  fuzz::require(program->hasKernel("k"), "the kernel is lost");
  if (!program->hasKernel("k.wavesan"))
    return 0;
  // Not "ends in the same way": the pass simplifies the twin, and what is out of bounds or dead may go.
  const cpu::Outcome original = fuzz::runBounded(*program, "k", input.seed),
                     twin = fuzz::runBounded(*program, "k.wavesan", input.seed);
  if (original.kind == cpu::Outcome::Success && twin.kind == cpu::Outcome::UnsupportedInstruction)
    std::fprintf(stderr, "%s\n", twin.message.c_str());
  if (original.kind == cpu::Outcome::Success)
    fuzz::require(twin.kind != cpu::Outcome::UnsupportedInstruction, "the twin needs what the kernel does not");
  if (twin.kind != cpu::Outcome::Success)
    fuzz::requireOneLine(twin.message);
  return 0;
}
