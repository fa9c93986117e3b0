// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds commands that touch the same bytes, one of them writing, and that nothing orders.
//
// What a copy touches is known when it is submitted, what a kernel touches when it has ended. Commands are compared in
// the order of their submission all the same (a later one can follow an earlier one, never the other way round): one
// whose accesses are not there yet holds up those behind it.
#ifndef WAVESAN_STREAMS_COMMAND_CHECKER_H
#define WAVESAN_STREAMS_COMMAND_CHECKER_H

#include "access_history.h"
#include "graph_order.h"
#include "stream_order.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/stream_check.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace wavesan::streams {

/// A stream as reports speak of it.
struct StreamFacts {
  StreamType type = StreamType::Unknown;
  bool perThread = false;
  Calls made;
};

struct Command {
  Submitted order;
  abi::CommandKind kind = abi::CommandKind::Kernel;
  const char *function = "";
  uint64_t correlation = 0, begin = 0; ///< of the HIP call, as traces have them
  uint32_t thread = 0;                 ///< the same
  Calls call;
  StreamFacts stream;
  std::shared_ptr<const GraphOrder> graph; ///< of the launch of a graph whose nodes are known
  std::vector<abi::SyncPlace> places;      ///< of the host: through which it may have been ordered, by address
  bool onHost =
      false; ///< an access of the host: it follows what the host has waited for, and precedes what is submitted later
  const void *graphExec = nullptr; ///< of the launch of a graph

  bool hostFunction() const { return kind == abi::CommandKind::HostFunction; }
  /// The program's own code executes it. How its threads are ordered is not known here: two such are never compared.
  bool byHost() const { return onHost || hostFunction(); }
};
using CommandPtr = std::shared_ptr<const Command>;

/// Bytes that a copy, a fill or a free touches.
struct Range {
  uint64_t begin, end;
  uint8_t bits;
  NodeIndex node = kNoNode; ///< of a graph, that touches them
};

/// What is compared: a command, or one of its dispatches.
struct CommandPart {
  CommandPtr command;
  uint64_t kernel = 0, dispatch = 0;
  std::vector<abi::SyncPlace> places; ///< by address
  Calls access;                       ///< of a host function: where its access stands; else null
  /// Of a graph: the node that it is; several where that is not known for certain, none where nothing is known. Sorted.
  std::vector<NodeIndex> nodes;
};

/// What reports say, with everything that it points to kept alive.
struct FoundRace {
  struct Side {
    std::shared_ptr<const CommandPart> part;
    uint32_t site = 0;
    uint8_t bits = 0;
  };
  Side current, previous;
  /// Of two nodes of one launch of a graph: which; else kNoNode.
  NodeIndex currentNode = kNoNode, previousNode = kNoNode;
  uint64_t address = 0, bytes = 0;
  struct Record {
    uint64_t event = 0;
    Calls call;
  };
  Record late, early;
};

/// Not thread-safe.
class CommandChecker {
public:
  using Ticket = uint64_t; ///< of a launch; 0: none
  static constexpr size_t kHistoryBytes = size_t(256) << 20, kMaxWaiting = 1 << 16;

  /// `assumeFixes`: what the fix of a reported race would order counts as ordered from there on, so that one missing
  /// edge is one report.
  explicit CommandChecker(size_t historyBytes = kHistoryBytes, size_t maxWaiting = kMaxWaiting, bool assumeFixes = true)
      : History(historyBytes), MaxWaiting(maxWaiting), AssumeFixes(assumeFixes) {}

  // Launches, from any thread at any time.

  Ticket beginLaunch();
  /// One of its dispatches is on its way. `nodes`: of a graph, CommandPart::nodes.
  void bind(Ticket launch, uint64_t dispatch, std::vector<NodeIndex> nodes = {});
  /// What it touched; empty: not recorded.
  void deliver(Ticket launch, uint64_t kernel, uint64_t dispatch, const abi::DispatchAccesses *accesses);
  /// The launch is a host function, which has ended.
  struct HostPart {
    Calls access;
    std::vector<Range> ranges;
  };
  void deliverHost(Ticket launch, std::vector<HostPart> parts, const std::vector<abi::SyncPlace> &places);
  /// The call failed, or is no command.
  void cancel(Ticket launch);

