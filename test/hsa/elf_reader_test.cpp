// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf_reader.h"

#include "code_object.h"
#include "code_object_builder.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <random>

using namespace wavesan::test;
using wavesan::hsa::CodeObject;
using wavesan::hsa::ElfReader;

namespace {

std::string sampleSiteTable() {
  wavesan::abi::SiteTableBuilder table;
  wavesan::abi::StringRef32 file = table.intern("a.hip");
  table.frames.push_back({table.intern("k"), file, 3, 5, wavesan::abi::kNoFrame});
  table.sites.push_back({uint32_t(wavesan::abi::SiteKind::Access),
                         wavesan::abi::accessInfo(1, 4),
                         0,
                         table.intern("t"),
                         table.intern("load"),
                         {}});
  table.skips.push_back({table.intern("inline asm"), 2});
  table.kernels.push_back({table.intern("k"), table.intern("k.wavesan"), file, 1, 2, 0, 0, 1, 1, 0, 0});
  return table.finish();
}

std::string sampleElf() {
  return buildElf(
      {{".note", metadataNote(metadataRoot(
                     {kernelMetadata("k", 8, 16, {{0, 8, "global_buffer"}}),
                      kernelMetadata("k.wavesan", 16, 16, {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}}),
                      kernelMetadata("other", 0, 0, {})}))},
       {".wavesan.sites", sampleSiteTable()},
       {".text", "code"}});
}

std::optional<ElfReader> open(const std::string &bytes) {
  std::string error;
  auto reader = ElfReader::open(bytes, error);
  EXPECT_EQ(reader.has_value(), error.empty()) << error;
  return reader;
}

/// Exercises every path of the parser. Exact-size heap copy, so that AddressSanitizer sees reads beyond the end.
void parseEverything(const std::string &bytes) {
  std::vector<char> copy(bytes.begin(), bytes.end());
  std::vector<std::string> errors;
  auto object = CodeObject::parse({copy.data(), copy.size()}, errors);
  for (const std::string &name : object->kernels())
    object->twin(name);
  for (const std::string &error : errors)
    EXPECT_EQ(error.find('\n'), std::string::npos);
}

} // namespace

TEST(ElfReader, FindsSectionsAndNotes) {
  std::string bytes = sampleElf();
  auto elf = open(bytes);
  ASSERT_TRUE(elf);
  EXPECT_EQ(elf->section(".text"), "code");
  EXPECT_EQ(elf->section(".wavesan.sites")->substr(0, 8), "WSSITES1");
  EXPECT_FALSE(elf->section(".missing"));
  EXPECT_FALSE(elf->section(".wavesan")); // no prefix match
  ASSERT_TRUE(elf->note("AMDGPU", 32));
  EXPECT_FALSE(elf->note("AMDGPU", 33));
  EXPECT_FALSE(elf->note("AMDGP", 32));
}

TEST(ElfReader, NotesWithoutSectionHeadersAndTheOtherWayRound) {
  std::string bytes = sampleElf();
  auto *head = reinterpret_cast<Elf64_Ehdr *>(bytes.data());
  uint64_t sections = head->e_shoff;
  head->e_shoff = 0;
  EXPECT_TRUE(open(bytes)->note("AMDGPU", 32));
  EXPECT_FALSE(open(bytes)->section(".text"));
  head->e_shoff = sections;
  head->e_phnum = 0;
  EXPECT_TRUE(open(bytes)->note("AMDGPU", 32));
}

TEST(ElfReader, RefusesOtherFiles) {
  std::string error;
  EXPECT_FALSE(ElfReader::open("", error));
  EXPECT_FALSE(ElfReader::open("\x7f"
                               "ELF",
                               error));
  EXPECT_FALSE(ElfReader::open(std::string(4096, 'x'), error));
  std::string bytes = sampleElf();
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(ElfReader::open(bytes, error));
  EXPECT_EQ(error, "code object: not a 64-bit little-endian ELF file");
}

