// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LineTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

#include <vector>

namespace wavesan::waitcheck {

using namespace llvm::object;

namespace {

void drop(llvm::Error e) { llvm::consumeError(std::move(e)); }

/// Before linking, addresses in a line table are zero and relocations say what they are. Each section gets a base of its own.
constexpr unsigned sectionShift = 40;

} // namespace

/// Only .debug_line and its strings are read, from sections extracted here: LLVM's convenience functions also walk .debug_info and
/// relocations, and end the process on damaged ones. A damaged line table costs source lines, never the check.
struct LineTable::Tables {
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sections;
  std::unique_ptr<llvm::DWARFContext> context;
  std::vector<llvm::DWARFDebugLine::LineTable> all;

  explicit Tables(const CodeObject &object) {
    auto file = ELFFile<ELF64LE>::create(object.image());
    if (!file)
      return drop(file.takeError());
    auto headers = file->sections();
    if (!headers)
      return drop(headers.takeError());
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
      sections[name->drop_front()] = llvm::MemoryBuffer::getMemBufferCopy(bytes, *name);
    }
    if (!sections.count("debug_line"))
      return;
    context = llvm::DWARFContext::create(sections, /*AddrSize=*/8, /*isLittleEndian=*/true, drop, drop);
    const llvm::DWARFObject &dwarf = context->getDWARFObj();
    llvm::DWARFDataExtractor data(dwarf, dwarf.getLineSection(), /*IsLittleEndian=*/true, /*AddressSize=*/8);
    const llvm::DWARFUnitVector::iterator_range noUnits(nullptr, nullptr);
    llvm::DWARFDebugLine::SectionParser parser(data, *context, noUnits);
    while (!parser.done())
      all.push_back(parser.parseNext(drop, drop));
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
  llvm::DILineInfo line;
  for (const llvm::DWARFDebugLine::LineTable &t : tables->all) {
    if (!t.getFileLineInfoForAddress({address, llvm::object::SectionedAddress::UndefSection}, /*Approximate=*/false, "",
                                     llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, line) ||
        line.Line == 0 || line.FileName == llvm::DILineInfo::BadString)
      continue;
    place.file = line.FileName;
    place.line = line.Line;
    place.column = line.Column;
    return;
  }
}

} // namespace wavesan::waitcheck
