// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a form is learned from examples. Each open field gets a range of other values, one field at a time, and everything that the analysis
// asks of the result must stay the same, except for registers that move along with a register field. Then some words with all fields
// changed together are decoded and compared with what the form says. What does not come out that way is decoded one by one, as ever.
#include "IsaContext.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace wavesan::waitcheck {
namespace {

/// So many encodings of one form are decoded one by one before the form is learned: small programs never pay for it.
constexpr unsigned examplesBeforeLearning = 12;
constexpr unsigned jointTrials = 16;

bool sameEffect(const Effect &a, const Effect &b) {
  return a.cls == b.cls && a.ages == b.ages && a.registers == b.registers && a.locksSources == b.locksSources && a.hasItem == b.hasItem &&
         a.item == b.item;
}

/// Everything but the registers.
bool sameFacts(const Decoded &a, const Decoded &b) {
  if (a.opcode != b.opcode || a.size != b.size || a.numEffects != b.numEffects || a.wait != b.wait || a.unsupported != b.unsupported ||
      a.waitUnknown != b.waitUnknown || a.hasTarget != b.hasTarget || a.relativeTarget != b.relativeTarget || a.immediate != b.immediate ||
      a.numUses != b.numUses || a.numDefs != b.numDefs || a.numData != b.numData || !(a.scalar == b.scalar))
    return false;
  for (unsigned e = 0; e < a.numEffects; ++e)
    if (!sameEffect(a.effects[e], b.effects[e]))
      return false;
  return true;
}

/// The values that a field is tried with: all near its ends, and some in between.
std::vector<uint32_t> valuesFor(unsigned width) {
  const uint32_t last = (1u << width) - 1;
  std::vector<uint32_t> values;
  for (uint32_t v = 0; v <= last; ++v)
    if (v < 6 || v > last - 34 || v % 23 == 0 || v % 26 == 1 || (v > last / 2 - 2 && v < last / 2 + 4))
      values.push_back(v);
  return values;
}

} // namespace

/// How registers follow one field.
struct IsaContext::Movement {
  uint16_t limit = 0; ///< largest value
  bool evenOnly = false;
  uint8_t scale = 0; ///< registers per step; 0: none moves
  llvm::SmallVector<bool, 32> moves; ///< by register
};

bool IsaContext::probe(const EncodingWord &word, Probe &p) const {
  uint8_t bytes[24] = {};
  word.write(bytes);
  p.registers.clear();
  p.d = Decoded();
  return decodeRaw(bytes, p.d, p.registers);
}

bool IsaContext::tryIgnored(const EncodingWord &word, const EncodingField &field, const Probe &base) const {
  std::vector<uint32_t> values = {0, 0xffffffff, 0x55555555, 0xaaaaaaaa, 0x0f0f0f0f, 0x12345678};
  for (unsigned bit = 0; bit < field.width; ++bit)
    values.push_back(1u << bit);
  Probe p;
  for (uint32_t v : values) {
    EncodingWord other = word;
    other.setField(field.shift, field.width, v);
    if (!probe(other, p) || !sameFacts(p.d, base.d) || !(p.registers == base.registers))
      return false;
  }
  return true;
}

bool IsaContext::tryRegister(const EncodingWord &word, const EncodingField &field, const Probe &base, Movement &m) const {
  const uint32_t from = word.field(field.shift, field.width);
  const size_t n = base.registers.size();
  m.moves.assign(n, false);
  bool learned = false;
  std::vector<uint32_t> good, bad;
  Probe p;
  for (uint32_t v : valuesFor(field.width)) {
    if (v == from) {
      good.push_back(v);
      continue;
    }
    EncodingWord other = word;
    other.setField(field.shift, field.width, v);
    if (!probe(other, p)) {
      bad.push_back(v);
      continue;
    }
    good.push_back(v);
    if (!sameFacts(p.d, base.d) || p.registers.size() != n)
      return false;
    const int delta = static_cast<int>(v) - static_cast<int>(from);
    for (size_t r = 0; r < n; ++r) {
      const RegRef was = base.registers[r], is = p.registers[r];
      const int moved = int(is.slot) - int(was.slot);
      if (was.mask != is.mask)
        return false;
      if (!learned && moved != 0) {
        if (moved % delta != 0 || (moved / delta != 1 && moved / delta != 2) || (m.scale != 0 && m.scale != moved / delta))
          return false;
        m.scale = static_cast<uint8_t>(moved / delta);
        m.moves[r] = true;
      }
      if (moved != (m.moves[r] ? delta * m.scale : 0))
        return false;
    }
    learned = true;
  }
  if (!learned)
    return false;
  // What does not decode must lie behind a limit (a register tuple that would end beyond the last register), or be odd throughout.
  m.limit = static_cast<uint16_t>(*std::max_element(good.begin(), good.end()));
  m.evenOnly = std::none_of(good.begin(), good.end(), [](uint32_t v) { return v & 1; });
  for (uint32_t v : bad)
    if (v <= m.limit && !(m.evenOnly && (v & 1)))
      return false;
  return true;
}

