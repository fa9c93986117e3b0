// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads execute checked kernels on trial: memory, outcome, reports, counts and summaries of random kernels
// are those of one thread, to the last bit, whether workgroups race, fault, or do neither.
#include "engine_fixture.h"
#include "ir_texts.h"
#include "native_hooks.h"

#include "wavesan/abi/stream_check.h"

#include <atomic>
#include <chrono>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <tuple>

namespace wavesan::cpu::test {
namespace {

constexpr uint32_t kRead = 1025, kWrite = 1026; ///< abi::accessInfo() of 4 bytes

const std::string kDeclarations = std::string(kHookDeclarations) + R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.trap()
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32 immarg)
declare void @__wavesan_grid_arrive(ptr addrspace(5), i32)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
)";

/// Writes a kernel with the hooks that the pass would emit. Arguments: memory that is written, memory that is read, and
/// the context.
class KernelText {
public:
  std::string body;
  uint32_t sites = 0;
  bool allChecked = true;

  std::string fresh() { return "%v" + std::to_string(Names++); }
  /// "name = what"
  std::string let(const std::string &what) {
    const std::string name = fresh();
    body += name + " = " + what + "\n";
    return name;
  }
  std::string element(const char *array, const std::string &index) {
    return let(std::string("getelementptr i32, ptr addrspace(1) ") + array + ", i32 " + index);
  }
  void hook(const std::string &p, uint32_t info) {
    const std::string flat = let("addrspacecast ptr addrspace(1) " + p + " to ptr");
    body += "call void @__wavesan_global_access(ptr addrspace(5) %s, ptr " + flat + ", i32 " + std::to_string(info) +
            ", i32 " + std::to_string(sites++) + ")\n";
  }
  std::string load(const char *array, const std::string &index) {
    const std::string p = element(array, index);
    hook(p, kRead);
    return let("load i32, ptr addrspace(1) " + p);
  }
  void store(const char *array, const std::string &index, const std::string &value) {
    const std::string p = element(array, index);
    hook(p, kWrite);
    body += "store i32 " + value + ", ptr addrspace(1) " + p + "\n";
  }
  void barrier() {
    const std::string site = std::to_string(sites++);
    body += "fence syncscope(\"workgroup\") release\ncall void @__wavesan_fence(ptr addrspace(5) %s, i32 526)\n"
            "call void @__wavesan_barrier_arrive(ptr addrspace(5) %s, i32 " +
            site +
            ")\n"
            "call void @llvm.amdgcn.s.barrier()\n"
            "call void @__wavesan_barrier_leave(ptr addrspace(5) %s, i32 " +
            site +
            ")\n"
            "fence syncscope(\"workgroup\") acquire\ncall void @__wavesan_fence(ptr addrspace(5) %s, i32 525)\n";
  }
  /// What `inside` writes happens where `condition` holds.
  template <class F> void where(const std::string &condition, F inside) {
    const std::string then = "then" + std::to_string(Names++), rest = "rest" + std::to_string(Names++);
    body += "br i1 " + condition + ", label %" + then + ", label %" + rest + "\n" + then + ":\n";
    inside();
    body += "br label %" + rest + "\n" + rest + ":\n";
  }
  std::string text() const {
    return kDeclarations +
           "define amdgpu_kernel void @k.wavesan(ptr addrspace(1) %a, ptr addrspace(1) %in, ptr addrspace(1) %ctx) #0 "
           "{\n"
           "%s = alloca [64 x i8], align 8, addrspace(5)\n"
           "call void @__wavesan_kernel_begin(ptr addrspace(5) %s, ptr addrspace(1) %ctx)\n"
           "%t = call i32 @llvm.amdgcn.workitem.id.x()\n%g = call i32 @llvm.amdgcn.workgroup.id.x()\n" +
           body + "call void @__wavesan_kernel_end(ptr addrspace(5) %s)\nret void\n}\nattributes #0 = { " +
           (allChecked ? "\"wavesan-checks-all\"" : "nounwind") + " }\n";
  }

private:
  unsigned Names = 0;
};

constexpr uint32_t kItems = 128, kMaxGroups = 24, kInput = 512;

/// Memory of a dispatch, aligned so that all copies have the same pages and lines.
struct Buffers {
  static constexpr size_t kWritten = 2 * kMaxGroups * kItems * 4,
                          kBytes = (kWritten + kInput * 4 + 4095) & ~size_t(4095);
  uint32_t *const a =
      static_cast<uint32_t *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uint32_t *const in = a + kWritten / 4;
  Buffers() = default;
  Buffers(const Buffers &) = delete;
  Buffers &operator=(const Buffers &) = delete;
  ~Buffers() { munmap(a, kBytes); }
  bool contains(uint64_t address, uint64_t bytes) const {
    const auto begin = reinterpret_cast<uint64_t>(a);
    return address >= begin && address + bytes <= begin + kBytes;
  }
};

