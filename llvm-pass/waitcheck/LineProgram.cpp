// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LineProgram.h"

#include "llvm/BinaryFormat/Dwarf.h"

#include <algorithm>

namespace wavesan::waitcheck {

using llvm::StringRef;
namespace dwarf = llvm::dwarf;

/// Bytes with bounds: reading past the end sets `bad` and yields zero, so that loops need only one check.
class LinePrograms::Reader {
public:
  Reader(StringRef bytes, const LineSections &sections) : bytes(bytes), sections(sections) {}

  bool bad = false;
  uint64_t at = 0;
  bool atEnd() const { return bad || at >= bytes.size(); }

  uint64_t fixed(unsigned width) {
    if (bad || bytes.size() - at < width) {
      bad = true;
      return 0;
    }
    uint64_t v = 0;
    for (unsigned i = 0; i < width; ++i)
      v |= uint64_t(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
    at += width;
    return v;
  }
  uint64_t uleb() {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint64_t b = fixed(1);
      if (bad)
        return 0;
      if (shift < 64)
        v |= (b & 127) << shift;
      if (!(b & 128))
        return v;
    }
  }
  int64_t sleb() {
    uint64_t v = 0;
    for (unsigned shift = 0;;) {
      const uint64_t b = fixed(1);
      if (bad)
        return 0;
      if (shift < 64)
        v |= (b & 127) << shift;
      shift += 7;
      if (!(b & 128)) {
        if (shift < 64 && (b & 64))
          v |= ~uint64_t(0) << shift;
        return static_cast<int64_t>(v);
      }
    }
  }
  StringRef string() {
    const size_t end = bad ? StringRef::npos : bytes.find('\0', at);
    if (end == StringRef::npos) {
      bad = true;
      return {};
    }
    const StringRef s = bytes.slice(at, end);
    at = end + 1;
    return s;
  }
  void skip(uint64_t n) {
    if (bad || n > bytes.size() - at)
      bad = true;
    else
      at += n;
  }
  /// A value of an entry of the directory or file table.
  std::pair<StringRef, uint64_t> value(uint64_t form, unsigned offsetSize) {
    switch (form) {
    case dwarf::DW_FORM_string:
      return {string(), 0};
    case dwarf::DW_FORM_line_strp:
      return {stringAt(sections.lineStr, fixed(offsetSize)), 0};
    case dwarf::DW_FORM_strp:
      return {stringAt(sections.str, fixed(offsetSize)), 0};
    case dwarf::DW_FORM_udata:
      return {{}, uleb()};
    case dwarf::DW_FORM_data1:
      return {{}, fixed(1)};
    case dwarf::DW_FORM_data2:
      return {{}, fixed(2)};
    case dwarf::DW_FORM_data4:
      return {{}, fixed(4)};
    case dwarf::DW_FORM_data8:
      return {{}, fixed(8)};
    case dwarf::DW_FORM_data16:
      skip(16);
      return {};
    case dwarf::DW_FORM_block:
      skip(uleb());
      return {};
    default:
      bad = true; // its size is unknown
      return {};
    }
  }

  void unit(LinePrograms &to);

private:
  StringRef stringAt(StringRef section, uint64_t offset) {
    if (offset >= section.size())
      return {};
    return section.drop_front(offset).take_until([](char c) { return c == 0; });
  }
  void names(uint64_t version, unsigned offsetSize, Unit &u);
  void program(LinePrograms &to, size_t unitIndex);

