// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SDWA operands: bytes and words of registers, read and written.
#include "asm_check.h"
#include "mnemonics.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

std::string check(const std::string &target, const std::string &body) {
  std::string text = expand(target, body);
  for (size_t at; (at = text.find("ADD_SDWA")) != std::string::npos;)
    text.replace(at, 8, target == "gfx1030" ? "v_add_nc_u32_sdwa" : "v_add_u32_sdwa");
  return findings(checkBody(target, text));
}

std::string sum(const std::string &a, const std::string &b, const std::string &selectA, const std::string &selectB) {
  return "ADD_SDWA v3, " + a + ", " + b + " dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:" + selectA +
         " src1_sel:" + selectB;
}

std::string move(const std::string &select, const std::string &unused) {
  return "v_mov_b32_sdwa v2, v4 dst_sel:" + select + " dst_unused:" + unused + " src0_sel:DWORD";
}

const std::string low = "{LDLO} v2, v1, s[4:5]\n ", high = "{LDHI} v2, v1, s[4:5]\n ";

} // namespace

class Sdwa : public testing::TestWithParam<const char *> {};
/// Targets where halves of a register are written on their own.
INSTANTIATE_TEST_SUITE_P(Targets, Sdwa, testing::Values("gfx900", "gfx1030"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Sdwa, SourcesAreReadInPart) {
  const std::string t = GetParam();
  for (const char *select : {"WORD_0", "BYTE_0", "BYTE_1", "DWORD"}) {
    EXPECT_EQ(check(t, low + sum("v2", "v4", select, "DWORD")), "W01 v2.l") << select;
    EXPECT_EQ(check(t, low + sum("v4", "v2", "DWORD", select)), "W01 v2.l") << select;
    EXPECT_EQ(check(t, high + sum("v2", "v4", select, "DWORD")), std::string(select) == "DWORD" ? "W01 v2.h" : "")
        << select;
    EXPECT_EQ(check(t, high + sum("s8", "v2", "DWORD", select)), std::string(select) == "DWORD" ? "W01 v2.h" : "")
        << select;
    EXPECT_EQ(check(t, low + sum("1", "v2", "DWORD", select)), "W01 v2.l") << select;
  }
  for (const char *select : {"WORD_1", "BYTE_2", "BYTE_3"}) {
    EXPECT_EQ(check(t, low + sum("v2", "v4", select, "DWORD")), "") << select;
    EXPECT_EQ(check(t, low + sum("v4", "v2", "WORD_0", select)), "") << select;
    EXPECT_EQ(check(t, high + sum("v2", "v4", select, "WORD_0")), "W01 v2.h") << select;
    EXPECT_EQ(check(t, high + sum("s8", "v2", "WORD_0", select)), "W01 v2.h") << select;
    EXPECT_EQ(check(t, low + sum("1", "v2", "WORD_0", select)), "") << "the constant is the first source: " << select;
  }
  EXPECT_EQ(check(t, low + "v_cmp_lt_u32_sdwa vcc, v2, v4 src0_sel:WORD_1 src1_sel:DWORD"), "");
  EXPECT_EQ(check(t, low + "v_cmp_lt_u32_sdwa vcc, v4, v2 src0_sel:WORD_1 src1_sel:BYTE_0"), "W01 v2.l");
}

TEST_P(Sdwa, ResultsArePreservedOrNot) {
  const std::string t = GetParam();
  EXPECT_EQ(check(t, low + move("WORD_1", "UNUSED_PRESERVE") + "\n {VM 0}"), "") << "the other half is left alone";
  EXPECT_EQ(check(t, low + move("BYTE_3", "UNUSED_PRESERVE") + "\n {VM 0}"), "");
  EXPECT_EQ(check(t, low + move("WORD_0", "UNUSED_PRESERVE") + "\n {VM 0}"), "W02 v2.l");
  EXPECT_EQ(check(t, low + move("BYTE_1", "UNUSED_PRESERVE") + "\n {VM 0}"), "W02 v2.l");
  EXPECT_EQ(check(t, low + move("WORD_1", "UNUSED_PAD") + "\n {VM 0}"), "W02 v2.l") << "zeros are written";
  EXPECT_EQ(check(t, low + move("WORD_1", "UNUSED_SEXT") + "\n {VM 0}"), "W02 v2.l");
  EXPECT_EQ(check(t, low + move("WORD_1", "UNUSED_PRESERVE") + "\n v_mov_b32_e32 v5, v2\n {VM 0}"), "W01 v2.l")
      << "still pending";
}

TEST(SdwaWithEcc, ARegisterIsWrittenWhole) {
  EXPECT_EQ(check("gfx908", low + move("WORD_1", "UNUSED_PRESERVE") + "\n {VM 0}"), "W02 v2");
  EXPECT_EQ(check("gfx90a", low + sum("v2", "v4", "WORD_1", "DWORD")), "W01 v2.h");
}
