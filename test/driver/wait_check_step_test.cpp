// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which files `wavesan cc` looks for missing waits in.
#include "wait_check_step.h"

#include <gtest/gtest.h>

using namespace wavesan::driver;
using Words = std::vector<std::string>;

static Words outputs(const Words &words) {
  std::string error;
  const CompileLine line = readCompileLine(words, error);
  EXPECT_EQ(error, "");
  return deviceCodeOutputs(line);
}

TEST(WaitCheckStep, OutputsWithDeviceCode) {
  EXPECT_EQ(outputs({"a.hip", "-o", "app"}), (Words{"app"}));
  EXPECT_EQ(outputs({"a.hip", "-oapp"}), (Words{"app"}));
  EXPECT_EQ(outputs({"a.hip"}), (Words{"a.out"}));
  EXPECT_EQ(outputs({"-c", "dir/a.hip", "b.hip", "c.cpp"}), (Words{"a.o", "b.o"}));
  EXPECT_EQ(outputs({"-c", "a.hip", "-o", "x.o"}), (Words{"x.o"}));
  EXPECT_EQ(outputs({"--cuda-device-only", "-c", "a.hip", "--offload-arch=gfx90a"}),
            (Words{"a-hip-amdgcn-amd-amdhsa.o", "a-hip-amdgcn-amd-amdhsa-gfx90a.o"}));
}

TEST(WaitCheckStep, NoMachineCodeForTheDevice) {
  for (const Words &words : std::initializer_list<Words>{{"-S", "a.hip", "-o", "a.s"},
                                                         {"-E", "a.hip"},
                                                         {"-fsyntax-only", "a.hip"},
                                                         {"--cuda-host-only", "-c", "a.hip"},
                                                         {"-c", "a.cpp"},
                                                         {"a.o", "b.o", "-o", "app"}})
    EXPECT_EQ(outputs(words), Words()) << words[0];
}

TEST(WaitCheckStep, Modes) {
  const Machine machine = Machine::current();
  std::string error;
  EXPECT_EQ(chooseWaitCheck(machine, "error", error), WaitCheck::Error);
  EXPECT_EQ(chooseWaitCheck(machine, "warn", error), WaitCheck::Warn);
  EXPECT_EQ(chooseWaitCheck(machine, "off", error), WaitCheck::Off);
  EXPECT_EQ(error, "");
  chooseWaitCheck(machine, "maybe", error);
  EXPECT_EQ(error, "--wait-check is off, warn or error, not 'maybe'");
}
