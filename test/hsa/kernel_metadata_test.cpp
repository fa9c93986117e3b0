// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_metadata.h"

#include "code_object_builder.h"

#include <gtest/gtest.h>
#include <random>

using namespace wavesan::test;
using wavesan::hsa::MetadataMap;
using wavesan::hsa::parseMetadata;

namespace {

std::string pack(const nlohmann::json &value) {
  std::vector<uint8_t> bytes = nlohmann::json::to_msgpack(value);
  return {bytes.begin(), bytes.end()};
}

std::string errorOf(const std::string &bytes) {
  std::string error;
  EXPECT_FALSE(parseMetadata(bytes, error));
  return error;
}

} // namespace

TEST(KernelMetadata, ReadsSizesAndArguments) {
  std::string error;
  auto map = parseMetadata(
      pack(metadataRoot(
          {kernelMetadata("k", 24, 512, {{0, 8, "global_buffer", "p"}, {8, 1, "by_value"}, {16, 8, "hidden_none"}}, 32,
                          7),
           kernelMetadata("empty", 0, 0, {})})),
      error);
  ASSERT_TRUE(map) << error;
  const auto &k = map->at("k");
  EXPECT_EQ(k.symbol, "k.kd");
  EXPECT_EQ(k.kernargBytes, 24u);
  EXPECT_EQ(k.groupBytes, 512u);
  EXPECT_EQ(k.privateBytes, 7u);
  EXPECT_EQ(k.waveSize, 32u);
  ASSERT_EQ(k.args.size(), 3u);
  EXPECT_EQ(k.args[0].name, "p");
  EXPECT_FALSE(k.args[1].hidden());
  EXPECT_TRUE(k.args[2].hidden());
  EXPECT_TRUE(map->at("empty").args.empty());
}

TEST(KernelMetadata, RefusesWhatDoesNotFit) {
  auto kernel = [](auto change) {
    nlohmann::json k = kernelMetadata("k", 16, 0, {{8, 8, "by_value"}});
    change(k);
    return pack(metadataRoot({k}));
  };
  std::string error;
  ASSERT_TRUE(parseMetadata(kernel([](auto &) {}), error)) << error;
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".args"][0][".offset"] = 9; })).find("argument 0 out of range"),
            std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".args"][0][".size"] = 0xffffffffu; })).find("out of range"),
            std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".args"][0][".offset"] = -1; })).find("out of range"), std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".args"] = 3; })).find(".args is not an array"), std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".wavefront_size"] = 16; })).find("out of range"), std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k.erase(".kernarg_segment_size"); })).find("missing"), std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".kernarg_segment_size"] = uint64_t(1) << 40; })).find("out of range"),
            std::string::npos);
  EXPECT_NE(errorOf(kernel([](auto &k) { k[".name"] = 1; })).find("without .name"), std::string::npos);
  EXPECT_NE(errorOf(pack({{"amdhsa.kernels", 7}})).find("not an array"), std::string::npos);
  EXPECT_NE(errorOf(pack(nlohmann::json::array({1, 2}))).find("not a map"), std::string::npos);
  EXPECT_NE(errorOf("").find("MessagePack"), std::string::npos);
}

TEST(KernelMetadata, DeepNestingDoesNotOverflowTheStack) {
  for (const char *open : {"\x91", "\x81\xa1k"}) {
    std::string bytes;
    for (int i = 0; i < 4000000; ++i)
      bytes += open;
    EXPECT_EQ(errorOf(bytes + "\x01"), "code object metadata: not valid MessagePack");
  }
}

TEST(KernelMetadata, HugeLengthsAreRefused) {
  for (std::string bytes : {std::string("\xdd\xff\xff\xff\xff", 5), std::string("\xdf\xff\xff\xff\xff", 5),
                            std::string("\xdb\xff\xff\xff\xff", 5), std::string("\xc6\xff\xff\xff\xff", 5),
                            std::string("\xc9\xff\xff\xff\xff\x01", 6), std::string("\xc1", 1)})
    EXPECT_EQ(errorOf(bytes), "code object metadata: not valid MessagePack");
}

TEST(KernelMetadata, EveryKindOfItemIsWalked) {
  // The pre-scan and the JSON library must agree on the length of everything the format has.
  nlohmann::json all = {
      {"n", nullptr},
      {"t", true},
      {"i", {0, 200, 70000, 5000000000ull, -1, -100, -1000, -100000, -5000000000ll}},
      {"f", {1.5, 3.141592653589793}},
      {"s", {std::string(10, 'a'), std::string(100, 'b'), std::string(300, 'c'), std::string(70000, 'd')}},
      {"long", std::vector<int>(70000, 1)},
      {"list", std::vector<int>(100, 2)},
      {"bin", nlohmann::json::binary(std::vector<uint8_t>(300, 1))},
      {"ext", nlohmann::json::binary(std::vector<uint8_t>(16, 1), 5)},
      {"ext2", nlohmann::json::binary(std::vector<uint8_t>(300, 1), 5)}};
  for (int i = 0; i < 70000; ++i)
    all["map"][std::to_string(i)] = i;
  std::string error;
  EXPECT_TRUE(parseMetadata(pack(all), error)) << error;
}

TEST(KernelMetadata, RandomDamageIsSafe) {
  const std::string good = pack(metadataRoot({kernelMetadata("k", 64, 0, hiddenArgsV4(8))}));
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = char(random());
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    std::string error;
    if (auto map = parseMetadata(bytes, error)) {
      for (const auto &[name, kernel] : *map)
        for (const auto &arg : kernel.args)
          ASSERT_LE(uint64_t(arg.offset) + arg.size, kernel.kernargBytes);
    } else {
      ASSERT_FALSE(error.empty());
    }
  }
}
