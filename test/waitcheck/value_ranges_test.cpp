// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of the operations that value ranges follow, executed lane by lane: every value must lie in the range
// that is claimed for it, and lane 0's must be the claimed one.
#include "asm_check.h"

#include "ValueRanges.h"

#include <array>
#include <functional>
#include <random>

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

constexpr unsigned numLanes = 64, numVector = 6, numScalar = 4;

/// A wave: v0..v5, s40..s43, the lane mask.
struct Machine {
  std::array<std::array<uint32_t, numLanes>, numVector> v;
  std::array<uint32_t, numScalar> s;
  uint64_t exec = ~uint64_t(0);
};

using Value = std::function<uint32_t(const Machine &, unsigned lane)>;

/// An operand: its text, and its value.
struct Source {
  std::string text;
  Value value;
};

class RandomCode {
public:
  explicit RandomCode(unsigned seed) : rng(seed) {}

  /// One instruction: its text, and what it does.
  std::pair<std::string, std::function<void(Machine &)>> next() {
    switch (rng() % 12) {
    case 0:
    case 1:
      return scalar();
    case 2:
      return mask();
    case 3: {
      const unsigned d = rng() % numScalar, a = rng() % numVector;
      return {"v_readfirstlane_b32 " + sName(d) + ", " + vName(a), [=](Machine &m) {
                unsigned lane = 0;
                while (lane < numLanes && !(m.exec >> lane & 1))
                  ++lane;
                m.s[d] = m.v[a][lane == numLanes ? 0 : lane];
              }};
    }
    default:
      return vector();
    }
  }

private:
  static std::string vName(unsigned r) { return "v" + std::to_string(r); }
  static std::string sName(unsigned r) { return "s" + std::to_string(40 + r); }

  Source constant() {
    static constexpr uint32_t some[] = {0,  1,    2,     3,     4,      5,      8,       16,         31,        63,
                                        64, 0xff, 0x3ff, 0xffc, 0x1000, 0xffff, 0x10000, 0xfffffff0, 0xffffffff};
    const uint32_t c = rng() % 3 ? some[rng() % std::size(some)] : rng();
    return {std::to_string(c), [=](const Machine &, unsigned) { return c; }};
  }
  Source inlineConstant() {
    const uint32_t c = rng() % 33;
    return {std::to_string(c), [=](const Machine &, unsigned) { return c; }};
  }
  Source vectorRegister() {
    const unsigned r = rng() % numVector;
    return {vName(r), [=](const Machine &m, unsigned lane) { return m.v[r][lane]; }};
  }
  Source scalarRegister() {
    const unsigned r = rng() % numScalar;
    return {sName(r), [=](const Machine &m, unsigned) { return m.s[r]; }};
  }

