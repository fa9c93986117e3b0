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
      std::vector<RegRef> registers;
      const bool ok = (*isa)->decodeRaw(bytes, plain, registers);
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

// Forms: once some encodings of a kind were seen, the rest is no longer decoded by LLVM. The outcome must be the same, whatever the fields.
TEST(Table, FormsAgreeWithTheDisassembler) {
  Decoders decoders;
  uint64_t seed = 0x2545f4914f6cdd1d;
  auto random = [&] {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return static_cast<uint32_t>(seed >> 11);
  };
  for (const char *name : {"gfx900", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx1250"}) {
    const TargetEntry &target = *findTarget(name);
    auto isa = decoders.get(target, false);
    ASSERT_TRUE(static_cast<bool>(isa));
    unsigned valid = 0, byForm = 0, kinds = 0;
    for (unsigned n = 0; n < 1500; ++n) {
      EncodingWord word{uint64_t(random()) << 32 | random(), random()};
      // Half of the vector registers in plain sources, else most words are literals and constants.
      if (random() & 1)
        word.low |= 0x100 | uint64_t(0x100) << 32 | uint64_t(0x20000) << 32 | uint64_t(0x4000000) << 32;
      // Most random words of the two-dword kinds set bits that nobody has.
      if (random() & 1)
        word.low &= 0xfdffffffff0fffffu;
      const EncodingLayout *layout = layoutOf(target.generation->encoding, static_cast<uint32_t>(word.low));
      if (!layout)
        continue;
      Decoded plain;
      std::vector<RegRef> registers;
      uint8_t bytes[24] = {};
      word.write(bytes);
      if (!(*isa)->decodeRaw(bytes, plain, registers))
        continue;
      ++kinds;
      for (unsigned k = 0; k < 60; ++k) {
        EncodingWord other = word;
        for (unsigned i = 0; i < layout->numFields; ++i)
          if (isOpen(layout->fields[i], word))
            other.setField(layout->fields[i].shift, layout->fields[i].width, k % 5 == 4 && i ? other.field(layout->fields[0].shift, 8) : random());
        other.write(bytes);
        Decoded expected;
        const bool ok = (*isa)->decodeRaw(bytes, expected, registers);
        const int index = (*isa)->decode(bytes);
        ASSERT_EQ(ok, index >= 0) << name << " " << (*isa)->disassemble(bytes, 0);
        if (!ok)
          continue;
        ++valid;
        const Decoded &d = (*isa)->decoded(index);
        byForm += d.numFields != 0;
        ASSERT_EQ(d.opcode, expected.opcode) << name << " " << (*isa)->disassemble(bytes, 0);
        ASSERT_EQ(d.size, expected.size);
        ASSERT_EQ(d.numEffects, expected.numEffects);
        ASSERT_EQ(d.immediate, expected.immediate);
        ASSERT_EQ(d.numUses, expected.numUses);
        ASSERT_EQ(d.numDefs, expected.numDefs);
        ASSERT_EQ(d.numData, expected.numData);
        Operands operands;
        (*isa)->operands(d, bytes, operands);
        ASSERT_EQ(operands.all().size(), registers.size());
        for (size_t r = 0; r < registers.size(); ++r) {
          ASSERT_EQ(operands.all()[r].slot, registers[r].slot) << name << " " << (*isa)->disassemble(bytes, 0);
          ASSERT_EQ(operands.all()[r].mask, registers[r].mask) << name << " " << (*isa)->disassemble(bytes, 0);
        }
      }
    }
    std::printf("%s: %u kinds, %u encodings, %u of them by form\n", name, kinds, valid, byForm);
    EXPECT_GT(kinds, 100u) << name;
    EXPECT_GT(byForm, valid / 4) << name;
  }
}

// LLVM's disassembler crashes on these valid instructions.
TEST(Table, HalfPrecisionConstantThatLooksLikeALiteral) {
  Decoders decoders;
  for (const char *name : {"gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1201"}) {
    auto isa = decoders.get(*findTarget(name), false);
    ASSERT_TRUE(static_cast<bool>(isa));
    const uint32_t opcode = (*isa)->generation().encoding == WaitEncoding::Gfx9 ? 0x24 : 0x37;
    for (uint32_t k = 0; k < 2; ++k) {
      const uint32_t words[6] = {(opcode + k) << 25 | 5 << 17 | 0x100, 0xff};
      const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words), sizeof words);
      const int index = (*isa)->decode(bytes);
      ASSERT_GE(index, 0) << name;
      EXPECT_EQ((*isa)->decoded(index).size, 8u);
      EXPECT_NE((*isa)->disassemble(bytes, 0).find("0xff"), std::string::npos) << (*isa)->disassemble(bytes, 0);
    }
  }
}

// Every selection and filling of SDWA, in instructions of one and two sources and comparisons: decoded and worded, or no
// instruction.
TEST(Table, SelectionsThatDoNotExistAreNoInstructions) {
  Decoders decoders;
  for (const char *target : {"gfx900", "gfx90a", "gfx942", "gfx1030"}) {
    auto isa = decoders.get(*findTarget(target), std::string(target) != "gfx1030");
    ASSERT_TRUE(static_cast<bool>(isa));
    const bool gfx9 = std::string(target) != "gfx1030";
    const uint32_t move = 0x7e0002f9, add = gfx9 ? 0x020004f9 : 0x060004f9, compare = 0x7d8404f9; // v_cmp_*_u32 or _i32
    for (const uint32_t first : {move, add, compare})
      for (uint32_t sel = 0; sel < 8; ++sel)
        for (const unsigned at : {8u, 16u, 24u})
          for (uint32_t fill = 0; fill < 4; ++fill) {
            if ((first == compare && at == 8) || (first == move && at == 24))
              continue; // not there
            uint32_t words[6] = {first, 6u << 8 | 6u << 16 | (first == move ? 0u : 6u << 24)};
            words[1] = (words[1] & ~(7u << at)) | sel << at;
            if (first != compare)
              words[1] |= fill << 11;
            else
              words[1] &= ~(7u << 8);
            const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words), sizeof words);
            const std::string text = (*isa)->disassemble(bytes, 0);
            if (sel == 7 || (first != compare && fill == 3)) {
              EXPECT_EQ((*isa)->decode(bytes), -1) << target << " " << text;
              EXPECT_EQ(text, "<not an instruction>") << target;
            } else {
              EXPECT_GE((*isa)->decode(bytes), 0) << target << " " << std::hex << first << " " << words[1];
              EXPECT_NE(text.find("sel:"), std::string::npos) << target << " " << text;
            }
          }
  }
}

TEST(Table, ScalarResultNumberedLikeALiteralIsNoInstruction) {
  Decoders decoders;
  auto isa = decoders.get(*findTarget("gfx90a"), true);
  ASSERT_TRUE(static_cast<bool>(isa));
  for (uint32_t opcode : {0x10u, 0x7cu, 0xc1u, 0x289u}) {
    uint32_t words[6] = {0x34u << 26 | opcode << 16 | 0xff, 0x00020501};
    const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words), sizeof words);
    EXPECT_EQ((*isa)->decode(bytes), -1) << opcode;
    EXPECT_EQ((*isa)->disassemble(bytes, 0), "<not an instruction>");
    words[0] &= ~0xffu; // s0
    EXPECT_GE((*isa)->decode(bytes), 0) << opcode;
  }
}
