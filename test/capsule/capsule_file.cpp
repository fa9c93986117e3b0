// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "capsule_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <zlib.h>

namespace wavesan::capsule::test {

Capsule sample() {
  Capsule c;
  c.version = "1.2.3";
  c.target = "gfx90a";
  c.options = {{"seed", "7"}};
  c.dispatch.kernel = "_Z6mirrorPi";
  c.dispatch.dimensions = 2;
  c.dispatch.grid[0] = 256, c.dispatch.grid[1] = 2;
  c.dispatch.workgroup[0] = 128;
  c.dispatch.groupBytes = 512;
  c.dispatch.number = 3;
  c.loadAddress = 0x7f0000000000;
  c.descriptorOffset = 0x1234;
  c.expectedDigest = 0xfedcba9876543210;
  c.queuePointers = {8};
  c.codeObject = std::string("\x7f"
                             "ELF code");
  c.arguments = std::string(24, 'a');
  c.signature = "{}\n";
  static const std::string zeros(100000, '\0'), text = "not much";
  c.regions.push_back({Region::Place::Address, 0x10000000, 1, 4, zeros});
  c.regions.push_back({Region::Place::Address, 0x20000003, 2, 1, text});
  c.regions.push_back({Region::Place::Variable, c.loadAddress + 64, 4, 0, text});
  return c;
}

std::string fileOf(const Capsule &capsule) {
  const std::string path = ::testing::TempDir() + "sample" + std::to_string(getpid()) + kFileSuffix;
  EXPECT_EQ(writeCapsule(path, capsule), "");
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::filesystem::remove(path);
  return bytes;
}

Section &Parts::of(SectionKind kind) {
  for (Section &section : sections)
    if (section.entry.kind == kind)
      return section;
  throw std::runtime_error("no such section");
}

Parts takeApart(const std::string &file) {
  Parts parts;
  std::memcpy(&parts.header, file.data(), sizeof(parts.header));
  for (uint32_t i = 0; i < parts.header.sections; ++i) {
    Section section;
    std::memcpy(&section.entry, file.data() + sizeof(FileHeader) + i * sizeof(SectionEntry), sizeof(SectionEntry));
    section.stored = file.substr(section.entry.offset, section.entry.storedBytes);
    parts.sections.push_back(section);
  }
  return parts;
}

std::string putTogether(Parts parts) {
  parts.header.sections = uint32_t(parts.sections.size());
  uint64_t at = sizeof(FileHeader) + parts.sections.size() * sizeof(SectionEntry);
  std::string table, data;
  for (Section &section : parts.sections) {
    section.entry.offset = at;
    section.entry.storedBytes = section.stored.size();
    section.entry.hash = XXH64(section.stored.data(), section.stored.size(), 0);
    at += section.stored.size();
    table.append(reinterpret_cast<const char *>(&section.entry), sizeof(SectionEntry));
    data += section.stored;
  }
  parts.header.fileBytes = at;
  parts.header.hash = 0;
  std::string head(reinterpret_cast<const char *>(&parts.header), sizeof(FileHeader));
  const uint64_t hash = XXH64((head + table).data(), head.size() + table.size(), 0);
  std::memcpy(head.data() + offsetof(FileHeader, hash), &hash, sizeof(hash));
  return head + table + data;
}

std::string deflated(const std::string &bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  EXPECT_EQ(compress(reinterpret_cast<Bytef *>(out.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()),
                     bytes.size()),
            Z_OK);
  out.resize(size);
  return out;
}

void setContents(Section &section, const std::string &bytes) {
  section.stored = deflated(bytes);
  section.entry.bytes = bytes.size();
}

std::string contents(const Section &section) {
  std::string out(section.entry.bytes, '\0');
  uLongf size = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef *>(out.data()), &size,
                       reinterpret_cast<const Bytef *>(section.stored.data()), section.stored.size()),
            Z_OK);
  return out;
}

} // namespace wavesan::capsule::test
