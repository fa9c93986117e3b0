// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/quiet_write.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <poll.h>
#include <unistd.h>

namespace wavesan::report {

namespace {

/// Keeps the signals that a failing write() sends to its thread from reaching the program.
class WriteSignalsHeld {
public:
  WriteSignalsHeld() {
    sigemptyset(&Held);
    sigaddset(&Held, SIGPIPE);
    sigaddset(&Held, SIGXFSZ);
    sigpending(&Before);
    pthread_sigmask(SIG_BLOCK, &Held, &Mask);
  }
  ~WriteSignalsHeld() {
    for (int s : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&Before, s))
        continue; // the program's own
      sigset_t only;
      sigemptyset(&only);
      sigaddset(&only, s);
      const timespec now{0, 0};
      while (sigtimedwait(&only, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &Mask, nullptr);
  }
  WriteSignalsHeld(const WriteSignalsHeld &) = delete;
  WriteSignalsHeld &operator=(const WriteSignalsHeld &) = delete;

private:
  sigset_t Held, Before, Mask;
};

} // namespace

int writeQuietly(int fd, std::string_view text) {
  WriteSignalsHeld held;
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(size_t(written));
      continue;
    }
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0 && errno == EAGAIN) { // the program made its stderr non-blocking
      pollfd ready{fd, POLLOUT, 0};
      if (poll(&ready, 1, 10'000) > 0)
        continue;
      return EAGAIN;
    }
    return written < 0 ? errno : EIO;
  }
  return 0;
}

} // namespace wavesan::report
