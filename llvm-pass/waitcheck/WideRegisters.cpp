// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gfx1250 has 1024 vector registers, but encodings number 256: s_set_vgpr_msb supplies two more bits for each of four
// roles (first, second, third source, result) until it is executed again. Which register operand is in which field of
// an encoding is found by trying, as in FormLearning.cpp: the field gets another value, and the registers that move are
// the field's.
#include "IsaContext.h"

#include <optional>

namespace wavesan::waitcheck {
namespace {

using llvm::StringRef;

/// By their place in the mode: two bits each.
enum class Role : uint8_t { Source0, Source1, Source2, Result };

struct RoleField {
  uint8_t shift;
  bool source; ///< nine bits, of which the highest says that it is a vector register
  Role role;
};

std::vector<RoleField> fieldsOf(const EncodingWord &word, StringRef stem) {
  using R = Role;
  const uint32_t first = word.field(0, 32);
  const unsigned start = word.field(0, 9);
  const bool modified = start == 250 || start == 233 || start == 234; // DPP: the first source is in the next dword
  if (first >> 31 == 0) {
    // D = a * constant + b: b takes the third source's bits.
    const Role second = stem.contains("FMAMK") ? R::Source2 : R::Source1;
    std::vector<RoleField> fields = {{modified ? uint8_t(32) : uint8_t(0), !modified, R::Source0}};
    if (first >> 25 != 0x3f)
      fields.push_back({9, false, second});
    if (first >> 25 != 0x3e)
      fields.push_back({17, false, R::Result});
    return fields;
  }
  if (first >> 24 == 0xcf) // three-source pairs
    return {{0, true, R::Source0},  {48, false, R::Source1}, {56, false, R::Source2}, {64, false, R::Result},
            {32, true, R::Source0}, {72, false, R::Source1}, {80, false, R::Source2}, {88, false, R::Result}};
  switch (first >> 26) {
  case 0x32: { // pairs
    const size_t y = stem.find("_X_");
    const auto second = [](StringRef half) { return half.contains("FMAMK") ? R::Source2 : R::Source1; };
    const StringRef ofX = stem.take_front(y), ofY = y == StringRef::npos ? StringRef() : stem.drop_front(y);
    return {{0, true, R::Source0},  {9, false, second(ofX)},  {56, false, R::Result},
            {32, true, R::Source0}, {41, false, second(ofY)}, {49, false, R::Result}};
  }
  case 0x33:
  case 0x35: {
    const unsigned source0 = word.field(32, 9);
    const bool dpp = source0 == 250 || source0 == 233 || source0 == 234;
    return {{0, false, R::Result},
            {dpp ? uint8_t(64) : uint8_t(32), !dpp, R::Source0},
            {41, true, R::Source1},
            {50, true, R::Source2}};
  }
  case 0x36: // LDS
    return {{32, false, R::Source0}, {40, false, R::Source1}, {48, false, R::Source2}, {56, false, R::Result}};
  case 0x3b: // FLAT, GLOBAL, SCRATCH: address, data, result
    return {{64, false, R::Source0}, {55, false, R::Source1}, {32, false, R::Result}};
  case 0x31: // BUFFER: address; data and result
    return {{64, false, R::Source0}, {32, false, R::Result}};
  default:
    return {};
  }
}

} // namespace

bool IsaContext::hasVectorRegisters(const Decoded &d, const uint8_t *bytes) const {
  Operands all;
  operands(d, bytes, all);
  return std::any_of(all.all().begin(), all.all().end(), [&](const RegRef &r) { return slotIsVector[r.slot]; });
}

int IsaContext::decodeWide(llvm::ArrayRef<uint8_t> bytes, uint8_t mode, int plain) {
  if (!hasVectorRegisters(instructions[plain], bytes.data()))
    return plain;
  const unsigned size = instructions[plain].size;
  if (size > 12)
    return -1;
  std::string key(reinterpret_cast<const char *>(bytes.data()), size);
  key += static_cast<char>(mode);
  if (auto known = byMode.find(key); known != byMode.end())
    return known->second;
  int &result = byMode[key];
  result = -1;
  Probe base, other;
  const EncodingWord word = EncodingWord::read(bytes.data(), size / 4);
  if (!probe(word, base))
    return result;
  std::vector<std::optional<Role>> roles(base.registers.size());
  for (const RoleField &field : fieldsOf(word, opcodeStem(base.d.opcode))) {
    if (field.source && word.field(field.shift + 8, 1) == 0)
      continue;
    // Parity is kept, for tuples that must be even. What does not decode with any value is no field of this opcode.
    for (const uint32_t flip : {2u, 4u, 8u, 16u, 64u}) {
      const unsigned width = field.shift == 49 && word.field(26, 6) == 0x32 ? 7 : 8;
      EncodingWord changed = word;
      changed.setField(field.shift, width, word.field(field.shift, width) ^ (width == 7 ? flip >> 1 : flip));
      if (!probe(changed, other) || other.d.opcode != base.d.opcode || other.registers.size() != base.registers.size())
        continue;
      for (size_t r = 0; r < roles.size(); ++r)
        if (slotIsVector[base.registers[r].slot] && base.registers[r].slot != other.registers[r].slot)
          roles[r] = field.role;
      break;
    }
  }
  Decoded d = base.d;
  std::vector<RegRef> registers = base.registers;
  for (size_t r = 0; r < registers.size(); ++r) {
    if (!slotIsVector[registers[r].slot])
      continue;
    if (!roles[r])
      return result;
    registers[r].slot =
        static_cast<uint16_t>(registers[r].slot + 256 * (mode >> 2 * static_cast<unsigned>(*roles[r]) & 3));
  }
  d.wide = true;
  return byMode[key] = commit(d, registers);
}

} // namespace wavesan::waitcheck
