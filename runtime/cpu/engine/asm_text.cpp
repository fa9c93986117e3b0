// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asm_text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

/// Keeps instructions; refuses what an inline assembly of straight code has no use for.
class Collector final : public MCStreamer {
public:
  Collector(MCContext &context, const MCSubtargetInfo &subtarget, MCInstPrinter &printer,
            std::vector<std::string> &lines)
      : MCStreamer(context), subtarget(subtarget), printer(printer), lines(lines) {}

  void emitInstruction(const MCInst &instruction, const MCSubtargetInfo &) override {
    std::string line;
    raw_string_ostream os(line);
    printer.printInst(&instruction, 0, "", subtarget, os);
    lines.push_back(os.str());
  }
  void emitLabel(MCSymbol *, SMLoc) override { strange = true; }
  bool emitSymbolAttribute(MCSymbol *, MCSymbolAttr) override {
    strange = true;
    return true;
  }
  void emitCommonSymbol(MCSymbol *, uint64_t, Align) override { strange = true; }
  void emitBytes(StringRef) override { strange = true; }
  void emitValueImpl(const MCExpr *, unsigned, SMLoc) override { strange = true; }

  bool strange = false; ///< labels, data, ...

private:
  const MCSubtargetInfo &subtarget;
  MCInstPrinter &printer;
  std::vector<std::string> &lines;
};

AsmInstruction split(StringRef line) {
  AsmInstruction out;
  std::string plain = line.str();
  std::replace(plain.begin(), plain.end(), '\t', ' ');
  StringRef rest = StringRef(plain).split("//").first.trim();
  out.text = rest.str();
  StringRef mnemonic;
  std::tie(mnemonic, rest) = rest.split(' ');
  if (!mnemonic.consume_back("_e32"))
    mnemonic.consume_back("_e64");
  out.mnemonic = mnemonic.str();
  SmallVector<StringRef, 6> parts;
  // s_waitcnt separates its counts by spaces; they are modifiers here.
  rest.trim().split(parts, ',', -1, false);
  for (size_t k = 0; k < parts.size(); ++k) {
    SmallVector<StringRef, 6> words;
    parts[k].trim().split(words, ' ', -1, false);
    for (size_t word = 0; word < words.size(); ++word)
      if (word == 0 && (!words[0].contains(':') || words[0].contains('[')))
        out.operands.push_back(words[0].str());
      else
        out.modifiers.push_back(words[word].str());
  }
  return out;
}

const Target *amdgcn(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
  return TargetRegistry::lookupTarget(Triple("amdgcn-amd-amdhsa"), error);
}

} // namespace

std::optional<AsmRegister> asmRegister(StringRef text) {
  if (text.empty() || !StringRef("vsa").contains(text[0]))
    return std::nullopt;
  AsmRegister r{text[0], 0, 1};
  text = text.drop_front();
  if (!text.getAsInteger(10, r.first))
    return r;
  uint32_t last;
  if (!text.consume_front("[") || !text.consume_back("]"))
    return std::nullopt;
  const auto [from, to] = text.split(':');
  if (from.getAsInteger(10, r.first))
    return std::nullopt;
  if (to.empty())
    return r;
  if (to.getAsInteger(10, last) || last < r.first)
    return std::nullopt;
  r.count = last - r.first + 1;
  return r;
}

std::optional<std::vector<AsmInstruction>> parseAsm(StringRef text, StringRef processor, uint32_t waveSize,
                                                    std::string &error) {
  const Target *target = amdgcn(error);
  if (!target)
    return std::nullopt;
  const Triple triple("amdgcn-amd-amdhsa");
  const MCTargetOptions options;
  const std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  const std::unique_ptr<MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  const std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  // Targets before gfx10 know one wave size.
  const bool chooses = !processor.starts_with("gfx9");
  const std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, processor,
                                    !chooses         ? ""
                                    : waveSize == 32 ? "+wavefrontsize32,-wavefrontsize64"
                                                     : "+wavefrontsize64,-wavefrontsize32"));
  SourceMgr sources;
  sources.setDiagHandler(
      [](const SMDiagnostic &d, void *to) {
        auto &first = *static_cast<std::string *>(to);
        if (d.getKind() == SourceMgr::DK_Error && first.empty())
          first = d.getMessage().str();
      },
      &error);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "inline assembly"), SMLoc());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources, &options);
  const std::unique_ptr<MCObjectFileInfo> objectFile(target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectFile.get());
  const std::unique_ptr<MCInstPrinter> printer(
      target->createMCInstPrinter(triple, asmInfo->getAssemblerDialect(), *asmInfo, *instructions, *registers));
  std::vector<std::string> lines;
  Collector streamer(context, *subtarget, *printer, lines);
  const std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, streamer, *asmInfo));
  const std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  const bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (failed || !error.empty()) {
    if (error.empty())
      error = "the assembler refuses it";
    return std::nullopt;
  }
  if (streamer.strange) {
    error = "labels and data";
    return std::nullopt;
  }
  std::vector<AsmInstruction> out;
  for (const std::string &line : lines)
    out.push_back(split(line));
  return out;
}

} // namespace wavesan::cpu::engine
