// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fork, exec, wait. Signals are taken one by one with sigwaitinfo, so there is no code in signal handlers and no window
// in which one is lost.
#include "child_process.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wavesan::driver {

namespace {

constexpr int kForwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGINT, SIGQUIT};

std::vector<char *> pointersTo(const std::vector<std::string> &words) {
  std::vector<char *> out;
  for (const std::string &w : words)
    out.push_back(const_cast<char *>(w.c_str()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void becomeProgram(const std::vector<std::string> &command, const std::vector<std::string> &environment,
                                const sigset_t &mask, int report) {
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  std::vector<char *> argv = pointersTo(command), envp = pointersTo(environment);
  execvpe(argv[0], argv.data(), envp.data());
  int why = errno;
  // The reader sees end-of-file when exec succeeded (the pipe closes on exec), else this.
  while (write(report, &why, sizeof why) < 0 && errno == EINTR) {
  }
  _exit(127);
}

bool sentByProcess(const siginfo_t &info) {
  return info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
}

} // namespace

ChildEnd runChild(const std::vector<std::string> &command, const std::vector<std::string> &environment) {
  ChildEnd end;
  sigset_t taken, before;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  for (int s : kForwarded)
    sigaddset(&taken, s);
  sigprocmask(SIG_BLOCK, &taken, &before);

  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    end.startError = errno;
    return end;
  }
  pid_t child = fork();
  if (child < 0) {
    end.startError = errno;
    close(report[0]);
    close(report[1]);
    return end;
  }
  if (child == 0)
    becomeProgram(command, environment, before, report[1]);
  close(report[1]);
  ssize_t n;
  do
    n = read(report[0], &end.startError, sizeof end.startError);
  while (n < 0 && errno == EINTR);
  close(report[0]);
  if (n != sizeof end.startError)
    end.startError = 0;

  for (;;) {
    int status;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFSIGNALED(status))
        end.signal = WTERMSIG(status);
      else
        end.exitStatus = WEXITSTATUS(status);
      return end;
    }
    siginfo_t info;
    int s = sigwaitinfo(&taken, &info);
    if (s <= 0 || s == SIGCHLD)
      continue;
    bool fromTerminal = (s == SIGINT || s == SIGQUIT || s == SIGWINCH) && !sentByProcess(info);
    if (!fromTerminal)
      kill(child, s);
  }
}

void endBySignal(int signal) {
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
}

} // namespace wavesan::driver
