// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "capsule_minimise.h"

#include "message.h"
#include "temporary_directory.h"

#include "wavesan/abi/workgroup_number.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

constexpr uint64_t kPage = 4096;

std::string sizeText(const capsule::Capsule &capsule) {
  uint64_t workgroups = 1;
  for (int axis = 0; axis < 3; ++axis)
    workgroups *= abi::workgroupsAlong(capsule.dispatch.grid[axis], capsule.dispatch.workgroup[axis]);
  return std::to_string(workgroups) + (workgroups == 1 ? " workgroup, " : " workgroups, ") +
         std::to_string(capsule.memoryBytes()) + " bytes of memory in " + std::to_string(capsule.regions.size()) +
         (capsule.regions.size() == 1 ? " region" : " regions");
}

/// Tries smaller capsules, one change at a time, and keeps those that still show the races.
class Minimiser {
public:
  Minimiser(const CapsuleSetting &setting, capsule::Capsule &capsule, const std::set<std::string> &wanted,
            const std::string &file, uint32_t trials)
      : Setting(setting), Current(capsule), Wanted(wanted), File(file), Left(trials) {}

  void shrinkGrid() {
    for (int axis = 2; axis >= 0; --axis) {
      uint32_t &size = Current.dispatch.grid[axis];
      const uint32_t group = Current.dispatch.workgroup[axis];
      // The fewest workgroups by bisection: `bad` is too few.
      uint32_t bad = 0, good = size / group + (size % group != 0);
      while (good - bad > 1 && Left) {
        const uint32_t middle = bad + (good - bad) / 2, before = size;
        size = middle * group;
        if (shows())
          good = middle;
        else
          bad = middle, size = before;
      }
    }
  }

  void dropRegions() {
    // In halves, quarters and so on: most of a program's memory has nothing to do with one dispatch.
    for (size_t part = Current.regions.size(); part >= 1 && Left; part /= 2)
      for (size_t first = 0; first < Current.regions.size() && Left;) {
        const std::vector<capsule::Region> before = Current.regions;
        const size_t end = std::min(first + part, before.size());
        Current.regions.erase(Current.regions.begin() + ptrdiff_t(first), Current.regions.begin() + ptrdiff_t(end));
        if (!shows()) {
          Current.regions = before;
          first = end;
        }
      }
  }

  /// Regions to whole pages from their beginnings. What a kernel reads behind is an error, so what it needs stays.
  void shortenRegions() {
    for (size_t i = 0; i < Current.regions.size() && Left; ++i) {
      const std::string_view whole = Current.regions[i].bytes;
      if (Current.regions[i].place != capsule::Region::Place::Address)
        continue;
      uint64_t bad = 0, good = (whole.size() + kPage - 1) / kPage;
      while (good - bad > 1 && Left) {
        const uint64_t middle = bad + (good - bad) / 2;
        const std::string_view before = Current.regions[i].bytes;
        Current.regions[i].bytes = whole.substr(0, middle * kPage);
        if (shows())
          good = middle;
        else
          bad = middle, Current.regions[i].bytes = before;
      }
    }
  }

  /// With the digest of its own output. Empty, or why not.
  std::string write(const std::string &path) {
    Left = 1;
    if (!shows())
      return "the smaller capsule does not show its races every time: " + LastProblem;
    Current.expectedDigest = LastDigest;
    return capsule::writeCapsule(path, Current);
  }

private:
  bool shows() {
    if (Left == 0)
      return false;
    --Left;
    if (LastProblem = capsule::writeCapsule(File, Current); !LastProblem.empty())
      return false;
    const CapsuleRun run = runCapsule(Setting, File, Current, true);
    LastProblem = run.problem;
    LastDigest = run.digest;
    return run.problem.empty() && !run.failed &&
           std::includes(run.races.begin(), run.races.end(), Wanted.begin(), Wanted.end());
  }

  const CapsuleSetting &Setting;
  capsule::Capsule &Current;
  const std::set<std::string> &Wanted;
  const std::string File;
  uint32_t Left;
  std::string LastProblem;
  uint64_t LastDigest = 0;
};

} // namespace

std::string minimiseCapsule(const CapsuleSetting &setting, capsule::Capsule &capsule,
                            const std::set<std::string> &wanted, const std::string &file, uint32_t trials) {
  TemporaryDirectory directory;
  if (directory.path().empty())
    return "cannot make a temporary directory";
  const std::string before = sizeText(capsule);
  Minimiser minimiser(setting, capsule, wanted, directory.path() + "/trial.capsule", trials);
  minimiser.shrinkGrid();
  minimiser.dropRegions();
  minimiser.shortenRegions();
  const std::string path = fs::path(file).replace_extension().string() + ".min" + capsule::kFileSuffix;
  if (std::string why = minimiser.write(path); !why.empty())
    return why;
  say("minimised " + path + ": " + before + " became " + sizeText(capsule));
  return {};
}

} // namespace wavesan::driver
