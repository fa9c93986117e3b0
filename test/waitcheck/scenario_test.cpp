// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state machine of counters, one scenario per test: registers, halves, mixed counters, capacity, calls, branches. docs/waitcheck.md
// lists them beside the scenarios of the reference race detector.
#include "asm_check.h"
#include "mnemonics.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

std::string cdna(const std::string &body, const std::string &more = "") { return findings(checkBody("gfx90a", body, more)); }

/// n LDS reads into v10, v11, ...
std::string ldsReads(unsigned n, unsigned first = 10) {
  std::string s;
  for (unsigned i = 0; i < n; ++i)
    s += "ds_read_b32 v" + std::to_string(first + i) + ", v1 offset:" + std::to_string(4 * i) + "\n ";
  return s;
}

std::string loads(unsigned n, unsigned first = 10) {
  std::string s;
  for (unsigned i = 0; i < n; ++i)
    s += "global_load_dword v" + std::to_string(first + i) + ", v1, s[4:5] offset:" + std::to_string(4 * i) + "\n ";
  return s;
}

/// A kernel with room for many registers.
std::string manyRegisters(const std::string &body) {
  std::string text = kernelText("gfx90a", body);
  const std::string from = ".amdhsa_next_free_vgpr 64";
  text.replace(text.find(from), from.size(), ".amdhsa_next_free_vgpr 128");
  const std::string accum = ".amdhsa_accum_offset 64";
  text.replace(text.find(accum), accum.size(), ".amdhsa_accum_offset 128");
  return findings(checkText(text));
}

} // namespace

// ---- registers ------------------------------------------------------------------------------------------------------------------------

TEST(Interpolation, WaitsForTheExportCounterItself) {
  auto found = [](const std::string &wait, const std::string &between = "") {
    return findings(checkBody("gfx1100", "lds_param_load v3, attr0.x wait_vdst:15\n " + between +
                                             "v_interp_p10_f32 v4, v3, v1, v3 wait_exp:" + wait));
  };
  EXPECT_EQ(found("0"), "");
  EXPECT_EQ(found("1"), "W01 v3");
  EXPECT_EQ(found("7"), "W01 v3");
  const std::string second = "lds_param_load v5, attr1.x wait_vdst:15\n ";
  EXPECT_EQ(found("1", second), "") << "the older of two loads";
  EXPECT_EQ(found("2", second), "W01 v3");
}

TEST(Registers, InsufficientVmcntNamesEverything) {
  const CheckResult r = checkBody("gfx90a", "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(1)\n"
                                            " v_mov_b32_e32 v9, v3");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  const Diagnostic &d = r.diagnostics[0];
  EXPECT_EQ(d.registers, "v3");
  EXPECT_EQ(d.function, "k");
  EXPECT_EQ(d.counter, "vmcnt");
  EXPECT_EQ(d.emittedWait, 1);
  EXPECT_EQ(d.sufficientWait, 0);
  EXPECT_EQ(d.producer.offset, 8u);
  EXPECT_EQ(d.consumer.offset, 20u);
  EXPECT_EQ(d.producer.text, "global_load_dword v3, v1, s[4:5]");
  EXPECT_EQ(d.consumer.text, "v_mov_b32_e32 v9, v3");
  EXPECT_EQ(d.confidence, Confidence::Proven);
  EXPECT_EQ(d.consumer.file.substr(d.consumer.file.size() - 6), "test.s");
  EXPECT_EQ(d.consumer.line, d.producer.line + 2);
}

TEST(Registers, WeakestSufficientWait) {
  const CheckResult r = checkBody("gfx90a", loads(5) + "v_mov_b32_e32 v9, v11\n s_waitcnt vmcnt(0)");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].sufficientWait, 3);
  EXPECT_EQ(r.diagnostics[0].emittedWait, -1);
  // A memory operation that consumes the value counts itself: before it, the number is the same.
  const CheckResult m = checkBody("gfx90a", loads(5) + "global_load_dword v9, v11, s[4:5]\n s_waitcnt vmcnt(0)");
  ASSERT_EQ(m.diagnostics.size(), 1u);
  EXPECT_EQ(m.diagnostics[0].sufficientWait, 3);
}

