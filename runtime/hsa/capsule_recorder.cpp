// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "capsule_recorder.h"

#include "queue_interceptor.h"
#include "tool.h"

#include "wavesan/abi/option_units.h"
#include "wavesan/capsule/capsule.h"
#include "wavesan/report/document.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

constexpr char kDeclineSize[] = "capsule_max_mb";
constexpr char kDeclineOverlap[] = "overlapping_memory";
constexpr char kDeclineAddress[] = "load_address";
constexpr uint64_t kChunk = 1 << 20;
constexpr size_t kNameBytes = 60;

std::string fileName(const Kernel &kernel, uint64_t dispatch) {
  std::string name = kernel.display.substr(0, kernel.display.find('('));
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-')
      c = '_';
  return name.substr(0, kNameBytes) + "-" + std::to_string(getpid()) + "-" + std::to_string(dispatch) +
         capsule::kFileSuffix;
}

std::string nameOf(const Kernel &kernel, uint64_t dispatch) {
  return "dispatch " + std::to_string(dispatch) + ", " + kernel.display;
}

/// Where the code object was loaded, judged from the kernel's descriptor.
std::optional<uint64_t> loadAddress(const Kernel &kernel, uint64_t kernelObject) {
  for (const DataSymbol &data : kernel.object->data())
    if (data.name == kernel.name + ".kd" && data.address <= kernelObject)
      return kernelObject - data.address;
  return std::nullopt;
}

/// A variable of the kernel's own code object.
bool isOwn(const Kernel &kernel, uint64_t base, const MemoryMap::LiveRange &range) {
  return range.kind == MemoryMap::Kind::DeviceVariable &&
         std::any_of(kernel.object->data().begin(), kernel.object->data().end(), [&](const DataSymbol &data) {
           return base + data.address == range.begin && data.bytes == range.bytes;
         });
}

/// The regions of the snapshot, in the order of addresses and without those inside of others. False: two overlap.
bool addRegions(const Snapshot &memory, const Kernel &kernel, capsule::Capsule &to) {
  uint64_t end = 0;
  for (const Snapshot::Saved &saved : memory.saved()) {
    const MemoryMap::LiveRange &range = saved.range;
    if (range.begin + range.bytes <= end)
      continue;
    if (range.begin < end)
      return false;
    end = range.begin + range.bytes;
    capsule::Region region;
    region.place =
        isOwn(kernel, to.loadAddress, range) ? capsule::Region::Place::Variable : capsule::Region::Place::Address;
    region.address = range.begin;
    region.kind = uint32_t(range.kind);
    region.number = range.number;
    region.bytes = {reinterpret_cast<const char *>(Snapshot::wholeBytes(saved)), range.bytes};
    to.regions.push_back(region);
  }
  return true;
}

/// Of the regions as they are now. False and one line in `error`.
bool digest(const Snapshot &memory, capsule::Capsule &capsule, std::string &error) {
  capsule::RegionDigest hash;
  std::vector<char> now(kChunk);
  for (const capsule::Region &region : capsule.regions)
    for (uint64_t at = 0; at < region.bytes.size(); at += kChunk) {
      const uint64_t bytes = std::min<uint64_t>(kChunk, region.bytes.size() - at);
      if (!memory.read(now.data(), region.address + at, bytes, error))
        return false;
      hash.add(now.data(), bytes);
    }
  capsule.expectedDigest = hash.value();
  return true;
}

std::string signatureOf(const std::vector<DispatchRace> &races) {
  report::Document document;
  for (const DispatchRace &race : races)
    document.races.push_back(race.race);
  document.summary.races = report::countOf(document.races, report::Severity::Error);
  document.summary.warnings = report::countOf(document.races, report::Severity::Warning);
  document.summary.notes = report::countOf(document.races, report::Severity::Note);
  return report::jsonText(document);
}

