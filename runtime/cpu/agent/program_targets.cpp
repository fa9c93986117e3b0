// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program_targets.h"

#include "elf_view.h"
#include "gpu_target.h"
#include "kernel_metadata.h"
#include "wavesan/abi/hooks.h"
#include "wavesan/abi/offload_bundle.h"

#include <algorithm>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesan::agent {
namespace {

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

/// Empty, or what is wrong with the code object.
std::string readCodeObject(std::string_view bytes, std::string_view target, ProgramTargets &targets) {
  std::string error;
  const std::optional<ElfView> elf = ElfView::parse(bytes, error);
  if (!elf)
    return error;
  if (elf->header().e_machine != kMachineAmdgpu)
    return "not for an AMD GPU";
  if (elf->findSection(abi::kIrSection))
    addUnique(targets.withIr, target);
  return isReadableMetadata(elf->findNote(kNoteOwner, kNoteMetadata)) ? "" : "its kernels' metadata cannot be read";
}

/// The bundle's size, or 0 if it is not whole.
size_t readBundle(std::string_view bytes, ProgramTargets &targets, std::vector<std::string> &own) {
  size_t end = abi::kOffloadBundleMagic.size();
  const bool whole =
      abi::visitBundle(bytes, [&](std::string_view target, uint64_t offset, uint64_t size, size_t table) {
        if (offset > bytes.size() || size > bytes.size() - offset)
          return false;
        end = std::max({end, table, size_t(offset + size)});
        if (target.empty())
          return true;
        addUnique(own, target);
        if (std::string error = readCodeObject(bytes.substr(offset, size), target, targets); !error.empty())
          targets.damage.push_back("code object for " + std::string(target) + ": " + error);
        return true;
      });
  return whole ? end : 0;
}

/// The bundle's size, or what of it is certain.
size_t addBundle(std::string_view bytes, ProgramTargets &targets) {
  std::vector<std::string> own;
  const size_t size = readBundle(bytes, targets, own);
  if (size == 0)
    targets.damage.push_back("offload bundle: an entry lies outside of the program");
  for (const std::string &target : own)
    addUnique(targets.all, target);
  if (!own.empty())
    targets.bundles.push_back(std::move(own));
  return std::max(size, abi::kOffloadBundleMagic.size());
}

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool contains(const std::vector<std::string> &names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

void addBundles(std::string_view bytes, ProgramTargets &targets) {
  // A section holds one bundle per translation unit, each aligned in an unspecified way.
  size_t pos = bytes.find(abi::kOffloadBundleMagic);
  if (!bytes.empty() && pos == std::string_view::npos)
    targets.damage.push_back("section .hip_fatbin: no offload bundle in it");
  while (pos != std::string_view::npos)
    pos = bytes.find(abi::kOffloadBundleMagic, pos + addBundle(bytes.substr(pos), targets));
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
  addBundles(elf->sectionBytes(*section), targets);
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

std::string missingTarget(const ProgramTargets &targets, std::string_view gpu) {
  std::vector<std::string> built; // of the bundles that lack it
  size_t lacking = 0;
  for (const std::vector<std::string> &bundle : targets.bundles)
    if (!contains(bundle, gpu)) {
      ++lacking;
      for (const std::string &target : bundle)
        addUnique(built, target);
    }
  if (lacking == 0)
    return {};
  const std::string wanted(gpu);
  std::string line = (lacking == targets.bundles.size() ? "the program has GPU code for "
                                                        : "a part of the program has GPU code for ") +
                     joined(built) + ", not for " + wanted +
                     ", which the CPU agent presents: compile it with --offload-arch=" + wanted;
  for (const std::string &target : targets.all) // one that serves all of the program
    if (findGpuTarget(target) && std::all_of(targets.bundles.begin(), targets.bundles.end(),
                                             [&](const auto &bundle) { return contains(bundle, target); }))
      return line + ", or run it with --gpu=" + target;
  return line;
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
