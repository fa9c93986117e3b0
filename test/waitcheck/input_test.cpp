// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Containers, and hostile input: whatever the bytes, there is a result or an error, never a crash.
#include "asm_check.h"
#include "mnemonics.h"

#include "llvm/Object/OffloadBundle.h"
#include "llvm/Support/Compression.h"

#include <random>

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

std::string image(const std::string &target) {
  auto object = assemble("x.s", kernelText(target, expand(target, "{LD} v2, v1, s[4:5]\n {ADD} v3, 1, v2\n {DSW} v1, v3\n {LG 0}\n {BAR}"), "",
                                           findTarget(target)->generation->encoding == WaitEncoding::Gfx12),
                         "");
  EXPECT_TRUE(static_cast<bool>(object));
  return (*object)->getBuffer().str();
}

void put64(std::string &s, uint64_t v) { s.append(reinterpret_cast<const char *>(&v), 8); }

/// A bundle with an empty host entry and one entry per (id, image).
std::string bundle(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string head = "__CLANG_OFFLOAD_BUNDLE__", table, data;
  size_t tableSize = 24 + 8;
  for (const auto &[id, bytes] : entries)
    tableSize += 24 + id.size();
  put64(head, entries.size());
  for (const auto &[id, bytes] : entries) {
    put64(table, tableSize + data.size());
    put64(table, bytes.size());
    put64(table, id.size());
    table += id;
    data += bytes;
  }
  return head + table + data;
}

Inputs readBytes(const std::string &bytes, InputOptions options = {}) {
  Inputs inputs;
  readImage("input", llvm::MemoryBuffer::getMemBufferCopy(bytes, "input"), options, inputs);
  return inputs;
}

/// Reads and checks everything in the bytes; returns the number of hazards.
size_t readAndCheck(const std::string &bytes, Decoders &decoders) {
  const Inputs inputs = readBytes(bytes);
  size_t hazards = 0;
  for (const InputObject &o : inputs.objects) {
    auto r = checkObject(o.buffer(), {}, decoders);
    if (r)
      hazards += r->diagnostics.size();
    else
      llvm::consumeError(r.takeError());
  }
  return hazards;
}

} // namespace

TEST(Inputs, BundleEntriesAreFoundAndSelected) {
  const std::string b = bundle({{"host-x86_64-unknown-linux-gnu-", ""},
                                {"hipv4-amdgcn-amd-amdhsa--gfx90a", image("gfx90a")},
                                {"hipv4-amdgcn-amd-amdhsa--gfx1100", image("gfx1100")}});
  EXPECT_EQ(readBytes(b).objects.size(), 2u);
  EXPECT_EQ(readBytes(b + std::string(100, '\0') + b).objects.size(), 4u) << "several bundles in one section";
  InputOptions arch;
  arch.arch = "gfx1100";
  const Inputs one = readBytes(b, arch);
  ASSERT_EQ(one.objects.size(), 1u);
  EXPECT_EQ(one.objects[0].name, "input:hipv4-amdgcn-amd-amdhsa--gfx1100");
  EXPECT_EQ(one.skippedByArch, 1u);
  InputOptions entry;
  entry.entryPattern = "*gfx90a";
  EXPECT_EQ(readBytes(b, entry).objects.size(), 1u);
}

TEST(Inputs, CompressedBundles) {
  const std::string b = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", image("gfx90a")}});
  const auto plain = llvm::MemoryBuffer::getMemBufferCopy(b);
  unsigned tried = 0;
  for (auto format : {llvm::compression::Format::Zlib, llvm::compression::Format::Zstd})
    for (uint16_t version : {uint16_t(2), uint16_t(3)}) {
      if (llvm::compression::getReasonIfUnsupported(format))
        continue;
      auto packed = llvm::object::CompressedOffloadBundle::compress(llvm::compression::Params(format), *plain, version);
      ASSERT_TRUE(static_cast<bool>(packed));
      const std::string bytes = (*packed)->getBuffer().str();
      const Inputs in = readBytes(bytes + std::string(4096 - bytes.size() % 4096, '\0') + bytes);
      EXPECT_EQ(in.objects.size(), 2u);
      EXPECT_TRUE(in.problems.empty());
      Decoders decoders;
      EXPECT_EQ(readAndCheck(bytes, decoders), 1u);
      ++tried;
    }
  EXPECT_GT(tried, 0u);
}

