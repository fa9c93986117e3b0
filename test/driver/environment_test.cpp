// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's environment, the device choice, and what is read from program files.
#include "elf_rpath.h"
#include "environment.h"
#include "gpu_probe.h"
#include "run_line.h"
#include "temporary_directory.h"
#include "trace_line.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

using namespace wavesan::driver;
using Words = std::vector<std::string>;

static const Layout kLayout = layoutBelow("/p");

TEST(ChildEnvironment, CpuAgent) {
  EnvironmentRequest r;
  r.cpuAgent = true;
  r.options = "seed=3";
  r.statusFd = 7;
  EXPECT_EQ(childEnvironment({"A=b"}, kLayout, r),
            (Words{"A=b", "LD_LIBRARY_PATH=/p/lib/wavesan/cpu-agent", "HSA_TOOLS_LIB=/p/lib/wavesan/libwavesan-hsa.so",
                   "WAVESAN_OPTIONS=seed=3", "WAVESAN_STATUS_FD=7"}));
}

TEST(ChildEnvironment, ExistingValuesAreExtended) {
  EnvironmentRequest r;
  r.cpuAgent = r.preloadAgent = true;
  r.options = "seed=3";
  r.statusFd = 7;
  EXPECT_EQ(childEnvironment({"LD_LIBRARY_PATH=/l", "LD_PRELOAD=/x.so", "HSA_TOOLS_LIB=/t.so",
                              "WAVESAN_OPTIONS=seed=1:exitcode=5", "WAVESAN_STATUS_FD=99"},
                             kLayout, r),
            (Words{"LD_LIBRARY_PATH=/p/lib/wavesan/cpu-agent:/l",
                   "LD_PRELOAD=/p/lib/wavesan/cpu-agent/libhsa-runtime64.so.1:/x.so",
                   "HSA_TOOLS_LIB=/t.so /p/lib/wavesan/libwavesan-hsa.so", "WAVESAN_OPTIONS=seed=1:exitcode=5:seed=3",
                   "WAVESAN_STATUS_FD=7"}));
}

TEST(ChildEnvironment, TracingPreloadsTheInterposerAndNoRaceChecker) {
  EnvironmentRequest r;
  r.raceCheck = false;
  r.preloadHip = true;
  EXPECT_EQ(childEnvironment({"LD_PRELOAD=/x.so"}, kLayout, r),
            (Words{"LD_PRELOAD=/x.so:/p/lib/wavesan/libwavesan-hip.so"}));
  r.cpuAgent = r.preloadAgent = true;
  EXPECT_EQ(childEnvironment({}, kLayout, r),
            (Words{"LD_LIBRARY_PATH=/p/lib/wavesan/cpu-agent",
                   "LD_PRELOAD=/p/lib/wavesan/cpu-agent/libhsa-runtime64.so.1:/p/lib/wavesan/libwavesan-hip.so"}));
}

TEST(TraceLine, Options) {
  const TraceRequest r =
      readTraceLine({"--format=json,perfetto", "-o", "/d/a b", "--columns=7", "--gpu", "gfx90a", "p", "-o", "q"})
          .request;
  EXPECT_FALSE(r.csv);
  EXPECT_TRUE(r.json && r.perfetto);
  EXPECT_EQ(r.prefix, "/d/a b");
  EXPECT_EQ(r.options, "trace_columns=7:gpu=gfx90a");
  EXPECT_EQ(r.command, (Words{"p", "-o", "q"}));
  EXPECT_TRUE(readTraceLine({"--", "p"}).request.csv);
  for (const Words &wrong :
       {Words{"--format=", "p"}, Words{"--columns=8", "p"}, Words{"-o", "d/", "p"}, Words{"--csv"}, Words{}})
    EXPECT_EQ(readTraceLine(wrong).status, 2);
}