  std::pair<std::string, std::function<void(Machine &)>> vector() {
    struct Row {
      const char *name;
      unsigned sources;
      uint32_t (*compute)(uint32_t a, uint32_t b, uint32_t c);
    };
    static constexpr Row rows[] = {
        {"v_mov_b32_e32", 1, [](uint32_t a, uint32_t, uint32_t) { return a; }},
        {"v_add_u32_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
        {"v_lshlrev_b32_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return b << (a & 31); }},
        {"v_lshrrev_b32_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return b >> (a & 31); }},
        {"v_and_b32_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a & b; }},
        {"v_or_b32_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a | b; }},
        {"v_xor_b32_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a ^ b; }},
        {"v_mul_u32_u24_e32", 2, [](uint32_t a, uint32_t b, uint32_t) { return (a & 0xffffff) * (b & 0xffffff); }},
        {"v_mul_lo_u32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a * b; }},
        {"v_lshl_add_u32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; }},
        {"v_add_lshl_u32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); }},
        {"v_lshl_or_b32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; }},
        {"v_and_or_b32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }},
        {"v_add3_u32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }},
        {"v_mad_u32_u24", 3, [](uint32_t a, uint32_t b, uint32_t c) { return (a & 0xffffff) * (b & 0xffffff) + c; }},
        {"v_bfe_u32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return (a >> (b & 31)) & ((1u << (c & 31)) - 1); }},
    };
    const unsigned d = rng() % numVector;
    if (rng() % 8 == 0) { // the number of the lane
      const bool high = rng() % 2;
      const Source base = rng() % 2 ? vectorRegister() : inlineConstant();
      return {std::string(high ? "v_mbcnt_hi_u32_b32" : "v_mbcnt_lo_u32_b32") + " " + vName(d) + ", -1, " + base.text,
              [=](Machine &m) {
                assign(m, d, [&](unsigned lane) {
                  const unsigned below = high ? (lane > 32 ? lane - 32 : 0) : std::min(lane, 32u);
                  return base.value(m, lane) + below;
                });
              }};
    }
    const Row &row = rows[rng() % std::size(rows)];
    const bool oneWord = std::string(row.name).find("_e32") != std::string::npos;
    // The first source of a short encoding may be anything; of the others at most one is a scalar.
    std::vector<Source> in;
    bool scalarUsed = false;
    for (unsigned k = 0; k < row.sources; ++k) {
      const unsigned kind = rng() % 3;
      if (oneWord && k == 0)
        in.push_back(kind == 0 ? constant() : kind == 1 ? scalarRegister() : vectorRegister());
      else if (!oneWord && kind == 0)
        in.push_back(inlineConstant());
      else if (!oneWord && kind == 1 && !scalarUsed) {
        scalarUsed = true;
        in.push_back(scalarRegister());
      } else
        in.push_back(vectorRegister());
    }
    std::string text = std::string(row.name) + " " + vName(d);
    for (const Source &s : in)
      text += ", " + s.text;
    const auto compute = row.compute;
    return {text, [=](Machine &m) {
              assign(m, d, [&](unsigned lane) {
                return compute(in[0].value(m, lane), in.size() > 1 ? in[1].value(m, lane) : 0,
                               in.size() > 2 ? in[2].value(m, lane) : 0);
              });
            }};
  }

  std::pair<std::string, std::function<void(Machine &)>> scalar() {
    struct Row {
      const char *name;
      uint32_t (*compute)(uint32_t a, uint32_t b);
    };
    static constexpr Row rows[] = {
        {"s_add_u32", [](uint32_t a, uint32_t b) { return a + b; }},
        {"s_lshl_b32", [](uint32_t a, uint32_t b) { return a << (b & 31); }},
        {"s_lshr_b32", [](uint32_t a, uint32_t b) { return a >> (b & 31); }},
        {"s_and_b32", [](uint32_t a, uint32_t b) { return a & b; }},
        {"s_or_b32", [](uint32_t a, uint32_t b) { return a | b; }},
        {"s_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; }},
        {"s_mul_i32", [](uint32_t a, uint32_t b) { return a * b; }},
    };
    const unsigned d = rng() % numScalar;
    if (rng() % 3 == 0) {
      const Source c = constant();
      return {"s_mov_b32 " + sName(d) + ", " + c.text, [=](Machine &m) { m.s[d] = c.value(m, 0); }};
    }
    if (rng() % 6 == 0) {
      const int c = static_cast<int16_t>(rng());
      return {"s_movk_i32 " + sName(d) + ", " + std::to_string(c),
              [=](Machine &m) { m.s[d] = static_cast<uint32_t>(c); }};
    }
    const Row &row = rows[rng() % std::size(rows)];
    const Source a = scalarRegister(), b = rng() % 2 ? constant() : scalarRegister();
    const auto compute = row.compute;
    return {std::string(row.name) + " " + sName(d) + ", " + a.text + ", " + b.text,
            [=](Machine &m) { m.s[d] = compute(a.value(m, 0), b.value(m, 0)); }};
  }

  std::pair<std::string, std::function<void(Machine &)>> mask() {
    if (rng() % 2)
      return {"s_mov_b64 exec, -1", [](Machine &m) { m.exec = ~uint64_t(0); }};
    const uint64_t e = (uint64_t(rng()) << 32 | rng()) & (rng() % 2 ? ~uint64_t(1) : ~uint64_t(0));
    const uint32_t low = static_cast<uint32_t>(e), high = static_cast<uint32_t>(e >> 32);
    return {"s_mov_b32 exec_lo, " + std::to_string(low) + "\n s_mov_b32 exec_hi, " + std::to_string(high),
            [=](Machine &m) { m.exec = e; }};
  }

  static void assign(Machine &m, unsigned d, const std::function<uint32_t(unsigned)> &value) {
    std::array<uint32_t, numLanes> result = m.v[d];
    for (unsigned lane = 0; lane < numLanes; ++lane)
      if (m.exec >> lane & 1)
        result[lane] = value(lane);
    m.v[d] = result;
  }

  std::mt19937 rng;
};

} // namespace

TEST(ValueRanges, HoldWhatIsComputed) {
  Decoders decoders;
  auto isa = decoders.get(*findTarget("gfx900"), true);
  ASSERT_TRUE(static_cast<bool>(isa));
  const char *given = getenv("WAVESAN_TEST_SEED");
  unsigned bounded = 0, exact = 0;
  for (unsigned seed = given ? static_cast<unsigned>(atoi(given)) : 1, n = 0; n < (given ? 1u : 400u); ++n, ++seed) {
    RandomCode code(seed);
    std::mt19937 rng(seed * 7 + 1);
    std::string body;
    std::vector<std::function<void(Machine &)>> effects; // null: the second instruction of a pair follows
    for (unsigned i = 0; i < 25; ++i) {
      const auto [text, effect] = code.next();
      body += " " + text + "\n";
      if (text.find('\n') != std::string::npos)
        effects.push_back(nullptr);
      effects.push_back(effect);
    }
    auto object = assemble("t.s", kernelText("gfx900", body), "");
    ASSERT_TRUE(static_cast<bool>(object)) << llvm::toString(object.takeError()) << body;
    auto parsed = CodeObject::parse((*object)->getMemBufferRef());
    ASSERT_TRUE(static_cast<bool>(parsed));
    const FunctionEntry &entry = (*parsed)->functions().front();
    const Function f = buildFunction(**isa, entry, (*parsed)->sections()[entry.section]);
    Machine m;
    for (auto &r : m.v)
      for (uint32_t &x : r)
        x = rng();
    for (uint32_t &x : m.v[0])
      x &= 1023; // a work-item id
    for (uint32_t &x : m.s)
      x = rng();
    visitValues(**isa, f, [&](uint32_t i, const ValueRanges &values) {
      auto check = [&](const std::string &name, const std::function<uint32_t(unsigned)> &value) {
        const ValueRange r = values.of({PlainOperand::Kind::Register, (*isa)->slotOf(name), 1, 0});
        for (unsigned lane = 0; lane < numLanes; ++lane)
          ASSERT_TRUE(r.low <= value(lane) && value(lane) <= r.high)
              << "seed " << seed << ", instruction " << i << ", " << name << ", lane " << lane << ": " << value(lane)
              << " is not in " << r.low << ".." << r.high << "\n"
              << body;
        if (r.lane0) {
          ASSERT_EQ(*r.lane0, value(0)) << "seed " << seed << ", instruction " << i << ", " << name << "\n" << body;
        }
        bounded += r.high - r.low < 0x10000;
        exact += r.lane0.has_value();
      };
      for (unsigned r = 0; r < numVector; ++r)
        check("v" + std::to_string(r), [&](unsigned lane) { return m.v[r][lane]; });
      for (unsigned r = 0; r < numScalar; ++r)
        check("s" + std::to_string(40 + r), [&](unsigned) { return m.s[r]; });
      if (i < effects.size() && effects[i])
        effects[i](m);
    });
    if (HasFatalFailure())
      return;
  }
  if (!given) {
    EXPECT_GT(bounded, 5000u);
    EXPECT_GT(exact, 5000u);
  }
  std::printf("%u ranges below 64 Ki, %u values of lane 0\n", bounded, exact);
}
