// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Capsules that are damaged or made to harm: each is refused with one line.
#include "capsule_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace wavesan::capsule::test {
namespace {

/// The line it is refused with; empty if it is not.
std::string refusal(const std::string &file, uint64_t limit = kLimit) {
  std::string error;
  if (parseCapsule(file, limit, error))
    return {};
  EXPECT_NE(error, "");
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  return error;
}

/// The sample with something changed, checksums right.
std::string changed(const std::function<void(Parts &)> &change) {
  static const std::string file = fileOf(sample());
  Parts parts = takeApart(file);
  change(parts);
  return putTogether(std::move(parts));
}

std::string changedManifest(const std::function<void(nlohmann::json &)> &change) {
  return changed([&](Parts &parts) {
    Section &section = parts.of(SectionKind::Manifest);
    nlohmann::json manifest = nlohmann::json::parse(contents(section));
    change(manifest);
    setContents(section, manifest.dump());
  });
}

TEST(Hostile, PutTogetherUnchangedIsGood) {
  const std::string file = fileOf(sample());
  EXPECT_EQ(changed([](Parts &) {}), file);
  EXPECT_EQ(refusal(file), "");
}

TEST(Hostile, EveryLengthButTheWholeIsRefused) {
  const std::string file = fileOf(sample());
  for (size_t length = 0; length < file.size(); ++length)
    ASSERT_NE(refusal(file.substr(0, length)), "") << length;
  EXPECT_NE(refusal(file + '\0'), "");
}

TEST(Hostile, EveryChangedByteIsRefused) {
  const std::string file = fileOf(sample());
  for (size_t at = 0; at < file.size(); ++at)
    for (const int bit : {0, 3, 7}) {
      std::string damaged = file;
      damaged[at] = char(damaged[at] ^ 1 << bit);
      ASSERT_NE(refusal(damaged), "") << "bit " << bit << " of byte " << at;
    }
}

TEST(Hostile, MutationsWithRightChecksumsNeverCrash) {
  std::mt19937 random(1);
  int good = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string file = changed([&](Parts &parts) {
      Section &section = parts.sections[random() % parts.sections.size()];
      switch (random() % 4) {
      case 0:
        reinterpret_cast<uint8_t *>(&section.entry)[random() % sizeof(SectionEntry)] = uint8_t(random());
        break;
      case 1:
        if (!section.stored.empty())
          section.stored[random() % section.stored.size()] = char(random());
        break;
      case 2:
        section.stored.resize(random() % (section.stored.size() + 2));
        break;
      case 3: {
        std::string bytes = contents(section);
        if (!bytes.empty())
          bytes[random() % bytes.size()] = char(random());
        setContents(section, bytes);
      }
      }
    });
    std::string error;
    const std::optional<Capsule> capsule = parseCapsule(file, kLimit, error);
    good += capsule.has_value();
    ASSERT_NE(capsule.has_value(), !error.empty());
  }
  EXPECT_GT(good, 0); // changed contents of memory are still a capsule
}

TEST(Hostile, NotACapsule) {
  EXPECT_EQ(refusal(""), "not a capsule of WaveSan");
  EXPECT_EQ(refusal(std::string(1000, 'x')), "not a capsule of WaveSan");
}

TEST(Hostile, AnotherVersion) {
  EXPECT_EQ(refusal(changed([](Parts &parts) { parts.header.version = 99; })),
            "a capsule of format 99; this WaveSan reads format 1");
}

TEST(Hostile, SizesThatLie) {
  const auto withSize = [](SectionKind kind, uint64_t bytes) {
    return changed([=](Parts &parts) { parts.of(kind).entry.bytes = bytes; });
  };
  EXPECT_EQ(refusal(withSize(SectionKind::Memory, uint64_t(1) << 60)), "a section claims more bytes than it can have");
  EXPECT_EQ(refusal(withSize(SectionKind::Memory, 100001)), "a section cannot be decompressed to its size");
  EXPECT_EQ(refusal(withSize(SectionKind::Memory, 99999)), "a section cannot be decompressed to its size");
  EXPECT_EQ(refusal(withSize(SectionKind::CodeObject, 0)), "a section cannot be decompressed to its size");
  EXPECT_EQ(
      refusal(changed([](Parts &parts) { setContents(parts.of(SectionKind::Arguments), std::string(70000, 'x')); })),
      "a section is too large");
}

