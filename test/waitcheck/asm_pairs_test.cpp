// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Racy and clean twins, assembled for a target of every generation.
#include "asm_check.h"
#include "mnemonics.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

struct Pair {
  const char *name;
  const char *racy;
  const char *expected; ///< findings() of the racy twin
  const char *fixed;
};

const Pair pairs[] = {
    {"VectorLoadUsed", "{LD} v2, v1, s[4:5]\n {ADD} v3, 1, v2", "W01 v2", "{LD} v2, v1, s[4:5]\n {VM 0}\n {ADD} v3, 1, v2"},
    {"WideLoadUsedInPart", "{LD4} v[4:7], v1, s[4:5]\n v_mov_b32_e32 v9, v6", "W01 v6",
     "{LD4} v[4:7], v1, s[4:5]\n {VM 0}\n v_mov_b32_e32 v9, v6"},
    {"VectorCountTooHigh", "{LD} v2, v1, s[4:5]\n {LD} v3, v1, s[4:5] offset:8\n {VM 1}\n v_mov_b32_e32 v9, v3", "W01 v3",
     "{LD} v2, v1, s[4:5]\n {LD} v3, v1, s[4:5] offset:8\n {VM 1}\n v_mov_b32_e32 v9, v2"},
    {"ScalarLoadOutOfOrder", "{SL} s8, s[4:5], 0x0\n {SL} s9, s[4:5], 0x40\n {KM 1}\n s_lshl_b32 s10, s8, 1", "W01 s8",
     "{SL} s8, s[4:5], 0x0\n {SL} s9, s[4:5], 0x40\n {KM 0}\n s_lshl_b32 s10, s8, 1"},
    {"ScalarOverwritten", "{SL} s8, s[4:5], 0x0\n s_mov_b32 s8, 1", "W02 s8", "{SL} s8, s[4:5], 0x0\n {KM 0}\n s_mov_b32 s8, 1"},
    {"ConditionMaskLoaded", "{SL2} vcc, s[4:5], 0x0\n v_cndmask_b32_e32 v3, v4, v5, vcc", "W01 vcc_lo, vcc_hi",
     "{SL2} vcc, s[4:5], 0x0\n {KM 0}\n v_cndmask_b32_e32 v3, v4, v5, vcc"},
    {"LdsLoadUsed", "{DSR} v2, v1\n {ADD} v3, 1, v2", "W01 v2", "{DSR} v2, v1\n {LG 0}\n {ADD} v3, 1, v2"},
    {"LdsCountTooHigh", "{DSR} v2, v1\n {DSR} v3, v1 offset:64\n {LG 1}\n {ADD} v3, 1, v3", "W01 v3",
     "{DSR} v2, v1\n {DSR} v3, v1 offset:64\n {LG 1}\n {ADD} v4, 1, v2"},
    {"LdsStoreAtBarrier", "{DSW} v1, v2\n {BAR}\n {DSR} v4, v3\n {LG 0}", "W04", "{DSW} v1, v2\n {LG 0}\n {BAR}\n {DSR} v4, v3\n {LG 0}"},
    {"LdsAtomicAtBarrier", "ds_add_u32 v1, v2\n {BAR}", "W04", "ds_add_u32 v1, v2\n {LG 0}\n {BAR}"},
    {"ResultOverwritten", "{LD} v2, v1, s[4:5]\n v_mov_b32_e32 v2, 0", "W02 v2", "{LD} v2, v1, s[4:5]\n {VM 0}\n v_mov_b32_e32 v2, 0"},
    {"TwoUnitsOneRegister", "{LD} v2, v1, s[4:5]\n {DSR} v2, v1\n {VM 0}\n {LG 0}", "W02 v2",
     "{LD} v2, v1, s[4:5]\n {VM 0}\n {DSR} v2, v1\n {LG 0}"},
    {"FlatNeedsBothCounters", "{FLD} v2, v[10:11]\n {VM 0}\n v_mov_b32_e32 v3, v2", "W01 v2",
     "{FLD} v2, v[10:11]\n {VM 0}\n {LG 0}\n v_mov_b32_e32 v3, v2"},
    {"AtomicResultUsed", "{ATOM v1, v2, s[4:5]}\n v_mov_b32_e32 v3, v8", "W01 v8",
     "{ATOM v1, v2, s[4:5]}\n {VM 0}\n v_mov_b32_e32 v3, v8"},
    {"LoadedAddress", "{LD} v2, v1, s[4:5]\n {LD} v3, v2, s[4:5]\n {VM 0}", "W01 v2",
     "{LD} v2, v1, s[4:5]\n {VM 0}\n {LD} v3, v2, s[4:5]\n {VM 0}"},
    {"LoadedStoreData", "{LD} v2, v1, s[4:5]\n {ST} v1, v2, s[4:5]", "W01 v2", "{LD} v2, v1, s[4:5]\n {VM 0}\n {ST} v1, v2, s[4:5]"},
    {"WrongCounter", "{LD} v2, v1, s[4:5]\n {LG 0}\n v_mov_b32_e32 v3, v2", "W01 v2", "{LD} v2, v1, s[4:5]\n {VM 0}\n v_mov_b32_e32 v3, v2"},
    {"WaitOnOnePathOnly", "{LD} v2, v1, s[4:5]\n s_cbranch_scc0 1f\n {VM 0}\n1:\n v_mov_b32_e32 v3, v2", "W01 v2",
     "{LD} v2, v1, s[4:5]\n s_cbranch_scc0 1f\n {VM 0}\n s_branch 2f\n1:\n {VM 0}\n2:\n v_mov_b32_e32 v3, v2"},
    {"LoopCarried", "v_mov_b32_e32 v2, 0\n1:\n {ADD} v3, v2, v3\n {LD} v2, v1, s[4:5]\n s_sub_u32 s8, s8, 1\n s_cmp_lg_u32 s8, 0\n"
                    " s_cbranch_scc1 1b\n {VM 0}",
     "W01 v2", "v_mov_b32_e32 v2, 0\n1:\n {VM 0}\n {ADD} v3, v2, v3\n {LD} v2, v1, s[4:5]\n s_sub_u32 s8, s8, 1\n s_cmp_lg_u32 s8, 0\n"
               " s_cbranch_scc1 1b\n {VM 0}"},
    {"StoresDoNotHideLoads", // on gfx9 stores count with loads, elsewhere they do not: never enough for the load of one count back
     "{LD} v2, v1, s[4:5]\n {LD} v3, v1, s[4:5]\n {VM 1}\n v_mov_b32_e32 v4, v3", "W01 v3",
     "{LD} v2, v1, s[4:5]\n {LD} v3, v1, s[4:5]\n {VM 0}\n v_mov_b32_e32 v4, v3"},
    {"ReadFirstLane", "{DSR} v2, v1\n v_readfirstlane_b32 s8, v2", "W01 v2", "{DSR} v2, v1\n {LG 0}\n v_readfirstlane_b32 s8, v2"},
    {"TiedAccumulator", "{LD} v2, v1, s[4:5]\n v_fmac_f32_e32 v2, v3, v4", "W01 v2",
     "{LD} v2, v1, s[4:5]\n {VM 0}\n v_fmac_f32_e32 v2, v3, v4"},
    {"M0Loaded", "{SL} s8, s[4:5], 0x0\n s_mov_b32 m0, s8\n {KM 0}", "W01 s8", "{SL} s8, s[4:5], 0x0\n {KM 0}\n s_mov_b32 m0, s8"},
};