TEST(ElfReader, HostileHeaderFields) {
  const std::string good = sampleElf();
  auto with = [&](auto change) {
    std::string bytes = good;
    change(*reinterpret_cast<Elf64_Ehdr *>(bytes.data()), bytes);
    parseEverything(bytes);
    return bytes;
  };
  std::string error;
  EXPECT_FALSE(ElfReader::open(with([](Elf64_Ehdr &h, std::string &) { h.e_shoff = ~uint64_t(0) - 8; }), error));
  EXPECT_FALSE(ElfReader::open(with([](Elf64_Ehdr &h, std::string &) { h.e_shnum = 0xffff; }), error));
  EXPECT_FALSE(ElfReader::open(with([](Elf64_Ehdr &h, std::string &) { h.e_shentsize = 1; }), error));
  EXPECT_FALSE(ElfReader::open(with([](Elf64_Ehdr &h, std::string &) { h.e_phoff = ~uint64_t(0); }), error));
  EXPECT_TRUE(open(with([](Elf64_Ehdr &h, std::string &) { h.e_shstrndx = 0xfffe; })));
  // Section contents that wrap around the address space or end beyond the file are absent, not read.
  std::string bytes = with([](Elf64_Ehdr &h, std::string &b) {
    auto *s = reinterpret_cast<Elf64_Shdr *>(b.data() + h.e_shoff);
    s[3].sh_offset = 16;
    s[3].sh_size = ~uint64_t(0) - 8;
  });
  EXPECT_FALSE(open(bytes)->section(".text"));
  // A note that claims more than there is.
  bytes = with([](Elf64_Ehdr &, std::string &b) {
    size_t at = b.find(std::string("AMDGPU\0", 7)) - sizeof(Elf64_Nhdr);
    reinterpret_cast<Elf64_Nhdr *>(b.data() + at)->n_descsz = 0xfffffff0u;
  });
  EXPECT_FALSE(open(bytes)->note("AMDGPU", 32));
}

TEST(ElfReader, EveryTruncationIsSafe) {
  const std::string good = sampleElf();
  for (size_t n = 0; n < good.size(); ++n)
    parseEverything(good.substr(0, n));
}

TEST(ElfReader, RandomDamageIsSafe) {
  const std::string good = sampleElf();
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (int i = int(random() % 4); i >= 0; --i)
      bytes[random() % bytes.size()] = char(random() % 4 ? random() : 0xff);
    parseEverything(bytes);
  }
}

TEST(CodeObject, KnowsKernelsTwinsAndSkips) {
  std::vector<std::string> errors;
  auto object = CodeObject::parse(sampleElf(), errors);
  EXPECT_TRUE(errors.empty()) << errors[0];
  ASSERT_TRUE(object->instrumented());
  EXPECT_EQ(object->kernels(), (std::vector<std::string>{"k", "other"})); // the twin is no kernel of the program
  const auto *twin = object->twin("k");
  ASSERT_TRUE(twin);
  EXPECT_EQ(twin->problem, "");
  EXPECT_EQ(twin->twin.name, "k.wavesan");
  EXPECT_EQ(twin->granuleLog2, 2u);
  EXPECT_EQ(twin->skippedSites.at("inline asm"), 2u);
  EXPECT_FALSE(object->twin("other"));
}

TEST(CodeObject, WithoutSiteTableIsNoError) {
  std::vector<std::string> errors;
  auto object =
      CodeObject::parse(buildElf({{".note", metadataNote(metadataRoot({kernelMetadata("k", 0, 0, {})}))}}), errors);
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(object->instrumented());
  EXPECT_EQ(object->kernels(), std::vector<std::string>{"k"});
}

TEST(CodeObject, AnotherAbiVersionIsSaid) {
  std::string sites = sampleSiteTable();
  sites[8] = 99;
  std::vector<std::string> errors;
  auto object = CodeObject::parse(
      buildElf({{".note", metadataNote(metadataRoot({kernelMetadata("k", 0, 0, {})}))}, {".wavesan.sites", sites}}),
      errors);
  EXPECT_FALSE(object->instrumented());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("built by another version of WaveSan"), std::string::npos);
}

TEST(CodeObject, TwinWithoutMetadataIsAProblemOfThatKernel) {
  std::vector<std::string> errors;
  auto object = CodeObject::parse(buildElf({{".note", metadataNote(metadataRoot({kernelMetadata("k", 0, 0, {})}))},
                                            {".wavesan.sites", sampleSiteTable()}}),
                                  errors);
  EXPECT_EQ(object->twin("k")->problem, "the code object's metadata lacks k.wavesan");
  EXPECT_EQ(errors.size(), 1u);
}

TEST(ElfReader, DataSymbols) {
  auto sections = symbolSections({{"variable", 0x100, 16},
                                  {"function", 0x200, 16, STT_FUNC},
                                  {"elsewhere", 0x300, 16, STT_OBJECT, false},
                                  {"empty", 0x400, 0},
                                  {"k.kd", 0x500, 64}});
  auto names = [](const std::string &bytes) {
    std::string text;
    if (auto reader = open(bytes))
      for (const ElfReader::Object &object : reader->objects())
        text +=
            std::string(object.name) + " " + std::to_string(object.address) + " " + std::to_string(object.bytes) + ";";
    return text;
  };
  EXPECT_EQ(names(buildElf(sections)), "variable 256 16;k.kd 1280 64;");
  // Names outside the string table, a table cut in the middle of an entry, and no table.
  auto cut = sections;
  cut[1].second.resize(5);
  EXPECT_EQ(names(buildElf(cut)), "");
  cut = sections;
  cut[0].second.resize(cut[0].second.size() - 1);
  EXPECT_EQ(names(buildElf(cut)), "variable 256 16;");
  EXPECT_EQ(names(sampleElf()), "");
}
