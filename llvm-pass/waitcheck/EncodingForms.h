// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodings with their register numbers and offsets taken out.
//
// Generated kernels hardly repeat an instruction, but they repeat its form: the same opcode with other vector registers, or another
// offset. So decoding is remembered per form. A layout names the fields of an encoding that may be open; whether a field of an opcode is
// what the layout says is not believed but tried with LLVM's disassembler (FormLearning.cpp).
#ifndef WAVESAN_WAITCHECK_ENCODINGFORMS_H
#define WAVESAN_WAITCHECK_ENCODINGFORMS_H

#include "Generations.h"

#include <array>
#include <vector>

namespace wavesan::waitcheck {

/// Up to three dwords of an instruction; those that a layout does not have are zero.
struct EncodingWord {
  uint64_t low = 0;
  uint32_t high = 0;

  static EncodingWord read(const uint8_t *bytes, unsigned dwords);
  void write(uint8_t *bytes) const; ///< 12 bytes

  /// `width` bits from `shift`; fields do not cross the boundary between low and high.
  uint32_t field(unsigned shift, unsigned width) const {
    const uint64_t part = shift < 64 ? low >> shift : uint64_t(high) >> (shift - 64);
    return static_cast<uint32_t>(part & ((uint64_t(1) << width) - 1));
  }
  void setField(unsigned shift, unsigned width, uint32_t value);
  EncodingWord without(const EncodingWord &mask) const { return {low & ~mask.low, high & ~mask.high}; }
  bool operator==(const EncodingWord &) const = default;
};

enum class FieldKind : uint8_t {
  Register, ///< number of a vector register, or a multiple of it
  Source,   ///< the low eight bits of a nine-bit source, open where the ninth says that it is a vector register
  Ignored,  ///< an offset or a literal
};

struct EncodingField {
  uint8_t shift, width;
  FieldKind kind;
};

struct EncodingLayout {
  uint8_t dwords;
  uint8_t numFields;
  std::array<EncodingField, 6> fields;
};

/// The layout of the encoding that starts with this dword; null if there is none.
const EncodingLayout *layoutOf(WaitEncoding encoding, uint32_t firstDword);

/// Whether the field is open in this word.
inline bool isOpen(const EncodingField &field, const EncodingWord &word) {
  return field.kind != FieldKind::Source || word.field(field.shift + 8, 1) != 0;
}

/// The bits of the open fields whose bit in `chosen` is set.
inline EncodingWord openBits(const EncodingLayout &layout, const EncodingWord &word, unsigned chosen) {
  EncodingWord mask;
  for (unsigned i = 0; i < layout.numFields; ++i) {
    const EncodingField &f = layout.fields[i];
    if (!(chosen >> i & 1) || !isOpen(f, word))
      continue;
    const uint64_t bits = (uint64_t(1) << f.width) - 1;
    if (f.shift < 64)
      mask.low |= bits << f.shift;
    else
      mask.high |= static_cast<uint32_t>(bits << (f.shift - 64));
  }
  return mask;
}
inline constexpr unsigned allFields = ~0u;

/// What is known of one form. Open addressing; an entry's reference holds until the next call of get().
class FormTable {
public:
  enum class State : uint8_t {
    Fresh,    ///< not tried yet
    Rejected, ///< encodings of this form are decoded one by one
    Partial,  ///< only the fields in `accepted` may be open
    Known,    ///< `form` is the decoded form
  };
  struct Entry {
    EncodingWord key;
    int32_t form = -1;
    uint8_t seen = 0;
    uint8_t accepted = 0;
    State state = State::Fresh;
    bool used = false;
  };

  Entry &get(const EncodingWord &key);
  size_t memoryBytes() const { return entries.capacity() * sizeof(Entry); }

private:
  size_t slotOf(const EncodingWord &key) const {
    const uint64_t h = (key.low ^ (uint64_t(key.high) << 17)) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(h ^ h >> 29) & (entries.size() - 1);
  }
  std::vector<Entry> entries;
  size_t count = 0;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_ENCODINGFORMS_H