const char *const targets[] = {"gfx900", "gfx906", "gfx908",  "gfx90a",  "gfx942",  "gfx950",  "gfx1010",
                               "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"};

} // namespace

class AsmPairs : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Targets, AsmPairs, testing::ValuesIn(targets), [](const auto &info) { return std::string(info.param); });

TEST_P(AsmPairs, RacyIsFoundAndFixedIsClean) {
  const std::string target = GetParam();
  for (const Pair &p : pairs) {
    std::string racy = expand(target, p.racy), fixed = expand(target, p.fixed), expected = p.expected;
    const bool noFmac = std::string(p.name) == "TiedAccumulator" && (target == "gfx900");
    if (noFmac) { // v_mac there
      racy.replace(racy.find("v_fmac"), 6, "v_mac");
      fixed.replace(fixed.find("v_fmac"), 6, "v_mac");
    }
    if (std::string(p.name) == "ConditionMaskLoaded" && findTarget(target)->generation->encoding == WaitEncoding::Gfx12) {
      // wave32 in these tests: one register of the mask is read
      racy.replace(racy.rfind("vcc"), 3, "vcc_lo");
      fixed.replace(fixed.rfind("vcc"), 3, "vcc_lo");
      expected = "W01 vcc_lo";
    }
    // Where loads may land out of order, the next round's load also races with this round's.
    if (std::string(p.name) == "LoopCarried" && !findTarget(target)->generation->vmemWritesInOrder)
      expected = "W01 v2; W02 v2";
    const CheckResult r = checkBody(target, racy), c = checkBody(target, fixed);
    EXPECT_EQ(findings(r), expected) << target << " " << p.name;
    EXPECT_EQ(findings(c), "") << target << " " << p.name;
    EXPECT_EQ(c.counts.kernels, 1u);
    EXPECT_GT(c.counts.memoryOperations, 0u) << "a clean result must rest on something checked";
  }
}

TEST(AsmPairs, SameClassLoadsMayOverwriteEachOtherWhereTheyReturnInOrder) {
  for (const char *target : targets) {
    const bool inOrder = findTarget(target)->generation->vmemWritesInOrder;
    EXPECT_EQ(findings(checkBody(target, expand(target, "{LD} v2, v1, s[4:5]\n {LD} v2, v1, s[4:5] offset:128\n {VM 0}"))),
              inOrder ? "" : "W02 v2")
        << target;
    EXPECT_EQ(findings(checkBody(target, expand(target, "{DSR} v2, v1\n {DSR} v2, v1 offset:128\n {LG 0}"))), "") << target;
    EXPECT_EQ(findings(checkBody(target, expand(target, "{SL} s8, s[4:5], 0x0\n {SL} s8, s[4:5], 0x40\n {KM 0}"))), "W02 s8") << target;
  }
}

