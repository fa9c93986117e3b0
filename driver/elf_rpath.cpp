// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the headers of a program. The file is not trusted: every offset is checked by the reads themselves.
#include "elf_rpath.h"

#include <cstring>
#include <fstream>

#include <elf.h>

namespace wavesan::driver {

template <class T> static bool readAt(std::ifstream &in, uint64_t offset, T &out) {
  in.clear();
  in.seekg(std::streamoff(offset));
  return bool(in.read(reinterpret_cast<char *>(&out), sizeof out));
}

static bool readHeader(std::ifstream &in, Elf64_Ehdr &header) {
  return in && readAt(in, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_phentsize == sizeof(Elf64_Phdr);
}

std::string whyCutShort(const std::filesystem::path &file) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header;
  if (error || !readHeader(in, header))
    return {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!readAt(in, header.e_phoff + i * sizeof segment, segment))
      return "the file is cut short: it ends before its program headers";
    if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
      return "the file is cut short: it ends at byte " + std::to_string(size) + ", before its segments do";
  }
  return {};
}

bool hasForcingRpath(const std::filesystem::path &file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header;
  if (!readHeader(in, header))
    return false;
  bool rpath = false, runpath = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!readAt(in, header.e_phoff + i * sizeof segment, segment))
      return false;
    if (segment.p_type != PT_DYNAMIC)
      continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!readAt(in, segment.p_offset + at, entry) || entry.d_tag == DT_NULL)
        break;
      rpath |= entry.d_tag == DT_RPATH;
      runpath |= entry.d_tag == DT_RUNPATH;
    }
  }
  return rpath && !runpath;
}

} // namespace wavesan::driver
