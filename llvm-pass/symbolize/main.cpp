// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wavesan-symbolize: reads lines "ADDRESS FILE" (hexadecimal, as in the ELF file) and answers each with the frames
// there, innermost first, one a line: function, file, line and column, between tabs; then an empty line. What is not
// known is empty or 0.
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>
#include <string>

using namespace llvm;

namespace {

std::string known(const std::string &text) { return text == DILineInfo::BadString ? std::string() : text; }

void print(const DILineInfo &frame) {
  outs() << known(frame.FunctionName) << '\t' << known(frame.FileName) << '\t' << frame.Line << '\t' << frame.Column
         << '\n';
}

} // namespace

int main() {
  symbolize::LLVMSymbolizer::Options options;
  options.Demangle = true;
  options.UseSymbolTable = true;
  options.PrintFunctions = DINameKind::LinkageName;
  symbolize::LLVMSymbolizer symbolizer(options);
  std::string line;
  while (std::getline(std::cin, line)) {
    const StringRef text = line;
    const auto [address, file] = text.split(' ');
    uint64_t at = 0;
    if (!address.getAsInteger(16, at)) {
      auto frames = symbolizer.symbolizeInlinedCode(file.str(), {at, object::SectionedAddress::UndefSection});
      if (frames)
        for (uint32_t i = 0; i < frames->getNumberOfFrames(); ++i)
          print(frames->getFrame(i));
      else
        consumeError(frames.takeError());
    }
    outs() << '\n';
    outs().flush();
  }
  return 0;
}
