// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CodeObject.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

#include <algorithm>

namespace wavesan::waitcheck {

using namespace llvm::object;
using llvm::createStringError;

namespace {

/// A kernel descriptor: 64 bytes; the entry is an offset from the descriptor, the wave size a bit of the code properties.
constexpr uint64_t descriptorSize = 64;
constexpr uint64_t descriptorEntryOffset = 16;
constexpr uint64_t descriptorProperties = 56;
constexpr unsigned wave32Bit = 10;

struct Kernel {
  bool wave64 = true;
  bool seen = false;
  uint64_t entry = 0; ///< 0: not relocated yet
};

} // namespace

llvm::Expected<std::unique_ptr<CodeObject>> CodeObject::parse(llvm::MemoryBufferRef buffer) {
  // The header is looked at by hand first: LLVM's accessors treat unknown targets as impossible.
  const llvm::StringRef bytes = buffer.getBuffer();
  if (bytes.size() < sizeof(llvm::ELF::Elf64_Ehdr) || !bytes.starts_with("\x7f"
                                                                         "ELF"))
    return createStringError("not an ELF file");
  if (bytes[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 || bytes[llvm::ELF::EI_DATA] != llvm::ELF::ELFDATA2LSB)
    return createStringError("not a 64-bit little-endian ELF file");
  if (llvm::support::endian::read16le(bytes.data() + 18) != llvm::ELF::EM_AMDGPU)
    return createStringError("not an AMDGPU code object");
  const unsigned machine = llvm::support::endian::read32le(bytes.data() + 48) & llvm::ELF::EF_AMDGPU_MACH;
  std::unique_ptr<CodeObject> c(new CodeObject);
  c->entry = findMachine(machine);
  if (!c->entry)
    return createStringError("target with ELF machine number 0x%x is unknown to the wait checker", machine);
  c->bytes = bytes;
  c->relocatable = llvm::support::endian::read16le(bytes.data() + 16) == llvm::ELF::ET_REL;
  if (llvm::Error e = c->read())
    return std::move(e);
  return std::move(c);
}

llvm::Error CodeObject::read() {
  // ELFFile, not ELFObjectFile: the latter ends the process on some damaged files.
  auto file = ELFFile<ELF64LE>::create(bytes);
  if (!file)
    return file.takeError();
  auto headers = file->sections();
  if (!headers)
    return headers.takeError();
  llvm::DenseMap<uint64_t, unsigned> sectionOf; // by ELF index
  for (const auto &h : *headers) {
    if (h.sh_type != llvm::ELF::SHT_PROGBITS || !(h.sh_flags & llvm::ELF::SHF_EXECINSTR))
      continue;
    auto contents = file->getSectionContents(h);
    if (!contents)
      return contents.takeError();
    if (contents->size() > 0xfffffff0u)
      return createStringError("a code section of 4 GiB or more is not supported");
    const uint64_t index = static_cast<uint64_t>(&h - headers->begin());
    sectionOf[index] = static_cast<unsigned>(codeSections.size());
    codeSections.push_back({*contents, relocatable ? 0 : uint64_t(h.sh_addr), index, {}});
  }

  for (const auto &h : *headers) {
    auto code = sectionOf.find(h.sh_info);
    if (!relocatable || h.sh_type != llvm::ELF::SHT_RELA || code == sectionOf.end())
      continue;
    auto relocations = file->relas(h);
    if (!relocations)
      return relocations.takeError();
    std::vector<uint64_t> &offsets = codeSections[code->second].relocations;
    for (const ELF64LE::Rela &r : *relocations)
      offsets.push_back(r.r_offset);
    std::sort(offsets.begin(), offsets.end());
  }

  struct Symbol {
    std::string name;
    uint64_t address, size;
    unsigned section;
    bool function;
  };
  std::vector<Symbol> candidates;
  llvm::StringMap<Kernel> kernels;
  auto readSymbol = [&](const ELF64LE::Sym &s, llvm::StringRef strings) -> llvm::Error {
    auto nameOrError = s.getName(strings);
    if (!nameOrError)
      return nameOrError.takeError();
    const llvm::StringRef name = *nameOrError;
    if (s.isUndefined()) {
      undefinedSymbols |= !name.empty();
      return llvm::Error::success();
    }
    if (s.st_shndx >= headers->size() || s.isReserved()) // absolute symbols and the like are no code
      return llvm::Error::success();
    const ELF64LE::Shdr &home = (*headers)[s.st_shndx];
    const uint64_t homeAddress = relocatable ? 0 : uint64_t(home.sh_addr), address = s.st_value;
    const uint8_t type = s.getType();
    if (type == llvm::ELF::STT_OBJECT && name.ends_with(".kd")) {
      Kernel &k = kernels[name.drop_back(3)];
      auto contents = file->getSectionContents(home);
      if (!contents)
        return contents.takeError();
      const uint64_t offset = address - homeAddress;
      if (offset > contents->size() || contents->size() - offset < descriptorSize)
        return createStringError("the descriptor of kernel " + name.drop_back(3) + " lies outside of its section");
      const uint8_t *descriptor = contents->data() + offset;
      k.wave64 = !(llvm::support::endian::read16le(descriptor + descriptorProperties) >> wave32Bit & 1) || entry->generation->wavesOf64Only;
      if (!relocatable)
        k.entry = address + llvm::support::endian::read64le(descriptor + descriptorEntryOffset);
      return llvm::Error::success();
    }
    auto code = sectionOf.find(s.st_shndx);
    if (code != sectionOf.end() && (type == llvm::ELF::STT_FUNC || type == llvm::ELF::STT_NOTYPE))
      candidates.push_back({name.str(), address, s.st_size, code->second, type == llvm::ELF::STT_FUNC});
    return llvm::Error::success();
  };
  for (const auto &h : *headers) {
    if (h.sh_type != llvm::ELF::SHT_SYMTAB && h.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    auto strings = file->getStringTableForSymtab(h);
    if (!strings)
      return strings.takeError();
    auto symbols = file->symbols(&h);
    if (!symbols)
      return symbols.takeError();
    for (const ELF64LE::Sym &s : *symbols)
      if (llvm::Error e = readSymbol(s, *strings))
        return e;
  }

  auto sectionAt = [&](uint64_t address) -> int {
    for (size_t i = 0; i < codeSections.size(); ++i)
      if (address >= codeSections[i].address && address - codeSections[i].address < codeSections[i].bytes.size())
        return static_cast<int>(i);
    return -1;
  };
  // A function of a library of its own may be compiled for either wave size; it then follows the kernels of the file.
  bool functionsWave64 = entry->generation->wavesOf64Only;
  for (const auto &k : kernels)
    functionsWave64 |= k.second.wave64;
  for (const Symbol &s : candidates) {
    auto k = kernels.find(s.name);
    if (k == kernels.end() && !s.function)
      continue; // a label
    FunctionEntry f{s.name, s.address, s.size, k != kernels.end(), k != kernels.end() ? k->second.wave64 : functionsWave64, s.section};
    if (k != kernels.end()) {
      k->second.seen = true;
      if (k->second.entry != 0 && k->second.entry != s.address)
        return createStringError("the descriptor of kernel " + s.name + " does not point to the kernel's symbol");
    }
    entries.push_back(std::move(f));
  }
  for (const auto &k : kernels)
    if (!k.second.seen) { // the descriptor alone remains of a stripped file
      const int section = k.second.entry ? sectionAt(k.second.entry) : -1;
      if (section < 0)
        return createStringError("kernel " + k.first() + " has a descriptor, but its code was not found");
      entries.push_back({k.first().str(), k.second.entry, 0, true, k.second.wave64, static_cast<unsigned>(section)});
    }
  std::sort(entries.begin(), entries.end(), [](const FunctionEntry &a, const FunctionEntry &b) {
    return std::tuple(a.section, a.address, !a.isKernel, a.name) < std::tuple(b.section, b.address, !b.isKernel, b.name);
  });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const FunctionEntry &a, const FunctionEntry &b) {
                              return a.section == b.section && a.address == b.address;
                            }),
                entries.end());
  finishSizes();
  return llvm::Error::success();
}