TEST(Hostile, MoreMemoryThanThereIs) {
  EXPECT_NE(refusal(fileOf(sample()), 50000).find("50000 are available"), std::string::npos);
}

TEST(Hostile, BytesBehindTheCompressedOnes) {
  EXPECT_EQ(refusal(changed([](Parts &parts) { parts.of(SectionKind::Memory).stored += "more"; })),
            "a section cannot be decompressed to its size");
}

TEST(Hostile, SectionsMissingOrTwice) {
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(refusal(changed([=](Parts &parts) { parts.sections.erase(parts.sections.begin() + ptrdiff_t(i)); })),
              "a section is missing or there twice");
    EXPECT_EQ(refusal(changed([=](Parts &parts) { parts.sections.push_back(parts.sections[i]); })),
              "a section is missing or there twice");
  }
  EXPECT_EQ(refusal(changed([](Parts &parts) { parts.sections[0].entry.kind = SectionKind(77); })),
            "a section of unknown kind");
}

TEST(Hostile, RegionsAtImpossiblePlaces) {
  const auto at = [](uint64_t address, uint32_t place = 0) {
    return changed([=](Parts &parts) {
      parts.of(SectionKind::Memory).entry.address = address;
      parts.of(SectionKind::Memory).entry.place = place;
    });
  };
  EXPECT_EQ(refusal(at(0)), "a region of memory has no possible address");
  EXPECT_EQ(refusal(at(UINT64_MAX - 10)), "a region of memory has no possible address");
  EXPECT_EQ(refusal(at(0x10000000, 9)), "a region of memory has no possible address");
  EXPECT_EQ(refusal(at(0x20000000)), "regions of memory overlap");
  EXPECT_EQ(refusal(at(5, uint32_t(Region::Place::Variable))), "a variable lies outside of the code object");
}

TEST(Hostile, Manifests) {
  const std::string start = "its manifest's \"";
  EXPECT_EQ(refusal(changed([](Parts &parts) { setContents(parts.of(SectionKind::Manifest), "{"); })),
            "its manifest is not JSON");
  EXPECT_EQ(
      refusal(changed([](Parts &parts) { setContents(parts.of(SectionKind::Manifest), std::string(100000, '[')); })),
      "its manifest is not JSON");
  const nlohmann::json good = nlohmann::json::parse(contents(takeApart(fileOf(sample())).of(SectionKind::Manifest)));
  for (const auto &[name, value] : good.items()) {
    const std::string expected = start + name + "\" is missing or impossible";
    EXPECT_EQ(refusal(changedManifest([&](nlohmann::json &m) { m.erase(name); })), expected);
    for (const nlohmann::json &wrong : {nlohmann::json(nullptr), nlohmann::json(-1), nlohmann::json(1.5),
                                        nlohmann::json::array({"x"}), nlohmann::json::array({-1, -1, -1})})
      EXPECT_EQ(refusal(changedManifest([&](nlohmann::json &m) { m[name] = wrong; })), expected) << wrong;
  }
  EXPECT_EQ(refusal(changedManifest([](nlohmann::json &m) { m["grid"] = {0, 1, 1}; })),
            start + "grid\" is missing or impossible");
  EXPECT_EQ(refusal(changedManifest([](nlohmann::json &m) { m["workgroup"] = {65536, 1, 1}; })),
            start + "workgroup\" is missing or impossible");
  EXPECT_EQ(refusal(changedManifest([](nlohmann::json &m) { m["kernel"] = ""; })),
            start + "kernel\" is missing or impossible");
  EXPECT_EQ(refusal(changedManifest([](nlohmann::json &m) { m["options"] = {{"seed", 1}}; })),
            start + "options\" is missing or impossible");
  EXPECT_EQ(refusal(changedManifest([](nlohmann::json &m) { m["queue_pointers"] = {17}; })),
            "an argument lies outside of the arguments");
}

} // namespace
} // namespace wavesan::capsule::test