TEST(AsmPairs, WideStoreDataIsAWaitStateHazard) {
  for (const char *target : {"gfx90a", "gfx942", "gfx950"}) {
    const unsigned states = findTarget(target)->generation->wideStoreStates;
    const std::string store = "global_store_dwordx4 v1, v[4:7], s[6:7]\n ";
    EXPECT_EQ(findings(checkBody(target, store + "v_mov_b32_e32 v5, 0")), "W09 v5") << target;
    EXPECT_EQ(findings(checkBody(target, store + "s_nop " + std::to_string(states - 1) + "\n v_mov_b32_e32 v5, 0")), "") << target;
    EXPECT_EQ(findings(checkBody(target, store + "s_nop 0\n v_mov_b32_e32 v5, 0")), states == 2 ? "W09 v5" : "") << target;
    EXPECT_EQ(findings(checkBody(target, store + "v_mov_b32_e32 v1, 0")), "") << "the address is read early: " << target;
    EXPECT_EQ(findings(checkBody(target, "global_store_dword v1, v5, s[6:7]\n v_mov_b32_e32 v5, 0")), "") << target;
  }
  const CheckResult r = checkBody("gfx942", "global_store_dwordx4 v1, v[4:7], s[6:7]\n v_mov_b32_e32 v5, 0");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].counter, "") << "not a counter";
  EXPECT_EQ(r.diagnostics[0].sufficientWait, 2);
}

TEST(AsmPairs, ExportSourcesAreLocked) {
  for (const char *target : {"gfx900", "gfx1030", "gfx1100"}) {
    const std::string exported = "exp mrt0 v0, v1, v2, v3 done\n ";
    EXPECT_EQ(findings(checkBody(target, exported + "v_mov_b32_e32 v2, 0")), "W03 v2") << target;
    EXPECT_EQ(findings(checkBody(target, exported + "s_waitcnt expcnt(0)\n v_mov_b32_e32 v2, 0")), "") << target;
    EXPECT_EQ(findings(checkBody(target, exported + "v_mov_b32_e32 v9, v2")), "") << "reading is fine: " << target;
  }
}

TEST(AsmPairs, CopiesIntoLds) {
  for (const char *target : {"gfx90a", "gfx942", "gfx950"}) {
    const std::string copy = "s_mov_b32 m0, 0\n buffer_load_dword v1, s[8:11], 0 offen lds\n ";
    const std::string later = "s_barrier\n s_waitcnt vmcnt(0)\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"; // another wave may be early
    EXPECT_EQ(findings(checkBody(target, copy + later)), "W05") << target;
    EXPECT_EQ(findings(checkBody(target, copy + "s_waitcnt vmcnt(0)\n " + later)), "") << target;
    EXPECT_EQ(findings(checkBody(target, copy + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)")), "W06") << target;
    EXPECT_EQ(findings(checkBody(target, copy + "s_waitcnt lgkmcnt(0)\n ds_read_b32 v4, v3")), "W06") << "wrong counter: " << target;
    EXPECT_EQ(findings(checkBody(target, copy + "s_waitcnt vmcnt(0)\n ds_read_b32 v4, v3")), "") << target;
  }
  const std::string async = "global_load_async_to_lds_b32 v2, v1, s[4:5]\n ";
  EXPECT_EQ(findings(checkBody("gfx1250", async + "s_barrier_signal -1\n s_barrier_wait -1")), "W05");
  EXPECT_EQ(findings(checkBody("gfx1250", async + "s_wait_asynccnt 0\n s_barrier_signal -1\n s_barrier_wait -1")), "");
  EXPECT_EQ(findings(checkBody("gfx1250", async + "s_wait_loadcnt 0\n ds_load_b32 v4, v3\n s_wait_dscnt 0")), "W06");
}

TEST(AsmPairs, Gfx1250SourcesAwaitTranslation) {
  EXPECT_EQ(findings(checkBody("gfx1250", "global_load_b32 v2, v1, s[4:5]\n v_mov_b32_e32 v1, 0\n s_wait_loadcnt 0")), "W03 v1");
  EXPECT_EQ(findings(checkBody("gfx1250", "global_load_b32 v2, v1, s[4:5]\n s_wait_xcnt 0\n v_mov_b32_e32 v1, 0\n s_wait_loadcnt 0")), "");
  EXPECT_EQ(findings(checkBody("gfx1250", "global_load_b32 v2, v1, s[4:5]\n s_wait_loadcnt 0\n v_mov_b32_e32 v1, 0")), "")
      << "a complete load has been translated";
}
