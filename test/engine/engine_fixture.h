// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs kernels written as IR text, or compiled from HIP when the tests are built, directly on the engine.
#ifndef WAVESAN_TEST_ENGINE_FIXTURE_H
#define WAVESAN_TEST_ENGINE_FIXTURE_H

#include "engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace wavesan::cpu::test {

/// Size of a dispatch.
struct Size {
  uint32_t grid[3] = {64, 1, 1};
  uint32_t workgroup[3] = {64, 1, 1};
};
inline Size linear(uint32_t grid, uint32_t workgroup) { return {{grid, 1, 1}, {workgroup, 1, 1}}; }

/// The kernarg segment: arguments at their natural alignment, then 256 bytes of hidden arguments.
class Arguments {
public:
  template <class T> Arguments &add(const T &value) {
    while (bytes.size() % alignof(T))
      bytes.push_back(0);
    const auto *p = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), p, p + sizeof(T));
    return *this;
  }
  const std::vector<uint8_t> &data() const { return bytes; }

private:
  std::vector<uint8_t> bytes;
};
/// By value: an array is passed as a pointer to it.
template <class... T> Arguments arguments(T... values) {
  Arguments a;
  (a.add(values), ...);
  return a;
}

struct Options {
  std::string target = "gfx90a";
  uint32_t fixedLds = 0;
  uint32_t dynamicLds = 0;
  uint64_t seed = 1;
  HookHandler *hooks = nullptr;
  const std::atomic<bool> *cancel = nullptr;
  const ForcedOrder *forced = nullptr;
  bool perturb = false;
  uint32_t threads = 1;
  std::function<void(const std::function<void()> &)> aroundThread{};
  std::function<bool(uint64_t, uint64_t)> trialMemory{};
  const WriteNotes *notes = nullptr;
  uint64_t watchAfterMs = 0;
  std::function<void(const std::string &)> standing{};
  std::function<uint64_t(std::string_view)> resolve{};
  int codeObjectVersion = 4;
  uint64_t queue = 0, dispatchId = 0;
};

/// Bitcode of a module written as text; data layout and triple are prepended. Fails the test on a syntax error.
std::string assemble(const std::string &ir);
/// Bitcode of kernels.hip as compiled for `target`.
std::string compiledKernels(const std::string &target);

/// Loads a module; fails the test if that does not work.
std::unique_ptr<Program> load(const std::string &bitcode, const Options &options = {});
Outcome run(Program &program, const std::string &kernel, const Size &size, const Arguments &arguments,
            const Options &options = {});
/// Loads, runs, and fails the test unless the outcome is Success.
Outcome runText(const std::string &ir, const Size &size, const Arguments &arguments, const Options &options = {});

/// A handler that ignores everything.
struct NoHooks : HookHandler {
  void kernelBegin(WaveView &, LaneMask, const abi::DispatchContext *) override {}
  void kernelEnd(WaveView &, LaneMask) override {}
  void ldsAccess(WaveView &, LaneMask, const uint32_t *, uint32_t, uint32_t, uint32_t) override {}
  void genericAccess(WaveView &, LaneMask, const uint64_t *, uint32_t, uint32_t) override {}
  void ldsRange(WaveView &, LaneMask, const uint32_t *, const uint64_t *, uint32_t, uint32_t, uint32_t) override {}
  void genericRange(WaveView &, LaneMask, const uint64_t *, const uint64_t *, uint32_t, uint32_t) override {}
  void barrierArrive(WaveView &, LaneMask, uint32_t) override {}
  void barrierLeave(WaveView &, LaneMask, uint32_t) override {}
  void fence(WaveView &, LaneMask, uint32_t) override {}
  void wait(WaveView &, LaneMask, uint32_t) override {}
  void workgroupEnd(void *) override {}
};

} // namespace wavesan::cpu::test

#endif // WAVESAN_TEST_ENGINE_FIXTURE_H
