// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading code objects: good ones, and hostile ones. Runs on the agent's object files, without the library.
#include "agents.h"
#include "code_object.h"
#include "elf_view.h"
#include "gpu_target.h"
#include "kernel_metadata.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

namespace wavesan::agent {
namespace {

std::string readTestFile(const std::string &name) {
  std::ifstream in(std::string(WAVESAN_AGENT_TEST_DIR) + "/" + name, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

struct Loaded {
  std::unique_ptr<LoadedCodeObject> object;
  hsa_status_t status;
  std::string error;

  const Symbol *symbol(std::string_view name) const {
    for (const auto &s : object->symbols())
      if (s->name == name)
        return s.get();
    return nullptr;
  }
};

Loaded load(std::string bytes, const char *target = "gfx90a", const ExternalVariables &externals = {}) {
  Loaded result;
  result.object = LoadedCodeObject::load(std::make_shared<const std::string>(std::move(bytes)), *findGpuTarget(target),
                                         externals, result.status, result.error);
  return result;
}

/// Everything that a program could ask of a loaded code object.
void useAll(Loaded &l) {
  std::string error;
  if (l.object->ir().starts_with("WSFAKE"))
    l.object->program(error);
  for (const auto &s : l.object->symbols()) {
    // A forged size may span gigabytes of zero pages: look at samples and at both ends.
    volatile uint8_t sink = 0;
    const auto *bytes = reinterpret_cast<const uint8_t *>(s->address);
    for (uint64_t i = 0; i < s->size; i += 1 + s->size / 16)
      sink = sink ^ bytes[i] ^ bytes[s->size - 1 - i];
    if (s->kind == Symbol::Kernel)
      l.object->argumentsOf(s->kernelName());
  }
}

TEST(CodeObject, BothVersionsLoad) {
  for (const char *file : {"fake_v4.hsaco", "fake_v5.hsaco"}) {
    Loaded l = load(readTestFile(file));
    ASSERT_TRUE(l.object) << file << ": " << l.error;
    const Symbol *kernel = l.symbol("append.kd");
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->kind, Symbol::Kernel);
    EXPECT_EQ(kernel->kernelName(), "append");
    EXPECT_EQ(kernel->descriptor.kernargSize, 12u);
    EXPECT_EQ(kernel->address % 64, 0u);
    EXPECT_EQ(l.symbol("append"), nullptr) << "machine code is no symbol";
    EXPECT_EQ(l.object->ir().substr(0, 6), "WSFAKE");
    std::string error;
    cpu::Program *program = l.object->program(error);
    ASSERT_NE(program, nullptr) << error;
    EXPECT_EQ(program, l.object->program(error));
    useAll(l);
  }
}

TEST(CodeObject, RelocationsPointIntoTheLoadedImage) {
  Loaded l = load(readTestFile("fake_v4.hsaco"));
  ASSERT_TRUE(l.object) << l.error;
  const Symbol *counter = l.symbol("Counter"), *pointer = l.symbol("CounterPointer");
  ASSERT_NE(counter, nullptr);
  ASSERT_NE(pointer, nullptr);
  EXPECT_EQ(*reinterpret_cast<const uint32_t *>(counter->address), 7u);
  EXPECT_EQ(*reinterpret_cast<const uint64_t *>(pointer->address), counter->address);
  EXPECT_EQ(counter->size, 4u);
}

TEST(CodeObject, ExternalVariablesAreFilledIn) {
  const std::string bytes = readTestFile("external.hsaco");
  Loaded undefined = load(bytes);
  EXPECT_FALSE(undefined.object);
  EXPECT_EQ(undefined.status, HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
  EXPECT_EQ(undefined.error, "variable Elsewhere is not defined");
  Loaded l = load(bytes, "gfx90a", {{"Elsewhere", 0x123456789000}});
  ASSERT_TRUE(l.object) << l.error;
  EXPECT_EQ(*reinterpret_cast<const uint64_t *>(l.symbol("ToElsewhere")->address), 0x123456789000u + 8);
}

TEST(CodeObject, OtherGpuIsRefused) {
  Loaded l = load(readTestFile("fake_v4.hsaco"), "gfx1030");
  EXPECT_FALSE(l.object);
  EXPECT_EQ(l.status, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  EXPECT_EQ(l.error, "compiled for another GPU than gfx1030");
  EXPECT_TRUE(load(readTestFile("fake_gfx1030.hsaco"), "gfx1030").object);
}

TEST(CodeObject, ArgumentsAreFoundByName) {
  Loaded l = load(readTestFile("blit_kernels.hsaco"));
  ASSERT_TRUE(l.object) << l.error;
  const KernelArguments &arguments = l.object->argumentsOf("__amd_rocclr_copyBuffer");
  ASSERT_EQ(arguments.size(), 6u);
  EXPECT_EQ(arguments.at("dstOrigin").offset, 24u);
  EXPECT_EQ(arguments.at("remain").offset, 40u);
  EXPECT_EQ(arguments.at("remain").size, 4u);
  EXPECT_TRUE(l.object->argumentsOf("nobody").empty());
}

TEST(HostileCodeObject, EveryTruncationIsRefusedOrHarmless) {
  const std::string bytes = readTestFile("fake_v4.hsaco");
  size_t refused = 0;
  for (int part = 0; part < 64; ++part) {
    Loaded l = load(bytes.substr(0, bytes.size() * part / 64));
    if (l.object) {
      useAll(l);
    } else {
      EXPECT_NE(l.error, "");
      ++refused;
    }
  }
  EXPECT_EQ(refused, 64u) << "the section headers are at the end, so no proper prefix is whole";
  for (size_t length = 0; length < 300; ++length)
    EXPECT_FALSE(load(bytes.substr(0, length)).object);
}

TEST(HostileCodeObject, RandomBytesInAnyPlace) {
  for (const char *file : {"fake_v4.hsaco", "fake_v5.hsaco", "blit_kernels.hsaco"}) {
    const std::string original = readTestFile(file);
    std::mt19937 random(20);
    size_t loaded = 0, refused = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = original;
      for (unsigned n = 1 + random() % 8; n; --n)
        bytes[random() % bytes.size()] = char(random());
      Loaded l = load(std::move(bytes));
      ++(l.object ? loaded : refused);
      if (l.object)
        useAll(l);
      else
        ASSERT_NE(l.error, "");
    }
    EXPECT_GT(loaded, 0u);
    EXPECT_GT(refused, 0u);
  }
}

// What the fuzz target found.
TEST(HostileCodeObject, SegmentsWithContentsAndWithoutMemory) {
  std::string bytes = readTestFile("fake_v4.hsaco");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    std::string damaged = bytes;
    Elf64_Phdr segment;
    const size_t at = header.e_phoff + i * sizeof(segment);
    std::memcpy(&segment, &damaged[at], sizeof(segment));
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0)
      continue;
    segment.p_memsz = 0;
    segment.p_vaddr = uint64_t(1) << 46; // written to before the fix
    std::memcpy(&damaged[at], &segment, sizeof(segment));
    EXPECT_FALSE(load(std::move(damaged)).object);
  }
}

TEST(HostileCodeObject, NamesOfSymbolsInASectionThatIsNone) {
  std::string bytes = readTestFile("fake_v4.hsaco");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  auto at = [&](unsigned i) { return header.e_shoff + i * sizeof(Elf64_Shdr); };
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, &bytes[at(i)], sizeof(section));
    if (section.sh_type == SHT_DYNSYM) {
      section.sh_link = 0;
      std::memcpy(&bytes[at(i)], &section, sizeof(section));
    }
  }
  Elf64_Shdr none{};
  none.sh_offset = uint64_t(1) << 40; // nobody checks a section of type SHT_NULL
  std::memcpy(&bytes[at(0)], &none, sizeof(none));
  EXPECT_FALSE(load(std::move(bytes)).object);
}

