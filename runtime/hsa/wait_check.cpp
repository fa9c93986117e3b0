// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wait_check.h"

#include "wavesan/abi/hooks.h"
#include "wavesan/abi/options.h"
#include "wavesan/abi/status_page.h"
#include "wavesan/report/printable.h"
#include "wavesan/report/race.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace wavesan::hsa {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kTwinSuffix = abi::kTwinSuffix;

std::string textOf(const Json &json, const char *key) {
  return json.contains(key) && json[key].is_string() ? report::printable(json[key].get<std::string>()) : std::string();
}

uint64_t numberOf(const Json &json, const char *key) {
  return json.contains(key) && json[key].is_number_unsigned() ? json[key].get<uint64_t>() : 0;
}

report::CodePlace placeOf(const Json &json) {
  return {textOf(json, "text"), numberOf(json, "offset"), textOf(json, "file"), uint32_t(numberOf(json, "line")),
          uint32_t(numberOf(json, "column"))};
}

report::WaitHazard hazardOf(const Json &json) {
  report::WaitHazard h;
  h.code = textOf(json, "code");
  h.title = textOf(json, "title");
  h.proven = textOf(json, "confidence") == "proven";
  h.kernelMangled = textOf(json, "function");
  h.kernel = report::printable(report::demangle(h.kernelMangled));
  h.isKernel = !json.contains("kernel") || json["kernel"] != false;
  h.target = textOf(json, "target");
  h.registers = textOf(json, "registers");
  h.counter = textOf(json, "counter");
  if (json.contains("emitted_wait") && json["emitted_wait"].is_number_unsigned())
    h.emittedWait = uint32_t(numberOf(json, "emitted_wait"));
  h.sufficientWait = uint32_t(numberOf(json, h.counter.empty() ? "wait_states_needed" : "sufficient_wait"));
  if (json.contains("producer") && json["producer"].is_object())
    h.producer = placeOf(json["producer"]);
  if (json.contains("consumer") && json["consumer"].is_object())
    h.consumer = placeOf(json["consumer"]);
  return h;
}

bool isTwin(const report::WaitHazard &h) { return h.kernelMangled.ends_with(kTwinSuffix); }

/// The same mistake in the original and in its copy: registers and offsets differ, source lines or mnemonics do not.
std::string mistakeKey(const report::WaitHazard &h) {
  auto place = [](const report::CodePlace &p) {
    if (!p.file.empty())
      return p.file + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
    return p.instruction.substr(0, p.instruction.find(' '));
  };
  return originalName(h) + '\n' + h.code + '\n' + (h.producer ? place(*h.producer) : std::string()) + '\n' +
         place(h.consumer);
}

/// The process's environment without what would bring this tool, or the agent, into the checker as well.
std::vector<char *> checkerEnvironment() {
  std::vector<char *> out;
  for (char **e = environ; *e; ++e) {
    const std::string_view setting = *e;
    bool left = true;
    for (const char *name : {"HSA_TOOLS_LIB", "LD_PRELOAD", abi::kOptionsVariable, abi::kStatusFdVariable})
      left &= !(setting.starts_with(name) && setting.substr(std::strlen(name)).starts_with("="));
    if (left)
      out.push_back(*e);
  }
  out.push_back(nullptr);
  return out;
}

std::string besideThisLibrary(const char *name) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&besideThisLibrary), &info) || !info.dli_fname)
    return {};
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return (slash == std::string::npos ? std::string(".") : file.substr(0, slash)) + "/" + name;
}

struct Descriptor {
  int fd = -1;
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0)
      close(fd);
    fd = -1;
  }
};

std::string lastError(const char *what) { return std::string(what) + ": " + std::strerror(errno); }

/// The object as a file without a name. False: errno says why.
bool putIntoMemory(std::string_view object, Descriptor &memory) {
  memory.fd = memfd_create("wavesan-code-object", MFD_CLOEXEC);
  if (memory.fd < 0)
    return false;
  while (!object.empty()) {
    const ssize_t n = write(memory.fd, object.data(), object.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    object.remove_prefix(size_t(n));
  }
  return lseek(memory.fd, 0, SEEK_SET) == 0;
}

} // namespace

std::string originalName(const report::WaitHazard &h) {
  return h.kernelMangled.substr(0, h.kernelMangled.size() - (isTwin(h) ? kTwinSuffix.size() : 0));
}

WaitCheckResult readWaitReport(std::string_view jsonLines) {
  WaitCheckResult result;
  std::vector<report::WaitHazard> twins;
  std::set<std::string> originals;
  while (!jsonLines.empty()) {
    const size_t end = jsonLines.find('\n');
    const std::string_view line = jsonLines.substr(0, end);
    jsonLines.remove_prefix(end == std::string_view::npos ? jsonLines.size() : end + 1);
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
      continue;
    const std::string type = textOf(json, "type");
    if (type == "hazard") {
      report::WaitHazard h = hazardOf(json);
      if (isTwin(h)) {
        twins.push_back(std::move(h));
      } else {
        originals.insert(mistakeKey(h));
        result.hazards.push_back(std::move(h));
      }
    } else if (type == "problem") {
      result.problems.push_back(textOf(json, "text"));
    } else if (type == "summary") {
      result.complete = true;
      result.notShown = numberOf(json, "not_shown");
      result.incompleteFunctions = numberOf(json, "incomplete_functions");
    }
  }
  for (report::WaitHazard &h : twins)
    if (!originals.contains(mistakeKey(h)))
      result.hazards.push_back(std::move(h));
  return result;
}

WaitChecker::WaitChecker(std::string program)
    : Program(program.empty() ? besideThisLibrary("wavesan-check") : std::move(program)) {}

bool WaitChecker::isNew(std::string_view object) {
  std::lock_guard lock(Mutex);
  return Known.insert({object.size(), std::hash<std::string_view>()(object)}).second;
}

WaitCheckResult WaitChecker::check(std::string_view object) const {
  WaitCheckResult failed;
  auto failure = [&](const std::string &why) {
    failed.problems = {why};
    return failed;
  };
  Descriptor memory, reading, writing;
  if (!putIntoMemory(object, memory))
    return failure(lastError("memory for a copy"));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failure(lastError("pipe"));
  reading.fd = ends[0];
  writing.fd = ends[1];

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, memory.fd, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, writing.fd, STDOUT_FILENO);
  // The program's blocked signals are none of the checker's.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> words = {Program, "--format=json", "-q", "-j", "0", "-"};
  std::vector<char *> arguments;
  for (std::string &w : words)
    arguments.push_back(w.data());
  arguments.push_back(nullptr);
  std::vector<char *> environment = checkerEnvironment();
  pid_t child = 0;
  const int started = posix_spawn(&child, Program.c_str(), &actions, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0)
    return failure(Program + ": " + std::strerror(started));
  writing.reset();

  std::string output;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(reading.fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    output.append(buffer, size_t(n));
  }
  // The program may have taken the child's status (a handler that waits for any child): the output says enough.
  int status = 0;
  pid_t waited;
  while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  WaitCheckResult result = readWaitReport(output);
  if (!result.complete)
    result.problems.push_back(waited == child && WIFSIGNALED(status)
                                  ? "the checker was ended by signal " + std::to_string(WTERMSIG(status))
                                  : "the checker ended before its time");
  return result;
}

} // namespace wavesan::hsa
