// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command_checker.h"

#include "sync_places.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wavesan::streams {

namespace {

/// Event records that are remembered for advice, of each stream.
constexpr size_t kMaxRecords = 64;
/// Distinct races that are told apart; further ones are reported as they come.
constexpr size_t kMaxReported = 1 << 16;

} // namespace

CommandChecker::Ticket CommandChecker::beginLaunch() {
  Launches[++NextTicket];
  return NextTicket;
}

void CommandChecker::bind(Ticket launch, uint64_t dispatch, std::vector<NodeIndex> nodes) {
  auto found = Launches.find(launch);
  if (found == Launches.end())
    return;
  ++found->second.bound;
  if (!nodes.empty())
    found->second.nodes[dispatch] = std::move(nodes);
}

void CommandChecker::deliver(Ticket launch, uint64_t kernel, uint64_t dispatch, const abi::DispatchAccesses *accesses) {
  auto found = Launches.find(launch);
  if (found == Launches.end()) // given up
    return;
  Delivered part;
  part.part = std::make_shared<CommandPart>();
  part.part->kernel = kernel;
  part.part->dispatch = dispatch;
  if (auto nodes = found->second.nodes.find(dispatch); nodes != found->second.nodes.end())
    part.part->nodes = nodes->second;
  if (accesses) {
    part.recorded = true;
    part.runs.assign(accesses->runs, accesses->runs + accesses->runCount);
    part.part->places.assign(accesses->places, accesses->places + accesses->placeCount);
    sortByAddress(part.part->places);
    counts.lost += accesses->lost;
  }
  Launch &l = found->second;
  l.parts.push_back(std::move(part));
  if (l.dropped && l.parts.size() >= l.bound)
    Launches.erase(found);
}

void CommandChecker::deliverHost(Ticket launch, std::vector<HostPart> parts,
                                 const std::vector<abi::SyncPlace> &places) {
  auto found = Launches.find(launch);
  if (found == Launches.end()) // given up
    return;
  if (parts.empty())
    parts.emplace_back(); // says that it has ended
  for (HostPart &from : parts) {
    Delivered part;
    part.part = std::make_shared<CommandPart>();
    part.part->access = std::move(from.access);
    part.part->places = places;
    sortByAddress(part.part->places);
    part.recorded = true;
    for (const Range &r : from.ranges)
      part.runs.push_back({r.begin, r.end, abi::kNoSite, r.bits, abi::Scope::System});
    found->second.parts.push_back(std::move(part));
  }
  if (found->second.dropped)
    Launches.erase(found);
}

void CommandChecker::cancel(Ticket launch) {
  auto found = Launches.find(launch);
  if (found == Launches.end())
    return;
  if (found->second.parts.size() >= found->second.bound)
    Launches.erase(found);
  else
    found->second.dropped = true;
}

void CommandChecker::submit(CommandPtr command, std::vector<Range> ranges, Ticket launch) {
  if (launch)
    Launches[launch].submitted = true;
  Waiting.push_back({Item::kCommand, std::move(command), std::move(ranges), launch, 0, nullptr});
}

void CommandChecker::recorded(const Submitted &record, uint64_t event, Calls call) {
  std::deque<EventRecord> &records = Records[record.at.stream];
  records.push_back({record.number, record.at.position, event, std::move(call)});
  if (records.size() > kMaxRecords)
    records.pop_front();
}

void CommandChecker::newMemory(uint64_t begin, uint64_t end) {
  Waiting.push_back({Item::kNewMemory, nullptr, {{begin, end, 0}}, 0, 0, nullptr});
}

void CommandChecker::hostWaited(uint64_t floor, Clock host) {
  if (!Waiting.empty() && Waiting.back().kind == Item::kHostWaited) {
    Waiting.back().floor = floor;
    Waiting.back().host = std::move(host);
    return;
  }
  Waiting.push_back({Item::kHostWaited, nullptr, {}, 0, floor, std::move(host)});
}

