// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checker does not look at, or does not understand, is never clean.
#include "asm_check.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

CheckResult checkBare(const std::string &text) {
  return checkText(".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n.text\n" + text);
}

const std::string hazard = "global_load_dword v3, v[0:1], off\n v_mov_b32 v4, v3\n s_endpgm\n";

} // namespace

TEST(Coverage, CodeWithoutAFunctionSymbol) {
  EXPECT_EQ(findings(checkBare(hazard)),
            "gap 16 bytes of code that no symbol of a kernel or function covers (first at 0x0)");
  EXPECT_EQ(findings(checkBare("label:\n" + hazard)),
            "gap 16 bytes of code that no symbol of a kernel or function covers (first at 0x0)");
  EXPECT_EQ(checkBare(hazard).counts.incompleteFunctions, 1u);
  EXPECT_EQ(findings(checkBare("s_nop 0\n.fill 16, 4, 0\n")), "") << "padding";
  // In front of a function, behind one, and between two.
  const std::string f =
      ".type f,@function\nf:\n s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n s_setpc_b64 s[30:31]\n.Lf:\n.size f, .Lf-f\n";
  const std::string g =
      ".type g,@function\ng:\n s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n s_setpc_b64 s[30:31]\n.Lg:\n.size g, .Lg-g\n";
  EXPECT_EQ(findings(checkBare(hazard + f)),
            "gap 16 bytes of code that no symbol of a kernel or function covers (first at 0x0)");
  EXPECT_EQ(findings(checkBare(f + hazard)),
            "gap 16 bytes of code that no symbol of a kernel or function covers (first at 0x8)");
  EXPECT_EQ(findings(checkBare(f + hazard + g)),
            "gap 16 bytes of code that no symbol of a kernel or function covers (first at 0x8)");
  EXPECT_EQ(findings(checkBare(f + ".fill 14, 4, 0xbf800000\n" + g)), "");
}

TEST(Coverage, CodeOutsideOfItsSymbolThatABranchLeadsTo) {
  const std::string jumps =
      ".type f,@function\nf:\n s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n s_branch 1f\n.Lf:\n.size f, .Lf-f\n";
  EXPECT_EQ(findings(checkBare(jumps + "1:\n s_nop 3\n v_mov_b32 v4, v3\n s_setpc_b64 s[30:31]\n")), "");
  EXPECT_EQ(
      findings(checkBare(
          jumps +
          "1:\n global_load_dword v3, v[0:1], off\n v_mov_b32 v4, v3\n s_waitcnt vmcnt(0)\n s_setpc_b64 s[30:31]\n")),
      "W01 v3");
}

// Found by the fuzzer: a branch to less than a word at the end of its section was followed for ever.
TEST(Coverage, ABranchToTheLastBytesOfASection) {
  for (const char *tail : {".byte 1", ".byte 1, 2", ".byte 1, 2, 3"}) {
    const CheckResult r = checkBare(
        ".type f,@function\nf:\n s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n s_branch 1f\n.Lf:\n.size f, .Lf-f\n1:\n " +
        std::string(tail) + "\n");
    EXPECT_EQ(r.counts.incompleteFunctions, 1u) << tail;
  }
}
