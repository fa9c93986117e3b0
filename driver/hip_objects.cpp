// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hip_objects.h"

#include "file_contents.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <functional>
#include <string_view>

namespace wavesan::driver {

/// The symbol stands in the string table of every object that clang made of a HIP source file, in archives too.
static bool registersGpuCode(std::string_view contents) {
  static constexpr std::string_view symbol = "__hipRegisterFatBinary";
  return std::search(contents.begin(), contents.end(),
                     std::boyer_moore_horspool_searcher(symbol.begin(), symbol.end())) != contents.end();
}

/// True if `contents` are those of an object that calls HIP: it has an undefined symbol hipXyz. False for anything
/// damaged.
static bool callsHip(std::string_view contents) {
  const auto read = [&](auto &to, uint64_t at) {
    if (at > contents.size() || sizeof(to) > contents.size() - at)
      return false;
    std::memcpy(&to, contents.data() + at, sizeof(to));
    return true;
  };
  Elf64_Ehdr header;
  if (!read(header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_REL ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  const auto section = [&](uint64_t index, Elf64_Shdr &to) {
    return index < header.e_shnum && read(to, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  Elf64_Shdr symbols, names;
  for (uint64_t i = 0; section(i, symbols); ++i) {
    if (symbols.sh_type != SHT_SYMTAB || !section(symbols.sh_link, names) || names.sh_offset > contents.size())
      continue;
    const std::string_view strings = contents.substr(names.sh_offset, names.sh_size);
    Elf64_Sym symbol;
    for (uint64_t at = 0; at < symbols.sh_size && read(symbol, symbols.sh_offset + at); at += sizeof(symbol)) {
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name >= strings.size())
        continue;
      const std::string_view name = strings.substr(symbol.st_name);
      if (name.starts_with("hip") && name.size() > 3 && name[3] >= 'A' && name[3] <= 'Z')
        return true;
    }
  }
  return false;
}

/// Words that say what is linked: HIP's library by any name, or nothing but what is named.
static bool decidesItself(const std::string &word) {
  return word.find("amdhip64") != std::string::npos || word == "-r" || word == "-Wl,-r" ||
         word == "-Wl,--relocatable" || word == "-nostdlib" || word == "-nodefaultlibs" ||
         word == "--no-offload-hip-link" || word == "--no-hip-rt";
}

bool linksHipObjects(const CompileLine &line) {
  if (line.phase != CompilePhase::Link || line.hasSource() || line.hipLink ||
      std::any_of(line.args.begin(), line.args.end(), decidesItself))
    return false;
  return std::any_of(line.inputs.begin(), line.inputs.end(), [](const CompileInput &input) {
    const std::string extension = std::filesystem::path(input.path).extension().string();
    std::error_code ignored;
    if ((extension != ".o" && extension != ".obj" && extension != ".a") ||
        !std::filesystem::is_regular_file(input.path, ignored))
      return false;
    const std::string contents = contentsOf(input.path);
    return registersGpuCode(contents) || callsHip(contents);
  });
}

} // namespace wavesan::driver
