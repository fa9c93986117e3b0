// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checked view of a 64-bit little-endian ELF image in memory.
//
// parse() verifies that every table and every section and segment lies inside the image; whoever holds a view can use
// the accessors without further checks. Addresses inside the image's own address space are not checked here. The bytes
// need not be aligned; they must outlive the view.
#ifndef WAVESAN_CPU_AGENT_ELF_VIEW_H
#define WAVESAN_CPU_AGENT_ELF_VIEW_H

#include <elf.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::agent {

class ElfView {
public:
  /// Nothing and one line in `error` if the image is malformed.
  static std::optional<ElfView> parse(std::string_view bytes, std::string &error);

  const Elf64_Ehdr &header() const { return Header; }
  const std::vector<Elf64_Phdr> &segments() const { return Segments; }
  const std::vector<Elf64_Shdr> &sections() const { return Sections; }
  std::string_view bytes() const { return Bytes; }

  /// File contents; empty for SHT_NOBITS and SHT_NULL, whose offset and size parse() does not look at.
  std::string_view sectionBytes(const Elf64_Shdr &section) const {
    const bool inFile = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    return inFile ? Bytes.substr(section.sh_offset, section.sh_size) : std::string_view();
  }
  std::string_view segmentBytes(const Elf64_Phdr &segment) const {
    return Bytes.substr(segment.p_offset, segment.p_filesz);
  }
  std::string_view sectionName(const Elf64_Shdr &section) const;
  /// The first section of this name, or null.
  const Elf64_Shdr *findSection(std::string_view name) const;

  /// The description of the first note of this owner and type in a note segment; empty if there is none.
  std::string_view findNote(std::string_view owner, uint32_t type) const;

  /// The zero-terminated string at `offset` of a string table; nothing if it does not lie in it.
  static std::optional<std::string_view> stringAt(std::string_view table, uint64_t offset);

private:
  std::string_view Bytes;
  Elf64_Ehdr Header;
  std::vector<Elf64_Phdr> Segments;
  std::vector<Elf64_Shdr> Sections;
  std::string_view SectionNames;
};

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_ELF_VIEW_H
