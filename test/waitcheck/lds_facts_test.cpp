// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies into LDS and LDS reads whose addresses are known, or not: apart is clean, overlap is proven, the rest is
// possible.
#include "asm_check.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

/// findings(), each with its confidence: "W06 proven".
std::string judged(const CheckResult &r) {
  std::string text;
  for (const Diagnostic &d : r.diagnostics)
    text += (text.empty() ? "" : "; ") + codeName(d.code) + (d.registers.empty() ? "" : " " + d.registers) + " " +
            confidenceName(d.confidence);
  for (const std::string &n : r.notAnalysed)
    text += "gap " + n;
  return text;
}

std::string cdna(const std::string &body) { return judged(checkBody("gfx90a", body)); }

/// Copies one dword for each lane to 256 bytes at that number.
std::string copyTo(const std::string &m0) {
  return "s_mov_b32 m0, " + m0 + "\n buffer_load_dword v1, s[8:11], 0 offen lds\n ";
}
/// Reads a dword at that address, in all lanes.
std::string readAt(const std::string &address, const std::string &more = "") {
  return "v_mov_b32_e32 v3, " + address + "\n ds_read_b32 v4, v3 " + more + "\n s_waitcnt lgkmcnt(0)\n ";
}
const std::string lane =
    "v_mbcnt_lo_u32_b32 v2, -1, 0\n v_mbcnt_hi_u32_b32 v2, -1, v2\n v_lshlrev_b32_e32 v3, 2, v2\n ";
/// Each lane reads its own dword.
const std::string readOwn = lane + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)\n ";

} // namespace

