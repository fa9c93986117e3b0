// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU agent's engine: the same kernels as originals and as checked twins, side by side in one run.
#include "by_hand.h"
#include "engine.h"
#include "native_hooks.h"

#include <benchmark/benchmark.h>
#include <cmath>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <hsa/hsa.h>
#include <iterator>
#include <vector>

using namespace wavesan;

namespace {

/// Contents of a section of the code object that this project's own build has just made.
std::string section(const std::string &file, const char *name) {
  Elf64_Ehdr head;
  std::memcpy(&head, file.data(), sizeof(head));
  auto at = [&](unsigned i) {
    Elf64_Shdr s;
    std::memcpy(&s, file.data() + head.e_shoff + i * sizeof(s), sizeof(s));
    return s;
  };
  const Elf64_Shdr names = at(head.e_shstrndx);
  for (unsigned i = 0; i < head.e_shnum; ++i)
    if (std::strcmp(file.data() + names.sh_offset + at(i).sh_name, name) == 0)
      return file.substr(at(i).sh_offset, at(i).sh_size);
  return {};
}

cpu::Program &program() {
  static std::unique_ptr<cpu::Program> loaded = [] {
    std::ifstream in(WAVESAN_BENCH_KERNELS, std::ios::binary);
    std::string file{std::istreambuf_iterator<char>(in), {}}, error;
    auto p = cpu::Program::load(section(file, abi::kIrSection), "gfx90a", [](std::string_view) { return 0; }, error);
    if (!p) {
      std::fprintf(stderr, "%s\n", error.c_str());
      std::exit(1);
    }
    return p;
  }();
  return *loaded;
}

/// Runs `kernel` or its twin once with these arguments; false after an error.
bool launch(benchmark::State &state, const std::string &kernel, bool checked, std::vector<uint64_t> arguments,
            hsa_dim3_t grid, hsa_dim3_t block, uint32_t ldsBytes, uint32_t threads = 1) {
  static std::unique_ptr<cpu::HookHandler> hooks = cpu::makeNativeHooks();
  alignas(64) hsa_kernel_dispatch_packet_t packet{};
  abi::DispatchContext context{};
  abi::DispatchCounters counters{};
  std::vector<uint8_t> table(sizeof(abi::RaceTable) + 64 * sizeof(abi::RaceRecord));
  reinterpret_cast<abi::RaceTable *>(table.data())->capacity = 64;
  context.raceTable = reinterpret_cast<uint64_t>(table.data());
  context.counters = reinterpret_cast<uint64_t>(&counters);
  context.ldsBytes = ldsBytes;
  context.granuleLog2 = 2;
  if (checked)
    arguments.push_back(reinterpret_cast<uint64_t>(&context));
  arguments.resize(arguments.size() + 32); // hidden arguments: not read by these kernels
  const uint32_t sizes[2][3] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
  const std::string name = kernel + (checked ? abi::kTwinSuffix : "");
  cpu::Launch l{};
  l.kernel = name;
  l.packet = &packet;
  l.kernarg = reinterpret_cast<const uint8_t *>(arguments.data());
  l.kernargBytes = uint32_t(arguments.size() * 8);
  for (int i = 0; i < 3; ++i) {
    l.grid[i] = context.gridSize[i] = sizes[0][i];
    l.workgroup[i] = context.workgroupSize[i] = sizes[1][i];
  }
  l.fixedLdsBytes = l.groupSegmentBytes = ldsBytes;
  l.seed = 1;
  l.threads = threads;
  l.hooks = checked ? hooks.get() : nullptr;
  cpu::Outcome outcome = program().run(l);
  if (!outcome)
    state.SkipWithError(outcome.message.c_str());
  else if (checked && (counters.checkedAccesses == 0 || counters.racesSeen != 0))
    state.SkipWithError("the twin checked nothing or reported a race");
  return bool(outcome);
}

/// Memory of kernels begins at a page, as what hipMalloc returns.
template <class T> struct PageAllocator {
  using value_type = T;
  static constexpr std::align_val_t kPage{4096};
  PageAllocator() = default;
  template <class U> PageAllocator(const PageAllocator<U> &) {}
  T *allocate(size_t n) { return static_cast<T *>(operator new(n * sizeof(T), kPage)); }
  void deallocate(T *p, size_t) { operator delete(p, kPage); }
  bool operator==(const PageAllocator &) const = default;
};
template <class T> using Buffer = std::vector<T, PageAllocator<T>>;

uint64_t address(const void *p) { return reinterpret_cast<uint64_t>(p); }

enum class As { Original, Checked, ByHand };
void matrixProductAs(benchmark::State &state, As what, uint32_t threads = 1) {
  const uint32_t n = uint32_t(state.range(0));
  Buffer<float> a(n * n), b(n * n), c(n * n);
  for (uint32_t i = 0; i < n * n; ++i)
    a[i] = float(i % 7), b[i] = float(i % 5);
  for (auto _ : state)
    if (what == As::ByHand)
      ::matrixProductByHand(a.data(), b.data(), c.data(), n);
    else if (!launch(state, "matrix_product", what == As::Checked,
                     {address(a.data()), address(b.data()), address(c.data()), n}, {n, n, 1}, {16, 16, 1}, 2048,
                     threads))
      return;
  float expected = 0;
  for (uint32_t k = 0; k < n; ++k)
    expected += a[3 * n + k] * b[k * n + 2];
  if (c[3 * n + 2] != expected)
    state.SkipWithError("wrong product");
}
void matrixProduct(benchmark::State &state, bool checked) {
  matrixProductAs(state, checked ? As::Checked : As::Original);
}
void matrixProductByHand(benchmark::State &state) { matrixProductAs(state, As::ByHand); }

void reductionOn(benchmark::State &state, bool checked, uint32_t threads) {
  const uint32_t groups = uint32_t(state.range(0));
  Buffer<float> in(groups * 256, 1.0f), out(groups);
  for (auto _ : state)
    if (!launch(state, "reduction", checked, {address(in.data()), address(out.data())}, {groups * 256, 1, 1},
                {256, 1, 1}, 1024, threads))
      return;
  if (out[groups - 1] != 256)
    state.SkipWithError("wrong sum");
}

void reduction(benchmark::State &state, bool checked) { reductionOn(state, checked, 1); }

// Checked kernels on several threads, by the wall clock: the second argument is the number of threads, 0 the original
// on one thread.
void threadsMatrixProduct(benchmark::State &state) {
  const auto threads = uint32_t(state.range(1));
  matrixProductAs(state, threads ? As::Checked : As::Original, std::max(threads, 1u));
}
void threadsReduction(benchmark::State &state) {
  const auto threads = uint32_t(state.range(1));
  reductionOn(state, threads != 0, std::max(threads, 1u));
}
void threadsStencil(benchmark::State &state) {
  const uint32_t n = uint32_t(state.range(0)), threads = uint32_t(state.range(1));
  Buffer<float> in(n * n, 1.0f), out(n * n);
  for (auto _ : state)
    if (!launch(state, "stencil", threads != 0, {address(in.data()), address(out.data()), n}, {n, n, 1}, {64, 4, 1}, 0,
                std::max(threads, 1u)))
      return;
  if (out[n + 1] != 1)
    state.SkipWithError("wrong mean");
}

void histogram(benchmark::State &state, bool checked) {
  const uint32_t groups = uint32_t(state.range(0)), perThread = 64;
  Buffer<uint32_t> in(size_t(groups) * perThread * 256), out(256);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint32_t(i * 2654435761u >> 7);
  for (auto _ : state)
    if (!launch(state, "histogram", checked, {address(in.data()), address(out.data()), perThread}, {groups * 256, 1, 1},
                {256, 1, 1}, 1024))
      return;
}

/// Operations of waves that the engine executes in a second of CPU time, as the kernel's clock counts them.
void waveOperations(benchmark::State &state, const char *kernel, bool checked, uint32_t ldsBytes) {
  constexpr uint32_t kGroups = 4, kRounds = 100000, kWords = 64 * 64;
  Buffer<uint32_t> sink(kGroups * kWords);
  Buffer<uint64_t> operations(kGroups);
  double total = 0;
  for (auto _ : state) {
    if (!launch(state, kernel, checked, {address(sink.data()), address(operations.data()), kRounds},
                {kGroups * 64, 1, 1}, {64, 1, 1}, ldsBytes))
      return;
    for (uint64_t n : operations)
      total += double(n);
  }
  // At least a load and a store, or two operations of any kind, and the branch, in each round.
  if (total < double(state.iterations()) * kGroups * kRounds * 3)
    state.SkipWithError("the kernel's clock did not count");
  state.counters["operations/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(waveOperations, alu, "wave_alu", false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waveOperations, lds, "wave_lds", false, 512)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waveOperations, lds_checked, "wave_lds", true, 512)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waveOperations, global, "wave_global", false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waveOperations, global_checked, "wave_global", true, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waveOperations, cross_lane, "wave_cross_lane", false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matrixProduct, original, false)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matrixProduct, checked, true)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK(matrixProductByHand)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reduction, original, false)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reduction, checked, true)->Arg(4096)->Unit(benchmark::kMillisecond);
void numbersOfThreads(benchmark::internal::Benchmark *b, int64_t size) {
  b->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
  for (const int64_t threads : {0, 1, 2, 4})
    b->Args({size, threads});
}
BENCHMARK(threadsMatrixProduct)->Apply([](auto *b) { numbersOfThreads(b, 512); });
BENCHMARK(threadsReduction)->Apply([](auto *b) { numbersOfThreads(b, 4096); });
BENCHMARK(threadsStencil)->Apply([](auto *b) { numbersOfThreads(b, 1024); });
// As few workgroups as are tried, and fewer.
BENCHMARK(threadsReduction)
    ->Name("threadsFew")
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->ArgsProduct({{1, 2, 4, 8, 16, 64}, {1, 2}});
BENCHMARK_CAPTURE(histogram, original, false)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(histogram, checked, true)->Arg(256)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