TEST(Inputs, Archives) {
  const std::string object = image("gfx90a");
  char header[61];
  snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", "a.o/", 0, 0, 0, 0644, object.size());
  std::string archive = "!<arch>\n" + std::string(header) + object + (object.size() % 2 ? "\n" : "");
  const Inputs in = readBytes(archive);
  ASSERT_EQ(in.objects.size(), 1u);
  EXPECT_EQ(in.objects[0].name, "input(a.o)");
  Decoders decoders;
  EXPECT_EQ(readAndCheck(archive, decoders), 1u);
}

TEST(Inputs, WhatIsNotGpuCodeIsSaid) {
  EXPECT_EQ(readBytes("hello").problems.size(), 1u);
  EXPECT_EQ(readBytes("").problems.size(), 1u);
  std::string foreign = image("gfx90a");
  foreign[48] = 0x2a; // gfx803
  Decoders decoders;
  auto r = checkObject({foreign, "x"}, {}, decoders);
  ASSERT_FALSE(static_cast<bool>(r));
  EXPECT_NE(llvm::toString(r.takeError()).find("0x2a"), std::string::npos);
}

TEST(Inputs, KernelsAreSelectedByPattern) {
  const std::string bytes = image("gfx90a");
  Decoders decoders;
  CheckOptions options;
  options.kernelPattern = "other*";
  auto none = checkObject({bytes, "x"}, options, decoders);
  ASSERT_TRUE(static_cast<bool>(none));
  EXPECT_EQ(none->counts.kernels, 0u);
  options.kernelPattern = "[jk]";
  auto one = checkObject({bytes, "x"}, options, decoders);
  ASSERT_TRUE(static_cast<bool>(one));
  EXPECT_EQ(one->counts.kernels, 1u);
}

TEST(HostileInput, Truncations) {
  Decoders decoders;
  const std::string object = image("gfx90a");
  const std::string b = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", object}});
  for (size_t n = 0; n < b.size(); n += n < 400 ? 1 : 7)
    readAndCheck(b.substr(0, n), decoders);
  for (size_t n = 0; n < object.size(); n += n < 400 ? 1 : 5)
    readAndCheck(object.substr(0, n), decoders);
  EXPECT_EQ(readAndCheck(b, decoders), 1u) << "the whole still works";
}

TEST(HostileInput, ByteFlips) {
  std::mt19937 rng(7);
  Decoders decoders;
  for (const char *target : {"gfx90a", "gfx1030", "gfx1201"}) {
    const std::string object = image(target);
    for (unsigned n = 0; n < 4000; ++n) {
      std::string damaged = object;
      for (unsigned k = 0; k < 1 + n % 4; ++k) {
        // The header and tables matter most.
        const size_t at = n % 3 == 0 ? rng() % 64 : n % 3 == 1 ? damaged.size() - 1 - rng() % std::min<size_t>(1024, damaged.size()) : rng() % damaged.size();
        damaged[at] = static_cast<char>(n % 2 ? rng() : damaged[at] ^ (1 << rng() % 8));
      }
      readAndCheck(damaged, decoders);
    }
  }
}

TEST(HostileInput, RandomCode) {
  // Valid files with random instructions: any control flow, any opcode.
  std::mt19937 rng(11);
  for (const char *target : {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250"}) {
    std::string words;
    for (int i = 0; i < 600; ++i) {
      char w[32];
      // Scalar program control is rare among random words: mix it in.
      const uint32_t word = i % 5 == 0 ? 0xbf800000u | (rng() % 40) << 16 | (rng() % 64) : static_cast<uint32_t>(rng());
      snprintf(w, sizeof w, ".long 0x%08x\n ", word);
      words += w;
    }
    const CheckResult r = checkText(kernelText(target, words, "", findTarget(target)->generation->encoding == WaitEncoding::Gfx12));
    EXPECT_EQ(r.counts.kernels, 1u);
  }
}