TEST(LdsFacts, KnownAddresses) {
  EXPECT_EQ(cdna(copyTo("0") + readAt("0")), "W06 proven");
  EXPECT_EQ(cdna(copyTo("0") + readAt("3")), "W06 proven") << "one byte in common with lane 0";
  EXPECT_EQ(cdna(copyTo("0") + readAt("0xfc")), "W06 possible") << "whether the last lane is on is not known";
  EXPECT_EQ(cdna(copyTo("0") + readAt("0x100")), "") << "behind the last lane's dword";
  EXPECT_EQ(cdna(copyTo("0x100") + readAt("0xfc")), "");
  EXPECT_EQ(cdna(copyTo("0x100") + readAt("0xfd")), "W06 proven") << "the last byte of four lies in the copy";
  EXPECT_EQ(cdna(copyTo("0") + readAt("0", "offset:256")), "");
  EXPECT_EQ(cdna(copyTo("0x100") + readAt("0", "offset:256")), "W06 proven");
  EXPECT_EQ(cdna(copyTo("0") + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "W06 possible") << "address unknown";
  EXPECT_EQ(cdna("s_mov_b32 m0, s5\n buffer_load_dword v1, s[8:11], 0 offen lds\n " + readAt("0")), "W06 possible")
      << "M0 unknown";
}

TEST(LdsFacts, FlatReadMayGoToLds) {
  const std::string read = "flat_load_dword v4, v[8:9]\n s_waitcnt vmcnt(0) lgkmcnt(0)";
  EXPECT_EQ(cdna(copyTo("0") + read), "W06 possible");
  EXPECT_EQ(cdna(copyTo("0") + "s_waitcnt vmcnt(0)\n " + read), "");
  EXPECT_EQ(cdna(copyTo("0") + "global_load_dword v4, v[8:9], off\n s_waitcnt vmcnt(0)"), "") << "never LDS";
  EXPECT_EQ(cdna(copyTo("0") + "flat_store_dword v[8:9], v4\n s_waitcnt vmcnt(0) lgkmcnt(0)"), "") << "reads nothing";
}

TEST(LdsFacts, WidthsAndPairs) {
  auto read = [&](const std::string &instruction) {
    return cdna(copyTo("0x100") + "v_mov_b32_e32 v3, 0xf8\n " + instruction + "\n s_waitcnt lgkmcnt(0)");
  };
  EXPECT_EQ(read("ds_read_b64 v[4:5], v3"), "");
  EXPECT_EQ(read("ds_read_b128 v[4:7], v3"), "W06 proven");
  EXPECT_EQ(read("ds_read_u8 v4, v3 offset:7"), "");
  EXPECT_EQ(read("ds_read_u8 v4, v3 offset:8"), "W06 proven");
  EXPECT_EQ(read("ds_read_u16 v4, v3 offset:6"), "");
  EXPECT_EQ(read("ds_read2_b32 v[4:5], v3 offset0:0 offset1:1"), "");
  EXPECT_EQ(read("ds_read2_b32 v[4:5], v3 offset0:0 offset1:2"), "W06 possible");
  EXPECT_EQ(read("ds_read2st64_b32 v[4:5], v3 offset0:0 offset1:1"), "W06 possible") << "0xf8 + 256";
  EXPECT_EQ(read("ds_add_rtn_u32 v4, v3, v6"), "");
  EXPECT_EQ(read("ds_add_rtn_u32 v4, v3, v6 offset:8"), "W06 proven");
  EXPECT_EQ(read("ds_swizzle_b32 v4, v3 offset:8"), "") << "touches no LDS";
}

TEST(LdsFacts, LanesAndMasks) {
  EXPECT_EQ(cdna(copyTo("0x100") + readOwn), "") << "64 dwords from 0";
  EXPECT_EQ(cdna(copyTo("0xfc") + readOwn), "W06 possible") << "the last lane's dword may meet the first";
  EXPECT_EQ(cdna(copyTo("0") + readOwn), "W06 proven") << "lane 0 reads what was copied for lane 0";
  EXPECT_EQ(cdna(copyTo("0x1000") + "v_and_b32_e32 v3, 0xffc, v7\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(copyTo("0x1000") + "v_and_b32_e32 v3, 0x1ffc, v7\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"),
            "W06 possible");
  EXPECT_EQ(judged(checkBody("gfx900", copyTo("0x1000") +
                                           "v_lshlrev_b32_e32 v3, 2, v0\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)")),
            "")
      << "v0 is a work-item id below 1024";
  EXPECT_EQ(cdna(copyTo("0x1000") + "v_lshlrev_b32_e32 v3, 2, v0\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"),
            "W06 possible")
      << "v0 holds three ids";
}

TEST(LdsFacts, LanesThatWereOff) {
  const std::string partly =
      "v_mov_b32_e32 v3, 0x800\n s_mov_b64 exec, s[6:7]\n v_mov_b32_e32 v3, 0x400\n s_mov_b64 exec, -1\n ";
  EXPECT_EQ(cdna(copyTo("0x400") + partly + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "W06 possible");
  EXPECT_EQ(cdna(copyTo("0x800") + partly + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "W06 possible")
      << "lanes that were off still have the older address";
  EXPECT_EQ(cdna(copyTo("0x1000") + partly + "ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)"), "");
  EXPECT_EQ(cdna(copyTo("0x1000") + "s_mov_b64 exec, s[6:7]\n " + readAt("0")), "W06 possible")
      << "lanes may have any address";
}

TEST(LdsFacts, AnotherCopyBehindDoesNotHideTheFirst) {
  const std::string two = copyTo("0") + copyTo("0x1000");
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(1)\n " + readAt("0x10")), "");
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(1)\n " + readAt("0x1000")), "W06 proven");
  EXPECT_EQ(cdna(two + readAt("0x0")), "W06 proven");
  EXPECT_EQ(cdna(two + "s_waitcnt vmcnt(0)\n " + readAt("0x1000")), "");
}

TEST(LdsFacts, DoubleBuffer) {
  // The next buffer is filled while this one is read: no wait, and no alarm, for the younger copy, at the barrier
  // either.
  auto kernel = [&](const std::string &wait, const std::string &otherBuffer) {
    return cdna(copyTo("0") + "s_mov_b32 s12, 8\n" + "1:\n " + copyTo(otherBuffer) + wait + "\n s_barrier\n " +
                readOwn + "s_barrier\n " + copyTo("0") + "s_waitcnt vmcnt(1)\n s_barrier\n " + lane +
                "ds_read_b32 v4, v3 offset:4096\n s_waitcnt lgkmcnt(0)\n s_barrier\n" +
                " s_sub_u32 s12, s12, 1\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 1b\n s_waitcnt vmcnt(0)");
  };
  EXPECT_EQ(kernel("s_waitcnt vmcnt(1)", "0x1000"), "");
  EXPECT_EQ(kernel("s_waitcnt vmcnt(2)", "0x1000"), "W05 possible; W06 proven")
      << "the buffer that is read is not complete";
  EXPECT_NE(kernel("s_waitcnt vmcnt(1)", "0x80"), "") << "the buffers overlap";
}

TEST(LdsFacts, AtABarrierOnlyWhatIsReadBehindItCounts) {
  EXPECT_EQ(cdna(copyTo("0") + "s_barrier\n s_waitcnt vmcnt(0)\n s_barrier\n " + readAt("0")), "")
      << "not read before the next barrier";
  EXPECT_EQ(cdna(copyTo("0") + "s_barrier\n " + readAt("0x200") + "s_waitcnt vmcnt(0)"), "");
  EXPECT_EQ(cdna(copyTo("0") + "s_barrier\n s_waitcnt vmcnt(0)\n " + readAt("0")), "W05 possible")
      << "other waves may be early";
  EXPECT_EQ(
      cdna(copyTo("0") + "s_barrier\n s_waitcnt vmcnt(0)\n flat_load_dword v4, v[6:7]\n s_waitcnt vmcnt(0) lgkmcnt(0)"),
      "W05 possible")
      << "FLAT may read LDS";
}

TEST(LdsFacts, LoopsGiveUp) {
  // M0 grows for ever: any value.
  EXPECT_EQ(cdna("s_mov_b32 m0, 0x1000\n v_mov_b32_e32 v3, 0\n1:\n buffer_load_dword v1, s[8:11], 0 offen lds\n "
                 "s_add_u32 m0, m0, 0x100\n ds_read_b32 v4, v3\n"
                 " s_waitcnt lgkmcnt(0)\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 1b\n s_waitcnt vmcnt(0)"),
            "W06 possible");
  EXPECT_EQ(cdna("s_mov_b32 m0, 0x1000\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 1f\n s_mov_b32 m0, 0x2000\n1:\n"
                 " buffer_load_dword v1, s[8:11], 0 offen lds\n " +
                 readAt("0x800") + "s_waitcnt vmcnt(0)"),
            "")
      << "two values of M0, both behind the address";
}

TEST(LdsFacts, WideAndGlobalCopies) {
  const std::string copy = "s_mov_b32 m0, 0\n global_load_lds_dword v1, s[4:5]\n ",
                    wide = "s_mov_b32 m0, 0\n global_load_lds_dwordx4 v1, s[4:5]\n ";
  EXPECT_EQ(judged(checkBody("gfx950", copy + readAt("0x100"))), "");
  EXPECT_EQ(judged(checkBody("gfx950", wide + readAt("0x100"))), "W06 possible");
  EXPECT_EQ(judged(checkBody("gfx950", wide + readAt("0x400"))), "");
  EXPECT_EQ(judged(checkBody("gfx950", copy + readAt("0"))), "W06 proven");
}

TEST(LdsFacts, AsynchronousCopies) {
  auto check = [](const std::string &to, const std::string &from) {
    return judged(checkBody("gfx1250", "v_mov_b32_e32 v2, " + to +
                                           "\n global_load_async_to_lds_b32 v2, v1, s[4:5]\n v_mov_b32_e32 v3, " +
                                           from + "\n ds_load_b32 v4, v3\n s_wait_dscnt 0\n s_wait_asynccnt 0"));
  };
  EXPECT_EQ(check("0", "4"), "");
  EXPECT_EQ(check("0", "0"), "W06 proven");
  EXPECT_EQ(check("v7", "0"), "W06 possible");
}

TEST(LdsFacts, WavesMayBeAtDifferentBarriers) {
  // One wave copies, the other reads; they meet at barriers in different places of the code.
  const std::string parted = "s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 2f\n" + copyTo("0") +
                             "s_barrier\n s_waitcnt vmcnt(0)\n s_barrier\n s_endpgm\n2:\n s_barrier\n " + readAt("0") +
                             "s_barrier";
  EXPECT_EQ(cdna(parted), "W05 possible");
  std::string fixed = parted;
  fixed.replace(fixed.find("s_barrier\n s_waitcnt vmcnt(0)"), 29, "s_waitcnt vmcnt(0)\n s_barrier\n");
  EXPECT_EQ(cdna(fixed), "");
  // Having parted, they stay so: the second barriers meet, too.
  const std::string later = "s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 2f\n s_barrier\n " + copyTo("0") +
                            "s_barrier\n s_waitcnt vmcnt(0)\n s_endpgm\n2:\n s_barrier\n s_nop 0\n s_barrier\n " +
                            readAt("0");
  EXPECT_EQ(cdna(later), "W05 possible");
}

TEST(LdsFacts, NamedBarriersDoNotEndAPhase) {
  const std::string copy = "v_mov_b32_e32 v2, 0\n global_load_async_to_lds_b32 v2, v1, s[4:5]\n s_barrier_signal -1\n "
                           "s_barrier_wait -1\n "
                           "s_wait_asynccnt 0x0\n ",
                    read = "v_mov_b32_e32 v3, 0\n ds_load_b32 v4, v3\n s_wait_dscnt 0x0\n ";
  EXPECT_EQ(judged(checkBody("gfx1250", copy + "s_barrier_signal 1\n s_barrier_wait 1\n " + read)), "W05 possible");
  EXPECT_EQ(judged(checkBody("gfx1250", copy + "s_barrier_signal -1\n s_barrier_wait -1\n " + read)), "");
}

TEST(LdsFacts, SeveralCopiesAreOneMistake) {
  EXPECT_EQ(cdna(copyTo("0x400") + copyTo("0x800") + copyTo("0") +
                 "s_barrier\n s_waitcnt vmcnt(0)\n ds_read_b32 v4, v5\n s_waitcnt lgkmcnt(0)"),
            "W05 possible");
  EXPECT_EQ(cdna(copyTo("0") + copyTo("0x800") +
                 "v_and_b32_e32 v3, 0x7fc, v7\n ds_read_b32 v4, v3\n ds_read_b32 v5, v6\n s_waitcnt lgkmcnt(0)"),
            "W06 possible; W06 possible");
  EXPECT_EQ(cdna("s_mov_b32 m0, s5\n buffer_load_dword v1, s[8:11], 0 offen lds\n " + copyTo("0") + readAt("0")),
            "W06 proven");
}