bool CommandChecker::isReady(const Item &item) const {
  if (!item.launch)
    return true;
  auto found = Launches.find(item.launch);
  return found == Launches.end() || found->second.parts.size() >= found->second.bound;
}

void CommandChecker::process(bool force) {
  while (!Waiting.empty()) {
    Item &item = Waiting.front();
    const bool ready = isReady(item);
    if (!ready && !force && Waiting.size() <= MaxWaiting)
      return;
    switch (item.kind) {
    case Item::kCommand:
      compare(item, ready);
      break;
    case Item::kNewMemory:
      History.clear(item.ranges[0].begin, item.ranges[0].end);
      break;
    case Item::kHostWaited:
      DeadFloor = item.floor;
      DeadHost = item.host;
      retire();
      break;
    }
    Waiting.pop_front();
  }
}

void CommandChecker::compare(Item &item, bool complete) {
  const Command &command = *item.command;
  LastCompared = std::max(LastCompared, command.order.number);
  std::vector<Delivered> parts;
  if (item.launch) {
    Launch &launch = Launches[item.launch];
    parts = std::move(launch.parts);
    launch.parts.clear();
    Launches.erase(item.launch); // what comes later is not taken any more
    if (!complete) {
      ++counts.unfinished;
      return;
    }
    if (parts.empty() && item.ranges.empty()) {
      ++counts.unboundLaunches;
      return;
    }
  }
  if (command.order.unknown()) {
    ++counts.orderUnknown;
    return;
  }
  if (!command.onHost)
    StreamsSeen.insert(command.order.at.stream);
  std::map<PairKey, FoundRace> found;
  bool compared = false;
  if (!item.ranges.empty() && !command.graph) {
    auto part = std::make_shared<CommandPart>();
    part->command = item.command;
    part->places = command.places;
    for (const Range &r : item.ranges)
      insert(part, r.begin, r.end, abi::kNoSite, r.bits, abi::Scope::System, found);
    compared = true;
  }
  if (command.graph)
    addNodes(item, parts);
  for (Delivered &d : parts) {
    d.part->command = item.command;
    if (!d.recorded) {
      ++counts.notRecorded;
      Uncertain = Uncertain || command.graph;
      continue;
    }
    for (const abi::AccessRun &r : d.runs)
      insert(d.part, r.begin, r.end, r.site, r.bits, r.scope, found);
    compared = compared || !command.hostFunction() || !d.runs.empty();
  }
  counts.graphCopies += std::exchange(Uncertain, false);
  (command.onHost ? counts.hostAccesses : counts.commands) += compared;
  counts.streams = StreamsSeen.size();
  addAll(found);
}

/// The nodes of a graph that are no kernels become parts like its dispatches, all in an order that its edges allow.
void CommandChecker::addNodes(const Item &item, std::vector<Delivered> &parts) {
  std::map<NodeIndex, Delivered> byNode;
  for (const Range &r : item.ranges) {
    Delivered &d = byNode[r.node];
    if (!d.part) {
      d.part = std::make_shared<CommandPart>();
      d.part->nodes = {r.node};
      d.recorded = true;
    }
    d.runs.push_back({r.begin, r.end, abi::kNoSite, r.bits, abi::Scope::System});
  }
  for (auto &[_, d] : byNode)
    parts.push_back(std::move(d));
  std::sort(parts.begin(), parts.end(), [](const Delivered &a, const Delivered &b) {
    auto key = [](const Delivered &d) {
      return std::pair(d.part->nodes.empty() ? kNoNode : d.part->nodes.front(), d.part->dispatch);
    };
    return key(a) < key(b);
  });
}

GraphOrder::Relation CommandChecker::relation(const CommandPart &a, const CommandPart &b) const {
  return a.nodes.empty() || b.nodes.empty() ? GraphOrder::Relation::Uncertain
                                            : a.command->graph->relation(a.nodes, b.nodes);
}

