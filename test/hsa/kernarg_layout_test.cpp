// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernarg_layout.h"

#include "code_object_builder.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace wavesan::test;
using namespace wavesan::hsa;

namespace {

KernelMetadata kernel(const std::string &name, unsigned bytes, std::vector<ArgSpec> explicitArgs,
                      std::vector<ArgSpec> hidden = {}) {
  KernelMetadata k;
  k.name = name;
  k.kernargBytes = bytes;
  for (const std::vector<ArgSpec> *list : {&explicitArgs, &hidden})
    for (const ArgSpec &a : *list)
      k.args.push_back({a.offset, a.size, a.kind, a.name});
  return k;
}

const std::vector<ArgSpec> kArgs = {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}, {16, 1, "by_value"}};
std::vector<ArgSpec> withContext(std::vector<ArgSpec> args, unsigned offset, std::string name = "") {
  args.push_back({offset, 8, "global_buffer", std::move(name)});
  return args;
}

/// A block in which byte i is i + 1.
std::vector<uint8_t> pattern(size_t n) {
  std::vector<uint8_t> bytes(n);
  for (size_t i = 0; i < n; ++i)
    bytes[i] = uint8_t(i + 1);
  return bytes;
}

template <class T> T at(const std::vector<uint8_t> &bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::vector<uint8_t> fill(const KernargPlan &plan, const std::vector<uint8_t> &source,
                          const DispatchShape &shape = {}) {
  std::vector<uint8_t> out(plan.bytes(), 0xee);
  plan.fill(source.data(), out.data(), 0x1122334455667788, shape);
  return out;
}

std::string errorOf(const KernelMetadata &a, const KernelMetadata &b) {
  std::string error;
  EXPECT_FALSE(KernargPlan::make(a, b, error));
  return error;
}

} // namespace

TEST(KernargLayout, Version4MovesTheHiddenArguments) {
  std::string error;
  auto plan = KernargPlan::make(kernel("k", 80, kArgs, hiddenArgsV4(24)),
                                kernel("k.wavesan", 88, withContext(kArgs, 24), hiddenArgsV4(32)), error);
  ASSERT_TRUE(plan) << error;
  EXPECT_EQ(plan->sourceBytes(), 80u);
  std::vector<uint8_t> source = pattern(80), out = fill(*plan, source);
  EXPECT_EQ(std::memcmp(out.data(), source.data(), 17), 0);
  EXPECT_EQ(at<uint64_t>(out, 24), 0x1122334455667788u);
  EXPECT_EQ(std::memcmp(out.data() + 32, source.data() + 24, 56), 0); // all seven, shifted by 8
}

TEST(KernargLayout, Version5MovesTheHiddenArguments) {
  std::string error;
  auto plan =
      KernargPlan::make(kernel("k", 24 + 256, kArgs, hiddenArgsV5(24)),
                        kernel("k.wavesan", 32 + 256, withContext(kArgs, 24, "wavesan.ctx"), hiddenArgsV5(32)), error);
  ASSERT_TRUE(plan) << error;
  std::vector<uint8_t> source = pattern(280), out = fill(*plan, source);
  for (const ArgSpec &arg : hiddenArgsV5(24))
    EXPECT_EQ(std::memcmp(out.data() + arg.offset + 8, source.data() + arg.offset, arg.size), 0) << arg.kind;
  // Bytes that belong to no argument are zero.
  EXPECT_EQ(at<uint64_t>(out, 32 + 24), 0u);
}