/// The form with as many of the chosen fields open as may be, or -1. `chosen` then tells which those are.
int IsaContext::makeForm(const EncodingWord &word, const EncodingLayout &layout, unsigned &chosen) {
  Probe base;
  if (!probe(word, base) || base.d.size != 4 * layout.dwords)
    return -1;
  Decoded form = base.d;
  std::vector<RegRef> registers = base.registers;
  unsigned accepted = 0;
  for (unsigned i = 0; i < layout.numFields; ++i) {
    const EncodingField &field = layout.fields[i];
    if (!(chosen >> i & 1) || !isOpen(field, word))
      continue;
    if (field.kind == FieldKind::Ignored) {
      if (tryIgnored(word, field, base))
        accepted |= 1u << i;
      continue;
    }
    Movement m;
    if (!tryRegister(word, field, base, m))
      continue;
    accepted |= 1u << i;
    OpenField &open = form.fields[form.numFields++];
    open = {field.shift, field.width, m.scale, m.evenOnly, m.limit};
    const uint32_t from = word.field(field.shift, field.width);
    for (size_t r = 0; r < registers.size(); ++r)
      if (m.moves[r]) {
        registers[r].slot = static_cast<uint16_t>(registers[r].slot - m.scale * from);
        registers[r].field = form.numFields;
      }
  }
  chosen = accepted;
  if (accepted == 0)
    return -1;
  // All fields together.
  uint64_t seed = word.low ^ 0x9e3779b97f4a7c15u;
  const size_t poolBefore = pool.size();
  const int index = commit(form, registers);
  Operands predicted;
  Probe p;
  for (unsigned trial = 0; trial < jointTrials; ++trial) {
    EncodingWord other = word;
    for (unsigned i = 0; i < layout.numFields; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      if (accepted >> i & 1)
        other.setField(layout.fields[i].shift, layout.fields[i].width, static_cast<uint32_t>(seed >> 33));
    }
    // Two operands that name one register are worth a try of their own.
    if (trial % 4 == 3)
      for (unsigned k = 1; k < form.numFields; ++k)
        other.setField(form.fields[k].shift, form.fields[k].width, other.field(form.fields[0].shift, form.fields[0].width));
    if (!fits(instructions[index], other))
      continue;
    uint8_t bytes[24] = {};
    other.write(bytes);
    operands(instructions[index], bytes, predicted);
    bool same = probe(other, p) && sameFacts(p.d, form) && p.registers.size() == predicted.all().size();
    for (size_t r = 0; same && r < p.registers.size(); ++r)
      same = p.registers[r].slot == predicted.all()[r].slot && p.registers[r].mask == predicted.all()[r].mask;
    if (!same) {
      instructions.pop_back();
      pool.resize(poolBefore);
      return -1;
    }
  }
  return index;
}

int IsaContext::decode(llvm::ArrayRef<uint8_t> bytes) {
  if (bytes.size() < 4)
    return -1;
  const EncodingLayout *layout = layoutOf(target.generation->encoding, EncodingWord::read(bytes.data(), 1).low);
  if (!layout || bytes.size() < 4u * layout->dwords)
    return cached(bytes);
  const EncodingWord word = EncodingWord::read(bytes.data(), layout->dwords);
  FormTable::Entry *entry = &forms.get(word.without(openBits(*layout, word, allFields)));
  unsigned chosen = allFields;
  if (entry->state == FormTable::State::Partial) {
    chosen = entry->accepted;
    entry = &partialForms.get(word.without(openBits(*layout, word, chosen)));
  }
  if (entry->state == FormTable::State::Fresh) {
    if (++entry->seen < examplesBeforeLearning)
      return cached(bytes);
    learn(*entry, *layout, word, chosen);
    if (entry->state == FormTable::State::Partial)
      return cached(bytes);
  }
  if (entry->state == FormTable::State::Known && fits(instructions[entry->form], word))
    return entry->form;
  return cached(bytes);
}

void IsaContext::fillForm(const Decoded &d, const uint8_t *bytes, Operands &to) const {
  const EncodingWord word = EncodingWord::read(bytes, d.size / 4);
  uint16_t values[7] = {};
  for (unsigned i = 0; i < d.numFields; ++i)
    values[i + 1] = static_cast<uint16_t>(word.field(d.fields[i].shift, d.fields[i].width) * d.fields[i].scale);
  const unsigned n = d.numUses + d.numDefs + d.numData;
  to.own.resize_for_overwrite(n);
  const RegRef *from = to.first;
  for (unsigned i = 0; i < n; ++i)
    to.own[i] = {static_cast<uint16_t>(from[i].slot + values[from[i].field]), from[i].mask, 0};
  to.first = to.own.data();
}

void IsaContext::learn(FormTable::Entry &entry, const EncodingLayout &layout, const EncodingWord &word, unsigned chosen) {
  const bool first = chosen == allFields;
  unsigned accepted = 0;
  for (unsigned i = 0; i < layout.numFields; ++i)
    if ((chosen >> i & 1) && isOpen(layout.fields[i], word))
      accepted |= 1u << i;
  const unsigned wanted = accepted;
  const int form = makeForm(word, layout, accepted);
  entry.state = FormTable::State::Rejected;
  if (form < 0)
    return;
  if (accepted == wanted) {
    entry.form = form;
    entry.state = FormTable::State::Known;
  } else if (first) {
    // The form just made has the other fields' values built in: the second table will ask for it again.
    entry.accepted = static_cast<uint8_t>(accepted);
    entry.state = FormTable::State::Partial;
  }
}

} // namespace wavesan::waitcheck
