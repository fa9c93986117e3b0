// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interleave.h"

#include "crew.h"
#include "watchdog.h"
#include "worker_pool.h"

#include <algorithm>
#include <optional>
#include <thread>

namespace wavesan::cpu::engine {

namespace {

// Operations of one wave. The first turn is long: nearly every workgroup that waits for no other ends within it, and
// the order is that of a plain loop. Whoever comes back has either much to do or waits, and so have those that start
// when several were suspended already; waiting should be cheap.
constexpr uint32_t kFirstTurn = 64 << 10;
constexpr uint32_t kTurn = 16 << 10;

// Perturbed: turns from one operation on, and so many workgroups side by side from the start; more if none of them ends
// for so many rounds.
constexpr uint32_t kMaxTurnBits = 14;
constexpr uint64_t kPerturbedRoom = 16;
constexpr uint32_t kPatience = 256;

constexpr uint64_t kMaxResidents = 1024;
constexpr uint64_t kMaxResidentBytes = uint64_t(1) << 30;
// The stacks of kernels with calls are large but hardly touched: count this much of each lane's.
constexpr uint64_t kExpectedStackBytes = 16 << 10;
constexpr size_t kMaxIdle = 16;

/// One thread of a launch, and its workgroups.
class Interleaver {
public:
  Interleaver(LaunchState &launch, const Shape &shape, ResidencyPool &pool, Crew &crew, Watchdog *watchdog)
      : launch(launch), shape(shape), pool(pool), crew(crew),
        limit(std::max<uint64_t>(1, residentLimit(launch, shape) / crew.workers())), perturb(launch.launch->perturb),
        random(launch.launch->seed, kStream) {
    crew.join();
    if (watchdog)
      watch.emplace(*watchdog, [this] { return standing(); });
  }
  ~Interleaver() {
    for (auto &r : residents)
      retire(std::move(r));
    if (spare)
      pool.give(std::move(spare));
  }

  void run() {
    do {
      if (!admit())
        return;
      noteCompany(residents.size() > 1);
      if (!takeTurns())
        return;
    } while (!residents.empty() || crew.more(block));
  }

private:
  LaunchState &launch;
  const Shape &shape;
  ResidencyPool &pool;
  Crew &crew;
  Crew::Block block;
  uint64_t limit;
  std::vector<std::unique_ptr<Residency>> residents; ///< suspended, in the order of their start
  std::unique_ptr<Residency> spare;                  ///< of the workgroup that ended last: its memory is warm
  const bool perturb;
  Random random; ///< of perturbed turns
  const Residency *running = nullptr;
  uint32_t quietRounds = 0; ///< since one ended
  bool backwards = false;   ///< direction of the next round
  std::optional<WatchPost> watch;

  /// No workgroup's scheduler has this one.
  static constexpr uint64_t kStream = ~uint64_t(0);

  uint32_t budget(uint32_t usual) { return perturb ? 1u << random.below(kMaxTurnBits) : usual; }
  void noteCompany(bool company) {
    if (crew.workers() == 1)
      launch.alone = !company;
  }

  bool cancelled() {
    if (crew.over())
      return true;
    if (!launch.launch->cancel || !launch.launch->cancel->load(std::memory_order_relaxed))
      return false;
    crew.end({Outcome::Cancelled, "the dispatch was cancelled (kernel " + std::string(launch.launch->kernel) + ")"});
    return true;
  }

  void retire(std::unique_ptr<Residency> r) {
    r->finish(launch);
    if (spare)
      pool.give(std::move(spare));
    spare = std::move(r);
  }

  std::vector<WatchPost::Standing> standing() const {
    std::vector<WatchPost::Standing> all;
    auto add = [&](const Residency *r) {
      if (r && std::none_of(all.begin(), all.end(), [&](const auto &s) { return s.group == &r->workgroup(); }))
        all.push_back({&r->workgroup(), r->waitingWaves()});
    };
    add(running);
    for (const auto &r : residents)
      add(r.get());
    return all;
  }

  /// Null if there is no memory for another workgroup. A thread with none at all leaves; the last one ends the launch.
  std::unique_ptr<Residency> vacant() {
    if (spare)
      return std::move(spare);
    auto r = pool.take();
    std::string error;
    if (r->prepare(launch, shape, error))
      return r;
    limit = residents.size();
    if (!limit && crew.leave())
      crew.end({Outcome::InvalidLaunch, error + " (kernel " + std::string(launch.launch->kernel) + ")"});
    return nullptr;
  }

