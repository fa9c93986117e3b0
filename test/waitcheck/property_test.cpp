// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, checked twice: by the analysis, and by a model that tries every order in which operations may complete, on every path
// (loops up to three times round). The model shares nothing with the analysis: it has its own few lines about each target and keeps sets
// of outstanding events, not ages. Both must name the same hazards at the same instructions.
#include "asm_check.h"
#include "mnemonics.h"

#include <random>
#include <set>

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

enum class Op { Load, Store, LdsRead, LdsWrite, ScalarLoad, FlatLoad, WaitVector, WaitLds, WaitScalar, UseVector, UseScalar, WriteVector, Barrier };

struct Step {
  Op op;
  int reg = 0;   ///< v10+reg or s40+reg
  int other = 0; ///< second register, or the number of a wait
};

struct RandomProgram {
  std::vector<Step> prefix, body, suffix;
  bool loop = false; ///< else the body may be skipped
};

/// Which events an operation makes: counter, ordered group (0: unordered).
struct Event {
  int counter;
  int group;
};
enum ModelCounter { VectorCounter, LdsCounter, StoreCounter, ScalarCounter };

struct Model {
  int waitCounter[4];
  std::vector<Event> load, store, lds, scalar, flat;
  int capacity[4];
  bool loadsOverwriteInOrder;
};

Model modelOf(const std::string &target) {
  if (target == "gfx90a" || target == "gfx900")
    return {{0, 1, 1, 1}, {{0, 1}}, {{0, 1}}, {{1, 2}}, {{1, 0}}, {{0, 0}, {1, 0}}, {63, 15, 63, 63}, true};
  if (target == "gfx1030" || target == "gfx1100")
    return {{0, 1, 1, 1}, {{0, 1}}, {{2, 3}}, {{1, 2}}, {{1, 0}}, {{0, 1}, {1, 2}}, {63, 63, 63, 63}, true};
  return {{0, 1, 3, 3}, {{0, 1}}, {{2, 3}}, {{1, 2}}, {{3, 0}}, {{0, 1}, {1, 2}}, {63, 63, 63, 31}, false};
}

using Finding = std::tuple<unsigned, std::string>; ///< line, "W01 v12"

/// All executions of one path.
class Executions {
public:
  explicit Executions(const Model &m) : m(m), states{0} {}