TEST(Registers, ScalarPartialWaitSelectsNothing) {
  EXPECT_EQ(cdna("s_load_dword s8, s[4:5], 0x0\n s_load_dword s9, s[4:5], 0x4\n s_waitcnt lgkmcnt(1)\n s_mov_b32 s10, s9\n s_mov_b32 s11, s8"),
            "W01 s8; W01 s9");
}

TEST(Registers, Ttmp) {
  EXPECT_EQ(cdna("s_load_dword ttmp4, s[4:5], 0x0\n s_mov_b32 s8, ttmp4"), "W01 ttmp4");
  EXPECT_EQ(cdna("s_load_dword ttmp4, s[4:5], 0x0\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s8, ttmp4"), "");
  EXPECT_EQ(findings(checkBody("gfx1201", "s_load_b32 ttmp4, s[4:5], 0x0\n ds_load_b32 v2, v1\n s_wait_dscnt 0\n s_mov_b32 s8, ttmp4")),
            "W01 ttmp4")
      << "dscnt says nothing about scalar loads";
  EXPECT_EQ(findings(checkBody("gfx1201", "ds_load_b32 v2, v1\n s_load_b32 ttmp4, s[4:5], 0x0\n s_wait_kmcnt 0\n s_mov_b32 s8, ttmp4\n"
                                          " v_mov_b32_e32 v3, v2")),
            "W01 v2")
      << "kmcnt says nothing about LDS";
}

TEST(Registers, ScalarLoadsBeyondTheLastRegisterAreNoInstructions) {
  // s_load_dwordx16 into s[12:27], and with the destination's number changed to one whose tuple would end beyond the last register.
  EXPECT_EQ(cdna(".long 0xc0100302\n .long 0\n s_waitcnt lgkmcnt(0)"), "");
  const CheckResult r = checkBody("gfx90a", ".long 0xc0101802\n .long 0");
  EXPECT_EQ(r.counts.gaps.undecodable, 1u);
}

TEST(Registers, Accumulators) {
  EXPECT_EQ(cdna("global_load_dword a2, v1, s[4:5]\n v_accvgpr_read_b32 v3, a2"), "W01 a2");
  EXPECT_EQ(cdna("global_load_dword a2, v1, s[4:5]\n v_mov_b32_e32 v3, v2"), "") << "a2 is not v2";
  EXPECT_EQ(cdna("ds_read_b32 a2, v1\n v_mfma_f32_4x4x1f32 a[0:3], v5, v6, a[0:3]"), "W01 a2");
}

TEST(Registers, OverwrittenAfterReportIsNotReportedAgain) {
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n v_mov_b32_e32 v2, 0\n v_mov_b32_e32 v3, v2\n v_mov_b32_e32 v4, v2"), "W02 v2");
}

TEST(Registers, DifferentCompletionClassesAreUnordered) {
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n flat_load_dword v2, v[10:11]\n s_waitcnt vmcnt(0) lgkmcnt(0)"), "W02 v2");
  EXPECT_EQ(cdna("flat_load_dword v2, v[10:11]\n flat_load_dword v2, v[12:13]\n s_waitcnt vmcnt(0) lgkmcnt(0)"), "W02 v2; W02 v2")
      << "gfx9 FLAT is unordered on both counters";
}

TEST(Registers, CleanRegisterAndAllRegistersOfALoad) {
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n v_mov_b32_e32 v4, v3"), "");
  EXPECT_EQ(cdna("global_load_dwordx4 v[4:7], v1, s[4:5]\n v_mov_b32_e32 v9, v4\n v_mov_b32_e32 v9, v5\n v_mov_b32_e32 v9, v6\n"
                 " v_mov_b32_e32 v9, v7"),
            "W01 v4; W01 v5; W01 v6; W01 v7");
}