  /// Gives the workgroup a turn and takes it over if it is not suspended. False if the launch is over.
  bool turn(std::unique_ptr<Residency> &r, uint32_t budget) {
    running = r.get();
    Outcome outcome = r->run(launch, budget);
    running = nullptr;
    if (r->suspended() && !r->workgroup().givenUp())
      return true;
    const uint64_t id = r->workgroup().linearId;
    retire(std::move(r));
    if (launch.trial && !outcome)
      launch.trial->fail();
    if (launch.trialFailed())
      crew.end({Outcome::Cancelled, {}});
    else if (!outcome)
      crew.fail(id, std::move(outcome));
    return !crew.over();
  }

  /// Starts workgroups until as many new ones are suspended as were before.
  bool admit() {
    uint64_t room = std::max<uint64_t>(1, 2 * residents.size());
    if (perturb && quietRounds < kPatience)
      room = kPerturbedRoom;
    while (crew.more(block) && residents.size() < std::min(limit, room)) {
      if (cancelled())
        return false;
      noteCompany(!residents.empty());
      std::unique_ptr<Residency> r = vacant();
      if (!r)
        return limit != 0;
      uint64_t id;
      if (!crew.take(block, id)) {
        spare = std::move(r);
        break;
      }
      r->start(launch, shape, id, watch ? &*watch : nullptr);
      // Perturbed: it waits for its turn among the others.
      if (!perturb && !turn(r, residents.size() < 2 ? kFirstTurn : kTurn))
        return false;
      if (r)
        residents.push_back(std::move(r));
    }
    return !crew.over();
  }

  bool takeTurns() {
    bool good = true, ended = false;
    if (perturb)
      for (size_t k = residents.size(); k > 1; --k)
        std::swap(residents[k - 1], residents[random.below(uint32_t(k))]);
    // To and fro: a chain of workgroups that wait each for its neighbour is undone within two rounds.
    for (size_t k = 0, n = residents.size(); k < n; ++k) {
      auto &r = residents[backwards ? n - 1 - k : k];
      good = !cancelled() && turn(r, budget(kTurn));
      ended |= !r;
      if (!good)
        break;
    }
    quietRounds = ended ? 0 : quietRounds + 1;
    std::erase(residents, nullptr);
    backwards = !backwards;
    // All may wait for another thread of the host.
    if (good && !ended && !residents.empty())
      std::this_thread::yield();
    return good;
  }
};

} // namespace

std::unique_ptr<Residency> ResidencyPool::take() {
  std::lock_guard lock(mutex);
  if (idle.empty())
    return std::make_unique<Residency>();
  auto r = std::move(idle.back());
  idle.pop_back();
  return r;
}

void ResidencyPool::give(std::unique_ptr<Residency> residency) {
  std::lock_guard lock(mutex);
  if (idle.size() < kMaxIdle)
    idle.push_back(std::move(residency));
}

uint64_t residentLimit(const LaunchState &launch, const Shape &shape) {
  const Function &entry = *launch.entry;
  uint64_t lane = shape.scratchStride;
  if (entry.hasCalls)
    lane = std::min<uint64_t>(lane, entry.privateBytes + kExpectedStackBytes);
  const uint64_t wave = lane * launch.waveSize + entry.registerBytes;
  const uint64_t bytes = launch.launch->groupSegmentBytes + wave * shape.waves;
  return std::clamp<uint64_t>(kMaxResidentBytes / std::max<uint64_t>(bytes, 1), 1, kMaxResidents);
}

Outcome runWorkgroups(LaunchState &launch, const Shape &shape, ResidencyPool &pool, bool independent) {
  const Launch &l = *launch.launch;
  const uint32_t workers =
      independent
          ? uint32_t(std::clamp<uint64_t>(std::min<uint64_t>(l.threads, shape.count), 1, WorkerPool::kMaxWorkers))
          : 1;
  launch.alone = workers == 1;
  Crew crew(launch, shape.count, independent, workers);
  std::optional<Watchdog> watchdog;
  if (l.watchAfterMs)
    watchdog.emplace(launch, shape.count, [&] { return crew.taken(); });
  const auto work = [&] { Interleaver(launch, shape, pool, crew, watchdog ? &*watchdog : nullptr).run(); };
  if (workers == 1) {
    work();
    return crew.outcome();
  }
  const std::function<void()> shared = [&] { l.aroundThread ? l.aroundThread(work) : work(); };
  WorkerPool::shared().run(workers, shared, [&] { crew.end({}); });
  return crew.outcome();
}

} // namespace wavesan::cpu::engine