  void step(const Step &s, unsigned line, std::set<Finding> &found) {
    complete();
    const std::string v = "v" + std::to_string(10 + s.reg), sc = "s" + std::to_string(40 + s.reg);
    switch (s.op) {
    case Op::Load:
      return issue(m.load, v, line, found, m.loadsOverwriteInOrder);
    case Op::FlatLoad:
      return issue(m.flat, v, line, found, false, /*twoWays=*/true);
    case Op::LdsRead:
      return issue(m.lds, v, line, found, true);
    case Op::ScalarLoad:
      return issue(m.scalar, sc, line, found, false);
    case Op::Store:
      room(m.store);
      use(v, line, found);
      add(m.store);
      return;
    case Op::LdsWrite: {
      room(m.lds);
      use(v, line, found);
      for (int e : add(m.lds))
        ldsWrites |= uint64_t(1) << e;
      return;
    }
    case Op::WaitVector:
      return wait(0, s.other);
    case Op::WaitLds:
      return wait(1, s.other);
    case Op::WaitScalar:
      return wait(m.waitCounter[3], s.other);
    case Op::UseVector:
      use(v, line, found);
      use("v" + std::to_string(10 + s.other), line, found);
      return;
    case Op::UseScalar:
      return use(sc, line, found);
    case Op::WriteVector:
      define(v, line, found, {});
      pending.erase(v);
      return;
    case Op::Barrier:
      for (uint64_t st : states)
        if (st & ldsWrites)
          found.insert({line, "W04"});
      return;
    }
  }

private:
  void complete() {
    std::vector<uint64_t> work(states.begin(), states.end());
    while (!work.empty()) {
      const uint64_t st = work.back();
      work.pop_back();
      std::set<int> blocked; // groups whose oldest outstanding event has been seen
      for (size_t e = 0; e < events.size(); ++e) {
        if (!(st >> e & 1))
          continue;
        if (events[e].group != 0 && !blocked.insert(events[e].group * 8 + events[e].counter).second)
          continue;
        if (const uint64_t next = st & ~(uint64_t(1) << e); states.insert(next).second)
          work.push_back(next);
      }
    }
  }
  int outstanding(uint64_t st, int counter) const {
    int n = 0;
    for (size_t e = 0; e < events.size(); ++e)
      n += (st >> e & 1) && events[e].counter == counter;
    return n;
  }
  void keep(int counter, int atMost) {
    for (auto it = states.begin(); it != states.end();)
      it = outstanding(*it, counter) > atMost ? states.erase(it) : std::next(it);
  }
  void wait(int counter, int n) { keep(counter, n); }
  void room(const std::vector<Event> &es) {
    for (const Event &e : es)
      keep(e.counter, m.capacity[e.counter] - 1);
  }
  std::vector<int> add(const std::vector<Event> &es) {
    std::vector<int> ids;
    for (const Event &e : es) {
      ids.push_back(static_cast<int>(events.size()));
      events.push_back(e);
    }
    std::set<uint64_t> next;
    for (uint64_t st : states) {
      for (int id : ids)
        st |= uint64_t(1) << id;
      next.insert(st);
    }
    states = std::move(next);
    return ids;
  }
  bool mayBeOutstanding(uint64_t mask) const {
    for (uint64_t st : states)
      if (st & mask)
        return true;
    return false;
  }
  void use(const std::string &reg, unsigned line, std::set<Finding> &found) {
    if (mayBeOutstanding(pending[reg]))
      found.insert({line, "W01 " + reg});
  }
  /// exempt: groups in which the new value comes from the same ordered group
  void define(const std::string &reg, unsigned line, std::set<Finding> &found, const std::set<std::pair<int, int>> &exempt) {
    for (size_t e = 0; e < events.size(); ++e)
      if ((pending[reg] >> e & 1) && !(events[e].group && exempt.count({events[e].counter, events[e].group})) &&
          mayBeOutstanding(uint64_t(1) << e))
        found.insert({line, "W02 " + reg});
  }
  void issue(const std::vector<Event> &es, const std::string &reg, unsigned line, std::set<Finding> &found, bool inOrder,
             bool twoWays = false) {
    room(es);
    std::set<std::pair<int, int>> exempt;
    for (const Event &e : es)
      if (e.group && !twoWays && (inOrder || e.group == 2))
        exempt.insert({e.counter, e.group});
    define(reg, line, found, exempt);
    pending[reg] = 0;
    for (int id : add(es))
      pending[reg] |= uint64_t(1) << id;
  }

  const Model &m;
  std::vector<Event> events;
  std::set<uint64_t> states;
  std::map<std::string, uint64_t> pending;
  uint64_t ldsWrites = 0;
};

std::string assembly(const std::string &target, const Step &s) {
  const std::string v = "v" + std::to_string(10 + s.reg), n = std::to_string(s.other);
  switch (s.op) {
  case Op::Load:
    return "{LD} " + v + ", v1, s[4:5]";
  case Op::Store:
    return "{ST} v1, " + v + ", s[4:5]";
  case Op::LdsRead:
    return "{DSR} " + v + ", v1";
  case Op::LdsWrite:
    return "{DSW} v1, " + v;
  case Op::ScalarLoad:
    return "{SL} s" + std::to_string(40 + s.reg) + ", s[4:5], 0x0";
  case Op::FlatLoad:
    return "{FLD} " + v + ", v[2:3]";
  case Op::WaitVector:
    return "{VM " + n + "}";
  case Op::WaitLds:
    return "{LG " + n + "}";
  case Op::WaitScalar:
    return "{KM " + n + "}";
  case Op::UseVector:
    return "v_xor_b32_e32 v9, " + v + ", v" + std::to_string(10 + s.other);
  case Op::UseScalar:
    return "s_mov_b32 s50, s" + std::to_string(40 + s.reg);
  case Op::WriteVector:
    return "v_mov_b32_e32 " + v + ", 0";
  case Op::Barrier:
    return findTarget(target)->generation->encoding == WaitEncoding::Gfx12 ? "s_barrier_signal -1" : "s_barrier";
  }
  return "";
}

