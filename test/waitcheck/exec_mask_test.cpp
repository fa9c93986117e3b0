// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane masks. The checker looks at all executions at once, so it has no lanes: an instruction reads and writes its
// registers whatever the mask, and counters count instructions. What follows from that is tested here, in both
// directions.
#include "asm_check.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

std::string cdna(const std::string &body) { return findings(checkBody("gfx90a", body)); }

/// The next instructions work on the lanes of that half.
const std::string lowHalf = "s_mov_b64 exec, s[20:21]\n ", highHalf = "s_mov_b64 exec, s[22:23]\n ",
                  all = "s_mov_b64 exec, -1\n ";

/// Each half of the wave loads and stores to LDS what it loaded; then the waits, a barrier, and a read of the whole.
std::string exchange(const std::string &vmcnt, const std::string &lgkmcnt) {
  return lowHalf + "global_load_dword v2, v1, s[4:5]\n " + highHalf + "global_load_dword v3, v1, s[4:5]\n " + all +
         "s_waitcnt vmcnt(" + vmcnt + ")\n " + lowHalf + "ds_write_b32 v6, v2\n " + highHalf +
         "ds_write_b32 v6, v3\n " + all + "s_waitcnt lgkmcnt(" + lgkmcnt +
         ")\n s_barrier\n ds_read_b32 v4, v7\n s_waitcnt vmcnt(0) lgkmcnt(0)";
}

} // namespace

TEST(ExecMask, WaitsBeforeABarrier) {
  EXPECT_EQ(cdna(exchange("0", "0")), "");
  EXPECT_EQ(cdna(exchange("1", "0")), "W01 v3") << "one load of two";
  EXPECT_EQ(cdna(exchange("0", "1")), "W04") << "one store of two";
  EXPECT_EQ(cdna(exchange("2", "2")), "W01 v2; W01 v3; W04");
  EXPECT_EQ(cdna(exchange("3", "0")), "W01 v2; W01 v3");
}

TEST(ExecMask, OverRetirementIsNoMatter) {
  // Younger instructions of the other half count like any other: vmcnt(1) behind two loads completes the first.
  EXPECT_EQ(cdna(lowHalf + "global_load_dword v2, v1, s[4:5]\n " + highHalf +
                 "global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(1)\n " + lowHalf +
                 "v_mov_b32_e32 v4, v2\n s_waitcnt vmcnt(0)"),
            "");
}

TEST(ExecMask, AMaskedWriteIsAWrite) {
  EXPECT_EQ(
      cdna(lowHalf + "global_load_dword v2, v1, s[4:5]\n " + highHalf + "v_mov_b32_e32 v2, 0\n s_waitcnt vmcnt(0)"),
      "W02 v2")
      << "disjoint lanes, which no mask in registers can prove";
  EXPECT_EQ(
      cdna(lowHalf + "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n " + highHalf + "v_mov_b32_e32 v2, 0"),
      "");
}

TEST(ExecMask, AMaskedReadIsARead) {
  EXPECT_EQ(
      cdna(lowHalf + "global_load_dword v2, v1, s[4:5]\n " + highHalf + "v_mov_b32_e32 v3, v2\n s_waitcnt vmcnt(0)"),
      "W01 v2");
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n v_readlane_b32 s8, v2, 3\n s_waitcnt vmcnt(0)"), "W01 v2")
      << "one lane";
  EXPECT_EQ(cdna("global_load_dword v2, v1, s[4:5]\n v_writelane_b32 v2, s8, 3\n s_waitcnt vmcnt(0)"), "W01 v2")
      << "the other lanes are kept";
}

TEST(ExecMask, CopiesIntoLds) {
  const std::string copy = "s_mov_b32 m0, 0\n " + lowHalf + "buffer_load_dword v1, s[8:11], 0 offen lds\n " + all;
  EXPECT_EQ(cdna(copy + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "W06");
  EXPECT_EQ(cdna(copy + "s_waitcnt vmcnt(0)\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "");
}

TEST(ExecMask, TheMaskItself) {
  EXPECT_EQ(cdna("s_load_dwordx2 s[6:7], s[4:5], 0x0\n s_mov_b64 exec, s[6:7]\n s_waitcnt lgkmcnt(0)"), "W01 s[6:7]");
  EXPECT_EQ(cdna("s_load_dwordx2 s[6:7], s[4:5], 0x0\n s_waitcnt lgkmcnt(0)\n s_mov_b64 exec, s[6:7]"), "");
  EXPECT_EQ(cdna("s_load_dwordx2 s[6:7], s[4:5], 0x0\n s_and_saveexec_b64 s[8:9], s[6:7]\n s_waitcnt lgkmcnt(0)"),
            "W01 s[6:7]");
  EXPECT_EQ(
      cdna("s_load_dwordx2 vcc, s[4:5], 0x0\n s_cbranch_vccnz 1f\n s_waitcnt lgkmcnt(0)\n1:\n s_waitcnt lgkmcnt(0)"),
      "W01 vcc_lo, vcc_hi");
}