TEST(Registers, SourceOfAStoreIsFree) {
  EXPECT_EQ(cdna("global_store_dword v1, v2, s[4:5]\n v_mov_b32_e32 v2, 0\n v_mov_b32_e32 v1, 0"), "");
}

TEST(Registers, MixedCountersBothNeeded) {
  const std::string two = "global_load_dword v2, v1, s[4:5]\n ds_read_b32 v3, v1\n ";
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(0)\n v_add_u32_e32 v4, v2, v3"), "W01 v3");
  EXPECT_EQ(cdna(two + "s_waitcnt lgkmcnt(0)\n v_add_u32_e32 v4, v2, v3"), "W01 v2");
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(0) lgkmcnt(0)\n v_add_u32_e32 v4, v2, v3"), "");
}

TEST(Registers, DeepStacks) {
  EXPECT_EQ(cdna(loads(4) + "s_waitcnt vmcnt(2)\n v_mov_b32_e32 v1, v11\n v_mov_b32_e32 v2, v12\n s_waitcnt vmcnt(0)"), "W01 v12");
  EXPECT_EQ(cdna(loads(4) + "s_waitcnt vmcnt(3)\n v_mov_b32_e32 v2, v10\n s_waitcnt vmcnt(2)\n v_mov_b32_e32 v2, v11\n"
                            " s_waitcnt vmcnt(0)\n v_mov_b32_e32 v2, v13"),
            "");
}