void describe(const abi::Options &options, const Kernel &kernel, const hsa_kernel_dispatch_packet_t &packet,
              uint64_t dispatch, capsule::Capsule &to) {
  to.version = WAVESAN_VERSION;
  to.options = {{"seed", std::to_string(options.seed)},
                {"hooks", options.hooks},
                {"wave_order", options.wave_order},
                {"early_exit", options.early_exit},
                {"max_races", std::to_string(options.max_races)},
                {"stuck_limit", std::to_string(options.stuck_limit)}};
  capsule::Dispatch &d = to.dispatch;
  d.kernel = kernel.name;
  d.number = dispatch;
  d.dimensions = packet.setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS & 3u;
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint32_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    d.grid[axis] = axis < d.dimensions ? grid[axis] : 1;
    d.workgroup[axis] = axis < d.dimensions ? group[axis] : 1;
  }
  d.groupBytes = packet.group_segment_size;
  d.privateBytes = packet.private_segment_size;
  for (const KernelArg &arg : kernel.twin->original.args)
    if (arg.kind == "hidden_queue_ptr")
      to.queuePointers.push_back(arg.offset);
  if (packet.kernarg_address)
    to.arguments.assign(static_cast<const char *>(packet.kernarg_address), kernel.twin->original.kernargBytes);
  to.codeObject = kernel.object->bytes();
}

std::string targetOf(const Api &api, hsa_agent_t agent) {
  char name[64] = {};
  return api.core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_NAME, name) == HSA_STATUS_SUCCESS ? name : "";
}

} // namespace

CapsuleRecorder::CapsuleRecorder(const abi::Options &options)
    : Directory(options.capsule), All(options.capsule_of == "all"), Kernels(options.capsule_kernels),
      Most(options.capsule_max), MostBytes(abi::bytesOfMebibytes(options.capsule_max_mb)) {}

bool CapsuleRecorder::wants(const Kernel &kernel) const {
  return enabled() && !full() && kernel.twin && kernel.problem.empty() && !kernel.filtered &&
         (Kernels.empty() || Kernels.accepts(kernel.display, kernel.name));
}

void CapsuleRecorder::declined(Findings &findings, const Kernel &kernel, uint64_t dispatch,
                               const std::string &why) const {
  const std::string line = "no capsule for " + nameOf(kernel, dispatch) + ": " + why;
  if (All)
    findings.message(line);
  else
    findings.sayIfRacy(dispatch, line);
}

std::optional<capsule::Capsule> CapsuleRecorder::begin(Tool &tool, const QueueState &queue, const Kernel &kernel,
                                                       const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch,
                                                       const Snapshot &memory) {
  capsule::Capsule capsule;
  const std::optional<uint64_t> base = loadAddress(kernel, packet.kernel_object);
  const char *why = base ? nullptr : kDeclineAddress;
  if (!why) {
    capsule.loadAddress = *base;
    capsule.descriptorOffset = packet.kernel_object - *base;
    capsule.target = targetOf(tool.api, queue.agent);
    describe(tool.options, kernel, packet, dispatch, capsule);
    if (!addRegions(memory, kernel, capsule))
      why = kDeclineOverlap;
    else if (capsule.memoryBytes() > MostBytes)
      why = kDeclineSize;
  }
  if (!why)
    return capsule;
  declined(tool.findings, kernel, dispatch, why);
  return std::nullopt;
}

void CapsuleRecorder::end(Findings &findings, const Kernel &kernel, capsule::Capsule capsule, const Snapshot &memory,
                          const std::vector<DispatchRace> &races) {
  const bool racy = std::any_of(races.begin(), races.end(), [](const DispatchRace &race) { return race.isNew; });
  if ((!racy && !All) || full())
    return;
  const uint64_t dispatch = capsule.dispatch.number;
  std::error_code ec;
  std::filesystem::create_directories(Directory, ec);
  const std::string path = (std::filesystem::path(Directory) / fileName(kernel, dispatch)).string();
  capsule.signature = signatureOf(races);
  std::string error;
  if (digest(memory, capsule, error))
    error = capsule::writeCapsule(path, capsule);
  if (!error.empty())
    return findings.error("no capsule for " + nameOf(kernel, dispatch) + ": " + error);
  Written.fetch_add(1, std::memory_order_relaxed);
  findings.message("capsule of " + nameOf(kernel, dispatch) + ": " + path);
}

void CapsuleRecorder::finish(Findings &findings) const {
  if (!enabled())
    return;
  const uint64_t written = Written.load(std::memory_order_relaxed);
  findings.message("capsules: " + std::to_string(written) + " written to " + Directory +
                   (full() ? " (option capsule_max: no more were looked for)" : ""));
}

} // namespace wavesan::hsa
