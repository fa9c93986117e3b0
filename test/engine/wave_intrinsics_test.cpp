// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over a wave, ballots read back and permutations of lanes: in waves of 32 and of 64, with all lanes and
// with lanes that random masks leave.
#include "elementwise.h"

#include "llvm/ADT/APInt.h"

#include <algorithm>

namespace wavesan::cpu::test {
namespace {

using llvm::APInt;

constexpr uint64_t kSeed = 20260807;
constexpr uint32_t kLanes = 64;
constexpr uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

/// What the lanes in `mask` compute from their value (%v, of `type`): i64 each, kUntouched in the others. Inactive
/// lanes have loaded their value, too.
std::vector<uint64_t> lanesOf(const std::string &body, const std::string &declarations, const std::string &type,
                              const std::vector<uint64_t> &values, uint64_t mask, const std::string &target) {
  std::vector<uint64_t> out(kLanes, kUntouched);
  Options options;
  options.target = target;
  runText(
      "define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %mask) {\nentry:\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %pi = getelementptr i64, ptr addrspace(1) %in, i32 %t\n  %v = "
      "load " +
          type +
          ", ptr addrspace(1) %pi\n  %w = zext i32 %t to i64\n  %s = lshr i64 %mask, %w\n  %bit = trunc i64 %s to i1\n"
          "  br i1 %bit, label %then, label %end\nthen:\n" +
          body +
          "\n  %po = getelementptr i64, ptr addrspace(1) %out, i32 %t\n  store i64 %r, ptr addrspace(1) %po\n"
          "  br label %end\nend:\n  ret void\n}\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n" +
          declarations,
      linear(kLanes, kLanes), arguments(values.data(), out.data(), mask), options);
  return out;
}

struct WaveSize {
  const char *target;
  uint32_t lanes;
};
const WaveSize kWaveSizes[] = {{"gfx90a", 64}, {"gfx1100", 32}};

std::vector<uint64_t> masks(std::mt19937_64 &random) {
  std::vector<uint64_t> m{~uint64_t(0),      1, uint64_t(1) << 63, 0xffffffff, 0xffffffff00000000, 0x8000000080000000,
                          0x5555555555555555};
  for (int k = 0; k < 6; ++k)
    m.push_back(k % 2 ? random() : random() & random() & random());
  return m;
}
std::vector<uint64_t> valuesOf(unsigned bits, std::mt19937_64 &random) {
  const Values v = shuffled(edgesAndRandom(bits, random, kLanes), random);
  std::vector<uint64_t> values;
  for (uint32_t k = 0; k < kLanes; ++k)
    values.push_back(v[k].low);
  return values;
}
std::string widened(unsigned bits) {
  return bits == 64 ? "\n  %r = add i64 %x, 0" : "\n  %r = zext i" + std::to_string(bits) + " %x to i64";
}

TEST(WaveIntrinsics, Reductions) {
  using A = const APInt &;
  struct Reduction {
    const char *name;
    APInt (*f)(A, A);
  };
  const Reduction reductions[] = {{"add", [](A a, A b) { return a + b; }},
                                  {"sub", [](A a, A b) { return a - b; }}, // from 0: every lane's value is subtracted
                                  {"umin", [](A a, A b) { return a.ult(b) ? a : b; }},
                                  {"umax", [](A a, A b) { return a.ugt(b) ? a : b; }},
                                  {"min", [](A a, A b) { return a.slt(b) ? a : b; }},
                                  {"max", [](A a, A b) { return a.sgt(b) ? a : b; }},
                                  {"and", [](A a, A b) { return a & b; }},
                                  {"or", [](A a, A b) { return a | b; }},
                                  {"xor", [](A a, A b) { return a ^ b; }}};
  std::mt19937_64 random(kSeed);
  for (const WaveSize &size : kWaveSizes)
    for (const Reduction &r : reductions)
      for (const unsigned bits : {32u, 64u})
        for (const uint64_t mask : masks(random)) {
          const auto values = valuesOf(bits, random);
          const std::string type = "i" + std::to_string(bits),
                            name = std::string("@llvm.amdgcn.wave.reduce.") + r.name + "." + type;
          const auto out =
              lanesOf("  %x = call " + type + " " + name + "(" + type + " %v, i32 0)" + widened(bits),
                      "declare " + type + " " + name + "(" + type + ", i32)\n", type, values, mask, size.target);
          for (uint32_t i = 0; i < kLanes; ++i) {
            if (!(mask >> i & 1)) {
              ASSERT_EQ(out[i], kUntouched);
              continue;
            }
            const bool subtracts = std::string(r.name) == "sub";
            APInt want(bits, 0);
            bool any = subtracts;
            for (uint32_t k = i / size.lanes * size.lanes; k < (i / size.lanes + 1) * size.lanes; ++k)
              if (mask >> k & 1) {
                const APInt v(bits, values[k]);
                want = any ? r.f(want, v) : v;
                any = true;
              }
            ASSERT_EQ(out[i], want.getZExtValue()) << name << " " << size.target << " mask " << std::hex << mask
                                                   << " lane " << std::dec << i << "; seed " << kSeed;
          }
        }
}

TEST(WaveIntrinsics, BallotsReadBack) {
  std::mt19937_64 random(kSeed + 1);
  for (const WaveSize &size : kWaveSizes)
    for (const uint64_t mask : masks(random)) {
      const auto values = std::vector<uint64_t>(kLanes, random());
      const std::string type = size.lanes == 64 ? "i64" : "i32", name = "@llvm.amdgcn.inverse.ballot." + type;
      const auto out = lanesOf("  %f = call i1 " + name + "(" + type + " %v)\n  %r = zext i1 %f to i64",
                               "declare i1 " + name + "(" + type + ")\n", type, values, mask, size.target);
      for (uint32_t i = 0; i < kLanes; ++i)
        ASSERT_EQ(out[i], mask >> i & 1 ? values[0] >> (i % size.lanes) & 1 : kUntouched)
            << size.target << " lane " << i;
    }
}

/// V_PERMLANE16_B32, V_PERMLANEX16_B32: lanes of the row (or of the other of two) that eight selectors of four bits
/// each in two words pick. A lane that is inactive gives the old value, or 0 with bound_ctrl, or its value with fi.
TEST(WaveIntrinsics, PermutationsOfRows) {
  std::mt19937_64 random(kSeed + 2);
  for (const char *target : {"gfx1030", "gfx1100"})
    for (const bool cross : {false, true})
      for (const bool fetch : {false, true})
        for (const bool bound : {false, true})
          for (const uint64_t mask : masks(random)) {
            const auto values = valuesOf(32, random);
            const uint64_t select = random();
            const std::string name = std::string("@llvm.amdgcn.permlane") + (cross ? "x16" : "16") + ".i32";
            const auto out =
                lanesOf("  %old = add i32 %t, 1000\n  %x = call i32 " + name + "(i32 %old, i32 %v, i32 " +
                            std::to_string(int32_t(select)) + ", i32 " + std::to_string(int32_t(select >> 32)) +
                            (fetch ? ", i1 true" : ", i1 false") + (bound ? ", i1 true)" : ", i1 false)") + widened(32),
                        "declare i32 " + name + "(i32, i32, i32, i32, i1, i1)\n", "i32", values, mask, target);
            for (uint32_t i = 0; i < kLanes; ++i) {
              const uint32_t row = i / 16, from = (cross ? row ^ 1 : row) * 16 + uint32_t(select >> (i % 16 * 4) & 15);
              const uint64_t want = !(mask >> i & 1)            ? kUntouched
                                    : fetch || mask >> from & 1 ? uint32_t(values[from])
                                    : bound                     ? 0
                                                                : i + 1000;
              ASSERT_EQ(out[i], want) << name << " " << target << " fi " << fetch << " bound_ctrl " << bound << " mask "
                                      << std::hex << mask << " lane " << std::dec << i << "; seed " << kSeed + 2;
            }
          }
}

/// V_PERMLANE64_B32: the halves of a wave of 64 change places; no operation in a wave of 32.
TEST(WaveIntrinsics, HalvesOfAWave) {
  std::mt19937_64 random(kSeed + 3);
  for (const WaveSize &size : kWaveSizes)
    for (const uint64_t mask : masks(random)) {
      const auto values = valuesOf(32, random);
      const auto out = lanesOf("  %x = call i32 @llvm.amdgcn.permlane64.i32(i32 %v)" + widened(32),
                               "declare i32 @llvm.amdgcn.permlane64.i32(i32)\n", "i32", values, mask, size.target);
      for (uint32_t i = 0; i < kLanes; ++i)
        ASSERT_EQ(out[i], mask >> i & 1 ? uint32_t(values[size.lanes == 64 ? i ^ 32 : i]) : kUntouched)
            << size.target << " " << i;
    }
}

/// Reversal of four lanes; a lane that is inactive gives 0.
TEST(WaveIntrinsics, MovesOfDataParallelPrimitives) {
  std::mt19937_64 random(kSeed + 5);
  for (const WaveSize &size : kWaveSizes)
    for (const uint64_t mask : masks(random)) {
      const auto values = valuesOf(32, random);
      const auto out =
          lanesOf("  %x = call i32 @llvm.amdgcn.mov.dpp.i32(i32 %v, i32 27, i32 15, i32 15, i1 true)" + widened(32),
                  "declare i32 @llvm.amdgcn.mov.dpp.i32(i32, i32, i32, i32, i1)\n", "i32", values, mask, size.target);
      for (uint32_t i = 0; i < kLanes; ++i)
        ASSERT_EQ(out[i], !(mask >> i & 1)      ? kUntouched
                          : mask >> (i ^ 3) & 1 ? uint32_t(values[i ^ 3])
                                                : 0)
            << size.target << " " << i;
    }
}

TEST(WaveIntrinsics, LanesReadAndWritten) {
  std::mt19937_64 random(kSeed + 4);
  for (const WaveSize &size : kWaveSizes)
    for (const uint64_t mask : masks(random)) {
      const auto values = valuesOf(64, random);
      const uint32_t lane = uint32_t(random());
      const std::string index = "i32 " + std::to_string(int32_t(lane));
      const auto inWave = [&](uint32_t i) { return i / size.lanes * size.lanes + lane % size.lanes; };
      const auto first = [&](uint32_t i) {
        uint32_t k = i / size.lanes * size.lanes;
        while (!(mask >> k & 1))
          ++k;
        return k;
      };
      const auto read = lanesOf("  %r = call i64 @llvm.amdgcn.readlane.i64(i64 %v, " + index + ")",
                                "declare i64 @llvm.amdgcn.readlane.i64(i64, i32)\n", "i64", values, mask, size.target);
      const auto readFirst =
          lanesOf("  %r = call i64 @llvm.amdgcn.readfirstlane.i64(i64 %v)",
                  "declare i64 @llvm.amdgcn.readfirstlane.i64(i64)\n", "i64", values, mask, size.target);
      const auto written =
          lanesOf("  %r = call i64 @llvm.amdgcn.writelane.i64(i64 77, " + index + ", i64 %v)",
                  "declare i64 @llvm.amdgcn.writelane.i64(i64, i32, i64)\n", "i64", values, mask, size.target);
      for (uint32_t i = 0; i < kLanes; ++i) {
        const bool active = mask >> i & 1;
        ASSERT_EQ(read[i], active ? values[inWave(i)] : kUntouched)
            << size.target << " lane " << i << " reads " << inWave(i);
        ASSERT_EQ(readFirst[i], active ? values[first(i)] : kUntouched) << size.target << " lane " << i;
        ASSERT_EQ(written[i], active ? i == inWave(i) ? 77 : values[i] : kUntouched) << size.target << " lane " << i;
      }
    }
}

} // namespace
} // namespace wavesan::cpu::test