TEST(ChildEnvironment, OnAGpuOnlyTheToolIsAdded) {
  EnvironmentRequest r;
  r.preloadAgent = true;
  r.statusFd = 3;
  EXPECT_EQ(childEnvironment({}, kLayout, r),
            (Words{"HSA_TOOLS_LIB=/p/lib/wavesan/libwavesan-hsa.so", "WAVESAN_STATUS_FD=3"}));
}

TEST(GpuProbe, NamesTheReason) {
  wavesan::test::TemporaryDirectory dir;
  EXPECT_EQ(whyNoGpu(dir.path()), "/dev/kfd: No such file or directory");
  dir.write("dev/kfd", "");
  EXPECT_NE(whyNoGpu(dir.path()).find("lists no GPU"), std::string::npos);
  dir.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 8\nsimd_count 0\n");
  EXPECT_NE(whyNoGpu(dir.path()).find("lists no GPU"), std::string::npos);
  dir.write("sys/class/kfd/kfd/topology/nodes/1/properties", "cpu_cores_count 0\nsimd_count 440\n");
  EXPECT_EQ(whyNoGpu(dir.path()), "");
}

TEST(ElfRpath, OnlyRpathWithoutRunpath) {
  EXPECT_TRUE(hasForcingRpath(WAVESAN_TEST_RPATH_PROGRAM));
  EXPECT_FALSE(hasForcingRpath(WAVESAN_TEST_RUNPATH_PROGRAM));
  wavesan::test::TemporaryDirectory dir;
  EXPECT_FALSE(hasForcingRpath(dir.write("script", "#!/bin/sh\n")));
  EXPECT_FALSE(hasForcingRpath(dir.write("cut", std::string("\177ELF\2\1\1", 7))));
  EXPECT_FALSE(hasForcingRpath(dir.path() / "absent"));
}

TEST(ElfHeaders, FilesThatAreCutShort) {
  std::ifstream in(WAVESAN_TEST_RPATH_PROGRAM, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(whyCutShort(WAVESAN_TEST_RPATH_PROGRAM), "");
  wavesan::test::TemporaryDirectory dir;
  EXPECT_EQ(whyCutShort(dir.write("half", whole.substr(0, 500))),
            "the file is cut short: it ends at byte 500, before its segments do");
  EXPECT_EQ(whyCutShort(dir.write("start", whole.substr(0, 70))),
            "the file is cut short: it ends before its program headers");
  EXPECT_EQ(whyCutShort(dir.write("script", "#!/bin/sh\n")), "");
  EXPECT_EQ(whyCutShort(dir.write("empty", "")), "");
  EXPECT_EQ(whyCutShort(dir.path() / "absent"), "");
  EXPECT_EQ(whyCutShort(dir.path()), "");
}

TEST(RunLine, OptionsEndAtTheProgram) {
  RunLine l = readRunLine({"--device=cpu", "--seed", "7", "-o", "exitcode=0", "prog", "--seed=9", "--", "-x"});
  ASSERT_FALSE(l.done);
  EXPECT_EQ(l.request.device, RunRequest::Device::Cpu);
  EXPECT_EQ(l.request.options, "exitcode=0:seed=7");
  EXPECT_EQ(l.request.command, (Words{"prog", "--seed=9", "--", "-x"}));
}

TEST(RunLine, DashesEndOptionsToo) {
  RunLine l = readRunLine({"--gpu=gfx1030", "--", "--odd-name", "--help"});
  ASSERT_FALSE(l.done);
  EXPECT_EQ(l.request.options, "gpu=gfx1030");
  EXPECT_EQ(l.request.command, (Words{"--odd-name", "--help"}));
}

TEST(RunLine, MistakesAreUsageErrors) {
  for (const Words &words : {Words{}, Words{"--"}, Words{"--device=tpu", "x"}, Words{"--seed=abc", "x"},
                             Words{"--sed=1", "x"}, Words{"--seed"}}) {
    RunLine l = readRunLine(words);
    EXPECT_TRUE(l.done);
    EXPECT_EQ(l.status, 2);
  }
}
