// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program: a module, its kernels decoded on demand, and launches.
#include "crew.h"
#include "decoder.h"
#include "engine.h"
#include "independence.h"
#include "interleave.h"

#include "wavesan/abi/workgroup_number.h"

#include "llvm/IR/Function.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

namespace wavesan::cpu {

using namespace engine;

namespace {

constexpr uint32_t kMaxWorkgroupItems = 1024;
constexpr uint32_t kMaxGroupSegment = 16 << 20;
// Private memory of a lane in kernels with calls, whose depth is not known.
constexpr uint32_t kScratchWithCalls = 128 << 10;
constexpr uint32_t kUnwatchedQuantumBits = 4;
// Dispatches of fewer waves are done before another thread has woken up.
constexpr uint64_t kTrialWaves = 8;

uint32_t gfxMajorOf(std::string_view target) {
  // "gfx90a" is 9.0.10, "gfx1030" is 10.3.0: the last two digits are minor and stepping.
  if (!target.starts_with("gfx") || target.size() < 6)
    return 0;
  uint32_t major = 0;
  for (const char c : target.substr(3, target.size() - 5)) {
    if (c < '0' || c > '9')
      return 0;
    major = major * 10 + uint32_t(c - '0');
  }
  return major;
}

/// Whether a kernel's next dispatch is to be tried. A trial that fails is work for nothing: after each in a row twice
/// as many dispatches go without. Thread-safe.
class TrialHabit {
public:
  bool due() {
    uint32_t left = Without.load(std::memory_order_relaxed);
    while (left && !Without.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
    }
    return left == 0;
  }
  void held() { InARow.store(0, std::memory_order_relaxed); }
  void failed() {
    const uint32_t n = std::min(InARow.fetch_add(1, std::memory_order_relaxed) + 1, kMaxBits);
    Without.store((1u << n) - 1, std::memory_order_relaxed);
  }

private:
  static constexpr uint32_t kMaxBits = 10;
  std::atomic<uint32_t> InARow{0}, Without{0};
};

struct Kernel {
  KernelContext context;
  const engine::Function *entry = nullptr;
  bool independent = false; ///< independence.h
  bool triable = false;     ///< the same
  TrialHabit trials;
  std::map<const llvm::Function *, std::unique_ptr<engine::Function>> functions;
};

class ProgramImpl final : public Program {
public:
  ProgramImpl(std::unique_ptr<ModuleState> module, std::string target)
      : module(std::move(module)), target(std::move(target)) {}

  bool hasKernel(std::string_view name) const override { return kernelFunction(name) != nullptr; }
  uint32_t waveSize() const override {
    for (const llvm::Function &f : module->module())
      if (f.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !f.isDeclaration())
        return waveSizeOf(f);
    return gfxMajorOf(target) >= 10 ? 32 : 64;
  }
  Outcome run(const Launch &launch) override;

private:
  std::unique_ptr<ModuleState> module;
  std::string target;
  ResidencyPool pool;
  std::mutex mutex; // guards all below, and decoding (the LLVM context is not thread-safe)
  std::map<std::tuple<std::string, uint32_t, bool>, std::unique_ptr<Kernel>> kernels;
  std::vector<std::unique_ptr<std::string>> messages;

  const llvm::Function *kernelFunction(std::string_view name) const {
    const llvm::Function *f = module->module().getFunction(llvm::StringRef(name.data(), name.size()));
    return f && !f->isDeclaration() && f->getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL ? f : nullptr;
  }
  uint32_t waveSizeOf(const llvm::Function &f) const {
    const llvm::StringRef features = f.getFnAttribute("target-features").getValueAsString();
    if (features.contains("+wavefrontsize32"))
      return 32;
    if (features.contains("+wavefrontsize64"))
      return 64;
    const llvm::StringRef cpu = f.getFnAttribute("target-cpu").getValueAsString();
    return gfxMajorOf(cpu.empty() ? std::string_view(target) : std::string_view(cpu.data(), cpu.size())) >= 10 ? 32 : 64;
  }
  Kernel &kernel(const llvm::Function &f, uint32_t fixedLdsBytes, bool notesWrites);
  const engine::Function *decode(Kernel &k, const llvm::Function &f);
  std::optional<Outcome> runOnTrial(LaunchState &state, const Shape &shape, Kernel &k);
  std::string checkLaunch(const Launch &launch, const Kernel &k) const;
  void fillLaunchBank(const Launch &launch, const Kernel &k, LaunchState &state, std::byte *bank) const;

