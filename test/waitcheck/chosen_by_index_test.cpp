// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions whose registers an index chooses. With bounds of the index they are hazards with what lies between, and
// with nothing else; without, they are a gap as soon as anything behind the named register is pending.
#include "asm_check.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

struct Form {
  const char *target, *text;
  unsigned read, written; ///< the number of the named register that is read, written; 0: none
};

const Form forms[] = {
    {"gfx90a", "s_set_gpr_idx_on s2, gpr_idx(SRC0)\n v_mov_b32_e32 v4, v8\n s_set_gpr_idx_off", 8, 0},
    {"gfx90a", "s_set_gpr_idx_on s2, gpr_idx(DST)\n v_mov_b32_e32 v8, s4\n s_set_gpr_idx_off", 0, 8},
    {"gfx90a", "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)\n v_mov_b32_e32 v8, v28\n s_set_gpr_idx_off", 28, 8},
    {"gfx942", "s_set_gpr_idx_on s2, gpr_idx(SRC1)\n v_add_f32_e32 v4, s9, v8\n s_set_gpr_idx_off", 8, 0},
    {"gfx1030", "v_movrels_b32_e32 v4, v8", 8, 0},
    {"gfx1030", "v_movreld_b32_e32 v8, s4", 0, 8},
    {"gfx1030", "v_movrelsd_b32_e32 v28, v8", 8, 28},
    {"gfx1100", "v_movrels_b32_e32 v4, v8", 8, 0},
    {"gfx1201", "v_movreld_b32_e32 v8, s4", 0, 8}};

/// Behind a load into `pending`; `bound` comes first.
std::string found(const Form &form, unsigned pending, const std::string &bound) {
  const std::string load = std::string(form.target) == "gfx1201" ? "global_load_b32 v" : "global_load_dword v";
  return findings(checkBody(form.target, bound + load + std::to_string(pending) + ", v1, s[4:5]\n " + form.text));
}

std::string masked(const Form &form) {
  return std::string(form.text).starts_with("s_set") ? "s_and_b32 s2, s3, 7\n " : "s_and_b32 m0, s3, 7\n ";
}

} // namespace

TEST(ChosenByIndex, WithBounds) {
  for (const Form &form : forms)
    for (unsigned pending = 5; pending < 48; ++pending) {
      const bool read = form.read && pending >= form.read && pending <= form.read + 7;
      const bool written = form.written && pending >= form.written && pending <= form.written + 7;
      const std::string name = " v" + std::to_string(pending);
      EXPECT_EQ(found(form, pending, masked(form)), read      ? "W01" + name
                                                    : written ? "W02" + name
                                                              : "")
          << form.target << " " << form.text;
    }
}

TEST(ChosenByIndex, WithoutBounds) {
  for (const Form &form : forms) {
    const unsigned least = form.read && form.written ? std::min(form.read, form.written) : form.read + form.written;
    EXPECT_EQ(found(form, least - 1, ""), "") << "never in front of the named one: " << form.text;
    EXPECT_NE(found(form, least, ""), "") << "the named one: " << form.text;
    const std::string behind = found(form, least + 30, "");
    EXPECT_NE(behind.find("gap"), std::string::npos) << behind << " " << form.text;
  }
}

TEST(ChosenByIndex, TwoIndicesInOneRegisterAreNotToldApart) {
  for (const char *text : {"v_movrelsd_2_b32_e32 v9, v8", "v_swaprel_b32 v9, v8", "s_movrelsd_2_b32 s9, s8"}) {
    EXPECT_EQ(findings(checkBody("gfx1030", "s_mov_b32 m0, 1\n " + std::string(text))), "") << text;
    const std::string load =
        text[0] == 'v' ? "global_load_dword v20, v1, s[4:5]\n " : "s_load_dword s20, s[4:5], 0x0\n ";
    EXPECT_NE(findings(checkBody("gfx1030", "s_mov_b32 m0, 1\n " + load + text)).find("gap"), std::string::npos)
        << text;
  }
}

TEST(ChosenByIndex, IsNeverProvenAndWritesNothingForSure) {
  const CheckResult r =
      checkBody("gfx1030", "s_mov_b32 m0, 0\n global_load_dword v8, v1, s[4:5]\n v_movrels_b32_e32 v4, v8");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].confidence, Confidence::Possible);
  EXPECT_EQ(
      findings(checkBody(
          "gfx1030",
          "s_and_b32 m0, s3, 7\n global_load_dword v8, v1, s[4:5]\n v_movreld_b32_e32 v8, s4\n v_mov_b32_e32 v5, v8")),
      "W01 v8; W02 v8")
      << "the index may have chosen another one";
  EXPECT_EQ(findings(checkBody("gfx1030",
                               "global_load_dword v8, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_movrels_b32_e32 v4, v8")),
            "");
}

TEST(ChosenByIndex, Scalars) {
  const std::string load = "s_and_b32 m0, s3, 15\n s_load_dword s20, s[4:5], 0x0\n ";
  for (const char *target : {"gfx90a", "gfx1030"}) {
    EXPECT_EQ(findings(checkBody(target, load + "s_movrels_b32 s6, s8")), "W01 s20");
    EXPECT_EQ(findings(checkBody(target, load + "s_movrels_b64 s[6:7], s[4:5]")), "W01 s20")
        << "the upper half, index 15";
    EXPECT_EQ(findings(checkBody(target, load + "s_movrels_b32 s6, s4")), "") << "ends at s19";
    EXPECT_EQ(findings(checkBody(target, load + "s_movreld_b32 s8, s6")), "W02 s20");
    EXPECT_EQ(findings(checkBody(target, load + "s_movrels_b32 s6, s22")), "");
    EXPECT_EQ(findings(checkBody(target, "global_load_dword v20, v1, s[4:5]\n s_movrels_b32 s6, s8")), "");
  }
  // The constant that decides the branch may be overwritten.
  const std::string branch = "s_cmp_eq_u32 s20, 1\n s_cbranch_scc1 1f\n v_mov_b32_e32 v3, v2\n 1:";
  EXPECT_EQ(findings(checkBody("gfx90a", "global_load_dword v2, v1, s[4:5]\n s_mov_b32 s20, 1\n " + branch)), "");
  EXPECT_EQ(findings(checkBody(
                "gfx90a", "global_load_dword v2, v1, s[4:5]\n s_mov_b32 s20, 1\n s_movreld_b32 s8, s6\n " + branch)),
            "W01 v2");
}

TEST(ChosenByIndex, AModeThatIsNotFollowedIsAGap) {
  for (const char *text :
       {"s_set_gpr_idx_on s2, gpr_idx(SRC0)\n v_mov_b32_e32 v4, v8",
        "s_set_gpr_idx_mode gpr_idx(DST)\n v_mov_b32_e32 v4, v8",
        "s_set_gpr_idx_on s2, gpr_idx(SRC0)\n s_cbranch_scc1 1f\n v_mov_b32_e32 v4, v8\n 1:\n s_set_gpr_idx_off"}) {
    const CheckResult r = checkBody("gfx90a", text);
    EXPECT_EQ(r.counts.gaps.indices, 1u) << text;
    EXPECT_EQ(r.counts.incompleteFunctions, 1u) << text;
  }
  EXPECT_EQ(
      findings(checkBody("gfx90a", "s_set_gpr_idx_on s2, gpr_idx(SRC0)\n v_mov_b32_e32 v4, v8\n s_set_gpr_idx_off")),
      "");
}