struct Sink : abi::AccessSink {
  std::vector<std::tuple<uint64_t, uint64_t, uint32_t, uint32_t>> runs;
  unsigned calls = 0;
  Sink() {
    take = [](AccessSink *self, const abi::DispatchAccesses *all) {
      auto &sink = *static_cast<Sink *>(self);
      ++sink.calls;
      for (uint64_t i = 0; i < all->runCount; ++i)
        sink.runs.emplace_back(all->runs[i].begin, all->runs[i].end, all->runs[i].site, all->runs[i].bits);
    };
  }
};

struct Seen {
  Outcome::Kind kind;
  std::string message;
  std::vector<uint8_t> memory, races, counters;
  unsigned sinkCalls;
  std::vector<std::tuple<uint64_t, uint64_t, uint32_t, uint32_t>> runs;
  uint32_t threads = 0; ///< that took part
  uint64_t raceCount() const { return reinterpret_cast<const abi::DispatchCounters *>(counters.data())->racesSeen; }
  uint64_t checked() const { return reinterpret_cast<const abi::DispatchCounters *>(counters.data())->checkedAccesses; }
};

/// Runs the program's kernel once on memory with these contents.
Seen runOnce(Program &program, HookHandler &hooks, Buffers &buffers, const std::vector<uint8_t> &contents,
             uint32_t groups, Options options) {
  std::memcpy(buffers.a, contents.data(), contents.size());
  std::vector<uint64_t> table(sizeof(abi::RaceTable) / 8 + 64 * sizeof(abi::RaceRecord) / 8 + 1);
  reinterpret_cast<abi::RaceTable *>(table.data())->capacity = 64;
  abi::DispatchCounters counters{};
  Sink sink;
  abi::DispatchContext context{};
  context.raceTable = reinterpret_cast<uint64_t>(table.data());
  context.counters = reinterpret_cast<uint64_t>(&counters);
  context.granuleLog2 = 2;
  context.accessSink = reinterpret_cast<uint64_t>(static_cast<abi::AccessSink *>(&sink));
  for (int axis = 0; axis < 3; ++axis)
    context.gridSize[axis] = context.workgroupSize[axis] = 1;
  context.gridSize[0] = groups * kItems;
  context.workgroupSize[0] = kItems;
  std::atomic<uint32_t> threads{0};
  options.hooks = &hooks;
  options.trialMemory = [&](uint64_t address, uint64_t bytes) { return buffers.contains(address, bytes); };
  options.aroundThread = [&](const std::function<void()> &work) {
    ++threads;
    work();
  };
  const Outcome outcome =
      run(program, "k.wavesan", linear(groups * kItems, kItems), arguments(buffers.a, buffers.in, &context), options);
  const auto bytes = [](const void *p, size_t n) {
    return std::vector<uint8_t>(static_cast<const uint8_t *>(p), static_cast<const uint8_t *>(p) + n);
  };
  return {outcome.kind,
          outcome.message,
          bytes(buffers.a, Buffers::kBytes),
          bytes(table.data(), table.size() * 8),
          bytes(&counters, sizeof(counters)),
          sink.calls,
          sink.runs,
          threads};
}

std::vector<uint8_t> randomContents(std::mt19937_64 &random) {
  std::vector<uint8_t> contents(Buffers::kBytes);
  for (uint8_t &b : contents)
    b = uint8_t(random());
  return contents;
}