/// Races inside of one launch of a graph: one missing edge is one report, and what it would order as well is none.
void CommandChecker::addInner(std::vector<FoundRace *> races) {
  if (races.empty())
    return;
  const GraphOrder &graph = *races.front()->current.part->command->graph;
  for (FoundRace *race : races) {
    const auto &from = race->previous.part->nodes, &to = race->current.part->nodes;
    race->previousNode = from.front();
    race->currentNode = to.back() == from.front() ? to.front() : to.back();
    if (race->currentNode < race->previousNode) {
      std::swap(race->currentNode, race->previousNode);
      std::swap(race->current, race->previous);
    }
  }
  std::sort(races.begin(), races.end(), [](const FoundRace *a, const FoundRace *b) {
    auto key = [](const FoundRace *r) {
      return std::make_tuple(r->currentNode, ~r->previousNode, r->previous.site, r->current.site, r->previous.bits,
                             r->current.bits);
    };
    return key(a) < key(b);
  });
  std::vector<std::pair<NodeIndex, NodeIndex>> edges; // that the fixes of reported ones would add
  for (FoundRace *race : races) {
    const NodeIndex from = race->previousNode, to = race->currentNode;
    const bool known = std::any_of(edges.begin(), edges.end(), [&](const auto &edge) {
      return (from == edge.first || graph.before(from, edge.first)) &&
             (to == edge.second || graph.before(edge.second, to));
    });
    if (known)
      ++counts.repeats;
    else if (add(std::move(*race)) && AssumeFixes)
      edges.push_back({from, to});
  }
}

/// What orders the command with one of another stream orders it with all earlier ones of that stream: of those, the
/// latest speaks for all.
void CommandChecker::addAll(std::map<PairKey, FoundRace> &found) {
  std::vector<FoundRace *> races, inner;
  for (auto &[_, race] : found)
    (race.current.part->command == race.previous.part->command ? inner : races).push_back(&race);
  addInner(std::move(inner));
  std::sort(races.begin(), races.end(), [](const FoundRace *a, const FoundRace *b) {
    auto order = [](const FoundRace *r) {
      const StreamPosition at = r->previous.part->command->order.at;
      return std::make_tuple(at.stream, ~at.position, r->previous.site, r->current.site, r->previous.bits,
                             r->current.bits);
    };
    return order(a) < order(b);
  });
  StreamId last = 0;
  for (FoundRace *race : races) {
    const StreamId stream = race->previous.part->command->order.at.stream;
    if (AssumeFixes && stream == last) {
      ++counts.repeats;
      continue;
    }
    if (add(std::move(*race)))
      last = stream;
  }
}

bool CommandChecker::isDead(const CommandPart &part) const {
  const Submitted &order = part.command->order;
  return order.number <= DeadFloor || (DeadHost && DeadHost->knows(order.at));
}

bool CommandChecker::isOrdered(const Command &later, const Command &earlier) const {
  if (&later == &earlier)
    return true;
  if (!later.onHost && later.order.at.stream == earlier.order.at.stream)
    return true;
  if (later.order.before && later.order.before->knows(earlier.order.at))
    return true;
  auto assumed = Assumed.find(later.onHost ? 0 : later.order.at.stream);
  return assumed != Assumed.end() && assumed->second.knows(earlier.order.at);
}