  // In the order of submission.

  /// `launch`: 0 where it has no dispatches.
  void submit(CommandPtr command, std::vector<Range> ranges, Ticket launch);
  /// The event was recorded by this command.
  void recorded(const Submitted &record, uint64_t event, Calls call);
  /// These bytes are new memory.
  void newMemory(uint64_t begin, uint64_t end);
  /// The host has waited: what it knows now, everything later follows.
  void hostWaited(uint64_t floor, Clock host);

  /// Compares what is ready, and returns the races that were found since the last call.
  std::vector<FoundRace> takeRaces();
  /// Compares what there is, without waiting for what has not ended.
  std::vector<FoundRace> finish();

  abi::StreamCheckCounts counts{};
  size_t waiting() const { return Waiting.size(); }
  size_t historyBytes() const { return History.usedBytes(); }

private:
  using History_ = AccessHistory<CommandPart>;
  using Access = History_::Access;
  struct Delivered {
    std::shared_ptr<CommandPart> part; ///< its command is set when it is known
    std::vector<abi::AccessRun> runs;
    bool recorded = false;
  };
  struct Launch {
    uint32_t bound = 0;
    std::unordered_map<uint64_t, std::vector<NodeIndex>> nodes; ///< by dispatch
    bool submitted = false, dropped = false;
    std::vector<Delivered> parts;
  };
  struct Item {
    enum Kind : uint8_t { kCommand, kNewMemory, kHostWaited } kind = kCommand;
    CommandPtr command;
    std::vector<Range> ranges;
    Ticket launch = 0;
    uint64_t floor = 0;
    Clock host;
  };
  struct EventRecord {
    uint64_t number, position, event;
    Calls call;
  };
  struct PairKey {
    const CommandPart *previous, *current;
    uint32_t previousSite, site;
    uint8_t previousBits, bits;
    auto operator<=>(const PairKey &) const = default;
  };

  bool isReady(const Item &item) const;
  void process(bool force);
  void compare(Item &item, bool complete);
  void insert(const std::shared_ptr<const CommandPart> &part, uint64_t begin, uint64_t end, uint32_t site, uint8_t bits,
              abi::Scope scope, std::map<PairKey, FoundRace> &found);
  void addAll(std::map<PairKey, FoundRace> &found);
  void addInner(std::vector<FoundRace *> races);
  void addNodes(const Item &item, std::vector<Delivered> &parts);
  /// Of two parts of one launch of a graph.
  GraphOrder::Relation relation(const CommandPart &a, const CommandPart &b) const;
  /// False: it is none.
  bool add(FoundRace race);
  bool isDead(const CommandPart &part) const;
  bool isOrdered(const Command &later, const Command &earlier) const;
  void addAdvice(FoundRace &race) const;
  void retire();

  History_ History;
  const size_t MaxWaiting;
  const bool AssumeFixes;
  std::deque<Item> Waiting;
  std::unordered_map<Ticket, Launch> Launches;
  Ticket NextTicket = 0;
  bool Uncertain = false; ///< of the graph that is compared: the order of some nodes is not known
  uint64_t DeadFloor = 0, LastCompared = 0;
  Clock DeadHost;
  size_t RetireAbove = 1 << 20;
  /// What a reported race's fix would order: by stream (0: the host), the known positions.
  std::map<StreamId, KnownCommands> Assumed;
  std::unordered_map<StreamId, std::deque<EventRecord>> Records;
  std::set<StreamId> StreamsSeen;
  std::set<std::string> Reported;
  std::vector<FoundRace> Races;
};

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_COMMAND_CHECKER_H
