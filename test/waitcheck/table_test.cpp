// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables: every target has a decoder, every memory opcode a rule, every wait a number that agrees with LLVM's printer.
#include "asm_check.h"

#include <cstdlib>

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

TEST(Table, EveryTargetStarts) {
  Decoders decoders;
  for (const TargetEntry &t : knownTargets())
    for (bool wave64 : {true, false}) {
      auto isa = decoders.get(t, wave64);
      ASSERT_TRUE(static_cast<bool>(isa)) << t.name << ": " << llvm::toString(isa.takeError());
      EXPECT_STREQ((*isa)->entry().name, t.name);
    }
}

TEST(Table, UnknownTargetsAreNamedErrors) {
  for (const char *name : {"gfx803", "gfx700", "gfx1310", "sm_90", ""})
    EXPECT_EQ(findTarget(name), nullptr) << name;
  EXPECT_EQ(findMachine(0x02a), nullptr); // gfx803
  EXPECT_EQ(findMachine(0x0ff), nullptr);
  auto object = assemble("x.s", ".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\n", "");
  ASSERT_FALSE(static_cast<bool>(object));
  EXPECT_NE(llvm::toString(object.takeError()).find("gfx803"), std::string::npos);
}

TEST(Table, AnUnknownMemoryOpcodeIsRefused) {
  struct Case {
    const char *name;
    bool load, store;
    unsigned defs;
  };
  // Made-up opcodes that a future LLVM might bring.
  for (Case c : {Case{"GLOBAL_TELEPORT_B32_gfx13", true, false, 1}, Case{"DS_FROBNICATE_B64_gfx12", true, true, 1},
                 Case{"BUFFER_LOAD_DWORD_gfx13", true, false, 0}, Case{"TENSOR_SHUFFLE_gfx1250", true, true, 0},
                 Case{"V_LOAD_SOMETHING_gfx13", true, false, 1}, Case{"IMAGE_DREAM_V1_V1_gfx12", true, false, 1},
                 Case{"GLOBAL_ATOMIC_ADD_gfx12", true, true, 1}, Case{"WAVE_COPY_gfx13", false, true, 0}}) {
    bool known = true;
    classify(c.name, c.load, c.store, c.defs, known);
    EXPECT_FALSE(known) << c.name;
  }
  bool known = false;
  classify("V_ADD_F32_e32_gfx12", false, false, 1, known);
  EXPECT_TRUE(known);
}

TEST(Table, Stems) {
  EXPECT_EQ(stemOf("DS_READ_B32_vi_gfx9"), "DS_READ_B32");
  EXPECT_EQ(stemOf("DS_ADD_RTN_F32_vi_agpr"), "DS_ADD_RTN_F32");
  EXPECT_EQ(stemOf("FLAT_LOAD_DWORD_ci"), "FLAT_LOAD_DWORD");
  EXPECT_EQ(stemOf("S_WAITCNT_gfx10"), "S_WAITCNT");
  EXPECT_EQ(stemOf("S_NOP_vi"), "S_NOP");
  EXPECT_EQ(stemOf("GLOBAL_LOAD_SHORT_D16_HI_SADDR_gfx12"), "GLOBAL_LOAD_SHORT_D16_HI_SADDR");
}

/// s_waitcnt's packed number, against LLVM's printer, for all 65,536 values.
TEST(Table, WaitNumbersAgreeWithThePrinter) {
  Decoders decoders;
  for (const char *name : {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151"}) {
    const TargetEntry *t = findTarget(name);
    auto isa = decoders.get(*t, true);
    ASSERT_TRUE(static_cast<bool>(isa));
    const Generation &g = *t->generation;
    const uint32_t op = g.encoding == WaitEncoding::Gfx11 ? 0xbf890000u : 0xbf8c0000u;
    for (uint32_t imm = 0; imm < 65536; ++imm) {
      const uint32_t word = op | imm;
      const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(&word), 4);
      const int index = (*isa)->decode(bytes);
      ASSERT_GE(index, 0);
      const Decoded &d = (*isa)->decoded(index);
      ASSERT_EQ(d.facts.wait, WaitForm::Combined) << name;
      const std::string text = (*isa)->disassemble(bytes, 0);
      auto printed = [&](const char *counter, int whenMissing) {
        const size_t at = text.find(std::string(counter) + "(");
        return at == std::string::npos ? whenMissing : std::atoi(text.c_str() + at + strlen(counter) + 1);
      };
      auto mine = [&](Counter c) {
        const int n = d.wait[static_cast<unsigned>(c)];
        return n < 0 ? int(g.limit(c)) : n;
      };
      ASSERT_EQ(printed("vmcnt", 63), mine(Counter::Load)) << name << " " << text;
      ASSERT_EQ(printed("expcnt", 7), mine(Counter::Exp)) << name << " " << text;
      ASSERT_EQ(printed("lgkmcnt", g.limit(Counter::Ds)), mine(Counter::Ds)) << name << " " << text;
    }
  }
}

TEST(Table, CachedDecodingEqualsUncached) {
  Decoders decoders;
  uint64_t seed = 0x9e3779b97f4a7c15;
  auto random = [&] {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return static_cast<uint32_t>(seed);
  };
  for (const char *name : {"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250"}) {
    auto isa = decoders.get(*findTarget(name), false);
    ASSERT_TRUE(static_cast<bool>(isa));
    unsigned valid = 0;
    uint32_t pool[64];
    for (uint32_t &p : pool)
      p = random();
    for (unsigned n = 0; n < 60000; ++n) {
      // A small pool of first dwords makes the cache meet the same one before different followers.
      uint32_t words[6];
      for (uint32_t &w : words)
        w = random() % 3 ? pool[random() % 64] : random();
      if (n % 500 == 0)
        for (uint32_t &p : pool)
          p = random();
      const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words), sizeof words);
      Decoded plain;
      const bool ok = (*isa)->decodeUncached(bytes, plain);
      const int index = (*isa)->decode(bytes);
      ASSERT_EQ(ok, index >= 0) << name << " " << n;
      if (!ok)
        continue;
      ++valid;
      const Decoded &cached = (*isa)->decoded(index);
      ASSERT_EQ(plain.size, cached.size) << name << " " << n << " " << (*isa)->disassemble(bytes, 0);
      ASSERT_EQ(plain.opcode, cached.opcode) << name;
      ASSERT_EQ(plain.wait, cached.wait);
      ASSERT_EQ(plain.numUses, cached.numUses);
      ASSERT_EQ(plain.numDefs, cached.numDefs);
    }
    EXPECT_GT(valid, 1000u) << name;
  }
}