TEST(HostileCodeObject, RandomBytesInTheHeadersAndTables) {
  const std::string original = readTestFile("fake_v4.hsaco");
  std::string error;
  const auto elf = ElfView::parse(original, error);
  ASSERT_TRUE(elf);
  // Byte ranges in which nearly every bit matters.
  std::vector<std::pair<size_t, size_t>> ranges = {{0, sizeof(Elf64_Ehdr)},
                                                   {elf->header().e_phoff, elf->header().e_phnum * sizeof(Elf64_Phdr)},
                                                   {elf->header().e_shoff, elf->header().e_shnum * sizeof(Elf64_Shdr)}};
  for (const Elf64_Shdr &s : elf->sections())
    if (s.sh_type == SHT_DYNSYM || s.sh_type == SHT_RELA || s.sh_type == SHT_NOTE || s.sh_type == SHT_STRTAB)
      ranges.push_back({s.sh_offset, s.sh_size});
  std::mt19937 random(7);
  const uint64_t extremes[] = {0,
                               1,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               0x7fffffffffffffff,
                               0x8000000000000000,
                               0xffffffffffffffff,
                               0xfffffffffffffff0};
  for (auto [begin, size] : ranges)
    for (int round = 0; round < 600; ++round) {
      std::string bytes = original;
      const size_t at = begin + random() % size;
      if (round % 2) {
        const uint64_t value = extremes[random() % std::size(extremes)];
        const size_t width = std::min<size_t>(size_t(1) << random() % 4, bytes.size() - at);
        std::memcpy(&bytes[at], &value, width);
      } else {
        bytes[at] = char(bytes[at] ^ (1 << random() % 8));
      }
      Loaded l = load(std::move(bytes));
      if (l.object)
        useAll(l);
    }
}

TEST(HostileMetadata, OnlyMapsAreMetadata) {
  EXPECT_TRUE(isReadableMetadata("\x81\xa1k\x90")); // {"k": []}
  EXPECT_TRUE(isReadableMetadata("\x80"));
  for (const char *bytes : {"", "\x01", "\x90", "\x81", "\x81\xa1k", "\xc1", "noise"})
    EXPECT_FALSE(isReadableMetadata(bytes)) << bytes;
}

TEST(HostileMetadata, DeepNestingIsRefused) {
  EXPECT_TRUE(readKernelArguments(std::string(1'000'000, char(0x91))).empty());     // [[[[...
  EXPECT_TRUE(readKernelArguments(std::string("\xdd\xff\xff\xff\xff", 5)).empty()); // array of 2^32-1
  EXPECT_TRUE(readKernelArguments("").empty());
  EXPECT_TRUE(readKernelArguments("\xc0").empty()); // nil
}

} // namespace
} // namespace wavesan::agent