TEST(Registers, StoresCountWithLoadsOnlyOnGfx9) {
  // The store is younger than the load: on gfx9 vmcnt(1) therefore completes the load; elsewhere stores do not count there.
  for (const char *target : {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"}) {
    const bool joint = findTarget(target)->generation->encoding == WaitEncoding::Gfx9;
    EXPECT_EQ(findings(checkBody(target, expand(target, "{LD} v2, v1, s[4:5]\n {ST} v1, v3, s[4:5]\n {VM 1}\n v_mov_b32_e32 v4, v2"))),
              joint ? "" : "W01 v2")
        << target;
  }
}

// ---- halves ---------------------------------------------------------------------------------------------------------------------------

TEST(Halves, OnTargetsWhereTheyAreIndependent) {
  for (const char *t : {"gfx900", "gfx1030", "gfx1100"}) {
    auto check = [&](const std::string &body) { return findings(checkBody(t, expand(t, body))); };
    EXPECT_EQ(check("{LDLO} v2, v1, s[4:5]\n {LDHI} v2, v1, s[4:5]\n {VM 0}\n v_mov_b32_e32 v3, v2"), "") << t;
    EXPECT_EQ(check("{LDHI} v2, v1, s[4:5]\n {STLO} v1, v2, s[6:7]"), "") << "high outstanding, low stored: " << t;
    EXPECT_EQ(check("{LDHI} v2, v1, s[4:5]\n {STHI} v1, v2, s[6:7]"), "W01 v2.h") << t;
    EXPECT_EQ(check("{LDLO} v2, v1, s[4:5]\n {STLO} v1, v2, s[6:7]"), "W01 v2.l") << t;
    EXPECT_EQ(check("{LDLO} v2, v1, s[4:5]\n {STHI} v1, v2, s[6:7]"), "") << t;
    EXPECT_EQ(check("{LDHI} v2, v1, s[4:5]\n v_mov_b32_e32 v3, v2"), "W01 v2.h") << t;
    EXPECT_EQ(check("{LDLO} v2, v1, s[4:5]\n v_mov_b32_e32 v3, v2"), "W01 v2.l") << t;
    EXPECT_EQ(check("{LDLO} v2, v1, s[4:5]\n {LDHI} v2, v1, s[4:5]\n {VM 1}\n {STLO} v1, v2, s[6:7]"), "") << t;
    EXPECT_EQ(check("{LDLO} v2, v1, s[4:5]\n {LDHI} v2, v1, s[4:5]\n {VM 1}\n {STHI} v1, v2, s[6:7]"), "W01 v2.h") << t;
  }
}

TEST(Halves, WithEccALoadWritesTheWholeRegister) {
  EXPECT_EQ(cdna("global_load_short_d16_hi v2, v1, s[4:5]\n global_store_short v1, v2, s[6:7]"), "W01 v2.l");
}

TEST(Halves, TrueSixteenBitRegisters) {
  auto check = [&](const std::string &body) { return findings(checkBody("gfx1100", body)); };
  EXPECT_EQ(check("global_load_d16_hi_b16 v2, v1, s[4:5]\n v_add_f32_e32 v3, v3, v2"), "W01 v2.h");
}

// ---- mixed counters -------------------------------------------------------------------------------------------------------------------

TEST(MixedCounter, RetiresOnlyWhatIsProvable) {
  // Two LDS reads, a scalar load: lgkmcnt(1) proves the first LDS read (were it outstanding, so would be the second: two), no more.
  const std::string mix = "ds_read_b32 v2, v1\n s_load_dword s8, s[4:5], 0x0\n ds_read_b32 v3, v1\n s_waitcnt lgkmcnt(1)\n ";
  EXPECT_EQ(cdna(mix + "v_mov_b32_e32 v4, v2"), "");
  EXPECT_EQ(cdna(mix + "v_mov_b32_e32 v4, v3"), "W01 v3");
  EXPECT_EQ(cdna(mix + "s_mov_b32 s9, s8"), "W01 s8");
}

TEST(MixedCounter, DoesNotOverRetireAtTheBoundary) {
  const std::string mix = "ds_read_b32 v2, v1\n s_load_dword s8, s[4:5], 0x0\n s_waitcnt lgkmcnt(1)\n ";
  EXPECT_EQ(cdna(mix + "v_mov_b32_e32 v4, v2"), "W01 v2") << "the scalar load may be the one that came back";
  EXPECT_EQ(cdna(mix + "s_mov_b32 s9, s8"), "W01 s8");
}

TEST(MixedCounter, UsesLdsOrderAcrossInterleaving) {
  const std::string mix = "ds_read_b32 v2, v1\n s_load_dword s8, s[4:5], 0x0\n ds_read_b32 v3, v1\n s_load_dword s9, s[4:5], 0x4\n"
                          " ds_read_b32 v5, v1\n s_waitcnt lgkmcnt(2)\n ";
  EXPECT_EQ(cdna(mix + "v_mov_b32_e32 v4, v2"), "");
  EXPECT_EQ(cdna(mix + "v_mov_b32_e32 v4, v3"), "W01 v3");
}

TEST(MixedCounter, OldestLdsWriteBecomesFitForABarrier) {
  const std::string mix = "ds_write_b32 v1, v2\n s_load_dword s8, s[4:5], 0x0\n ds_read_b32 v3, v1\n ";
  EXPECT_EQ(cdna(mix + "s_waitcnt lgkmcnt(1)\n s_barrier\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(mix + "s_waitcnt lgkmcnt(2)\n s_barrier\n s_waitcnt lgkmcnt(0)"), "W04");
}

TEST(MixedCounter, FlatOnGfx9SpoilsBothCounters) {
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n flat_load_dword v3, v[10:11]\n s_waitcnt vmcnt(1)\n v_mov_b32_e32 v4, v2\n"
                 " s_waitcnt vmcnt(0) lgkmcnt(0)"),
            "W01 v2")
      << "the FLAT load may have gone to LDS and come back first";
  EXPECT_EQ(findings(checkBody("gfx1030", "global_load_dword v2, v1, s[4:5]\n flat_load_dword v3, v[10:11]\n s_waitcnt vmcnt(1)\n"
                                          " v_mov_b32_e32 v4, v2\n s_waitcnt vmcnt(0) lgkmcnt(0)")),
            "");
}

TEST(MixedCounter, SplitCountersOfGfx12) {
  EXPECT_EQ(findings(checkBody("gfx1201", "global_load_b32 v2, v1, s[4:5]\n ds_load_b32 v3, v1\n s_wait_loadcnt_dscnt 0x100\n"
                                          " v_mov_b32_e32 v4, v3\n v_mov_b32_e32 v4, v2")),
            "W01 v2");
  EXPECT_EQ(findings(checkBody("gfx1201", "global_load_b32 v2, v1, s[4:5]\n ds_load_b32 v3, v1\n s_wait_loadcnt_dscnt 0x0\n"
                                          " v_mov_b32_e32 v4, v3\n v_mov_b32_e32 v4, v2")),
            "");
}

// ---- capacity -------------------------------------------------------------------------------------------------------------------------

TEST(Capacity, AllOnesIsNoWait) {
  EXPECT_EQ(cdna("ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(15)\n v_mov_b32_e32 v3, v2"), "W01 v2");
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(63)\n v_mov_b32_e32 v3, v2"), "W01 v2");
}

TEST(Capacity, LgkmcntOverflowRetiresTheOldest) {
  EXPECT_EQ(cdna(ldsReads(16) + "v_mov_b32_e32 v3, v10\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(ldsReads(15) + "v_mov_b32_e32 v3, v10\n s_waitcnt lgkmcnt(0)"), "W01 v10");
  EXPECT_EQ(cdna(ldsReads(16) + "v_mov_b32_e32 v3, v11\n s_waitcnt lgkmcnt(0)"), "W01 v11");
}

TEST(Capacity, AFullCounterDrainsBeforeTheOperandIsRead) {
  EXPECT_EQ(cdna(ldsReads(15) + "ds_read_b32 v40, v10\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(ldsReads(14) + "ds_read_b32 v40, v10\n s_waitcnt lgkmcnt(0)"), "W01 v10");
}

TEST(Capacity, AScalarLoadAlsoNeedsRoom) {
  EXPECT_EQ(cdna(ldsReads(15) + "s_load_dword s8, s[4:5], 0x0\n v_mov_b32_e32 v3, v10\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(ldsReads(15) + "s_load_dwordx16 s[8:23], s[4:5], 0x0\n v_mov_b32_e32 v3, v11\n s_waitcnt lgkmcnt(0)"), "W01 v11")
      << "a wide scalar load is relied on for one";
}

TEST(Capacity, AFullCounterProvesNoUnorderedOperation) {
  std::string many = "s_load_dword s8, s[4:5], 0x0\n ";
  EXPECT_EQ(cdna(many + ldsReads(20) + "s_mov_b32 s9, s8\n s_waitcnt lgkmcnt(0)"), "W01 s8");
}

TEST(Capacity, VmcntOverflow) {
  EXPECT_EQ(manyRegisters(loads(64) + "v_mov_b32_e32 v3, v10\n s_waitcnt vmcnt(0)"), "");
  EXPECT_EQ(manyRegisters(loads(63) + "v_mov_b32_e32 v3, v10\n s_waitcnt vmcnt(0)"), "W01 v10");
  EXPECT_EQ(manyRegisters(loads(63) + "global_load_dword v90, v10, s[4:5]\n s_waitcnt vmcnt(0)"), "");
  EXPECT_EQ(manyRegisters(loads(62) + "global_load_dword v90, v10, s[4:5]\n s_waitcnt vmcnt(0)"), "W01 v10");
}

TEST(Capacity, UnorderedFlatAlsoNeedsRoomButProvesNothingElse) {
  EXPECT_EQ(manyRegisters(loads(63) + "flat_load_dword v90, v[100:101]\n v_mov_b32_e32 v3, v10\n s_waitcnt vmcnt(0) lgkmcnt(0)"), "");
  EXPECT_EQ(manyRegisters("flat_load_dword v90, v[100:101]\n s_waitcnt lgkmcnt(0)\n " + loads(64) +
                          "v_mov_b32_e32 v3, v90\n s_waitcnt vmcnt(0)"),
            "W01 v90");
}

TEST(Capacity, StoresFillVmcntOnGfx9) {
  std::string stores;
  for (int i = 0; i < 63; ++i)
    stores += "global_store_dword v1, v3, s[4:5]\n ";
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n " + stores + "v_mov_b32_e32 v4, v2"), "");
  EXPECT_EQ(findings(checkBody("gfx1030", "global_load_dword v2, v1, s[4:5]\n " + stores + "v_mov_b32_e32 v4, v2")), "W01 v2");
}

TEST(Capacity, InterleavedSoak) {
  // A long mix of scalar loads and LDS reads with waits: only the provable prefix is ever used.
  std::string body;
  for (int i = 0; i < 40; ++i) {
    body += "ds_read_b32 v" + std::to_string(10 + i % 8) + ", v1\n s_load_dword s8, s[4:5], 0x0\n s_waitcnt lgkmcnt(0)\n ";
    body += "ds_read_b32 v20, v1\n ds_read_b32 v21, v1\n s_load_dword s9, s[4:5], 0x0\n s_waitcnt lgkmcnt(1)\n v_mov_b32_e32 v3, v20\n"
            " s_waitcnt lgkmcnt(0)\n s_mov_b32 s10, s9\n ";
  }
  EXPECT_EQ(cdna(body), "");
}

// ---- LDS copies -----------------------------------------------------------------------------------------------------------------------

TEST(LdsCopies, PartialVmcntRetiresTheOldest) {
  const std::string two = "s_mov_b32 m0, 0\n buffer_load_dword v1, s[8:11], 0 offen lds\n global_load_dword v3, v2, s[4:5]\n ";
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(1)\n s_barrier\n s_waitcnt vmcnt(0)\n ds_read_b32 v4, v5\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(2)\n s_barrier\n s_waitcnt vmcnt(0)\n ds_read_b32 v4, v5\n s_waitcnt lgkmcnt(0)"), "W05");
}

// ---- control flow ---------------------------------------------------------------------------------------------------------------------

TEST(ControlFlow, TheBranchIsOnThePath) {
  const CheckResult r = checkBody("gfx90a", "global_load_dword v2, v1, s[4:5]\n s_cbranch_scc0 1f\n s_waitcnt vmcnt(0)\n1:\n"
                                            " v_mov_b32_e32 v3, v2");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].confidence, Confidence::Possible);
  ASSERT_EQ(r.diagnostics[0].path.size(), 1u);
  EXPECT_NE(r.diagnostics[0].path[0].text.find("(taken)"), std::string::npos);
}

TEST(ControlFlow, MinimumOverPaths) {
  // One arm issues a younger load, the other does not: vmcnt(1) is enough on one path alone.
  const std::string body = "global_load_dword v2, v1, s[4:5]\n s_cbranch_scc0 1f\n global_load_dword v3, v1, s[4:5]\n1:\n s_waitcnt vmcnt(";
  EXPECT_EQ(cdna(body + "1)\n v_mov_b32_e32 v4, v2\n s_waitcnt vmcnt(0)"), "W01 v2");
  EXPECT_EQ(cdna(body + "0)\n v_mov_b32_e32 v4, v2"), "");
}

TEST(ControlFlow, LdsWriteCarriedRoundALoopToABarrier) {
  // What clang up to 22 emits for `for (;;) { barrier(); read; barrier(); write; }`: the wait of the release fence at the loop's head is lost,
  // because in front of the loop nothing is pending (llvm-project pull request 220356).
  const std::string loop = "1:\n s_barrier\n ds_read_b32 v3, v2 offset:1020\n s_add_i32 s0, s0, -1\n s_cmp_eq_u32 s0, 0\n s_waitcnt lgkmcnt(0)\n"
                           " v_add_u32_e32 v1, v3, v1\n s_barrier\n ds_write_b32 v0, v1\n s_cbranch_scc0 1b\n";
  const CheckResult r = checkBody("gfx90a", loop);
  EXPECT_EQ(findings(r), "W04");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].path.size(), 1u) << "the branch back";
  EXPECT_EQ(cdna("1:\n s_waitcnt lgkmcnt(0)\n" + loop.substr(3)), "");
}

TEST(ControlFlow, SameComparisonTwiceIsOnePath) {
  // The load and its use hang on the same comparison; the wait on it as well.
  const std::string guarded = "s_cmp_gt_u32 s8, 4\n s_cbranch_scc0 1f\n global_load_dword v2, v1, s[4:5]\n1:\n v_mov_b32_e32 v9, 0\n"
                              " s_cmp_gt_u32 s8, 4\n s_cbranch_scc0 2f\n s_waitcnt vmcnt(0)\n2:\n v_mov_b32_e32 v3, v2";
  const CheckResult r = checkBody("gfx90a", guarded);
  EXPECT_EQ(findings(r), "");
  EXPECT_EQ(r.counts.infeasible, 1u) << "left out, and counted";
  std::string changed = guarded;
  changed.replace(changed.find("v_mov_b32_e32 v9, 0"), 19, "s_add_u32 s8, s8, 1");
  EXPECT_EQ(cdna(changed), "W01 v2") << "the compared register changes in between";
}

TEST(ControlFlow, ConstantsDecideComparisons) {
  const std::string body = "s_mov_b32 s8, 3\n global_load_dword v2, v1, s[4:5]\n s_cmp_eq_u32 s8, 3\n s_cbranch_scc1 1f\n"
                           " v_mov_b32_e32 v3, v2\n1:\n s_waitcnt vmcnt(0)";
  EXPECT_EQ(cdna(body), "") << "the use cannot be reached";
  std::string changed = body;
  changed.replace(changed.find("s8, 3"), 5, "s8, 4");
  EXPECT_EQ(cdna(changed), "W01 v2");
}

TEST(ControlFlow, CallsIntoTheObject) {
  const std::string good = ".p2align 2\n.type f,@function\nf:\n s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n v_mov_b32_e32 v0, 1\n"
                           " s_setpc_b64 s[30:31]\n.Lf:\n.size f, .Lf-f\n";
  const std::string call = "global_load_dword v2, v1, s[4:5]\n s_getpc_b64 s[8:9]\n s_add_u32 s8, s8, f@rel32@lo+4\n"
                           " s_addc_u32 s9, s9, f@rel32@hi+12\n s_swappc_b64 s[30:31], s[8:9]\n v_mov_b32_e32 v3, v2";
  EXPECT_EQ(cdna(call, good), "") << "the callee waits at its entry";
  const std::string lazy = ".p2align 2\n.type f,@function\nf:\n v_mov_b32_e32 v0, 1\n s_setpc_b64 s[30:31]\n.Lf:\n.size f, .Lf-f\n";
  EXPECT_EQ(cdna(call, lazy), "W01 v2; W08; W08") << "the callee does not wait: both counters";
  const std::string leaves = ".p2align 2\n.type f,@function\nf:\n s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n"
                             " global_load_dword v5, v1, s[4:5]\n s_setpc_b64 s[30:31]\n.Lf:\n.size f, .Lf-f\n";
  EXPECT_EQ(cdna(call, leaves), "W07 v5");
}

TEST(ControlFlow, CallsOutOfTheObjectAreCounted) {
  const CheckResult r = checkBody("gfx90a", "s_getpc_b64 s[8:9]\n s_add_u32 s8, s8, g@rel32@lo+4\n s_addc_u32 s9, s9, g@rel32@hi+12\n"
                                            " s_swappc_b64 s[30:31], s[8:9]");
  EXPECT_EQ(r.counts.gaps.externalCalls, 1u);
  EXPECT_EQ(r.notAnalysed.size(), 1u);
}

TEST(ControlFlow, UnresolvedIndirectBranchGoesEverywhere) {
  const CheckResult r = checkBody("gfx90a", "s_cbranch_scc1 1f\n global_load_dword v2, v1, s[4:5]\n s_setpc_b64 s[8:9]\n1:\n"
                                            " v_mov_b32_e32 v3, v2");
  EXPECT_EQ(r.counts.gaps.indirectBranches, 1u);
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].registers, "v2");
}

TEST(ControlFlow, LongBranchIsFollowed) {
  // s_getpc + s_add + s_addc + s_setpc: how the assembler's user writes a jump beyond the reach of s_branch.
  const std::string far = "global_load_dword v2, v1, s[4:5]\n s_getpc_b64 s[8:9]\n.Lpc:\n s_add_u32 s8, s8, .Lt-.Lpc\n s_addc_u32 s9, s9, 0\n"
                          " s_setpc_b64 s[8:9]\n s_nop 0\n.Lt:\n ";
  const CheckResult racy = checkBody("gfx90a", far + "v_mov_b32_e32 v3, v2");
  EXPECT_EQ(findings(racy), "W01 v2");
  EXPECT_EQ(racy.diagnostics.at(0).confidence, Confidence::Proven) << "no choice on the way";
  EXPECT_EQ(cdna(far + "s_waitcnt vmcnt(0)\n v_mov_b32_e32 v3, v2"), "");
}

TEST(ControlFlow, UndecodableCodeIsAGap) {
  const CheckResult r = checkBody("gfx90a", ".long 0xffffffff");
  EXPECT_EQ(r.counts.gaps.undecodable, 1u);
  const CheckResult unreached = checkBody("gfx90a", "s_branch 1f\n .long 0xffffffff\n1:\n s_nop 0");
  EXPECT_FALSE(unreached.counts.gaps.any()) << "data that is never executed";
}

TEST(ControlFlow, WaitWithANumberInARegisterProvesNothing) {
  const CheckResult r = checkBody("gfx1030", "global_load_dword v2, v1, s[4:5]\n s_waitcnt_vmcnt s8, 0x0\n v_mov_b32_e32 v3, v2");
  EXPECT_EQ(r.counts.gaps.unknownWaits, 1u);
  EXPECT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(findings(checkBody("gfx1030", "global_load_dword v2, v1, s[4:5]\n s_waitcnt_vmcnt null, 0x0\n v_mov_b32_e32 v3, v2")), "");
}

TEST(Audit, NamesWaitsThatAreTooStrong) {
  CheckOptions options;
  options.audit = true;
  auto audit = [&](const std::string &body) { return checkText(kernelText("gfx90a", body), options); };
  // vmcnt(0) where only the oldest of three is used; and a wait for nothing.
  const CheckResult r = audit(loads(3) + "s_waitcnt vmcnt(0)\n v_mov_b32_e32 v3, v10\n s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v3, v4");
  EXPECT_EQ(findings(r), "");
  ASSERT_EQ(r.audit.size(), 2u);
  EXPECT_EQ(r.audit[0].counter, "vmcnt");
  EXPECT_EQ(r.audit[0].emitted, 0);
  EXPECT_EQ(r.audit[0].sufficient, 2);
  EXPECT_EQ(r.audit[1].counter, "lgkmcnt");
  EXPECT_EQ(r.audit[1].sufficient, -1);
  EXPECT_TRUE(audit(loads(3) + "s_waitcnt vmcnt(2)\n v_mov_b32_e32 v3, v10\n s_waitcnt vmcnt(0)\n v_mov_b32_e32 v3, v12").audit.empty());
  const CheckResult release = audit("global_store_dword v1, v2, s[4:5]\n s_waitcnt vmcnt(0)\n global_store_dword v1, v2, s[6:7]");
  ASSERT_EQ(release.audit.size(), 1u);
  EXPECT_TRUE(release.audit[0].ordersMemory) << "a release looks like this";
}
