// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory_placement.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <vector>

namespace wavesan::replay {

namespace {

constexpr uint64_t kPage = 4096;

struct Pages {
  uint64_t begin, end;
};

/// Whole pages that regions touch, merged, in the order of addresses.
std::vector<Pages> pagesOf(const capsule::Capsule &capsule) {
  std::vector<Pages> pages;
  for (const capsule::Region &region : capsule.regions)
    if (region.place == capsule::Region::Place::Address) {
      const uint64_t end = region.address + region.bytes.size();
      pages.push_back({region.address / kPage * kPage, (end + kPage - 1) / kPage * kPage});
    }
  std::sort(pages.begin(), pages.end(), [](const Pages &a, const Pages &b) { return a.begin < b.begin; });
  std::vector<Pages> merged;
  for (const Pages &p : pages)
    if (!merged.empty() && p.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, p.end);
    else
      merged.push_back(p);
  return merged;
}

bool holdsPointer(std::string_view bytes, uint64_t begin, uint64_t end) {
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if (word - begin < end - begin)
      return true;
  }
  return false;
}

} // namespace

bool mapRegions(const capsule::Capsule &capsule, std::string &error) {
  for (const Pages &p : pagesOf(capsule)) {
    void *wanted = reinterpret_cast<void *>(p.begin);
    void *got = p.end > p.begin ? mmap(wanted, p.end - p.begin, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0)
                                : MAP_FAILED;
    if (got == wanted)
      continue;
    if (got != MAP_FAILED) // a kernel that does not know the flag
      munmap(got, p.end - p.begin);
    error = "memory cannot be placed at its recorded addresses: " +
            std::string(got == MAP_FAILED ? std::strerror(errno) : "they are taken");
    return false;
  }
  for (const capsule::Region &region : capsule.regions)
    if (region.place == capsule::Region::Place::Address)
      std::memcpy(reinterpret_cast<void *>(region.address), region.bytes.data(), region.bytes.size());
  return true;
}

bool giveToGpu(const capsule::Capsule &capsule, const HsaRuntime &runtime, std::string &error) {
  if (runtime.isCpuAgent)
    return true; // its GPU shares the process's addresses
  for (const Pages &p : pagesOf(capsule)) {
    void *host = reinterpret_cast<void *>(p.begin), *device = nullptr;
    hsa_agent_t gpu = runtime.gpu;
    const hsa_status_t status = runtime.hsa_amd_memory_lock(host, p.end - p.begin, &gpu, 1, &device);
    if (status != HSA_STATUS_SUCCESS || device != host) {
      error = "the GPU cannot have memory at the recorded addresses" +
              (status == HSA_STATUS_SUCCESS ? std::string() : ": " + runtime.text(status)) + "; try --device=cpu";
      return false;
    }
  }
  return true;
}

uint64_t loadedBytes(const std::string &codeObject) {
  Elf64_Ehdr header;
  if (codeObject.size() < sizeof(header))
    return 0;
  std::memcpy(&header, codeObject.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phoff > codeObject.size() || header.e_phnum > (codeObject.size() - header.e_phoff) / sizeof(Elf64_Phdr))
    return 0;
  uint64_t end = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, codeObject.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz >= segment.p_vaddr)
      end = std::max<uint64_t>(end, segment.p_vaddr + segment.p_memsz);
  }
  return end;
}

bool pointsToVariables(const capsule::Capsule &capsule) {
  for (const capsule::Region &variable : capsule.regions) {
    if (variable.place != capsule::Region::Place::Variable)
      continue;
    const uint64_t begin = variable.address, end = begin + variable.bytes.size();
    if (holdsPointer(capsule.arguments, begin, end) ||
        std::any_of(capsule.regions.begin(), capsule.regions.end(),
                    [&](const capsule::Region &region) { return holdsPointer(region.bytes, begin, end); }))
      return true;
  }
  return false;
}

} // namespace wavesan::replay
