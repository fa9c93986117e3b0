// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_object.h"

#include "agents.h"
#include "elf_view.h"
#include "gpu_target.h"
#include "kernel_metadata.h"
#include "memory.h"
#include "native_hooks_link.h"
#include "process.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace wavesan::agent {

namespace {
constexpr uint8_t kOsAbiAmdHsa = 64;
constexpr uint32_t kElfMachineMask = 0xff;
constexpr uint64_t kMaxSpan = uint64_t(1) << 32;

enum Relocation : uint32_t { Abs32Lo = 1, Abs32Hi = 2, Abs64 = 3, Rel32 = 4, Rel64 = 5, Abs32 = 6, Relative64 = 13 };
} // namespace

/// Fills a LoadedCodeObject step by step; each step returns false with Error and Status set.
class CodeObjectLoader {
public:
  CodeObjectLoader(LoadedCodeObject &object, const ElfView &elf, const ExternalVariables &externals)
      : Object(object), Elf(elf), Externals(externals) {}

  std::string Error;
  hsa_status_t Status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;

  bool checkHeader(const GpuTarget &target) {
    const Elf64_Ehdr &h = Elf.header();
    if (h.e_machine != kMachineAmdgpu || h.e_ident[EI_OSABI] != kOsAbiAmdHsa)
      return fail("not an amdgcn-amd-amdhsa code object");
    if (h.e_type != ET_DYN)
      return fail("not a shared object");
    if (h.e_ident[EI_ABIVERSION] < 1 || h.e_ident[EI_ABIVERSION] > 4)
      return fail("code object version is not 3 to 6");
    if ((h.e_flags & kElfMachineMask) != target.elfMachine) {
      Status = HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
      return fail(std::string("compiled for another GPU than ") + target.name);
    }
    return true;
  }

  bool mapSegments() {
    uint64_t first = UINT64_MAX, last = 0;
    for (const Elf64_Phdr &p : Elf.segments()) {
      if (p.p_type != PT_LOAD || (p.p_memsz == 0 && p.p_filesz == 0))
        continue;
      if (p.p_filesz > p.p_memsz || p.p_vaddr > kMaxSpan || p.p_memsz > kMaxSpan)
        return fail("segment with impossible addresses");
      first = std::min(first, p.p_vaddr);
      last = std::max(last, p.p_vaddr + p.p_memsz);
    }
    if (last == 0)
      return fail("nothing to load");
    first = first / kAllocationGranule * kAllocationGranule;
    const uint64_t span = (last - first + kAllocationGranule - 1) / kAllocationGranule * kAllocationGranule;
    if (span > kMaxSpan)
      return fail("segments too far apart");
    void *base = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      Status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
      return fail("no memory for its segments");
    }
    Object.Base = static_cast<uint8_t *>(base);
    Object.Span = span;
    Object.FirstAddress = first;
    for (const Elf64_Phdr &p : Elf.segments())
      if (p.p_type == PT_LOAD && p.p_filesz)
        std::memcpy(Object.Base + (p.p_vaddr - first), Elf.segmentBytes(p).data(), p.p_filesz);
    return true;
  }

  bool readSymbols() {
    for (const Elf64_Shdr &section : Elf.sections()) {
      if (section.sh_type != SHT_DYNSYM)
        continue;
      if (section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= Elf.sections().size())
        return fail("malformed symbol table");
      const std::string_view table = Elf.sectionBytes(section);
      const std::string_view strings = Elf.sectionBytes(Elf.sections()[section.sh_link]);
      DynamicSymbols.resize(table.size() / sizeof(Elf64_Sym));
      if (!DynamicSymbols.empty())
        std::memcpy(static_cast<void *>(DynamicSymbols.data()), table.data(),
                    DynamicSymbols.size() * sizeof(Elf64_Sym));
      for (const Elf64_Sym &s : DynamicSymbols) {
        auto name = ElfView::stringAt(strings, s.st_name);
        if (!name)
          return fail("symbol without a name");
        DynamicNames.emplace_back(*name);
        if (!addSymbol(s, *name))
          return false;
      }
      return true; // there is at most one
    }
    return true;
  }

  /// From the full symbol table, where the file has not been stripped of it: what cannot be read there is left out, and
  /// the engine then has a variable of its own.
  void readLocalVariables() {
    for (const Elf64_Shdr &section : Elf.sections()) {
      if (section.sh_type != SHT_SYMTAB || section.sh_entsize != sizeof(Elf64_Sym) ||
          section.sh_link >= Elf.sections().size())
        continue;
      const std::string_view table = Elf.sectionBytes(section);
      const std::string_view strings = Elf.sectionBytes(Elf.sections()[section.sh_link]);
      for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        std::memcpy(&s, table.data() + at, sizeof s);
        const auto name = ElfView::stringAt(strings, s.st_name);
        uint8_t *const address = loaded(s.st_value, s.st_size);
        if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || ELF64_ST_BIND(s.st_info) != STB_LOCAL ||
            s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE || s.st_size == 0 || !address || !name ||
            name->empty())
          continue;
        auto [entry, isNew] =
            Object.LocalVariables.try_emplace(std::string(*name), reinterpret_cast<uint64_t>(address));
        if (!isNew)
          entry->second = 0;
      }
    }
  }

  bool relocate() {
    for (const Elf64_Shdr &section : Elf.sections()) {
      if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
        continue;
      if (section.sh_entsize != sizeof(Elf64_Rela))
        return fail("malformed relocation section");
      const std::string_view table = Elf.sectionBytes(section);
      for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        std::memcpy(&entry, table.data() + at, sizeof(entry));
        if (!applyRelocation(entry))
          return false;
      }
    }
    return true;
  }

  void findParts() {
    if (const Elf64_Shdr *ir = Elf.findSection(abi::kIrSection))
      Object.Ir = Elf.sectionBytes(*ir);
    Object.Metadata = Elf.findNote(kNoteOwner, kNoteMetadata);
  }