/// A kernel in phases: work-items read two halves of memory in turn, and write the other half.
KernelText randomKernel(std::mt19937_64 &random) {
  KernelText k;
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto number = [](uint64_t n) { return std::to_string(n); };
  const bool careless = below(2), mayTrap = below(6) == 0, mayFault = below(6) == 0;
  const std::string base = k.let("mul i32 %g, " + number(kItems));
  std::string value = k.let("xor i32 %t, %g");
  const auto mix = [&](const std::string &with) {
    const std::string product = k.let("mul i32 " + value + ", 1664525");
    value = k.let("add i32 " + product + ", " + with);
  };
  const auto inWorkgroup = [&](const std::string &item, uint64_t half) {
    const std::string inside = k.let("and i32 " + item + ", " + number(kItems - 1));
    const std::string index = k.let("add i32 " + base + ", " + inside);
    return k.let("add i32 " + index + ", " + number(half * kMaxGroups * kItems));
  };
  const auto anywhere = [&] { // often the same few places
    const std::string item = below(2) ? k.let("add i32 %t, " + number(below(300))) : value;
    return k.let("and i32 " + item + ", " + number(below(2) ? 255 : 1023));
  };
  uint64_t half = 0;
  for (uint64_t phase = 0, phases = 1 + below(4); phase < phases; ++phase, half ^= 1) {
    if (phase)
      k.barrier();
    for (uint64_t step = 0, steps = 1 + below(4); step < steps; ++step)
      switch (below(careless ? 7 : 4)) {
      case 0:
        mix(k.load("%in", k.let("and i32 " + value + ", " + number(kInput - 1))));
        break;
      case 1:
        mix(k.load("%in", k.let("add i32 %t, " + number(below(64)))));
        break;
      case 2:
        mix(k.load("%a", inWorkgroup(below(2) ? value : k.let("add i32 %t, " + number(below(kItems))), half)));
        break;
      case 3: {
        const std::string some = k.let("and i32 " + value + ", 3");
        const std::string written = value;
        k.where(k.let("icmp eq i32 " + some + ", 1"), [&] { k.store("%a", inWorkgroup("%t", half ^ 1), written); });
        break;
      }
      case 4:
        mix(k.load("%a", anywhere()));
        break;
      case 5: {
        const std::string index = anywhere(), written = value;
        k.where(k.let("icmp ult i32 %t, " + number(below(3))), [&] { k.store("%a", index, written); });
        break;
      }
      case 6: {
        const std::string few = k.let("and i32 %g, 3"), index = anywhere(), written = value;
        k.where(k.let("icmp eq i32 " + few + ", 2"), [&] { k.store("%a", index, written); });
        break;
      }
      }
    k.store("%a", inWorkgroup("%t", half ^ 1), value);
  }
  if (mayTrap) {
    const std::string some = k.let("and i32 " + value + ", 4095");
    k.where(k.let("icmp eq i32 " + some + ", 77"), [&] { k.body += "call void @llvm.trap()\n"; });
  }
  if (mayFault) {
    const std::string some = k.let("and i32 " + value + ", 2047"), offset = k.let("zext i32 " + value + " to i64");
    k.where(k.let("icmp eq i32 " + some + ", 5"), [&] {
      const std::string p = k.let("inttoptr i64 " + k.let("and i64 " + offset + ", 4095") + " to ptr addrspace(1)");
      k.hook(p, kWrite);
      k.body += "store i32 1, ptr addrspace(1) " + p + "\n";
    });
  }
  return k;
}

TEST(CheckedThreads, RandomKernelsDoNotShowTheNumberOfThreads) {
  unsigned held = 0, racy = 0, failed = 0;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    std::mt19937_64 random(seed);
    const std::string bitcode = assemble(randomKernel(random).text());
    const uint32_t groups = 4 + uint32_t(random() % (kMaxGroups - 4));
    const std::vector<uint8_t> contents = randomContents(random);
    Buffers buffers;
    Seen one{};
    for (const uint32_t threads : {1, 2, 4, 8}) {
      auto program = load(bitcode); // a new one tries anew
      auto hooks = makeNativeHooks();
      Options options;
      options.threads = threads;
      options.seed = seed % 5;
      const Seen seen = runOnce(*program, *hooks, buffers, contents, groups, options);
      ASSERT_EQ(seen.sinkCalls, 1u);
      if (threads == 1) {
        one = seen;
        ASSERT_EQ(one.threads, 0u);
        continue;
      }
      const std::string what = "seed " + std::to_string(seed) + ", " + std::to_string(threads) + " threads";
      ASSERT_EQ(seen.kind, one.kind) << what;
      ASSERT_EQ(seen.message, one.message) << what;
      ASSERT_EQ(seen.memory, one.memory) << what;
      ASSERT_EQ(seen.races, one.races) << what;
      ASSERT_EQ(seen.counters, one.counters) << what;
      ASSERT_EQ(seen.runs, one.runs) << what;
      ASSERT_GT(seen.threads, 0u) << what;
    }
    (one.kind != Outcome::Success ? failed : one.raceCount() ? racy : held) += 1;
  }
  EXPECT_GT(held, 50u);
  EXPECT_GT(racy, 50u);
  EXPECT_GT(failed, 5u);
}

/// Runs a kernel several times with one Program, on several threads; whether the last dispatch was tried.
struct Tried {
  bool first, second;
};
Tried isTried(const KernelText &kernel, HookHandler *handler = nullptr, uint32_t groups = 16) {
  auto program = load(assemble(kernel.text()));
  auto hooks = makeNativeHooks();
  Buffers buffers;
  std::mt19937_64 random(1);
  const std::vector<uint8_t> contents = randomContents(random);
  Options options;
  options.threads = 4;
  Tried tried{};
  for (bool *each : {&tried.first, &tried.second})
    *each = runOnce(*program, handler ? *handler : *hooks, buffers, contents, groups, options).threads != 0;
  return tried;
}

