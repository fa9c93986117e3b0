// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gfx1250 registers beyond v255: s_set_vgpr_msb supplies two bits for each role.
#include "asm_check.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

/// Bits 0-1: first source, 2-3: second, 4-5: third, 6-7: result.
std::string check(const std::string &body) { return findings(checkBody("gfx1250", body)); }

} // namespace

TEST(WideRegisters, ResultsAndSources) {
  const std::string load = "s_set_vgpr_msb 0x40\n global_load_b32 v2, v1, s[4:5]\n "; // into v258
  EXPECT_EQ(check(load + "s_set_vgpr_msb 0\n v_mov_b32_e32 v3, v2\n s_wait_loadcnt 0"), "") << "v2 is not v258";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 1\n v_mov_b32_e32 v3, v2\n s_wait_loadcnt 0"), "W01 v258");
  EXPECT_EQ(check(load + "s_set_vgpr_msb 1\n s_wait_loadcnt 0\n v_mov_b32_e32 v3, v2"), "");
  EXPECT_EQ(check(load + "s_set_vgpr_msb 2\n v_mov_b32_e32 v3, v2\n s_wait_loadcnt 0"), "") << "v514";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 0x40\n v_mov_b32_e32 v2, 0\n s_wait_loadcnt 0"), "W02 v258");
  EXPECT_EQ(check(load + "s_set_vgpr_msb 0x4004\n v_add_nc_u32_e32 v3, v5, v2\n s_wait_loadcnt 0"), "W01 v258")
      << "the upper byte is the old mode";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 1\n v_add_nc_u32_e32 v3, v5, v2\n s_wait_loadcnt 0"), "") << "v261 and v2";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 0x10\n v_fma_f32 v3, v5, v6, v2\n s_wait_loadcnt 0"), "W01 v258");
}

TEST(WideRegisters, RolesOfMemoryInstructions) {
  const std::string load = "s_set_vgpr_msb 0x40\n global_load_b64 v[2:3], v1, s[4:5]\n ";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 4\n global_store_b32 v1, v3, s[4:5]\n s_wait_loadcnt 0"), "W01 v259")
      << "data: second source";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 1\n global_store_b32 v2, v9, s[4:5]\n s_wait_loadcnt 0"), "W01 v258")
      << "address: first source";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 0x40\n buffer_store_b32 v2, v1, s[8:11], null offen\n s_wait_loadcnt 0"),
            "W01 v258")
      << "buffer data: the result's bits";
  EXPECT_EQ(check(load + "s_set_vgpr_msb 4\n ds_store_b32 v9, v2\n s_wait_loadcnt 0"), "W01 v258");
  EXPECT_EQ(check(load + "s_set_vgpr_msb 0x10\n ds_store_2addr_b32 v9, v8, v2 offset1:1\n s_wait_loadcnt 0"),
            "W01 v258");
}

TEST(WideRegisters, PathsThatDisagreeAreAGap) {
  const CheckResult r =
      checkBody("gfx1250", "s_cbranch_scc1 1f\n s_set_vgpr_msb 0x40\n1:\n v_mov_b32_e32 v2, 0\n s_nop 0");
  EXPECT_EQ(r.counts.gaps.wideRegisters, 1u);
  const CheckResult set =
      checkBody("gfx1250", "s_cbranch_scc1 1f\n s_set_vgpr_msb 0x40\n1:\n s_set_vgpr_msb 0\n v_mov_b32_e32 v2, 0");
  EXPECT_FALSE(set.counts.gaps.any());
  // Bits 12 and 13 of the mode register are the result's, 14 and 15 the first source's.
  EXPECT_EQ(check("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0x5001\n global_load_b32 v2, v1, s[4:5]\n "
                  "v_mov_b32_e32 v5, v2\n"
                  " s_wait_loadcnt 0"),
            "W01 v258");
  EXPECT_EQ(check("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0x1001\n global_load_b32 v2, v1, s[4:5]\n "
                  "v_mov_b32_e32 v5, v2\n"
                  " s_wait_loadcnt 0"),
            "");
  const CheckResult mode =
      checkBody("gfx1250", "s_set_vgpr_msb 0x40\n s_setreg_b32 hwreg(HW_REG_WAVE_MODE), s4\n v_mov_b32_e32 v2, 0");
  EXPECT_EQ(mode.counts.gaps.wideRegisters, 1u) << "the mode register holds the bits as well";
  EXPECT_FALSE(
      checkBody("gfx1250", "s_set_vgpr_msb 0x40\n s_cbranch_scc1 1f\n v_mov_b32_e32 v2, 0\n1:\n v_mov_b32_e32 v3, 0")
          .counts.gaps.any());
}
