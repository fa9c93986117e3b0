// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf_view.h"

#include <algorithm>
#include <cstring>

namespace wavesan::agent {
namespace {

bool isInside(std::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// Copies a table of `count` entries out of the image. False if it does not lie in it.
template <class Entry>
bool readTable(std::string_view bytes, uint64_t offset, uint64_t count, uint64_t entrySize, std::vector<Entry> &out) {
  if (count == 0)
    return true;
  if (entrySize != sizeof(Entry) || !isInside(bytes, offset, count * sizeof(Entry)))
    return false;
  out.resize(count);
  std::memcpy(static_cast<void *>(out.data()), bytes.data() + offset, count * sizeof(Entry));
  return true;
}

std::string_view findNoteIn(std::string_view notes, std::string_view owner, uint32_t type) {
  auto padded = [](uint64_t n) { return (n + 3) / 4 * 4; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    if (padded(note.n_namesz) > notes.size())
      return {};
    const std::string_view name = notes.substr(0, note.n_namesz);
    notes.remove_prefix(padded(note.n_namesz));
    if (note.n_descsz > notes.size())
      return {};
    if (note.n_type == type && !name.empty() && name.back() == '\0' && name.substr(0, name.size() - 1) == owner)
      return notes.substr(0, note.n_descsz);
    notes.remove_prefix(std::min<uint64_t>(padded(note.n_descsz), notes.size()));
  }
  return {};
}

} // namespace

std::optional<ElfView> ElfView::parse(std::string_view bytes, std::string &error) {
  auto fail = [&](const char *what) {
    error = what;
    return std::nullopt;
  };
  ElfView view;
  view.Bytes = bytes;
  if (bytes.size() < sizeof(Elf64_Ehdr))
    return fail("shorter than an ELF header");
  std::memcpy(&view.Header, bytes.data(), sizeof(view.Header));
  const Elf64_Ehdr &h = view.Header;
  if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
      h.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("not a 64-bit little-endian ELF image");
  // Counts are 16 bits wide; images with more entries store them elsewhere, which no code object does.
  if (!readTable(bytes, h.e_phoff, h.e_phnum, h.e_phentsize, view.Segments))
    return fail("program header table outside of the image");
  if (!readTable(bytes, h.e_shoff, h.e_shnum, h.e_shentsize, view.Sections))
    return fail("section header table outside of the image");
  for (const Elf64_Phdr &p : view.Segments)
    if (!isInside(bytes, p.p_offset, p.p_filesz))
      return fail("segment outside of the image");
  for (const Elf64_Shdr &s : view.Sections)
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !isInside(bytes, s.sh_offset, s.sh_size))
      return fail("section outside of the image");
  if (!view.Sections.empty()) {
    if (h.e_shstrndx >= view.Sections.size())
      return fail("section name table does not exist");
    const Elf64_Shdr &names = view.Sections[h.e_shstrndx];
    if (names.sh_type == SHT_NULL)
      return fail("section name table does not exist");
    view.SectionNames = view.sectionBytes(names);
  }
  return view;
}

std::optional<std::string_view> ElfView::stringAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size())
    return std::nullopt;
  table.remove_prefix(offset);
  const size_t end = table.find('\0');
  if (end == std::string_view::npos)
    return std::nullopt;
  return table.substr(0, end);
}

std::string_view ElfView::sectionName(const Elf64_Shdr &section) const {
  return stringAt(SectionNames, section.sh_name).value_or(std::string_view());
}

std::string_view ElfView::findNote(std::string_view owner, uint32_t type) const {
  for (const Elf64_Phdr &p : Segments)
    if (p.p_type == PT_NOTE)
      if (std::string_view found = findNoteIn(segmentBytes(p), owner, type); !found.empty())
        return found;
  return {};
}

const Elf64_Shdr *ElfView::findSection(std::string_view name) const {
  for (const Elf64_Shdr &s : Sections)
    if (s.sh_type != SHT_NULL && sectionName(s) == name)
      return &s;
  return nullptr;
}

} // namespace wavesan::agent
