// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds small ELF code objects with metadata and a site table.
#ifndef WAVESAN_TEST_CODE_OBJECT_BUILDER_H
#define WAVESAN_TEST_CODE_OBJECT_BUILDER_H

#include "wavesan/abi/site_table.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace wavesan::test {

/// An ELF64 file whose sections are the given ones plus a name table. A section named ".note" becomes a note section
/// and is covered by a PT_NOTE segment; ".symtab" is a symbol table whose names are the section behind it.
std::string buildElf(const std::vector<std::pair<std::string, std::string>> &sections);

/// Sections .symtab and .strtab.
struct SymbolSpec {
  std::string name;
  uint64_t address, bytes;
  unsigned char type = 1; ///< STT_OBJECT
  bool defined = true;
};
std::vector<std::pair<std::string, std::string>> symbolSections(const std::vector<SymbolSpec> &symbols);

/// A note with owner "AMDGPU" and type NT_AMDGPU_METADATA.
std::string metadataNote(const nlohmann::json &metadata);

/// {"amdhsa.kernels": kernels}
nlohmann::json metadataRoot(std::vector<nlohmann::json> kernels);

/// One kernel's metadata. Arguments: (offset, size, value_kind).
struct ArgSpec {
  unsigned offset, size;
  std::string kind;
  std::string name = {};
};
nlohmann::json kernelMetadata(const std::string &name, unsigned kernargBytes, unsigned groupBytes,
                              const std::vector<ArgSpec> &args, unsigned waveSize = 64, unsigned privateBytes = 0);

/// Hidden arguments as compilers lay them out behind `explicitEnd`.
std::vector<ArgSpec> hiddenArgsV4(unsigned explicitEnd);
std::vector<ArgSpec> hiddenArgsV5(unsigned explicitEnd);

} // namespace wavesan::test

#endif // WAVESAN_TEST_CODE_OBJECT_BUILDER_H
