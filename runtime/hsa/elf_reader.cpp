// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf_reader.h"

#include <cstdint>
#include <cstring>
#include <elf.h>

namespace wavesan::hsa {

namespace {

/// Reads a T at `offset`, wherever it is aligned.
template <class T> bool readAt(std::string_view bytes, uint64_t offset, T &value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

constexpr uint32_t kNoName = ~0u;

std::optional<std::string_view> findNote(std::string_view notes, uint64_t align, std::string_view owner,
                                         uint32_t type) {
  auto padded = [&](uint64_t n) { return (n + align - 1) / align * align; };
  uint64_t at = 0;
  Elf64_Nhdr head;
  while (readAt(notes, at, head)) {
    uint64_t nameAt = at + sizeof(head);
    uint64_t descriptorAt = padded(nameAt + head.n_namesz);
    uint64_t end = descriptorAt + head.n_descsz; // 32-bit sizes: no overflow
    if (end > notes.size())
      return std::nullopt;
    std::string_view name = notes.substr(nameAt, head.n_namesz);
    while (!name.empty() && name.back() == '\0')
      name.remove_suffix(1);
    if (name == owner && head.n_type == type)
      return notes.substr(descriptorAt, head.n_descsz);
    at = padded(end);
  }
  return std::nullopt;
}

} // namespace

std::optional<ElfReader> ElfReader::open(std::string_view bytes, std::string &error) {
  auto fail = [&](const char *why) -> std::optional<ElfReader> {
    error = std::string("code object: ") + why;
    return std::nullopt;
  };
  Elf64_Ehdr head;
  if (!readAt(bytes, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return fail("not an ELF file");
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("not a 64-bit little-endian ELF file");
  ElfReader reader;
  reader.Bytes = bytes;

  if (head.e_shoff != 0) {
    Elf64_Shdr first;
    if (head.e_shentsize != sizeof(Elf64_Shdr) || !readAt(bytes, head.e_shoff, first))
      return fail("section headers outside the file");
    // Counts that do not fit into the header are kept in section 0.
    uint64_t count = head.e_shnum != 0 ? head.e_shnum : first.sh_size;
    uint64_t nameIndex = head.e_shstrndx != SHN_XINDEX ? head.e_shstrndx : first.sh_link;
    if (count > (bytes.size() - head.e_shoff) / sizeof(Elf64_Shdr))
      return fail("section headers outside the file");
    for (uint64_t i = 0; i < count; ++i) {
      Elf64_Shdr s;
      readAt(bytes, head.e_shoff + i * sizeof(s), s);
      reader.Sections.push_back({s.sh_offset, s.sh_size, s.sh_name, s.sh_type == SHT_NOTE, s.sh_type != SHT_NOBITS,
                                 s.sh_addralign, s.sh_type, s.sh_link});
    }
    if (nameIndex < count)
      reader.Names = reader.slice(reader.Sections[nameIndex]).value_or(std::string_view());
  }
  if (head.e_phoff != 0 && head.e_phnum != 0) {
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > bytes.size() ||
        head.e_phnum > (bytes.size() - head.e_phoff) / sizeof(Elf64_Phdr))
      return fail("program headers outside the file");
    for (uint64_t i = 0; i < head.e_phnum; ++i) {
      Elf64_Phdr p;
      readAt(bytes, head.e_phoff + i * sizeof(p), p);
      reader.Segments.push_back({p.p_offset, p.p_filesz, kNoName, p.p_type == PT_NOTE, true, p.p_align});
    }
  }
  return reader;
}

std::optional<std::string_view> ElfReader::slice(const Range &range) const {
  if (!range.hasBytes || range.offset > Bytes.size() || range.size > Bytes.size() - range.offset)
    return std::nullopt;
  return Bytes.substr(range.offset, range.size);
}

std::optional<std::string_view> ElfReader::section(std::string_view name) const {
  for (const Range &s : Sections) {
    if (s.name >= Names.size())
      continue;
    std::string_view text = Names.substr(s.name);
    size_t end = text.find('\0');
    if (end != std::string_view::npos && text.substr(0, end) == name)
      return slice(s);
  }
  return std::nullopt;
}

std::vector<ElfReader::Object> ElfReader::objects() const {
  std::vector<Object> out;
  for (const Range &section : Sections) {
    if (section.type != SHT_SYMTAB || section.link >= Sections.size())
      continue;
    std::string_view table = slice(section).value_or(std::string_view());
    std::string_view names = slice(Sections[section.link]).value_or(std::string_view());
    Elf64_Sym symbol;
    for (uint64_t at = 0; readAt(table, at, symbol); at += sizeof(symbol)) {
      bool isData = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
                    (symbol.st_shndx < SHN_LORESERVE || symbol.st_shndx == SHN_XINDEX) && symbol.st_size != 0;
      size_t end = symbol.st_name < names.size() ? names.find('\0', symbol.st_name) : std::string_view::npos;
      if (isData && end != std::string_view::npos && end != symbol.st_name)
        out.push_back({names.substr(symbol.st_name, end - symbol.st_name), symbol.st_value, symbol.st_size});
    }
  }
  return out;
}

std::optional<std::string_view> ElfReader::note(std::string_view owner, uint32_t type) const {
  for (const std::vector<Range> *ranges : {&Segments, &Sections}) {
    for (const Range &range : *ranges) {
      if (!range.isNote)
        continue;
      std::optional<std::string_view> bytes = slice(range);
      if (!bytes)
        continue;
      if (auto found = findNote(*bytes, range.align == 8 ? 8 : 4, owner, type))
        return found;
    }
  }
  return std::nullopt;
}

} // namespace wavesan::hsa
