// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An engine for the agent's tests: "executes" the kernels of fake_kernels.c by name, on behalf of the whole grid.
#include "engine.h"

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

namespace wavesan::cpu {
namespace {

template <class T> T argument(const Launch &launch, size_t offset) {
  T value;
  std::memcpy(&value, launch.kernarg + offset, sizeof(value));
  return value;
}

class FakeProgram final : public Program {
public:
  explicit FakeProgram(uint64_t counter) : Counter(reinterpret_cast<uint32_t *>(counter)) {}

  bool hasKernel(std::string_view name) const override {
    for (std::string_view known : {"append", "spin", "unsupported", "bumpCounter"})
      if (name == known)
        return true;
    return false;
  }
  uint32_t waveSize() const override { return 64; }

  Outcome run(const Launch &launch) override {
    if (launch.kernel == "append") { // not atomic: dispatches of one queue must not overlap
      auto *log = argument<uint32_t *>(launch, 0);
      const uint32_t at = log[0];
      std::this_thread::yield();
      log[1 + at] = argument<uint32_t>(launch, 8);
      log[0] = at + 1;
      return {};
    }
    if (launch.kernel == "spin") {
      auto *flag = argument<uint32_t *>(launch, 0);
      while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        if (launch.cancel && *launch.cancel)
          return {Outcome::Cancelled, "cancelled (kernel spin)"};
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      return {};
    }
    if (launch.kernel == "unsupported")
      return {Outcome::UnsupportedInstruction, "test.op is not supported by the CPU agent (kernel unsupported, k.c:1)"};
    *argument<uint32_t *>(launch, 0) = ++*Counter;
    return {};
  }

private:
  uint32_t *Counter;
};

} // namespace

std::unique_ptr<Program> Program::load(std::string_view bitcode, std::string_view,
                                       std::function<uint64_t(std::string_view)> resolve, std::string &error,
                                       std::string_view) {
  if (!bitcode.starts_with("WSFAKE")) {
    error = "not bitcode of the fake engine";
    return nullptr;
  }
  return std::make_unique<FakeProgram>(resolve("Counter"));
}

} // namespace wavesan::cpu