void CodeObject::finishSizes() {
  for (size_t i = 0; i < entries.size(); ++i) {
    FunctionEntry &f = entries[i];
    if (f.size != 0)
      continue;
    const CodeSection &s = codeSections[f.section];
    uint64_t end = s.address + s.bytes.size();
    if (i + 1 < entries.size() && entries[i + 1].section == f.section)
      end = entries[i + 1].address;
    if (end > f.address)
      f.size = end - f.address;
  }
}

bool CodeObject::addFunction(uint64_t address, bool wave64) {
  for (unsigned i = 0; i < codeSections.size(); ++i) {
    const CodeSection &s = codeSections[i];
    if (address < s.address || address - s.address >= s.bytes.size())
      continue;
    auto at = std::lower_bound(entries.begin(), entries.end(), std::pair(i, address), [](const FunctionEntry &f, const auto &key) {
      return std::pair(f.section, f.address) < key;
    });
    if (at != entries.end() && at->section == i && at->address == address)
      return false;
    uint64_t end = s.address + s.bytes.size();
    if (at != entries.end() && at->section == i)
      end = at->address;
    char name[32];
    snprintf(name, sizeof name, "<at 0x%llx>", static_cast<unsigned long long>(address));
    entries.insert(at, FunctionEntry{name, address, end - address, false, wave64, i});
    return true;
  }
  return false;
}

std::vector<std::vector<bool>> CodeObject::outsideFunctions() const {
  // Zeros, s_nop and s_code_end stand between functions.
  auto isPadding = [](uint32_t dword) { return dword == 0 || dword >> 16 == 0xbf80 || dword == 0xbf9f0000; };
  std::vector<std::vector<bool>> outside(codeSections.size());
  for (unsigned section = 0; section < codeSections.size(); ++section) {
    const CodeSection &s = codeSections[section];
    uint64_t at = 0; // offset
    auto gap = [&](uint64_t end) {
      for (at = (at + 3) / 4 * 4; at + 4 <= std::min<uint64_t>(end, s.bytes.size()); at += 4)
        if (!isPadding(llvm::support::endian::read32le(s.bytes.data() + at))) {
          outside[section].resize(s.bytes.size() / 4);
          outside[section][at / 4] = true;
        }
    };
    for (const FunctionEntry &f : entries) {
      if (f.section != section || f.address < s.address)
        continue;
      gap(f.address - s.address);
      at = std::max(at, f.address - s.address + std::min<uint64_t>(f.size, s.bytes.size()));
    }
    gap(s.bytes.size());
  }
  return outside;
}

} // namespace wavesan::waitcheck