  StringRef bytes;
  const LineSections &sections;
  uint64_t minLength = 1, opcodeBase = 1;
  int64_t lineBase = 0;
  uint64_t lineRange = 1;
  std::vector<uint8_t> operandCounts;
};

namespace {

std::string join(const std::string &directory, StringRef name) {
  if (name.starts_with("/") || directory.empty())
    return name.str();
  return directory + "/" + name.str();
}

} // namespace

void LinePrograms::Reader::names(uint64_t version, unsigned offsetSize, Unit &u) {
  std::vector<std::string> directories;
  if (version < 5) {
    directories.emplace_back(); // the compilation directory, which is not here
    for (StringRef d = string(); !bad && !d.empty(); d = string())
      directories.push_back(d.str());
    u.files.emplace_back();
    for (StringRef f = string(); !bad && !f.empty(); f = string()) {
      const uint64_t directory = uleb();
      uleb();
      uleb();
      u.files.push_back(join(directory < directories.size() ? directories[directory] : "", f));
    }
    return;
  }
  for (bool forFiles : {false, true}) {
    std::vector<std::pair<uint64_t, uint64_t>> formats(fixed(1));
    for (auto &[type, form] : formats) {
      type = uleb();
      form = uleb();
    }
    const uint64_t count = uleb();
    for (uint64_t i = 0; i < count && !bad; ++i) {
      const uint64_t before = at;
      StringRef path;
      uint64_t directory = 0;
      for (const auto &[type, form] : formats) {
        const auto [text, number] = value(form, offsetSize);
        if (type == dwarf::DW_LNCT_path)
          path = text;
        else if (type == dwarf::DW_LNCT_directory_index)
          directory = number;
      }
      if (at == before) { // entries without content: a count that nothing bounds
        bad = true;
        return;
      }
      if (forFiles)
        u.files.push_back(join(directory < directories.size() ? directories[directory] : "", path));
      else
        directories.push_back(i == 0 ? path.str() : join(directories[0], path));
    }
  }
}

void LinePrograms::Reader::unit(LinePrograms &to) {
  // `bytes` is this unit, behind its length.
  const uint64_t version = fixed(2);
  if (version < 2 || version > 5)
    return;
  if (version == 5)
    skip(2); // address and segment selector sizes
  const unsigned offsetSize = 4;
  const uint64_t headerLength = fixed(offsetSize);
  const uint64_t programStart = at + headerLength;
  minLength = fixed(1);
  if (version >= 4)
    skip(1); // operations per instruction
  skip(1);   // default is_stmt
  lineBase = static_cast<int8_t>(fixed(1));
  lineRange = fixed(1);
  opcodeBase = fixed(1);
  for (uint64_t i = 1; i < opcodeBase; ++i)
    operandCounts.push_back(static_cast<uint8_t>(fixed(1)));
  Unit u;
  names(version, offsetSize, u);
  if (bad || lineRange == 0 || programStart > bytes.size())
    return;
  to.units.push_back(std::move(u));
  at = programStart;
  program(to, to.units.size() - 1);
}

void LinePrograms::Reader::program(LinePrograms &to, size_t unitIndex) {
  Row row{0, 1, 1, 0};
  size_t first = to.rows.size();
  auto advance = [&](uint64_t operation) { row.address += operation * minLength; };
  auto finish = [&] {
    if (to.rows.size() > first && row.address > to.rows[first].address)
      to.sequences.push_back({to.rows[first].address, row.address, first, to.rows.size(), unitIndex});
    else
      to.rows.resize(first);
    first = to.rows.size();
    row = {0, 1, 1, 0};
  };
  while (!atEnd()) {
    const uint64_t opcode = fixed(1);
    if (opcode >= opcodeBase) {
      const uint64_t adjusted = opcode - opcodeBase;
      advance(adjusted / lineRange);
      row.line += static_cast<uint32_t>(lineBase + static_cast<int64_t>(adjusted % lineRange));
      to.rows.push_back(row);
      continue;
    }
    switch (opcode) {
    case 0: {
      const uint64_t length = uleb(), end = at + length;
      if (bad || length == 0 || end > bytes.size() || end < at) {
        bad = true;
        break;
      }
      const uint64_t extended = fixed(1);
      if (extended == dwarf::DW_LNE_end_sequence)
        finish();
      else if (extended == dwarf::DW_LNE_set_address)
        row.address = fixed(static_cast<unsigned>(std::min<uint64_t>(length - 1, 8)));
      at = end;
      break;
    }
    case dwarf::DW_LNS_copy:
      to.rows.push_back(row);
      break;
    case dwarf::DW_LNS_advance_pc:
      advance(uleb());
      break;
    case dwarf::DW_LNS_advance_line:
      row.line += static_cast<uint32_t>(sleb());
      break;
    case dwarf::DW_LNS_set_file:
      row.file = static_cast<uint32_t>(uleb());
      break;
    case dwarf::DW_LNS_set_column:
      row.column = static_cast<uint32_t>(uleb());
      break;
    case dwarf::DW_LNS_const_add_pc:
      advance((255 - opcodeBase) / lineRange);
      break;
    case dwarf::DW_LNS_fixed_advance_pc:
      row.address += fixed(2);
      break;
    default: // operands of opcodes that do not matter here
      for (unsigned i = 0; opcode - 1 < operandCounts.size() && i < operandCounts[opcode - 1]; ++i)
        uleb();
    }
  }
  to.rows.resize(first); // a sequence without an end
}

LinePrograms::LinePrograms(const LineSections &sections) {
  StringRef rest = sections.line;
  while (rest.size() >= 4) {
    Reader head(rest, sections);
    const uint64_t length = head.fixed(4);
    if (length >= 0xfffffff0u || length > rest.size() - 4) // 64-bit DWARF is not used for this target
      break;
    Reader(rest.substr(4, length), sections).unit(*this);
    rest = rest.drop_front(4 + length);
  }
  std::sort(sequences.begin(), sequences.end(), [](const Sequence &a, const Sequence &b) { return a.begin < b.begin; });
}

bool LinePrograms::lookup(uint64_t address, Found &found) const {
  auto s = std::upper_bound(sequences.begin(), sequences.end(), address, [](uint64_t a, const Sequence &x) { return a < x.begin; });
  while (s != sequences.begin()) {
    --s;
    if (address >= s->end)
      continue; // sequences may overlap; an earlier one may reach further
    // The last row at or below the address. Rows of a sequence ascend in sound files; in others any row will do.
    const Row *row = nullptr;
    auto last = std::upper_bound(rows.begin() + s->firstRow, rows.begin() + s->lastRow, address,
                                 [](uint64_t a, const Row &r) { return a < r.address; });
    if (last != rows.begin() + s->firstRow)
      row = &*(last - 1);
    if (!row || row->line == 0 || row->file >= units[s->unit].files.size())
      return false;
    found = {units[s->unit].files[row->file], row->line, row->column};
    return !found.file.empty();
  }
  return false;
}

} // namespace wavesan::waitcheck
