// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_object_builder.h"

#include <cstring>
#include <elf.h>

namespace wavesan::test {

namespace {
template <class T> void put(std::string &out, const T &value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(value));
}
void pad(std::string &out, size_t align) { out.resize((out.size() + align - 1) / align * align); }
} // namespace

std::string buildElf(const std::vector<std::pair<std::string, std::string>> &sections) {
  std::string out(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), '\0');
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  Elf64_Phdr note{};
  for (const auto &[name, contents] : sections) {
    pad(out, 8);
    Elf64_Shdr s{};
    s.sh_name = uint32_t(names.size());
    names += name + '\0';
    s.sh_type = name == ".note" ? SHT_NOTE : name == ".symtab" ? SHT_SYMTAB : SHT_PROGBITS;
    if (s.sh_type == SHT_SYMTAB)
      s.sh_link = uint32_t(headers.size() + 1);
    s.sh_offset = out.size();
    s.sh_size = contents.size();
    s.sh_addralign = 4;
    if (s.sh_type == SHT_NOTE) {
      note.p_type = PT_NOTE;
      note.p_offset = s.sh_offset;
      note.p_filesz = s.sh_size;
      note.p_align = 4;
    }
    out += contents;
    headers.push_back(s);
  }
  Elf64_Shdr strings{};
  strings.sh_name = uint32_t(names.size());
  names += std::string(".shstrtab") + '\0';
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = out.size();
  strings.sh_size = names.size();
  out += names;
  headers.push_back(strings);
  pad(out, 8);

  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_machine = 224; // EM_AMDGPU
  head.e_phoff = sizeof(head);
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 1;
  head.e_shoff = out.size();
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = uint16_t(headers.size());
  head.e_shstrndx = uint16_t(headers.size() - 1);
  for (const Elf64_Shdr &s : headers)
    put(out, s);
  std::memcpy(out.data(), &head, sizeof(head));
  std::memcpy(out.data() + sizeof(head), &note, sizeof(note));
  return out;
}

std::string metadataNote(const nlohmann::json &metadata) {
  std::vector<uint8_t> bytes = nlohmann::json::to_msgpack(metadata);
  std::string out;
  put(out, Elf64_Nhdr{7, uint32_t(bytes.size()), 32});
  out.append("AMDGPU\0\0", 8);
  out.append(bytes.begin(), bytes.end());
  pad(out, 4);
  return out;
}

std::vector<std::pair<std::string, std::string>> symbolSections(const std::vector<SymbolSpec> &symbols) {
  std::string table(sizeof(Elf64_Sym), '\0'), names(1, '\0');
  for (const SymbolSpec &spec : symbols) {
    Elf64_Sym symbol{};
    symbol.st_name = uint32_t(names.size());
    names += spec.name + '\0';
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, spec.type);
    symbol.st_shndx = spec.defined ? 1 : SHN_UNDEF;
    symbol.st_value = spec.address;
    symbol.st_size = spec.bytes;
    put(table, symbol);
  }
  return {{".symtab", table}, {".strtab", names}};
}

nlohmann::json metadataRoot(std::vector<nlohmann::json> kernels) {
  return {{"amdhsa.kernels", std::move(kernels)}, {"amdhsa.version", {1, 1}}};
}

nlohmann::json kernelMetadata(const std::string &name, unsigned kernargBytes, unsigned groupBytes,
                              const std::vector<ArgSpec> &args, unsigned waveSize, unsigned privateBytes) {
  nlohmann::json kernel = {{".name", name},
                           {".symbol", name + ".kd"},
                           {".kernarg_segment_size", kernargBytes},
                           {".group_segment_fixed_size", groupBytes},
                           {".private_segment_fixed_size", privateBytes},
                           {".wavefront_size", waveSize}};
  for (const ArgSpec &arg : args) {
    nlohmann::json entry = {{".offset", arg.offset}, {".size", arg.size}, {".value_kind", arg.kind}};
    if (!arg.name.empty())
      entry[".name"] = arg.name;
    kernel[".args"].push_back(entry);
  }
  return kernel;
}

std::vector<ArgSpec> hiddenArgsV4(unsigned e) {
  return {{e, 8, "hidden_global_offset_x"},        {e + 8, 8, "hidden_global_offset_y"},
          {e + 16, 8, "hidden_global_offset_z"},   {e + 24, 8, "hidden_hostcall_buffer"},
          {e + 32, 8, "hidden_default_queue"},     {e + 40, 8, "hidden_completion_action"},
          {e + 48, 8, "hidden_multigrid_sync_arg"}};
}

std::vector<ArgSpec> hiddenArgsV5(unsigned e) {
  return {{e, 4, "hidden_block_count_x"},           {e + 4, 4, "hidden_block_count_y"},
          {e + 8, 4, "hidden_block_count_z"},       {e + 12, 2, "hidden_group_size_x"},
          {e + 14, 2, "hidden_group_size_y"},       {e + 16, 2, "hidden_group_size_z"},
          {e + 18, 2, "hidden_remainder_x"},        {e + 20, 2, "hidden_remainder_y"},
          {e + 22, 2, "hidden_remainder_z"},        {e + 40, 8, "hidden_global_offset_x"},
          {e + 48, 8, "hidden_global_offset_y"},    {e + 56, 8, "hidden_global_offset_z"},
          {e + 64, 2, "hidden_grid_dims"},          {e + 80, 8, "hidden_hostcall_buffer"},
          {e + 88, 8, "hidden_multigrid_sync_arg"}, {e + 96, 8, "hidden_heap_v1"},
          {e + 104, 8, "hidden_default_queue"},     {e + 112, 8, "hidden_completion_action"},
          {e + 120, 4, "hidden_dynamic_lds_size"},  {e + 200, 8, "hidden_queue_ptr"}};
}

} // namespace wavesan::test
