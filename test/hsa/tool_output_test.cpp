// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files for machines, suppressions and colours, through the options.
#include "tool_fixture.h"

#include "wavesan/abi/options.h"

#include <cstdlib>
#include <fcntl.h>
#include <nlohmann/json.hpp>

namespace wavesan::test {

namespace {
using Json = nlohmann::json;

std::string contents(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
} // namespace

class ToolOutputTest : public ToolTest {
protected:
  void race(uint32_t current, uint32_t previous) {
    DispatchPacket original = packet(), twin = submit(original);
    counters(twin).checkedAccesses = 10;
    putRace(twin, record(current, 0, previous, 1));
    finishDispatch(twin, original.completion_signal);
  }
};

TEST_F(ToolOutputTest, FilesHoldWhatTheTextHolds) {
  TemporaryFile json, sarif, junit;
  load("json_path=" + json.path() + ":sarif_path=" + sarif.path() + ":junit_path=" + junit.path());
  EXPECT_FALSE(std::ifstream(json.path())) << "the file of an earlier run must be gone";
  race(kLoadSite, kStoreSite);
  race(kStoreSite, kStoreSite);
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 20 accesses in 1 kernels: 2 races");
  const Json j = Json::parse(contents(json.path())), s = Json::parse(contents(sarif.path()));
  EXPECT_EQ(j["races"].size(), 2u);
  EXPECT_EQ(j["summary"]["races"], 2);
  EXPECT_EQ(j["races"][0]["kernel"], "k(int*)");
  EXPECT_EQ(s["runs"][0]["results"].size(), 2u);
  EXPECT_NE(contents(junit.path()).find(" failures=\"2\" "), std::string::npos) << contents(junit.path());
  EXPECT_EQ(log().find("error"), std::string::npos) << log();
}

TEST_F(ToolOutputTest, ASecondLoadInTheProcessContinuesTheFile) {
  TemporaryFile json;
  for (int i = 0; i < 2; ++i) {
    load("json_path=" + json.path());
    race(kLoadSite, kStoreSite);
    unload();
  }
  const Json j = Json::parse(contents(json.path()));
  EXPECT_EQ(j["races"].size(), 2u);
  EXPECT_EQ(j["summary"]["checkedAccesses"], 20);
}

TEST_F(ToolOutputTest, AFileThatCannotBeWrittenIsOneErrorLineAndTheOthersAreWritten) {
  TemporaryFile junit;
  load("json_path=/no/such/directory/r.json:sarif_path=/dev/full:junit_path=" + junit.path());
  race(kLoadSite, kStoreSite);
  unload();
  EXPECT_NE(log().find("wavesan: json_path: cannot write '/no/such/directory/r.json': No such file or directory\n"
                       "wavesan: sarif_path: cannot write '/dev/full': No space left on device\n"),
            std::string::npos)
      << log();
  EXPECT_NE(log().find("wavesan: 2 errors of WaveSan itself (printed above)\n"), std::string::npos) << log();
  EXPECT_NE(contents(junit.path()).find("<testsuites"), std::string::npos);
}

TEST_F(ToolOutputTest, SuppressedRacesAreCountedAndNeitherPrintedNorRaces) {
  TemporaryFile known("# the second store is known\nrace:^tile$\nleak:x\n"), json;
  load("suppressions=" + known.path() + ":json_path=" + json.path());
  race(kLoadSite, kStoreSite);
  race(kLoadSite, kStoreSite); // the same again: not another one
  race(kStoreSite, kStoreSite);
  unload();
  EXPECT_EQ(log(), "wavesan: suppressions: " + known.path() +
                       ":3: unknown type 'leak' (known: race, race_top, called_from, called_from_lib)\n"
                       "wavesan: not checked: 3 places in the kernels: global memory\n"
                       "wavesan: 2 races suppressed by race:^tile$ (" +
                       known.path() +
                       ":2)\n"
                       "wavesan: 1 error of WaveSan itself (printed above)\n"
                       "wavesan: checked 30 accesses in 1 kernels: 0 races\n");
  const Json j = Json::parse(contents(json.path()));
  EXPECT_EQ(j["races"], Json::array());
  EXPECT_EQ(j["summary"]["races"], 0);
  EXPECT_EQ(j["summary"]["suppressed"][0]["races"], 2);
}

TEST_F(ToolOutputTest, KernelsThatAreNotSelectedRunAsTheyAreAndAreListed) {
  load("kernels='!k'");
  DispatchPacket original = packet();
  EXPECT_EQ(submit(original).kernel_object, kOriginalObject);
  unload();
  EXPECT_EQ(log(), "wavesan: not checked: kernel k(int*), 1 dispatch: filtered (option kernels)\n"
                   "wavesan: nothing was checked: see the reasons above\n"
                   "wavesan: checked 0 accesses in 0 kernels: 0 races\n");
}

TEST_F(ToolOutputTest, SelectedKernelsAreCheckedAndMisspeltOnesSaid) {
  load("kernels='k;_Z5other*'");
  DispatchPacket original = packet(), twin = submit(original);
  EXPECT_EQ(twin.kernel_object, kTwinObject);
  finishDispatch(twin, original.completion_signal);
  submit(packet(kPlainObject));
  unload();
  EXPECT_NE(log().find("wavesan: warning: option kernels: no kernel matches '_Z5other*'\n"), std::string::npos)
      << log();
  EXPECT_NE(log().find("kernel plain(), 1 dispatch: filtered (option kernels)\n"), std::string::npos) << log();
}

TEST_F(ToolOutputTest, UnusedSuppressionsOnRequest) {
  TemporaryFile known("race:^tile$\nrace:other\n");
  load("print_unused_suppressions=1:suppressions=" + known.path());
  race(kLoadSite, kStoreSite);
  unload();
  EXPECT_NE(log().find("wavesan: suppression that matched nothing: race:other (" + known.path() + ":2)\n"),
            std::string::npos)
      << log();
  EXPECT_EQ(log().find("nothing: race:^tile$"), std::string::npos) << log();
}

TEST_F(ToolOutputTest, CheckedKernelsAreInTheDocument) {
  TemporaryFile json;
  load("json_path=" + json.path());
  race(kLoadSite, kStoreSite);
  race(kLoadSite, kStoreSite);
  unload();
  const Json j = Json::parse(contents(json.path()));
  EXPECT_EQ(j["summary"]["checkedKernels"],
            Json::array({{{"kernel", "k(int*)"}, {"file", "app.hip"}, {"line", 5}, {"dispatches", 2}}}));
}

TEST_F(ToolOutputTest, SuppressionsThatDoNotMatchChangeNothing) {
  TemporaryFile known("race:other\n");
  load("suppressions=" + known.path());
  race(kLoadSite, kStoreSite);
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 10 accesses in 1 kernels: 1 races");
  EXPECT_EQ(log().find("suppressed"), std::string::npos) << log();
}

TEST_F(ToolOutputTest, MissingSuppressionsFileIsAnError) {
  load("suppressions=/no/such/file");
  unload();
  EXPECT_NE(log().find("wavesan: suppressions: cannot read '/no/such/file': No such file or directory\n"),
            std::string::npos)
      << log();
  EXPECT_NE(log().find("wavesan: 1 error of WaveSan itself"), std::string::npos) << log();
}

TEST_F(ToolOutputTest, ColourOnlyWhereAskedForOrOnATerminal) {
  for (const char *option : {"color=auto", "color=never", "color=green"}) {
    load(option);
    race(kLoadSite, kStoreSite);
    unload();
  }
  EXPECT_EQ(log().find('\x1b'), std::string::npos) << log();
  EXPECT_NE(log().find("wavesan: option color: 'green' is none of auto, always, never\n"), std::string::npos) << log();
  load("color=always");
  race(kLoadSite, kStoreSite);
  unload();
  EXPECT_NE(log().find("\x1b[1;31mwavesan: race:\x1b[0m LDS "), std::string::npos) << log();
}

TEST_F(ToolOutputTest, ColourOnATerminalUnlessTheUserDoesNotWantIt) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const std::string path = ptsname(terminal);
  setenv("TERM", "xterm", 1);
  std::string texts[2];
  for (int quiet = 0; quiet < 2; ++quiet) {
    if (quiet)
      setenv("NO_COLOR", "1", 1);
    else
      unsetenv("NO_COLOR");
    load("log_path=" + path);
    race(kLoadSite, kStoreSite);
    char buffer[8192];
    ssize_t n = read(terminal, buffer, sizeof(buffer));
    texts[quiet].assign(buffer, size_t(std::max<ssize_t>(n, 0)));
    unload();
    while (texts[quiet].find("seen 1 time") == std::string::npos && n > 0) {
      n = read(terminal, buffer, sizeof(buffer));
      texts[quiet].append(buffer, size_t(std::max<ssize_t>(n, 0)));
    }
  }
  unsetenv("NO_COLOR");
  close(terminal);
  EXPECT_NE(texts[0].find("\x1b[1;31mwavesan: race:"), std::string::npos) << texts[0];
  EXPECT_NE(texts[1].find("wavesan: race:"), std::string::npos) << texts[1];
  EXPECT_EQ(texts[1].find('\x1b'), std::string::npos) << texts[1];
}

} // namespace wavesan::test
