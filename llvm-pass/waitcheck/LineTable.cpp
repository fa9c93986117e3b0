// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LineTable.h"

#include "LineProgram.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

#include <optional>

namespace wavesan::waitcheck {

using namespace llvm::object;

namespace {

void drop(llvm::Error e) { llvm::consumeError(std::move(e)); }

/// Before linking, addresses in a line table are zero and relocations say what they are. Each section gets a base of its own.
constexpr unsigned sectionShift = 40;

} // namespace

/// The sections, relocated where the file has not been linked, and the programs read from them. A damaged line table costs source
/// lines, never the check.
struct LineTable::Tables {
  llvm::StringMap<std::string> sections;
  std::optional<LinePrograms> programs;

  explicit Tables(const CodeObject &object) {
    auto file = ELFFile<ELF64LE>::create(object.image());
    if (!file) {
      drop(file.takeError());
      return;
    }
    auto headers = file->sections();
    if (!headers) {
      drop(headers.takeError());
      return;
    }
    for (const auto &h : *headers) {
      auto name = file->getSectionName(h);
      if (!name) {
        drop(name.takeError());
        continue;
      }
      if (*name != ".debug_line" && *name != ".debug_line_str" && *name != ".debug_str")
        continue;
      auto contents = file->getSectionContents(h);
      if (!contents) {
        drop(contents.takeError());
        continue;
      }
      std::string bytes(reinterpret_cast<const char *>(contents->data()), contents->size());
      if (object.isRelocatable())
        for (const auto &r : *headers)
          if (r.sh_type == llvm::ELF::SHT_RELA && r.sh_info == static_cast<uint64_t>(&h - headers->begin()))
            relocate(*file, *headers, r, bytes);
      sections[*name] = std::move(bytes);
    }
    programs.emplace(LineSections{sections[".debug_line"], sections[".debug_line_str"], sections[".debug_str"]});
  }

  static void relocate(const ELFFile<ELF64LE> &file, ELF64LE::ShdrRange headers, const ELF64LE::Shdr &table, std::string &bytes) {
    auto relocations = file.relas(table);
    if (!relocations)
      return drop(relocations.takeError());
    if (table.sh_link >= headers.size())
      return;
    auto symbols = file.symbols(&headers[table.sh_link]);
    if (!symbols)
      return drop(symbols.takeError());
    for (const ELF64LE::Rela &r : *relocations) {
      const uint32_t index = r.getSymbol(false);
      const uint32_t type = r.getType(false);
      const unsigned width = type == llvm::ELF::R_AMDGPU_ABS64 ? 8 : type == llvm::ELF::R_AMDGPU_ABS32 ? 4 : 0;
      if (index >= symbols->size() || width == 0 || r.r_offset > bytes.size() || bytes.size() - r.r_offset < width)
        continue;
      const ELF64LE::Sym &s = (*symbols)[index];
      uint64_t value = s.st_value + static_cast<uint64_t>(static_cast<int64_t>(r.r_addend));
      if (width == 8)
        llvm::support::endian::write64le(bytes.data() + r.r_offset, value + (uint64_t(s.st_shndx) << sectionShift));
      else
        llvm::support::endian::write32le(bytes.data() + r.r_offset, static_cast<uint32_t>(value));
    }
  }
};

LineTable::LineTable(const CodeObject &object) : object(object) {}
LineTable::~LineTable() = default;

void LineTable::locate(uint64_t address, uint64_t section, Place &place) {
  if (!tables)
    tables = std::make_unique<Tables>(object);
  if (object.isRelocatable())
    address += section << sectionShift;
  LinePrograms::Found found;
  if (tables->programs && tables->programs->lookup(address, found)) {
    place.file = std::move(found.file);
    place.line = found.line;
    place.column = found.column;
  }
}

} // namespace wavesan::waitcheck