void CommandChecker::insert(const std::shared_ptr<const CommandPart> &part, uint64_t begin, uint64_t end, uint32_t site,
                            uint8_t bits, abi::Scope scope, std::map<PairKey, FoundRace> &found) {
  Access fresh;
  fresh.part = part;
  fresh.site = site;
  fresh.bits = bits;
  fresh.scope = scope;
  fresh.host = part->command->byHost();
  auto ordered = [&](const CommandPart &old) {
    // A host function's access takes no command's place in the history: other threads of the host, which are not
    // compared with it, are compared with that one.
    if (part->command->hostFunction() && !old.command->hostFunction())
      return false;
    if (old.command != part->command || !part->command->graph || &old == part.get())
      return isOrdered(*part->command, *old.command);
    return relation(old, *part) == GraphOrder::Relation::Ordered;
  };
  auto dead = [&](const CommandPart &old) { return isDead(old); };
  auto conflict = [&](const Access &old, uint64_t from, uint64_t to) {
    if (old.host && fresh.host)
      return;
    if (part->command->hostFunction() && isOrdered(*part->command, *old.part->command))
      return;
    if (old.part->command == part->command && part->command->graph &&
        relation(*old.part, *part) == GraphOrder::Relation::Uncertain) {
      Uncertain = true;
      return;
    }
    FoundRace &race = found[{old.part.get(), part.get(), old.site, site, old.bits, bits}];
    if (race.bytes == 0) {
      race.current = {part, site, bits};
      race.previous = {old.part, old.site, old.bits};
      race.address = from;
    }
    race.bytes += to - from;
    race.address = std::min(race.address, from);
  };
  if (part->command->onHost) {
    // Everything that is submitted later follows it: nothing to keep.
    History.look(begin, end, [&](const Access &old, uint64_t from, uint64_t to) {
      if (!dead(*old.part) && !ordered(*old.part) && conflicting(old, fresh))
        conflict(old, from, to);
    });
    return;
  }
  const uint64_t lost = History.lost();
  History.insert(begin, end, fresh, ordered, dead, conflict);
  counts.lost += History.lost() - lost;
}

bool CommandChecker::add(FoundRace race) {
  const Command &current = *race.current.part->command, &previous = *race.previous.part->command;
  if (mayBeOrderedByAtomics(race.current.part->places, race.previous.part->places,
                            current.byHost() || previous.byHost())) {
    ++counts.atomicsOrder;
    return false;
  }
  // What the fix orders needs no second report.
  std::string key;
  auto put = [&](const void *data, size_t bytes) { key.append(static_cast<const char *>(data), bytes); };
  for (const FoundRace::Side *side : {&race.current, &race.previous}) {
    const uint64_t numbers[] = {side->part->kernel, side->site, side->bits};
    put(numbers, sizeof numbers);
    for (const Calls &call : {side->part->command->call, side->part->access})
      if (call)
        put(call->data(), call->size() * sizeof(uint64_t));
    key += '|';
  }
  const bool inner = race.currentNode != kNoNode;
  for (const NodeIndex node : {race.currentNode, race.previousNode})
    put(&node, sizeof node);
  if (AssumeFixes && !inner)
    Assumed[current.onHost ? 0 : current.order.at.stream].add(previous.order.at);
  if (Reported.contains(key)) {
    ++counts.repeats;
    return true;
  }
  if (Reported.size() < kMaxReported)
    Reported.insert(std::move(key));
  if (!inner)
    addAdvice(race);
  Races.push_back(std::move(race));
  return true;
}

void CommandChecker::addAdvice(FoundRace &race) const {
  const Command &current = *race.current.part->command, &previous = *race.previous.part->command;
  auto found = Records.find(previous.order.at.stream);
  if (found == Records.end())
    return;
  const uint64_t known = current.order.before ? current.order.before->lastOf(previous.order.at.stream) : 0;
  for (const EventRecord &r : found->second) {
    if (r.number >= current.order.number)
      break;
    if (r.position == known)
      race.early = {r.event, r.call};
    if (r.position > previous.order.at.position && !race.late.event)
      race.late = {r.event, r.call};
  }
}

void CommandChecker::retire() {
  if (DeadFloor >= LastCompared) {
    History.clearAll();
    Assumed.clear();
    RetireAbove = 1 << 20;
    return;
  }
  if (History.usedBytes() < RetireAbove)
    return;
  History.retire([&](const CommandPart &part) { return isDead(part); });
  RetireAbove = std::max<size_t>(1 << 20, 2 * History.usedBytes());
}

std::vector<FoundRace> CommandChecker::takeRaces() {
  process(false);
  return std::exchange(Races, {});
}

std::vector<FoundRace> CommandChecker::finish() {
  process(true);
  return std::exchange(Races, {});
}

} // namespace wavesan::streams
