// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "race_builder.h"

#include "wavesan/abi/system_files.h"

#include <algorithm>
#include <tuple>

namespace wavesan::hsa {

namespace {

std::vector<report::Frame> framesOf(const abi::SiteTableView &sites, uint32_t frame) {
  std::vector<report::Frame> frames;
  while (frame != abi::kNoFrame) {
    abi::FrameEntry entry = sites.frame(frame);
    frames.push_back({report::demangle(std::string(sites.string(entry.function))),
                      std::string(sites.string(entry.file)), entry.line, entry.column});
    frame = entry.inlinedAt;
  }
  return frames;
}

report::Access accessOf(const abi::SiteTableView &sites, const abi::RaceSide &side) {
  report::Access access = siteAccess(sites, side.site);
  access.wave = side.wave;
  if (side.lane != abi::kUnknownLane)
    access.lane = side.lane;
  return access;
}

/// Barriers and loops of the module; those of other kernels share no function with the accesses.
report::SourceFacts factsOf(const abi::SiteTableView &sites) {
  report::SourceFacts facts;
  for (uint32_t i = 0; i < sites.siteCount(); ++i) {
    abi::SiteEntry site = sites.site(i);
    if (site.kind == uint32_t(abi::SiteKind::Barrier) && site.frame != abi::kNoFrame &&
        !sites.string(site.opcode).starts_with("named barrier")) // those are not for the whole workgroup
      facts.barriers.push_back(framesOf(sites, site.frame));
  }
  for (uint32_t i = 0; i < sites.loopCount(); ++i) {
    abi::LoopEntry loop = sites.loop(i);
    facts.loops.push_back({report::demangle(std::string(sites.string(loop.function))),
                           std::string(sites.string(loop.file)), loop.first, loop.last});
  }
  return facts;
}

/// Two atomics conflict only because the scope of one does not include the other side. The cells of LDS do not keep the
/// scope, so whoever finds the conflict cannot say.
bool atomicsOfSmallScope(const abi::SiteTableView &sites, const abi::RaceRecord &record) {
  auto atomic = [&](const abi::RaceSide &side) {
    return (abi::accessBits(sites.site(side.site).info) & abi::kAccessAtomic) != 0;
  };
  return record.space != uint32_t(abi::RaceSpace::None) && atomic(record.current) && atomic(record.previous);
}

/// The compiler does not look into inline assembly: what its instructions leave under way the source must wait for.
bool ownWaits(const abi::SiteTableView &sites, const abi::RaceSide &side) {
  return sites.string(sites.site(side.site).opcode).starts_with("inline asm");
}

abi::RaceClass classOf(const abi::SiteTableView &sites, const abi::RaceRecord &record) {
  if (record.raceClass == uint32_t(abi::RaceClass::MissingFence) && ownWaits(sites, record.previous))
    return abi::RaceClass::MissingWait;
  return atomicsOfSmallScope(sites, record) ? abi::RaceClass::ScopeTooSmall : abi::RaceClass(record.raceClass);
}

bool isDivergence(const abi::RaceRecord &record) { return abi::isDivergence(abi::RaceClass(record.raceClass)); }

bool isBarrier(const abi::SiteTableView &sites, uint32_t site) {
  return site < sites.siteCount() && sites.site(site).kind == uint32_t(abi::SiteKind::Barrier);
}

bool isPlausibleDivergence(const abi::RaceRecord &record, const abi::SiteTableView &sites, uint32_t waveSize) {
  const abi::DivergenceDetail d = abi::divergenceOf(record);
  const bool ends = record.raceClass == uint32_t(abi::RaceClass::EarlyExit);
  if (record.space != uint32_t(abi::RaceSpace::None) || !isBarrier(sites, record.previous.site) ||
      (ends ? record.current.site != abi::kNoSite : !isBarrier(sites, record.current.site)))
    return false;
  const abi::RaceSide *sides[] = {&record.previous, &record.current};
  for (int i = 0; i < 2; ++i)
    if (sides[i]->wave >= abi::kMaxWavesPerWorkgroup || !(d.waves[i] >> sides[i]->wave & 1) ||
        sides[i]->lane >= waveSize || !(d.lanes[i] >> sides[i]->lane & 1))
      return false;
  return true;
}

/// The branch that parts the groups: a position in one of the frames of the barrier where the previous group waits.
std::vector<report::Frame> branchOf(const std::vector<report::Frame> &barrier, const abi::DivergenceDetail &d) {
  if (d.line == 0 || d.depth >= barrier.size())
    return {};
  std::vector<report::Frame> frames(barrier.end() - 1 - d.depth, barrier.end());
  frames.front().line = d.line;
  frames.front().column = d.column;
  return frames;
}

/// A barrier as an instruction of the target: in no header that makes barriers of the language of it.
bool isBare(const abi::SiteTableView &sites, uint32_t site) {
  const uint32_t frame = sites.site(site).frame;
  return frame != abi::kNoFrame && !abi::isLanguageFile(sites.string(sites.frame(frame).file));
}

/// What the site table says of the branch, where the record does not: it names the barrier before instead.
abi::DivergenceDetail withBranch(abi::DivergenceDetail d, const abi::RaceRecord &record, const abi::SiteTableView &sites) {
  if (!d.bySite)
    return d;
  const uint32_t before = d.line;
  d.line = 0;
  if (d.apart || before > sites.siteCount() || (before != 0 && !isBarrier(sites, before - 1)))
    return d;
  const bool ends = record.raceClass == uint32_t(abi::RaceClass::EarlyExit);
  const uint32_t from = before == 0 ? abi::kNoFrame : sites.site(before - 1).frame,
                 barrier = sites.site(record.previous.site).frame,
                 other = ends ? abi::kNoFrame : sites.site(record.current.site).frame;
  if (barrier == abi::kNoFrame || (!ends && other == abi::kNoFrame) || (before != 0 && from == abi::kNoFrame))
    return d;
  if (before != 0 && isBare(sites, before - 1)) // the waves may come from different ones
    return d;
  for (uint32_t i = 0; i < sites.branchCount(); ++i) {
    const abi::BranchEntry b = sites.branch(i);
    if (b.barrier != barrier || b.other != other || (b.from != abi::kAnyFrame && b.from != from) ||
        b.depth > UINT8_MAX)
      continue;
    d.line = b.line;
    d.column = uint16_t(std::min<uint32_t>(b.column, UINT16_MAX));
    d.depth = uint8_t(b.depth);
    break;
  }
  d.uneven = before != 0 && from == barrier;
  return d;
}

/// Of two barriers that sites alone tell of, the one first that both groups come from: they are in different rounds of a loop.
abi::RaceRecord inLoopFirst(abi::RaceRecord r, const abi::SiteTableView &sites) {
  abi::DivergenceDetail d = abi::divergenceOf(r);
  if (!d.bySite || d.apart || r.raceClass != uint32_t(abi::RaceClass::BarrierDivergence) || d.line == 0 ||
      d.line > sites.siteCount() || sites.site(d.line - 1).frame == abi::kNoFrame ||
      sites.site(d.line - 1).frame != sites.site(r.current.site).frame)
    return r;
  std::swap(r.previous, r.current);
  std::swap(d.waves[0], d.waves[1]);
  std::swap(d.lanes[0], d.lanes[1]);
  abi::setDivergence(r, d);
  return r;
}

void buildDivergence(report::Race &race, const abi::RaceRecord &found, const abi::SiteTableView &sites) {
  const abi::RaceRecord record = inLoopFirst(found, sites);
  const abi::DivergenceDetail d = withBranch(abi::divergenceOf(record), record, sites);
  report::Divergence &out = race.divergence.emplace();
  out.currentEnds = record.raceClass == uint32_t(abi::RaceClass::EarlyExit);
  out.apart = d.apart;
  out.uneven = d.uneven;
  out.previousWaves = d.waves[0];
  out.currentWaves = d.waves[1];
  out.previousLanes = d.lanes[0];
  out.currentLanes = d.lanes[1];
  auto side = [&](report::Access &access, const abi::RaceSide &from, bool ends) {
    access.wave = from.wave;
    access.lane = from.lane;
    access.epoch = record.epoch;
    access.opcode = ends ? "end of kernel" : std::string(sites.string(sites.site(from.site).opcode));
    std::copy_n(record.workgroup, 3, access.workgroup);
    if (!ends)
      access.frames = framesOf(sites, sites.site(from.site).frame);
  };
  side(race.previous, record.previous, false);
  side(race.current, record.current, out.currentEnds);
  out.branch = branchOf(race.previous.frames, d);
  if (out.currentEnds)
    race.current.frames = out.branch;
  race.space = abi::RaceSpace::None;
  race.order = report::Order::WriteAfterWrite; // of no meaning here
}

std::string divergenceIdentity(const abi::RaceRecord &record, const Kernel &kernel) {
  const abi::SiteTableView &sites = kernel.object->sites();
  report::Race race;
  buildDivergence(race, record, sites);
  std::string sides[2];
  for (int i = 0; i < 2; ++i)
    for (const report::Frame &frame : (i == 0 ? race.previous : race.current).frames)
      sides[i] += '|' + frame.file + ':' + std::to_string(frame.line) + ':' + std::to_string(frame.column);
  if (sides[1] < sides[0]) // whoever saw it
    std::swap(sides[0], sides[1]);
  std::string text = kernel.name + '\n' + std::to_string(record.raceClass) + '\n' + sides[0] + '\n' + sides[1];
  if (race.previous.frames.empty()) // no debug info: the sites themselves
    text += "#" + std::to_string(record.previous.site) + "#" + std::to_string(record.current.site);
  return text;
}

std::string sideIdentity(const abi::SiteTableView &sites, const abi::RaceSide &side) {
  abi::SiteEntry site = sites.site(side.site);
  std::string text = report::accessText(abi::accessBits(site.info));
  if (site.frame == abi::kNoFrame)
    return text + "#" + std::to_string(side.site); // no debug info: the site itself
  for (uint32_t f = site.frame; f != abi::kNoFrame; f = sites.frame(f).inlinedAt) {
    abi::FrameEntry frame = sites.frame(f);
    text += '|';
    text += sites.string(frame.file);
    text += ':' + std::to_string(frame.line) + ':' + std::to_string(frame.column);
  }
  return text;
}

/// A position that tells a barrier from others: every line of the chain is known.
bool isExact(const std::vector<report::Frame> &frames) {
  return !frames.empty() && std::all_of(frames.begin(), frames.end(), [](const report::Frame &f) { return f.line != 0; });
}

} // namespace

report::Access siteAccess(const abi::SiteTableView &sites, uint32_t number) {
  abi::SiteEntry site = sites.site(number);
  report::Access access;
  // The cell of the earlier side keeps only what the check needs; the site knows the whole access.
  access.bits = abi::accessBits(site.info);
  access.sizeBytes = site.kind == uint32_t(abi::SiteKind::Range) ? 0 : abi::accessSize(site.info);
  access.opcode = sites.string(site.opcode);
  if ((access.bits & abi::kAccessAtomic) && site.kind == uint32_t(abi::SiteKind::Access) &&
      abi::atomicScope(site.info) != abi::Scope::SingleThread)
    access.scope = abi::atomicScope(site.info);
  access.frames = framesOf(sites, site.frame);
  return access;
}

bool isInOrder(const abi::RaceRecord &record, const Kernel &kernel) {
  if (!isDivergence(record) || !abi::divergenceOf(record).bySite)
    return false;
  const abi::SiteTableView &sites = kernel.object->sites();
  const bool bare = isBare(sites, record.previous.site);
  if (record.raceClass == uint32_t(abi::RaceClass::EarlyExit) || abi::divergenceOf(record).apart)
    return bare;
  const auto previous = framesOf(sites, sites.site(record.previous.site).frame),
             current = framesOf(sites, sites.site(record.current.site).frame);
  return previous == current || !isExact(previous) || !isExact(current) ||
         (bare && isBare(sites, record.current.site));
}

bool isPlausible(const abi::RaceRecord &record, const Kernel &kernel) {
  if (!kernel.object || !kernel.object->instrumented() || !kernel.twin)
    return false;
  const abi::SiteTableView &sites = kernel.object->sites();
  const bool goodClass =
      record.raceClass >= uint32_t(abi::RaceClass::Race) && record.raceClass <= uint32_t(abi::RaceClass::WaveOrder) &&
      !abi::isBetweenCommands(abi::RaceClass(record.raceClass));
  if (isDivergence(record))
    return record.ready == 1 && record.count != 0 && isPlausibleDivergence(record, sites, kernel.twin->twin.waveSize);
  const bool lds = record.space == uint32_t(abi::RaceSpace::Lds);
  const bool goodPlace = lds ? record.address <= UINT32_MAX : record.space == uint32_t(abi::RaceSpace::Global);
  if (record.ready != 1 || record.count == 0 || !goodClass || !goodPlace || record.size == 0 ||
      record.neededScope > uint32_t(abi::Scope::System))
    return false;
  for (const abi::RaceSide *side : {&record.current, &record.previous}) {
    if (side->site >= sites.siteCount() ||
        (side->lane >= kernel.twin->twin.waveSize && (lds || side->lane != abi::kUnknownLane)) ||
        side->wave >= abi::kMaxWavesPerWorkgroup || (side->access & (abi::kAccessRead | abi::kAccessWrite)) == 0 ||
        sites.site(side->site).kind == uint32_t(abi::SiteKind::Barrier))
      return false;
  }
  return true;
}

report::Race buildRace(const abi::RaceRecord &record, const Kernel &kernel, uint64_t dispatch,
                       const MemoryMap &memory) {
  const abi::SiteTableView &sites = kernel.object->sites();
  report::Race race;
  race.raceClass = classOf(sites, record);
  race.kernel = kernel.display;
  race.kernelMangled = kernel.name;
  race.dispatch = dispatch;
  race.waveSize = kernel.twin->twin.waveSize;
  race.occurrences = record.count;
  if (isDivergence(record)) {
    buildDivergence(race, record, sites);
    return race;
  }
  race.space = abi::RaceSpace(record.space);
  race.size = record.size;
  race.neededScope = abi::Scope(record.neededScope);
  race.current = accessOf(sites, record.current);
  race.previous = accessOf(sites, record.previous);
  race.current.epoch = record.epoch;
  std::copy_n(record.workgroup, 3, race.current.workgroup);
  if (race.space == abi::RaceSpace::Global) {
    std::copy_n(record.previousWorkgroup, 3, race.previous.workgroup);
    race.place = memory.find(record.address, dispatch);
  } else {
    std::copy_n(record.workgroup, 3, race.previous.workgroup);
    race.ldsFirst = uint32_t(record.address);
  }

  bool currentWrites = record.current.access & abi::kAccessWrite;
  bool previousWrites = record.previous.access & abi::kAccessWrite;
  race.order = currentWrites && previousWrites ? report::Order::WriteAfterWrite
               : currentWrites                 ? report::Order::WriteAfterRead
                                               : report::Order::ReadAfterWrite;

  race.variable = sites.string(sites.site(record.current.site).variable);
  if (race.variable.empty())
    race.variable = sites.string(sites.site(record.previous.site).variable);
  if (record.raceClass != uint32_t(abi::RaceClass::ScopeTooSmall) && race.raceClass == abi::RaceClass::ScopeTooSmall)
    race.neededScope = race.betweenWorkgroups()                         ? abi::Scope::Agent
                       : race.current.wave == race.previous.wave ? abi::Scope::Wavefront
                                                                 : abi::Scope::Workgroup;
  if (record.variableOffset != abi::kNoVariable)
    race.variableOffset = record.variableOffset;
  race.sameValue = writesSameValue(record, kernel);
  race.situation = report::judgeSituation(race.current.frames, race.previous.frames, factsOf(sites));
  return race;
}

bool writesSameValue(const abi::RaceRecord &record, const Kernel &kernel) {
  const auto raceClass = abi::RaceClass(record.raceClass);
  if (raceClass != abi::RaceClass::Race && raceClass != abi::RaceClass::MissingFence &&
      raceClass != abi::RaceClass::ScopeTooSmall && raceClass != abi::RaceClass::WaveOrder)
    return false;
  const abi::SiteTableView &sites = kernel.object->sites();
  const std::string_view stored = sites.string(sites.site(record.current.site).stored);
  return !stored.empty() && stored == sites.string(sites.site(record.previous.site).stored);
}

RaceKey raceIdentity(const abi::RaceRecord &record, const Kernel &kernel) {
  if (isDivergence(record))
    return {divergenceIdentity(record, kernel)};
  const abi::SiteTableView &sites = kernel.object->sites();
  std::string current = sideIdentity(sites, record.current), previous = sideIdentity(sites, record.previous);
  RaceKey key;
  key.swapped = previous < current;
  if (key.swapped)
    std::swap(current, previous);
  key.text = kernel.name + '\n' + std::to_string(uint32_t(classOf(sites, record))) + '\n' +
             std::to_string(record.space) + (writesSameValue(record, kernel) ? "=" : "") + '\n' + current + '\n' +
             previous;
  return key;
}

bool isBetweenWorkgroups(const abi::RaceRecord &record) {
  return !isDivergence(record) && record.space == uint32_t(abi::RaceSpace::Global) &&
         !std::equal(record.workgroup, record.workgroup + 3, record.previousWorkgroup);
}

bool recordBefore(const abi::RaceRecord &a, const abi::RaceRecord &b) {
  auto order = [](const abi::RaceRecord &r) {
    // Addresses of global memory differ from run to run.
    uint64_t address = r.space == uint32_t(abi::RaceSpace::Lds) ? r.address : 0;
    return std::make_tuple(r.workgroup[2], r.workgroup[1], r.workgroup[0], r.epoch, r.raceClass, r.space, address,
                           r.previousWorkgroup[2], r.previousWorkgroup[1], r.previousWorkgroup[0], r.current.wave,
                           r.previous.wave, r.current.site, r.previous.site, r.current.lane, r.previous.lane);
  };
  return order(a) < order(b);
}

} // namespace wavesan::hsa
