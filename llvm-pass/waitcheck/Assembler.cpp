// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly text to a relocatable object, in memory.
#include "Generations.h"
#include "InputReader.h"
#include "IsaContext.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace wavesan::waitcheck {
namespace {

/// The processor, and the feature string, of ".amdgcn_target "amdgcn-amd-amdhsa--gfx90a:xnack-"".
std::string targetDirective(llvm::StringRef text) {
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    rest = next;
    line = line.trim();
    if (!line.consume_front(".amdgcn_target"))
      continue;
    line = line.trim().trim('"');
    return line.rsplit("--").second.split(':').first.trim().str();
  }
  return "";
}

bool usesWave32(llvm::StringRef text) { return text.contains(".amdhsa_wavefront_size32 1"); }

} // namespace

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> assemble(llvm::StringRef name, llvm::StringRef text, llvm::StringRef arch) {
  initializeLlvm();
  std::string cpu = targetDirective(text);
  if (cpu.empty())
    cpu = arch.str();
  if (cpu.empty())
    return llvm::createStringError("assembly text names no target (.amdgcn_target): choose one with --arch");
  const TargetEntry *entry = findTarget(cpu);
  if (!entry)
    return llvm::createStringError("target %s is unknown to the wait checker", cpu.c_str());
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);

  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::string features;
  if (!entry->generation->wavesOf64Only)
    features = usesWave32(text) ? "+wavefrontsize32,-wavefrontsize64" : "+wavefrontsize64,-wavefrontsize32";
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, cpu, features));

  llvm::SourceMgr sources;
  std::string errors;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &d, void *to) {
        if (d.getKind() == llvm::SourceMgr::DK_Error)
          *static_cast<std::string *>(to) +=
              "\n  line " + std::to_string(d.getLineNo()) + ": " + d.getMessage().str() + ": " + d.getLineContents().trim().str();
      },
      &errors);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  llvm::MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> objectFile(target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectFile.get());
  // Lines of the text itself become source lines of diagnostics.
  context.setGenDwarfForAssembly(true);
  context.setDwarfVersion(5);
  context.setMainFileName(name);
  context.setGenDwarfRootFile(name, text);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::MCAsmBackend *backend = target->createMCAsmBackend(*subtarget, *registers, options);
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(out);
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::unique_ptr<llvm::MCAsmBackend>(backend), std::move(writer),
      std::unique_ptr<llvm::MCCodeEmitter>(target->createMCCodeEmitter(*instructions, context)), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<llvm::MCTargetAsmParser> targetParser(target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  const bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (failed || !errors.empty())
    return llvm::createStringError("cannot be assembled for " + cpu + errors);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), name, /*RequiresNullTerminator=*/false);
}

} // namespace wavesan::waitcheck
