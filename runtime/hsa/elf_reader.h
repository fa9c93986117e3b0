// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bounds-checked reader of ELF64 code objects. The input may be truncated or hostile.
#ifndef WAVESAN_HSA_ELF_READER_H
#define WAVESAN_HSA_ELF_READER_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::hsa {

/// A view into bytes that the caller keeps alive. All results lie inside those bytes. Immutable, thread-safe.
class ElfReader {
public:
  /// Checks the header and the section header table. On failure returns nothing and one line in `error`.
  static std::optional<ElfReader> open(std::string_view bytes, std::string &error);

  /// Contents of the first section of this name; nothing when there is none or it does not lie in the file.
  std::optional<std::string_view> section(std::string_view name) const;

  /// A named piece of data; `address` is relative to the load address.
  struct Object {
    std::string_view name;
    uint64_t address, bytes;
  };
  /// Defined data symbols of the symbol table, local ones included. Empty when the file has been stripped; entries that
  /// make no sense are left out.
  std::vector<Object> objects() const;

  /// Descriptor of the first note with this owner and type, searched in note segments and note sections.
  std::optional<std::string_view> note(std::string_view owner, uint32_t type) const;

private:
  struct Range {
    uint64_t offset, size;
    uint32_t name; ///< offset into the section name table; ~0 for segments
    bool isNote, hasBytes;
    uint64_t align;
    uint32_t type = 0, link = 0; ///< of sections
  };
  std::optional<std::string_view> slice(const Range &range) const;

  std::string_view Bytes, Names;
  std::vector<Range> Sections, Segments;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_ELF_READER_H