  static const engine::Function *functionOf(LaunchState &state, const void *function, const char **error);
  static const engine::Function *functionAt(LaunchState &state, uint64_t address, const char **error);
};

Kernel &ProgramImpl::kernel(const llvm::Function &f, uint32_t fixedLdsBytes, bool notesWrites) {
  std::lock_guard lock(mutex);
  auto &slot = kernels[{f.getName().str(), fixedLdsBytes, notesWrites}];
  if (!slot) {
    slot = std::make_unique<Kernel>();
    KernelContext &c = slot->context;
    c.kernel = &f;
    c.waveSize = waveSizeOf(f);
    c.gfxMajor = gfxMajorOf(target);
    c.copiesAsync = engine::usesAsynchronousCopies(module->module());
    c.isTwin = f.getName().ends_with(abi::kTwinSuffix);
    c.notesWrites = notesWrites;
    c.processor = target.substr(0, target.find(':'));
    c.fixedLdsBytes = fixedLdsBytes;
    c.lds = layOutLds(f, fixedLdsBytes);
    layOutArguments(c, module->layout());
    auto barriers = std::make_unique<BarrierFlow>(f);
    if (!barriers->empty())
      c.barriers = std::move(barriers);
    slot->entry = decode(*slot, f);
    slot->independent = hasIndependentWorkgroups(f);
    slot->triable = canRunOnTrial(f);
  }
  return *slot;
}

// With the mutex held.
const engine::Function *ProgramImpl::decode(Kernel &k, const llvm::Function &f) {
  auto &slot = k.functions[&f];
  if (!slot)
    slot = Decoder(*module, k.context, f).decode();
  return slot.get();
}

const engine::Function *ProgramImpl::functionOf(LaunchState &state, const void *function, const char **) {
  auto &program = *static_cast<ProgramImpl *>(state.program);
  std::lock_guard lock(program.mutex);
  return program.decode(*static_cast<Kernel *>(state.kernel), *static_cast<const llvm::Function *>(function));
}

const engine::Function *ProgramImpl::functionAt(LaunchState &state, uint64_t address, const char **error) {
  auto &program = *static_cast<ProgramImpl *>(state.program);
  const llvm::Function *f = program.module->functionAt(address);
  if (!f)
    return nullptr;
  std::lock_guard lock(program.mutex);
  if (f->isDeclaration()) {
    program.messages.push_back(std::make_unique<std::string>(
        "indirect call of the undefined function " + f->getName().str() + " is not supported by the CPU agent"));
    *error = program.messages.back()->c_str();
    return nullptr;
  }
  return program.decode(*static_cast<Kernel *>(state.kernel), *f);
}

static uint32_t workgroupsAlong(const Launch &l, int axis) {
  return abi::workgroupsAlong(l.grid[axis], l.workgroup[axis]);
}

std::string ProgramImpl::checkLaunch(const Launch &l, const Kernel &k) const {
  uint64_t items = 1, workgroups = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (!l.grid[axis] || !l.workgroup[axis])
      return "grid and workgroup sizes must not be zero";
    items *= l.workgroup[axis];
    if (items > kMaxWorkgroupItems)
      return "a workgroup has more than " + std::to_string(kMaxWorkgroupItems) + " work-items";
    if (__builtin_mul_overflow(workgroups, workgroupsAlong(l, axis), &workgroups))
      return "the grid has 2^64 workgroups or more";
  }
  if (k.context.lds.staticBytes > l.fixedLdsBytes)
    return "the kernel's LDS variables need " + std::to_string(k.context.lds.staticBytes) +
           " bytes, the kernel descriptor reserves " + std::to_string(l.fixedLdsBytes);
  if (k.context.lds.namedBarriers.size() > NamedBarriers::kCount)
    return "the kernel has more than " + std::to_string(NamedBarriers::kCount) + " named barriers";
  if (l.fixedLdsBytes > l.groupSegmentBytes)
    return "the group segment of " + std::to_string(l.groupSegmentBytes) + " bytes is smaller than the kernel's fixed " +
           std::to_string(l.fixedLdsBytes);
  if (l.groupSegmentBytes > kMaxGroupSegment)
    return "the group segment of " + std::to_string(l.groupSegmentBytes) + " bytes is too large";
  if (k.context.explicitBytes > l.kernargBytes)
    return "the kernel's arguments need " + std::to_string(k.context.explicitBytes) + " bytes, the kernarg segment has " +
           std::to_string(l.kernargBytes);
  if (k.context.explicitBytes && !l.kernarg)
    return "the kernarg segment is missing";
  return {};
}

template <class T> static void broadcast(std::byte *to, T value, uint32_t lanes) {
  for (uint32_t i = 0; i < lanes; ++i)
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

void ProgramImpl::fillLaunchBank(const Launch &l, const Kernel &k, LaunchState &state, std::byte *bank) const {
  const uint32_t lanes = state.waveSize;
  const uint64_t kernarg = reinterpret_cast<uint64_t>(l.kernarg);
  const auto set = [&](LaunchBankRegister r, uint64_t value) { broadcast(bank + r * lanes * 8, value, lanes); };
  set(kImplicitArg, kernarg + llvm::alignTo(k.context.explicitBytes, 8));
  set(kDispatchPtr, reinterpret_cast<uint64_t>(l.packet));
  set(kQueuePtr, l.queue);
  set(kKernargPtr, kernarg);
  set(kDispatchId, l.dispatchId);
  for (const KernelContext::Argument &a : k.context.arguments) {
    std::byte *to = bank + (a.reg & 0x3fffffffu);
    u128 value = 0;
    if (a.byRef)
      value = kernarg + a.offset;
    else
      std::memcpy(&value, l.kernarg + a.offset, a.bytes);
    switch (a.width) {
    case Width::B8: broadcast(to, uint8_t(value), lanes); break;
    case Width::B16: broadcast(to, uint16_t(value), lanes); break;
    case Width::B32: broadcast(to, uint32_t(value), lanes); break;
    case Width::B64: broadcast(to, uint64_t(value), lanes); break;
    case Width::B128: broadcast(to, value, lanes); break;
    }
  }
}

Outcome ProgramImpl::run(const Launch &launch) {
  const std::string suffix = " (kernel " + std::string(launch.kernel) + ")";
  const llvm::Function *f = kernelFunction(launch.kernel);
  if (!f)
    return {Outcome::InvalidLaunch, "the device module does not define the kernel" + suffix};
  Kernel &k = kernel(*f, launch.fixedLdsBytes, launch.notes != nullptr);
  if (std::string error = checkLaunch(launch, k); !error.empty())
    return {Outcome::InvalidLaunch, error + suffix};

  LaunchState state;
  GridBarriers gridBarriers;
  state.launch = &launch;
  state.gridBarriers = &gridBarriers;
  state.entry = k.entry;
  state.waveSize = k.context.waveSize;
  state.function = functionOf;
  state.functionAt = functionAt;
  state.program = this;
  state.kernel = &k;
  const bool watched = k.context.isTwin || k.entry->hasHooks || launch.perturb;
  state.quantumBits = watched ? 0 : kUnwatchedQuantumBits;
  state.namedBarriers = &k.context.lds.namedBarriers;
  state.forcer.begin(launch.hooks ? launch.forced : nullptr);
  state.barriers = launch.hooks ? k.context.barriers.get() : nullptr;
  std::vector<std::byte> bank(k.context.launchBankBytes + 64);
  state.launchBank = bank.data();
  fillLaunchBank(launch, k, state, bank.data());

  Shape shape;
  shape.count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    shape.workgroups[axis] = workgroupsAlong(launch, axis);
    shape.count *= shape.workgroups[axis];
  }
  const uint32_t items = launch.workgroup[0] * launch.workgroup[1] * launch.workgroup[2];
  shape.waves = (items + state.waveSize - 1) / state.waveSize;
  // An odd number of cache lines, so that the lanes' stacks do not all fall into the same cache set.
  const uint32_t scratch = k.entry->hasCalls ? k.entry->privateBytes + kScratchWithCalls : k.entry->privateBytes;
  shape.scratchStride = ((scratch + 63) / 64 | 1) * 64;

  if (std::optional<Outcome> outcome = runOnTrial(state, shape, k))
    return *std::move(outcome);
  Outcome outcome = runWorkgroups(state, shape, pool, k.independent && !launch.perturb && !launch.forced);
  outcome.orderMade = state.forcer.made();
  if (launch.hooks)
    launch.hooks->dispatchEnd(state.hookData);
  return outcome;
}

// Nothing: there is no trial, or it has not held, and nothing has happened.
std::optional<Outcome> ProgramImpl::runOnTrial(LaunchState &state, const Shape &shape, Kernel &k) {
  const Launch &launch = *state.launch;
  if (!k.triable || launch.threads < 2 || shape.count < 2 || shape.count * shape.waves < kTrialWaves ||
      launch.perturb || launch.forced || !launch.hooks || !launch.hooks->takesTrials() || !k.trials.due())
    return std::nullopt;
  Trial trial(launch.trialMemory);
  state.trial = &trial;
  Outcome outcome = runWorkgroups(state, shape, pool, true);
  if (outcome && !trial.failed()) {
    k.trials.held();
    launch.hooks->dispatchEnd(state.hookData);
    return outcome;
  }
  k.trials.failed();
  launch.hooks->dispatchUndo(state.hookData);
  state.trial = nullptr;
  state.hookData = nullptr;
  state.failedAt = Crew::kNobody;
  state.progress = 0;
  return std::nullopt;
}

} // namespace

std::unique_ptr<Program> Program::load(std::string_view bitcode, std::string_view target,
                                       std::function<uint64_t(std::string_view)> resolve, std::string &error,
                                       std::string_view hookBodies) {
  if (gfxMajorOf(target) == 0) {
    error = "unknown target " + std::string(target);
    return nullptr;
  }
  std::unique_ptr<ModuleState> module = ModuleState::parse(bitcode, hookBodies, error);
  if (!module || !module->placeGlobals(resolve, error))
    return nullptr;
  return std::make_unique<ProgramImpl>(std::move(module), std::string(target));
}

} // namespace wavesan::cpu
