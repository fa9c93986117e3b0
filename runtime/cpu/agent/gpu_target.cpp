// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_target.h"

#include "elf_view.h"
#include "wavesan/abi/hooks.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesan::agent {
namespace {

constexpr GpuTarget kTargets[] = {
    {"gfx900", 0x2c, 64, ":xnack-", 0x687f},
    {"gfx906", 0x2f, 64, ":sramecc+:xnack-", 0x66a1},
    {"gfx908", 0x30, 64, ":sramecc+:xnack-", 0x738c},
    {"gfx90a", 0x3f, 64, ":sramecc+:xnack-", 0x7408},
    {"gfx942", 0x4c, 64, ":sramecc+:xnack-", 0x74a1},
    {"gfx950", 0x4f, 64, ":sramecc+:xnack-", 0x75a0},
    {"gfx1010", 0x33, 32, ":xnack-", 0x731f},
    {"gfx1011", 0x34, 32, ":xnack-", 0x7360},
    {"gfx1012", 0x35, 32, ":xnack-", 0x7340},
    {"gfx1030", 0x36, 32, "", 0x73bf},
    {"gfx1031", 0x37, 32, "", 0x73df},
    {"gfx1032", 0x38, 32, "", 0x73ff},
    {"gfx1034", 0x3e, 32, "", 0x743f},
    {"gfx1035", 0x3d, 32, "", 0x1681},
    {"gfx1100", 0x41, 32, "", 0x744c},
    {"gfx1101", 0x46, 32, "", 0x747e},
    {"gfx1102", 0x47, 32, "", 0x7480},
    {"gfx1103", 0x44, 32, "", 0x15bf},
    {"gfx1150", 0x43, 32, "", 0x150e},
    {"gfx1151", 0x4a, 32, "", 0x1586},
    {"gfx1200", 0x48, 32, "", 0x7590},
    {"gfx1201", 0x4e, 32, "", 0x7550},
};

constexpr char kBundleMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr size_t kMagicBytes = sizeof(kBundleMagic) - 1;

/// A file mapped read-only.
class MappedFile {
public:
  explicit MappedFile(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
      return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
      void *p = mmap(nullptr, size_t(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (p != MAP_FAILED)
        Bytes = {static_cast<const char *>(p), size_t(st.st_size)};
    }
    close(fd);
  }
  ~MappedFile() {
    if (!Bytes.empty())
      munmap(const_cast<char *>(Bytes.data()), Bytes.size());
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  std::string_view bytes() const { return Bytes; }

private:
  std::string_view Bytes;
};

void addUnique(std::vector<std::string> &list, std::string_view name) {
  if (std::find(list.begin(), list.end(), name) == list.end())
    list.emplace_back(name);
}

/// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a"; empty for host entries.
std::string_view targetOfBundleId(std::string_view id) {
  if (id.find("amdgcn") == std::string_view::npos)
    return {};
  size_t pos = id.rfind("-gfx");
  if (pos == std::string_view::npos)
    return {};
  id.remove_prefix(pos + 1);
  return id.substr(0, id.find(':'));
}

/// One bundle: magic, entry count, then per entry offset, size, id length, id; offsets are from the magic.
void addBundle(std::string_view bytes, ProgramTargets &targets) {
  size_t pos = kMagicBytes;
  auto read64 = [&](uint64_t &value) {
    if (bytes.size() - pos < sizeof(value))
      return false;
    std::memcpy(&value, bytes.data() + pos, sizeof(value));
    pos += sizeof(value);
    return true;
  };
  uint64_t count;
  if (!read64(count))
    return;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset, size, idBytes;
    if (!read64(offset) || !read64(size) || !read64(idBytes) || idBytes > bytes.size() - pos)
      return;
    std::string_view target = targetOfBundleId(bytes.substr(pos, idBytes));
    pos += idBytes;
    if (target.empty() || offset > bytes.size() || size > bytes.size() - offset)
      continue;
    addUnique(targets.all, target);
    std::string error;
    if (auto elf = ElfView::parse(bytes.substr(offset, size), error))
      if (elf->findSection(abi::kIrSection))
        addUnique(targets.withIr, target);
  }
}

} // namespace

const GpuTarget *findGpuTarget(std::string_view name) {
  for (const GpuTarget &t : kTargets)
    if (name == t.name)
      return &t;
  return nullptr;
}

std::string gpuTargetNames() {
  std::string names;
  for (const GpuTarget &t : kTargets)
    names += (names.empty() ? "" : ", ") + std::string(t.name);
  return names;
}

void addProgramTargets(const char *path, ProgramTargets &targets) {
  MappedFile file(path);
  std::string error;
  auto elf = ElfView::parse(file.bytes(), error);
  if (!elf)
    return;
  const Elf64_Shdr *section = elf->findSection(".hip_fatbin");
  if (!section)
    return;
  // A section holds one bundle per translation unit, each aligned in an unspecified way.
  std::string_view bytes = elf->sectionBytes(*section);
  for (size_t pos = bytes.find(kBundleMagic); pos != std::string_view::npos;
       pos = bytes.find(kBundleMagic, pos + kMagicBytes))
    addBundle(bytes.substr(pos), targets);
}

ProgramTargets findProgramTargets() {
  ProgramTargets targets;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
        addProgramTargets(path, *static_cast<ProgramTargets *>(data));
        return 0;
      },
      &targets);
  return targets;
}

std::string chooseGpu(const ProgramTargets &targets) {
  for (const auto *list : {&targets.withIr, &targets.all}) {
    if (list->size() == 1 && findGpuTarget(list->front()))
      return list->front();
    if (!list->empty() && std::find(list->begin(), list->end(), "gfx90a") != list->end())
      return "gfx90a";
    for (const std::string &name : *list)
      if (findGpuTarget(name))
        return name;
  }
  return "gfx90a";
}

} // namespace wavesan::agent
