// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan record`: the commands of a region of the program as a graph.
//
// It observes: the program's calls are executed as they are, and each command becomes a node on the side. Edges are
// what HIP documents as order (docs/stream-order.md): streams, events, the default stream, and what the host had waited
// for. An edge that others imply is left out.
#ifndef WAVESAN_HIP_REGION_RECORDER_H
#define WAVESAN_HIP_REGION_RECORDER_H

#include "command_checker.h"
#include "graph_file.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace wavesan::hip {

/// How a program says where regions begin and end. Each nests by itself, per thread.
enum class MarkerKind : uint8_t { Region, Range };

/// A region that has ended, with what its kernels have touched.
struct RecordedRegion {
  std::string name;
  uint64_t number = 0;  ///< from 1
  bool openEnd = false; ///< the process ended inside of it
  std::vector<streams::GraphNode> nodes;
  uint64_t streams = 0;
  std::map<std::string, uint64_t> skipped; ///< what could not be recorded, and how often
};

/// Not thread-safe.
class RegionRecorder {
public:
  static constexpr char kFirst[] = "first", kAll[] = "all";
  static constexpr size_t kMaxNodes = 1 << 17;
  using Ticket = streams::CommandChecker::Ticket;

  /// `region`: a name, kFirst or kAll. At most `maxRegions` are recorded (0: no limit), of `maxNodes` nodes each;
  /// what their kernels touched takes at most `maxBytes`, the rest is not known.
  RegionRecorder(std::string region, uint64_t maxRegions, size_t maxBytes, size_t maxNodes = kMaxNodes);

  void enter(MarkerKind kind, uint32_t thread, const std::string &name);
  void leave(MarkerKind kind, uint32_t thread);
  /// A range that may end in another thread.
  void start(uint64_t range, const std::string &name);
  void stop(uint64_t range);

  /// Whether a region is being recorded.
  bool active() const { return Current != nullptr; }
  /// A launch is about to be made; only while active().
  void beginLaunch(Ticket launch);
  void bound(Ticket launch);
  /// What one of its dispatches touched; null: not recorded.
  void delivered(Ticket launch, const abi::DispatchAccesses *accesses);
  void cancelled(Ticket launch) { Launches.erase(launch); }
  /// A command, in the order of submission; only while active(). `floor`: of StreamOrder, when it was submitted.
  /// `dispatches`: how many it has at least.
  void add(const streams::Submitted &order, uint64_t floor, streams::GraphNode node, Ticket launch,
           uint64_t dispatches);
  /// Something belongs into the region and cannot become a node; only while active().
  void skip(const std::string &what);

  /// Regions that have ended and whose dispatches have all ended.
  std::vector<RecordedRegion> take();
  /// Whatever there is.
  std::vector<RecordedRegion> finish();
  /// How often a region was entered that was not recorded, because there were enough.
  uint64_t surplus() const { return Surplus; }

private:
  struct Recorded {
    streams::Submitted order;
    uint64_t floor;
    streams::GraphNode node;
  };
  struct Region {
    std::string name;
    uint64_t number = 0;
    std::vector<Recorded> commands;
    std::map<std::string, uint64_t> skipped;
    size_t open = 0; ///< launches whose dispatches have not all ended
  };
  using RegionPtr = std::shared_ptr<Region>;
  struct Launch {
    RegionPtr region;
    size_t command = 0;
    bool submitted = false, unknown = false;
    uint64_t bound = 0, delivered = 0, expected = 0;
    std::vector<streams::TouchedBytes> touched;
    std::vector<abi::SyncPlace> places;
  };

  bool begins(const std::string &name);
  void ends();
  void complete(Ticket launch, Launch &state);
  static RecordedRegion finished(Region &region, bool openEnd);

  const std::string Wanted;
  const uint64_t MaxRegions;
  const size_t MaxBytes, MaxNodes;
  size_t Bytes = 0;
  uint64_t Regions = 0, Surplus = 0;
  size_t Depth = 0; ///< wanted regions that have been entered and not left
  std::map<std::pair<MarkerKind, uint32_t>, std::vector<bool>> Entered; ///< whether each counts
  std::unordered_map<uint64_t, bool> Ranges;
  RegionPtr Current;
  std::vector<RegionPtr> Ended;
  std::unordered_map<Ticket, Launch> Launches;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_REGION_RECORDER_H
