// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A capsule: one dispatch with everything that it needs to run again in another process, in one file (docs/capsule.md).
//
// Names in a capsule never become paths: a reader opens the file that it was given and no other.
#ifndef WAVESAN_CAPSULE_CAPSULE_H
#define WAVESAN_CAPSULE_CAPSULE_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::capsule {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr char kFileSuffix[] = ".capsule";

/// Memory as it was before the dispatch.
struct Region {
  enum class Place : uint32_t {
    Address,  ///< must lie at `address`, because other memory holds pointers to it
    Variable, ///< of the capsule's own code object: lies `address` - Capsule::loadAddress behind where that is loaded
  };
  Place place = Place::Address;
  uint64_t address = 0;
  // How a report names it (report::MemoryPlace).
  uint32_t kind = 0;
  uint64_t number = 0;
  std::string_view bytes; ///< not owned, except by Capsule::storage
};

struct Dispatch {
  std::string kernel; ///< linkage name
  uint32_t dimensions = 1;
  uint32_t grid[3] = {1, 1, 1}; ///< work-items
  uint32_t workgroup[3] = {1, 1, 1};
  uint32_t groupBytes = 0, privateBytes = 0; ///< as in the packet
  uint64_t number = 0;                       ///< in the run that was recorded
};

/// Move-only: regions point into `storage`.
struct Capsule {
  std::string version; ///< of the WaveSan that wrote it
  std::string target;  ///< the GPU that the code object is for
  /// Options of that run which decide what is executed and found, the seed among them: name -> value.
  std::map<std::string, std::string> options;
  Dispatch dispatch;
  uint64_t loadAddress = 0;            ///< of the code object, in the run that was recorded
  uint64_t descriptorOffset = 0; ///< of the kernel's descriptor, from there
  uint64_t expectedDigest = 0;         ///< RegionDigest of all regions, in their order, after the dispatch
  std::vector<uint32_t> queuePointers; ///< offsets of kernel arguments that must hold the address of the queue
  std::string codeObject;
  std::string arguments; ///< kernarg segment
  /// The races that the dispatch showed, as a report (docs/report-schema.md).
  std::string signature;
  std::vector<Region> regions;
  std::vector<std::unique_ptr<char[]>> storage;

  uint64_t memoryBytes() const;
};

/// Hash of memory, region after region.
class RegionDigest {
public:
  RegionDigest();
  ~RegionDigest();
  RegionDigest(const RegionDigest &) = delete;
  RegionDigest &operator=(const RegionDigest &) = delete;
  void add(const void *bytes, size_t count);
  uint64_t value() const;

private:
  struct State;
  std::unique_ptr<State> S;
};

/// Writes the capsule to `path` as a whole or not at all: into a temporary file beside it, synced, then renamed. Empty,
/// or one line that says why not; then nothing of it is left.
std::string writeCapsule(const std::string &path, const Capsule &capsule);

/// Reads `path` and checks everything that can be checked without running it. Nothing and one line in `error` if it is
/// damaged, hostile or of another version. `maxBytes`: of memory that may be allocated for its contents.
std::optional<Capsule> readCapsule(const std::string &path, uint64_t maxBytes, std::string &error);
/// The same for the contents of a file.
std::optional<Capsule> parseCapsule(std::string_view file, uint64_t maxBytes, std::string &error);

} // namespace wavesan::capsule

#endif // WAVESAN_CAPSULE_CAPSULE_H