private:
  bool fail(std::string what) {
    Error = std::move(what);
    for (char &c : Error) // names of the file may be anything; messages are one line
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        c = '?';
    return false;
  }

  /// Where [address, address + size) of the ELF image was loaded; null if it was not.
  uint8_t *loaded(uint64_t address, uint64_t size) const {
    const uint64_t offset = address - Object.FirstAddress;
    if (address < Object.FirstAddress || offset > Object.Span || size > Object.Span - offset)
      return nullptr;
    return Object.Base + offset;
  }

  bool addSymbol(const Elf64_Sym &s, std::string_view name) {
    const unsigned type = ELF64_ST_TYPE(s.st_info);
    if (s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE || name.empty())
      return true;
    const bool kernel = name.size() > 3 && name.ends_with(".kd") && type == STT_OBJECT;
    if (type != STT_OBJECT) // machine code is of no use here
      return true;
    uint8_t *address = loaded(s.st_value, kernel ? std::max<uint64_t>(s.st_size, sizeof(KernelDescriptor)) : s.st_size);
    if (!address)
      return fail("symbol " + std::string(name) + " lies outside of the loaded segments");
    auto symbol = std::make_unique<Symbol>();
    symbol->name = name;
    symbol->kind = kernel ? Symbol::Kernel : Symbol::Variable;
    symbol->address = reinterpret_cast<uint64_t>(address);
    symbol->size = s.st_size;
    symbol->isWeakOrGlobal = ELF64_ST_BIND(s.st_info) != STB_LOCAL;
    symbol->descriptor = {};
    symbol->owner = &Object;
    if (kernel)
      std::memcpy(&symbol->descriptor, address, sizeof(KernelDescriptor));
    Object.Symbols.push_back(std::move(symbol));
    return true;
  }

  bool applyRelocation(const Elf64_Rela &entry) {
    const uint32_t type = uint32_t(ELF64_R_TYPE(entry.r_info));
    const bool wide = type == Abs64 || type == Rel64 || type == Relative64;
    uint8_t *place = loaded(entry.r_offset, wide ? 8 : 4);
    if (!place)
      return fail("relocation outside of the loaded segments");
    uint64_t value = uint64_t(Object.loadDelta());
    if (type != Relative64) {
      const uint64_t index = ELF64_R_SYM(entry.r_info);
      if (index >= DynamicSymbols.size())
        return fail("relocation against a symbol that does not exist");
      if (!symbolAddress(index, value))
        return false;
    }
    value += uint64_t(entry.r_addend);
    switch (type) {
    case Rel32:
    case Rel64:
      value -= reinterpret_cast<uint64_t>(place);
      break;
    case Abs32Hi:
      value >>= 32;
      break;
    case Abs32Lo:
    case Abs32:
    case Abs64:
    case Relative64:
      break;
    default:
      return fail("relocation of unknown type " + std::to_string(type));
    }
    std::memcpy(place, &value, wide ? 8 : 4);
    return true;
  }

  bool symbolAddress(uint64_t index, uint64_t &address) {
    const Elf64_Sym &s = DynamicSymbols[index];
    if (s.st_shndx != SHN_UNDEF) {
      address = s.st_shndx == SHN_ABS ? s.st_value : s.st_value + uint64_t(Object.loadDelta());
      return true;
    }
    if (auto it = Externals.find(DynamicNames[index]); it != Externals.end()) {
      address = it->second;
      return true;
    }
    if (index == 0 || ELF64_ST_BIND(s.st_info) == STB_WEAK) {
      address = 0;
      return true;
    }
    Status = HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
    return fail("variable " + DynamicNames[index] + " is not defined");
  }

  LoadedCodeObject &Object;
  const ElfView &Elf;
  const ExternalVariables &Externals;
  std::vector<Elf64_Sym> DynamicSymbols;
  std::vector<std::string> DynamicNames;
};