TEST(KernargLayout, MatchesByKindAndNotByPosition) {
  // The original lacks the hostcall buffer (unused); the twin has it, and the rest in another order.
  std::string error;
  auto plan = KernargPlan::make(
      kernel("k", 32, {},
             {{0, 8, "hidden_global_offset_x"}, {8, 8, "hidden_none"}, {16, 8, "hidden_multigrid_sync_arg"}}),
      kernel(
          "k.wavesan", 40, withContext({}, 0),
          {{8, 8, "hidden_multigrid_sync_arg"}, {16, 8, "hidden_hostcall_buffer"}, {24, 8, "hidden_global_offset_x"}}),
      error);
  ASSERT_TRUE(plan) << error;
  std::vector<uint8_t> source = pattern(32), out = fill(*plan, source);
  EXPECT_EQ(at<uint64_t>(out, 0), 0x1122334455667788u);
  EXPECT_EQ(at<uint64_t>(out, 8), at<uint64_t>(source, 16));
  EXPECT_EQ(at<uint64_t>(out, 16), 0u);
  EXPECT_EQ(at<uint64_t>(out, 24), at<uint64_t>(source, 0));
}

TEST(KernargLayout, MissingHiddenArgumentsAreComputedFromThePacket) {
  std::string error;
  auto plan =
      KernargPlan::make(kernel("k", 0, {}), kernel("k.wavesan", 8 + 256, withContext({}, 0), hiddenArgsV5(8)), error);
  ASSERT_TRUE(plan) << error;
  EXPECT_EQ(plan->sourceBytes(), 0u);
  DispatchShape shape;
  shape.grid[0] = 1000;
  shape.grid[1] = 6;
  shape.workgroup[0] = 256;
  shape.workgroup[1] = 2;
  shape.dimensions = 2;
  shape.dynamicLdsBytes = 4096;
  std::vector<uint8_t> out(plan->bytes());
  plan->fill(nullptr, out.data(), 5, shape);
  EXPECT_EQ(at<uint32_t>(out, 8), 3u); // whole workgroups
  EXPECT_EQ(at<uint32_t>(out, 12), 3u);
  EXPECT_EQ(at<uint32_t>(out, 16), 1u);
  EXPECT_EQ(at<uint16_t>(out, 20), 256u);
  EXPECT_EQ(at<uint16_t>(out, 22), 2u);
  EXPECT_EQ(at<uint16_t>(out, 24), 1u);
  EXPECT_EQ(at<uint16_t>(out, 26), 1000 % 256);
  EXPECT_EQ(at<uint16_t>(out, 28), 0u);
  EXPECT_EQ(at<uint64_t>(out, 48), 0u); // global offset
  EXPECT_EQ(at<uint16_t>(out, 72), 2u);
  EXPECT_EQ(at<uint32_t>(out, 128), 4096u);
}

TEST(KernargLayout, KernelsThatDoNotFitAreRefused) {
  KernelMetadata original = kernel("k", 24, kArgs);
  EXPECT_EQ(errorOf(original, kernel("k.wavesan", 24, kArgs)),
            "kernel arguments of k.wavesan: the twin has 3 explicit arguments, the original 3");
  EXPECT_EQ(errorOf(original, kernel("k.wavesan", 32, withContext(kArgs, 24, "other"))),
            "kernel arguments of k.wavesan: the last explicit argument is not wavesan.ctx");
  std::vector<ArgSpec> moved = withContext(kArgs, 24);
  moved[1].offset = 12;
  EXPECT_EQ(errorOf(original, kernel("k.wavesan", 32, moved)),
            "kernel arguments of k.wavesan: argument 1 differs from the original's");
  EXPECT_EQ(errorOf(original, kernel("k.wavesan", 40, withContext(kArgs, 24), {{32, 8, "hidden_private_base"}})),
            "kernel arguments of k.wavesan: needs hidden_private_base, which the original does not receive");
  EXPECT_EQ(errorOf(original, kernel("k.wavesan", 40, withContext(kArgs, 24), {{32, 8, "hidden_of_the_future"}})),
            "kernel arguments of k.wavesan: needs hidden_of_the_future, which the original does not receive");
  EXPECT_EQ(errorOf(kernel("k", 8, {}, {{0, 4, "hidden_heap_v1"}}),
                    kernel("k.wavesan", 16, withContext({}, 0), {{8, 8, "hidden_heap_v1"}})),
            "kernel arguments of k.wavesan: hidden_heap_v1 differs in size from the original's");
}
