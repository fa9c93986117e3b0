// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_object.h"

#include "elf_reader.h"

#include "wavesan/report/printable.h"

#include <algorithm>
#include <set>

namespace wavesan::hsa {

namespace {
constexpr uint32_t kNoteTypeMetadata = 32; // NT_AMDGPU_METADATA
constexpr char kNoteOwner[] = "AMDGPU";

std::optional<std::vector<KernelStore>> storesOf(const abi::SiteTableView &sites, const abi::KernelEntry &entry,
                                                 const KernelMetadata &kernel) {
  if (!(entry.flags & abi::kKernelStoresKnown))
    return std::nullopt;
  std::vector<const KernelArg *> arguments; // the program's, which the compiler lists in their order
  for (const KernelArg &arg : kernel.args)
    if (!arg.hidden())
      arguments.push_back(&arg);
  std::vector<KernelStore> stores;
  for (uint32_t i = 0; i < entry.storeCount; ++i) {
    const abi::StoreEntry store = sites.store(entry.storeFirst + i);
    if (store.argument == abi::kNoArgument) {
      stores.push_back({std::nullopt, report::demangle(std::string(sites.string(store.variable)))});
    } else {
      if (store.argument >= arguments.size() ||
          uint64_t(store.offset) + sizeof(uint64_t) > arguments[store.argument]->size)
        return std::nullopt;
      stores.push_back({arguments[store.argument]->offset + store.offset, {}});
    }
  }
  return stores;
}
} // namespace

std::shared_ptr<const CodeObject> CodeObject::parse(std::string_view bytes, std::vector<std::string> &errors,
                                                    bool keepBytes) {
  auto object = std::make_shared<CodeObject>();
  if (keepBytes)
    object->Bytes = bytes;
  std::string error;
  std::optional<ElfReader> elf = ElfReader::open(bytes, error);
  if (!elf) {
    errors.push_back(std::move(error));
    return object;
  }

  for (const ElfReader::Object &symbol : elf->objects())
    object->Data.push_back({std::string(symbol.name), symbol.address, symbol.bytes});

  MetadataMap metadata;
  if (std::optional<std::string_view> note = elf->note(kNoteOwner, kNoteTypeMetadata)) {
    if (std::optional<MetadataMap> parsed = parseMetadata(*note, error))
      metadata = std::move(*parsed);
    else
      errors.push_back(error);
  }

  for (const auto &[name, kernel] : metadata)
    if (std::any_of(kernel.args.begin(), kernel.args.end(),
                    [](const KernelArg &arg) { return arg.kind == "hidden_hostcall_buffer"; }))
      object->HostCallers.insert(name);

  std::set<std::string, std::less<>> twinNames;
  if (std::optional<std::string_view> section = elf->section(abi::kSiteTableSection)) {
    object->SiteBytes.assign(*section);
    object->Sites = abi::parseSiteTable(object->SiteBytes, error);
    if (!object->Sites) {
      errors.push_back(error);
      object->SiteProblem = error;
    }
  }
  if (object->Sites) {
    const abi::SiteTableView &sites = *object->Sites;
    for (uint32_t i = 0; i < sites.kernelCount(); ++i) {
      abi::KernelEntry entry = sites.kernel(i);
      std::string originalName(sites.string(entry.original)), twinName(sites.string(entry.twin));
      TwinInfo info;
      info.file = sites.string(entry.file);
      info.line = entry.line;
      info.granuleLog2 = entry.granuleLog2;
      info.copiesAsync = (entry.flags & abi::kKernelCopiesAsync) != 0;
      info.countsLdsWaits = (entry.flags & abi::kKernelCountsLdsWaits) != 0;
      info.namedBarriers = (entry.flags & abi::kKernelNamedBarriers) != 0;
      info.waitsForHost = (entry.flags & abi::kKernelWaitsForHost) != 0;
      info.ordersThroughLds = (entry.flags & abi::kKernelOrdersThroughLds) != 0;
      info.notesWrites = (entry.flags & abi::kKernelNotesWrites) != 0;
      for (uint32_t s = 0; s < entry.skipCount; ++s) {
        abi::SkipEntry skip = sites.skip(entry.skipFirst + s);
        if (sites.string(skip.reason) == abi::kSkipCovered)
          info.coveredSites += skip.count;
        else
          info.skippedSites[report::printable(std::string(sites.string(skip.reason)))] += skip.count;
      }
      auto original = metadata.find(originalName), twin = metadata.find(twinName);
      if (twinName.empty()) {
        info.problem = info.skippedSites.empty() ? "left out when it was compiled (--kernels or an ignore list)"
                                                 : info.skippedSites.begin()->first;
        object->Twins.insert_or_assign(std::move(originalName), std::move(info));
        continue;
      }
      if (original == metadata.end() || twin == metadata.end()) {
        info.problem = "the code object's metadata lacks " + (original == metadata.end() ? originalName : twinName);
      } else {
        info.original = original->second;
        info.twin = twin->second;
        info.kernarg = KernargPlan::make(info.original, info.twin, info.problem);
        info.stores = storesOf(sites, entry, info.original);
      }
      if (!info.problem.empty())
        errors.push_back(info.problem);
      twinNames.insert(std::move(twinName));
      object->Twins.insert_or_assign(std::move(originalName), std::move(info));
    }
  }
  for (const auto &[name, kernel] : metadata)
    if (!twinNames.count(name))
      object->KernelNames.push_back(name);
  for (const auto &[name, twin] : object->Twins)
    if (!metadata.count(name))
      object->KernelNames.push_back(name);
  for (std::string &line : errors)
    line = report::printable(std::move(line)); // names of the file may be anything
  return object;
}

const TwinInfo *CodeObject::twin(std::string_view kernel) const {
  auto it = Twins.find(kernel);
  return it == Twins.end() ? nullptr : &it->second;
}

} // namespace wavesan::hsa