std::unique_ptr<LoadedCodeObject> LoadedCodeObject::load(CodeObjectBytes bytes, const GpuTarget &target,
                                                         const ExternalVariables &externals, hsa_status_t &status,
                                                         std::string &error) {
  status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  std::optional<ElfView> elf = ElfView::parse(*bytes, error);
  if (!elf)
    return nullptr;
  std::unique_ptr<LoadedCodeObject> object(new LoadedCodeObject);
  object->Bytes = bytes;
  object->TargetName = target.name;
  CodeObjectLoader loader(*object, *elf, externals);
  if (!loader.checkHeader(target) || !loader.mapSegments() || !loader.readSymbols() || !loader.relocate()) {
    status = loader.Status;
    error = loader.Error;
    return nullptr;
  }
  loader.findParts();
  if (!object->Ir.empty()) // nobody else asks for them
    loader.readLocalVariables();
  Allocation a{.base = object->Base,
               .size = object->Span,
               .hostBase = object->Base,
               .agent = kGpuAgent,
               .globalFlags = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
               .type = HSA_EXT_POINTER_TYPE_HSA,
               .callbacks = {}};
  allocations().add(a);
  status = HSA_STATUS_SUCCESS;
  return object;
}

LoadedCodeObject::~LoadedCodeObject() {
  Program.reset(); // it may hold addresses of variables
  if (!Base)
    return;
  allocations().remove(Base);
  munmap(Base, Span);
}

cpu::Program *LoadedCodeObject::program(std::string &error) {
  std::lock_guard lock(ProgramMutex);
  if (!ProgramTried) {
    ProgramTried = true;
    Program = cpu::Program::load(
        Ir, TargetName,
        [this](std::string_view name) -> uint64_t {
          for (const auto &s : Symbols)
            if (s->kind == Symbol::Variable && s->name == name)
              return s->address;
          const auto local = LocalVariables.find(name);
          return local == LocalVariables.end() ? 0 : local->second;
        },
        ProgramError, options().hooks == "device" ? deviceHooks() : std::string_view());
  }
  error = ProgramError;
  return Program.get();
}

const KernelArguments &LoadedCodeObject::argumentsOf(std::string_view kernelName) {
  static const KernelArguments &none = *new KernelArguments; // threads outlive static destructors
  std::call_once(ArgumentsRead, [&] { Arguments = readKernelArguments(Metadata); }); // all: reading takes its time
  auto it = Arguments.find(kernelName);
  return it == Arguments.end() ? none : it->second;
}

} // namespace wavesan::agent
