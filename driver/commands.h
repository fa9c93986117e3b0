// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The subcommands, one file each. All return the process's exit status.
#ifndef WAVESAN_DRIVER_COMMANDS_H
#define WAVESAN_DRIVER_COMMANDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::driver {

/// `wavesan cc`: `words` are the arguments behind "cc". Does not return when the compiler could be started.
int compileCommand(const std::vector<std::string> &words);

/// `wavesan c++`, and the executable called as wavesan-c++: the same as a compiler, without options of its own.
int cxxCommand(const std::vector<std::string> &words);

/// `wavesan doctor`: `words` are the arguments behind "doctor".
int doctorCommand(const std::vector<std::string> &words);

struct RunRequest {
  enum class Device { Auto, Gpu, Cpu } device = Device::Auto;
  std::string options;       ///< text of the WAVESAN_OPTIONS form, from -o, --seed and --gpu; wins over the environment
  bool preloadAgent = false; ///< --preload
  /// --gpu=A,B: one run after the other, each as one of these; empty: one run, as the options say.
  std::vector<std::string> targets;
  std::vector<std::string> command; ///< program and its arguments; not empty
  /// `wavesan record`: the options name the region and the files, and the run is there for them.
  bool record = false;
};

/// `wavesan run` and `wavesan record`. May end the process by the signal that ended the program.
int runCommand(const RunRequest &request);

struct TraceRequest {
  RunRequest::Device device = RunRequest::Device::Auto;
  std::string options;       ///< as RunRequest; without those that name the files
  bool preloadAgent = false; ///< --preload
  bool csv = true, json = false, perfetto = false, graph = false, dot = false;
  std::string prefix = "wavesan-trace"; ///< of the files' names
  std::vector<std::string> command;     ///< program and its arguments; not empty
};

/// `wavesan trace`. May end the process by the signal that ended the program.
int traceCommand(const TraceRequest &request);

struct ReplayRequest {
  RunRequest::Device device = RunRequest::Device::Auto;
  std::vector<std::string> paths; ///< capsules and directories of them; not empty
  std::optional<uint64_t> seed;   ///< instead of the recorded one
  bool minimise = false;
  uint32_t trials = 200;
};

/// `wavesan replay`.
int replayCommand(const ReplayRequest &request);

/// `wavesan check`: `words` are the arguments behind "check". Does not return when the checker could be started.
int checkCommand(const std::vector<std::string> &words);

/// `wavesan report`: `words` are the arguments behind "report".
int reportCommand(const std::vector<std::string> &words);

/// `wavesan help options`.
int helpOptionsCommand();

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_COMMANDS_H