RandomProgram randomProgram(std::mt19937 &rng) {
  auto steps = [&](unsigned most) {
    std::vector<Step> s;
    bool seenUnordered = false;
    for (unsigned n = rng() % (most + 1); s.size() < n;) {
      Step step{static_cast<Op>(rng() % 13), static_cast<int>(rng() % 3), static_cast<int>(rng() % 3)};
      // Every unordered operation doubles the model's states: one per part.
      const bool unordered = step.op == Op::ScalarLoad || step.op == Op::FlatLoad;
      if (unordered && seenUnordered)
        continue;
      seenUnordered |= unordered;
      s.push_back(step);
    }
    return s;
  };
  RandomProgram p;
  p.prefix = steps(6);
  p.body = steps(4);
  p.suffix = steps(6);
  p.loop = rng() % 2;
  return p;
}

std::set<Finding> modelFindings(const Model &m, const RandomProgram &p, unsigned firstLine) {
  std::set<Finding> found;
  const unsigned bodyLine = firstLine + p.prefix.size() + 1, suffixLine = bodyLine + p.body.size() + 1;
  for (int rounds = p.loop ? 1 : 0; rounds <= (p.loop ? 3 : 1); ++rounds) {
    Executions e(m);
    for (size_t i = 0; i < p.prefix.size(); ++i)
      e.step(p.prefix[i], firstLine + i, found);
    for (int r = 0; r < rounds; ++r)
      for (size_t i = 0; i < p.body.size(); ++i)
        e.step(p.body[i], bodyLine + i, found);
    for (size_t i = 0; i < p.suffix.size(); ++i)
      e.step(p.suffix[i], suffixLine + i, found);
  }
  return found;
}

/// prefix; label or branch; body; branch or label; suffix. One line per step.
std::string programText(const std::string &target, const RandomProgram &p) {
  std::string body;
  auto add = [&](const std::vector<Step> &steps) {
    for (const Step &s : steps)
      body += " " + expand(target, assembly(target, s)) + (s.op == Op::Barrier ? "" : "") + "\n";
  };
  add(p.prefix);
  body += p.loop ? ".Lbody:\n" : " s_cbranch_scc0 .Lbehind\n";
  add(p.body);
  body += p.loop ? " s_cbranch_scc0 .Lbody\n" : ".Lbehind:\n";
  add(p.suffix);
  return kernelText(target, body, "", findTarget(target)->generation->encoding == WaitEncoding::Gfx12);
}

} // namespace

class Property : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Targets, Property, testing::Values("gfx900", "gfx90a", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Property, AnalysisEqualsModel) {
  const std::string target = GetParam();
  const Model model = modelOf(target);
  const char *given = getenv("WAVESAN_TEST_SEED");
  const unsigned base = given ? static_cast<unsigned>(atoi(given)) : 20260u;
  unsigned hazards = 0, clean = 0;
  for (unsigned n = 0; n < (given ? 1u : 700u); ++n) {
    const unsigned seed = base + n;
    std::mt19937 rng(seed);
    const RandomProgram p = randomProgram(rng);
    const std::string text = programText(target, p);
    const unsigned firstLine = 7; // behind kernelText()'s head
    const CheckResult r = checkText(text);
    std::set<Finding> mine;
    for (const Diagnostic &d : r.diagnostics)
      mine.insert({d.consumer.line, codeName(d.code) + (d.registers.empty() ? "" : " " + d.registers)});
    const std::set<Finding> theirs = modelFindings(model, p, firstLine);
    (theirs.empty() ? clean : hazards) += 1;
    auto show = [](const std::set<Finding> &s) {
      std::string t;
      for (const auto &[line, what] : s)
        t += " " + std::to_string(line) + ":" + what;
      return t;
    };
    ASSERT_EQ(show(mine), show(theirs)) << target << ", seed " << seed << " (WAVESAN_TEST_SEED)\n" << text;
  }
  if (!given) {
    EXPECT_GT(hazards, 100u);
    EXPECT_GT(clean, 30u);
  }
  std::printf("%s: %u programs with hazards, %u clean, seeds %u..\n", target.c_str(), hazards, clean, base);
}