/// Each work-item has its own place.
std::string ownPlace(KernelText &k) {
  return k.let("add i32 " + k.let("mul i32 %g, " + std::to_string(kItems)) + ", %t");
}

TEST(CheckedThreads, WhichKernelsAreTried) {
  const auto kernel = [](const std::string &extra) {
    KernelText k;
    k.store("%a", ownPlace(k), "%t");
    k.body += extra;
    return k;
  };
  EXPECT_TRUE(isTried(kernel("")).first);
  EXPECT_TRUE(isTried(kernel("")).second);
  EXPECT_FALSE(
      isTried(kernel("%r = inttoptr i128 0 to ptr addrspace(8)\n"
                     "%o = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %r, i32 0, i32 0, i32 0)\n"))
          .first);
  KernelText ignored = kernel("");
  ignored.allChecked = false; // an access without a hook could be what workgroups race for
  EXPECT_FALSE(isTried(ignored).first);
  EXPECT_FALSE(isTried(kernel("%o = atomicrmw add ptr addrspace(1) %a, i32 1 monotonic\n")).first);
  EXPECT_FALSE(isTried(kernel("%o = load volatile i32, ptr addrspace(1) %in\n")).first);
  EXPECT_FALSE(isTried(kernel("fence syncscope(\"agent\") acq_rel\n")).first);
  EXPECT_FALSE(isTried(kernel("call void @__wavesan_grid_arrive(ptr addrspace(5) %s, i32 0)\n")).first);
  EXPECT_FALSE(isTried(kernel("%o = load i32, ptr addrspace(1) %in, !invariant.load !{}\n")).first);
  EXPECT_TRUE(isTried(kernel("%c = load i32, ptr addrspace(4) null, !invariant.load !{}\n")).first);
  EXPECT_FALSE(isTried(kernel(""), nullptr, 2).first) << "too few waves";
  NoHooks other;
  EXPECT_FALSE(isTried(kernel(""), &other).first) << "a handler that knows nothing of trials";
}

TEST(CheckedThreads, KernelsWhoseTrialsFailAreTriedLessOften) {
  KernelText racy;
  racy.store("%a", "0", "%g");
  const Tried tried = isTried(racy);
  EXPECT_TRUE(tried.first);
  EXPECT_FALSE(tried.second);
}

/// Workgroups that poll for what another one stores would never end by themselves.
TEST(CheckedThreads, ATrialInWhichWorkgroupsWaitEnds) {
  KernelText k;
  k.where(k.let("icmp eq i32 %g, 1"), [&] { k.store("%a", "0", "1"); });
  k.body += "br label %poll\npoll:\n";
  const std::string flag = k.load("%a", "0");
  k.body += "%set = icmp eq i32 " + flag + ", 1\nbr i1 %set, label %end, label %poll\nend:\n";
  std::mt19937_64 random(1);
  std::vector<uint8_t> contents = randomContents(random);
  std::fill_n(contents.begin(), 64, uint8_t(0));
  Buffers buffers;
  Seen one{};
  for (const uint32_t threads : {1, 4}) {
    auto program = load(assemble(k.text()));
    auto hooks = makeNativeHooks();
    Options options;
    options.threads = threads;
    const Seen seen = runOnce(*program, *hooks, buffers, contents, 8, options);
    EXPECT_EQ(seen.kind, Outcome::Success) << seen.message;
    EXPECT_GT(seen.raceCount(), 0u);
    if (threads == 1)
      one = seen;
    EXPECT_EQ(seen.races, one.races);
    EXPECT_EQ(seen.counters, one.counters);
  }
}

TEST(CheckedThreads, CancellationReachesATrial) {
  KernelText k;
  k.body += "br label %poll\npoll:\n";
  const std::string flag = k.load("%in", "0");
  k.body += "%set = icmp eq i32 " + flag + ", 1\nbr i1 %set, label %end, label %poll\nend:\n";
  auto program = load(assemble(k.text()));
  auto hooks = makeNativeHooks();
  Buffers buffers;
  const std::vector<uint8_t> contents(Buffers::kBytes);
  std::atomic<bool> cancel{false};
  Options options;
  options.threads = 4;
  options.cancel = &cancel;
  std::thread stop([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  const Seen seen = runOnce(*program, *hooks, buffers, contents, 16, options);
  stop.join();
  EXPECT_EQ(seen.kind, Outcome::Cancelled);
}

} // namespace
} // namespace wavesan::cpu::test
