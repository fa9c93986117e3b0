// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan run` around real processes. The installation is a made-up one: the command itself, empty files in place of
// the libraries, and a small program (status_client) that writes to the status page as the HSA tool library would.
#include "temporary_directory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

struct Ended {
  int status = -1, signal = 0;
  std::string out, err;
};

class Supervisor : public testing::Test {
protected:
  Supervisor() {
    fs::create_directories(Dir.path() / "bin");
    fs::copy_file(WAVESAN_TEST_COMMAND, Dir.path() / "bin/wavesan");
    fs::create_directories(Dir.path() / "lib/wavesan");
    fs::copy_file(WAVESAN_TEST_EMPTY_LIBRARY, Dir.path() / "lib/wavesan/libwavesan-hip.so");
    Dir.write("lib/wavesan/libwavesan-hsa.so", "\x7f"
                                               "ELF");
    Dir.write("lib/wavesan/cpu-agent/libhsa-runtime64.so.1", "\x7f"
                                                             "ELF");
  }

  pid_t start(Words words, const Words &environment = {}) {
    words.insert(words.begin(), (Dir.path() / "bin/wavesan").string());
    pid_t child = fork();
    if (child != 0)
      return child;
    for (const std::string &e : environment)
      putenv(const_cast<char *>(e.c_str()));
    for (auto [fd, name] : {std::pair(1, "out"), std::pair(2, "err")})
      dup2(open((Dir.path() / name).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), fd);
    std::vector<char *> argv;
    for (std::string &w : words)
      argv.push_back(w.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(99);
  }

  Ended finish(pid_t child) {
    Ended e;
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
      e.status = WEXITSTATUS(status);
    else
      e.signal = WTERMSIG(status);
    e.out = text("out");
    e.err = text("err");
    return e;
  }

  Ended run(const Words &words, const Words &environment = {}) { return finish(start(words, environment)); }

  std::string text(const char *name) {
    std::ifstream in(Dir.path() / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  wavesan::test::TemporaryDirectory Dir;
};

const std::string kClient = WAVESAN_TEST_STATUS_CLIENT;

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_F(Supervisor, PassesTheProgramsStatusOn) {
  EXPECT_EQ(run({"run", "--device=cpu", "--", "sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run({"run", "--device=cpu", kClient, "attach", "checked=1", "summary"}).status, 0);
}

TEST_F(Supervisor, AnIncompleteResultIsNoSuccess) {
  const Words run0 = {"run", "--device=cpu", kClient, "attach", "summary"};
  auto with = [&](std::initializer_list<const char *> more) {
    Words words = run0;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_EQ(run(with({})).status, 67); // nothing was checked
  EXPECT_EQ(run(with({"checked=1"})).status, 0);
  EXPECT_EQ(run(with({"checked=1", "errors=1"})).status, 67);
  EXPECT_EQ(run(with({"checked=1", "lost=1"})).status, 67);
  Ended e = run(with({"checked=1", "pending=2"}));
  EXPECT_EQ(e.status, 67);
  EXPECT_TRUE(contains(e.err, "wavesan: 2 dispatches were not evaluated: the process ended first")) << e.err;
  EXPECT_TRUE(contains(e.err, "wavesan: incomplete result: exit status 67 (option incomplete_exitcode)\n")) << e.err;
  // The program's own failure and races count first.
  EXPECT_EQ(run(with({"errors=1", "exit=7"})).status, 7);
  EXPECT_EQ(run(with({"errors=1", "races=1"})).status, 66);
  EXPECT_EQ(run({"run", "--device=cpu", "-o", "incomplete_exitcode=0", "true"}).status, 0);
  EXPECT_EQ(run({"run", "--device=cpu", "-o", "incomplete_exitcode=9", "true"}).status, 9);
}

TEST_F(Supervisor, TheTotalCountsAllProcesses) {
  const std::string one = kClient + " attach checked=5 kernels=1 summary";
  Ended e = run({"run", "--device=cpu", "sh", "-c", one + "; " + one + " races=1; " + one});
  EXPECT_EQ(e.status, 66);
  EXPECT_TRUE(contains(e.err, "wavesan: 3 processes, all together: checked 15 accesses in 3 kernels: 1 races\n"))
      << e.err;
}

TEST_F(Supervisor, FlagsWinOverTheEnvironment) {
  EXPECT_EQ(
      run({"run", "--device=cpu", "-o", "incomplete_exitcode=8", "true"}, {"WAVESAN_OPTIONS=incomplete_exitcode=9"})
          .status,
      8);
  Ended e = run({"run", "--device=cpu", "--seed=5", "--gpu=gfx1030", "sh", "-c", "echo $WAVESAN_OPTIONS"},
                {"WAVESAN_OPTIONS=seed=1:gpu=gfx90a"});
  EXPECT_EQ(e.out, "seed=1:gpu=gfx90a:gpu=gfx1030:seed=5\n"); // the last one counts
}

TEST_F(Supervisor, UnknownFlagsAreNamedWithTheNearest) {
  Ended e = run({"run", "--devize=cpu", "true"});
  EXPECT_EQ(e.status, 2);
  EXPECT_EQ(e.err, "wavesan: error: run: unknown option '--devize'; did you mean '--device'?\n");
  e = run({"report", "--min-cout=3", "x.json"});
  EXPECT_EQ(e.status, 2);
  EXPECT_EQ(e.err, "wavesan: error: report: unknown option '--min-cout'; did you mean '--min-count'?\n");
}

TEST_F(Supervisor, SaysWhenNothingWasChecked) {
  Ended e = run({"run", "--device=cpu", "true"});
  EXPECT_TRUE(contains(e.err, "wavesan: nothing was checked: the program did not use an HSA runtime")) << e.err;
  EXPECT_FALSE(contains(run({"run", "--device=cpu", kClient, "attach", "summary"}).err, "nothing was checked"));
}

TEST_F(Supervisor, RacesDecideTheStatus) {
  EXPECT_EQ(run({"run", "--device=cpu", kClient, "attach", "races=2", "summary"}).status, 66);
  EXPECT_EQ(run({"run", "--device=cpu", kClient, "attach", "races=2", "summary", "exit=7"}).status, 66);
  EXPECT_EQ(run({"run", "--device=cpu", "-o", "exitcode=0", kClient, "attach", "races=2", "summary", "exit=7"}).status,
            7);
  EXPECT_EQ(
      run({"run", "--device=cpu", kClient, "attach", "races=2", "summary"}, {"WAVESAN_OPTIONS=exitcode=9"}).status, 9);
  EXPECT_EQ(run({"run", "--device=cpu", "-o", "exitcode=5", kClient, "attach", "races=2", "summary"},
                {"WAVESAN_OPTIONS=exitcode=9"})
                .status,
            5);
  EXPECT_EQ(run({"run", "--device=cpu", kClient, "attach", "summary", "exit=7"}).status, 7);
}

TEST_F(Supervisor, CountsRacesOfGrandchildren) {
  Ended e = run({"run", "--device=cpu", "sh", "-c", kClient + " attach races=1 summary; exit 0"});
  EXPECT_EQ(e.status, 66);
}

TEST_F(Supervisor, ASignalEndsBothTheSameWay) {
  Ended e = run({"run", "--device=cpu", kClient, "attach", "checked=5", "kernels=1", "signal=6"});
  EXPECT_EQ(e.signal, SIGABRT);
  EXPECT_TRUE(contains(
      e.err, "wavesan: program ended by signal 6 (Aborted) before its summary; so far: checked 5 accesses in 1 "
             "kernels: 0 races"))
      << e.err;
  EXPECT_EQ(run({"run", "--device=cpu", "sh", "-c", "kill -KILL $$"}).signal, SIGKILL);
}

TEST_F(Supervisor, RacesBeforeASignalKeepTheRaceStatus) {
  Ended e = run({"run", "--device=cpu", kClient, "attach", "races=1", "signal=11"});
  EXPECT_EQ(e.status, 66);
  EXPECT_TRUE(contains(e.err, "signal 11")) << e.err;
  EXPECT_EQ(run({"run", "--device=cpu", "-o", "exitcode=0", kClient, "attach", "races=1", "signal=11"}).signal,
            SIGSEGV);
}

TEST_F(Supervisor, NamesProcessesWithoutSummary) {
  Ended e = run({"run", "--device=cpu", kClient, "attach", "checked=3", "kernels=1"});
  EXPECT_EQ(e.status, 0); // what it had checked is complete
  EXPECT_TRUE(contains(
      e.err, "1 of 1 processes ended before their summary; all together: checked 3 accesses in 1 kernels: 0 races"))
      << e.err;
}

TEST_F(Supervisor, NamesErrorsOfTheTool) {
  Ended e = run({"run", "--device=cpu", kClient, "attach", "errors=2", "summary"});
  EXPECT_TRUE(contains(e.err, "2 errors of the tool itself")) << e.err;
}

TEST_F(Supervisor, ForwardsSignals) {
  for (int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT}) {
    std::string ready = (Dir.path() / ("ready" + std::to_string(signal))).string();
    pid_t p = start({"run", "--device=cpu", "sh", "-c",
                     "trap 'exit 40' TERM HUP USR1 USR2 INT; : > " + ready + "; while :; do sleep 0.02; done"});
    for (int i = 0; i < 1000 && !fs::exists(ready); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(fs::exists(ready));
    kill(p, signal);
    EXPECT_EQ(finish(p).status, 40) << signal;
  }
}

TEST_F(Supervisor, ProgramsThatCannotRun) {
  Ended e = run({"run", "--device=cpu", "--", "no-such-program-here"});
  EXPECT_EQ(e.status, 127);
  EXPECT_TRUE(contains(e.err, "cannot run no-such-program-here: No such file")) << e.err;
  std::string plain = Dir.write("plain", "text").string();
  EXPECT_EQ(run({"run", "--device=cpu", plain}).status, 126);
}

TEST_F(Supervisor, BadOptionsRunNothing) {
  Ended e = run({"run", "--device=cpu", "-o", "exitcod=1", "sh", "-c", "echo ran"});
  EXPECT_EQ(e.status, 2);
  EXPECT_EQ(e.out, "");
  EXPECT_TRUE(contains(e.err, "did you mean 'exitcode'")) << e.err;
  EXPECT_EQ(run({"run", "--device=cpu", "true"}, {"WAVESAN_OPTIONS=seed=x"}).status, 2);
}

TEST_F(Supervisor, ValuesAreJudgedBeforeTheProgramStarts) {
  auto expectRefused = [&](const Words &flags, const Words &environment, const std::string &line) {
    Words words = {"run", "--device=cpu"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"sh", "-c", "echo ran"});
    const Ended e = run(words, environment);
    EXPECT_EQ(e.status, 2);
    EXPECT_EQ(e.out, "");
    EXPECT_EQ(e.err, "wavesan: error: " + line + "\n");
  };
  const std::string more = " (all options: wavesan help options)";
  for (const auto &[name, values] : {std::pair("hooks", "native, device"), std::pair("color", "auto, always, never"),
                                     std::pair("early_exit", "error, warning, off")}) {
    const std::string setting = name + std::string("=nonsense");
    const std::string line = "option " + std::string(name) + ": 'nonsense' is none of " + values + more;
    expectRefused({"-o", setting}, {}, line);
    expectRefused({}, {"WAVESAN_OPTIONS=" + setting}, "WAVESAN_OPTIONS: " + line);
  }
  for (const std::string seed : {"-1", "18446744073709551616", "1.5", "abc", "", "1:hooks=device"}) {
    const std::string line = "option seed: '" + seed + "' is not a number from 0 to 18446744073709551615";
    expectRefused({"--seed=" + seed}, {}, "run: " + (seed.empty() ? "--seed: 1 required TEXT missing" : line));
    expectRefused({"-o", "seed='" + seed + "'"}, {}, line + more);
    expectRefused({}, {"WAVESAN_OPTIONS=seed='" + seed + "'"}, "WAVESAN_OPTIONS: " + line + more);
  }
  expectRefused({"-o", "exitcode=256"}, {}, "option exitcode: '256' is not a number from 0 to 255" + more);
  Ended e = run({"run", "--device=cpu", "--gpu=gfx77", "true"});
  EXPECT_EQ(e.status, 2);
  EXPECT_TRUE(contains(e.err, "wavesan: error: run: option gpu: 'gfx77' is none of auto, gfx900, ")) << e.err;
  e = run({"run", "--device=cpu", "true"}, {"WAVESAN_OPTIONS=gpu=gfx77"});
  EXPECT_EQ(e.status, 2);
  EXPECT_TRUE(contains(e.err, "WAVESAN_OPTIONS: option gpu: 'gfx77' is none of auto, gfx900, ")) << e.err;
  EXPECT_EQ(run({"run", "--device=cpu", "--gpu=", "true"}).status, 2);
  EXPECT_EQ(run({"run", "--device=cpu", "--gpu=auto", "--seed=0x10", "sh", "-c", "exit 3"}).status, 3);
}

TEST_F(Supervisor, NumbersOfReportFlags) {
  for (const char *flag : {"--min-count", "--full"})
    for (const std::string value : {"-1", "18446744073709551616", "x"}) {
      Ended e = run({"report", flag + ("=" + value), "x.json"});
      EXPECT_EQ(e.status, 2);
      EXPECT_EQ(e.err, "wavesan: error: report: " + std::string(flag) + ": '" + value +
                           "' is not a number from 0 to 18446744073709551615\n");
    }
  EXPECT_EQ(run({"report", "--exitcode=-1", "x.json"}).status, 2);
  EXPECT_EQ(run({"report", "--exitcode=256", "x.json"}).status, 2);
}

TEST_F(Supervisor, NothingIsSuggestedFromFarOff) {
  EXPECT_EQ(run({"run", "--frobnicate", "true"}).err,
            "wavesan: error: run: unknown option '--frobnicate' (wavesan run --help)\n");
  EXPECT_EQ(run({"run", "-q", "true"}).err, "wavesan: error: run: unknown option '-q' (wavesan run --help)\n");
  EXPECT_EQ(run({"run", "-o", "frobnicate=1", "true"}).err,
            "wavesan: error: unknown option 'frobnicate' (all options: wavesan help options)\n");
}

TEST_F(Supervisor, HelpIsPrintedWhateverTheProgramDoes) {
  for (const auto &[flags, variable] : {std::pair(Words{}, "WAVESAN_OPTIONS=help=1:seed=4"),
                                        std::pair(Words{"-o", "help"}, "WAVESAN_OPTIONS=seed=4")}) {
    Words words = {"run", "--device=cpu"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"sh", "-c", "echo $WAVESAN_OPTIONS; exit 3"});
    const Ended e = run(words, {variable});
    EXPECT_EQ(e.status, 3); // and it goes on
    EXPECT_TRUE(contains(e.err, "wavesan: options, set by WAVESAN_OPTIONS=name=value:name=value\n")) << e.err;
    EXPECT_TRUE(contains(e.err, "wavesan:   seed=4  (uint64) ")) << e.err;
    EXPECT_TRUE(contains(e.err, "wavesan:   help=true  (bool) ")) << e.err;
    EXPECT_TRUE(e.out.ends_with("help=0\n")) << e.out; // the tool does not say it once more
  }
  EXPECT_FALSE(contains(run({"run", "--device=cpu", "true"}).err, "options, set by"));
}

TEST_F(Supervisor, MissingPartsAreNamed) {
  fs::remove(Dir.path() / "lib/wavesan/cpu-agent/libhsa-runtime64.so.1");
  Ended e = run({"run", "--device=cpu", "true"});
  EXPECT_EQ(e.status, 2);
  EXPECT_TRUE(contains(e.err, "the CPU agent is missing")) << e.err;
}

TEST_F(Supervisor, DeviceChoice) {
  if (access("/dev/kfd", F_OK) == 0)
    GTEST_SKIP() << "this machine has /dev/kfd";
  Ended e = run({"run", "--device=gpu", "true"});
  EXPECT_EQ(e.status, 2);
  EXPECT_TRUE(contains(e.err, "no usable AMD GPU (/dev/kfd: No such file or directory)")) << e.err;
  e = run({"run", "true"});
  EXPECT_EQ(e.status, 67);
  EXPECT_TRUE(
      contains(e.err, "wavesan: no usable AMD GPU (/dev/kfd: No such file or directory); running on the CPU agent\n"))
      << e.err;
}

TEST_F(Supervisor, TheProgramSeesItsEnvironment) {
  Ended e = run({"run", "--device=cpu", "--seed=5", "sh", "-c",
                 "echo $WAVESAN_OPTIONS; echo $HSA_TOOLS_LIB; echo $LD_LIBRARY_PATH"},
                {"WAVESAN_OPTIONS=verbosity=0", "LD_LIBRARY_PATH=", "HSA_TOOLS_LIB="});
  std::string lib = (Dir.path() / "lib/wavesan").string();
  EXPECT_EQ(e.out, "verbosity=0:seed=5\n" + lib + "/libwavesan-hsa.so\n" + lib + "/cpu-agent\n");
}
