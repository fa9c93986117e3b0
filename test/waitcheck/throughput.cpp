// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speed and memory: kernels of N instructions in all, in the style of generated matrix kernels, checked whole (decode and analysis).
//   waitcheck_throughput [-j THREADS] [-k KERNELS] [--functions] [--least RATE] [--write FILE] [INSTRUCTIONS...]
// One kernel is one thread's work; with -j the N instructions are spread over KERNELS kernels, and 1, 2, 4, ... threads are compared.
// Times are of this process's CPU, so that other programs on the machine do not spoil them; the table of -j has wall time besides, and the CPU
// time of the busiest thread: that is how long it takes where every thread has a processor of its own.
// --functions: the code is in functions that are no kernels. --write: puts the object of the last size into a file, for `wavesan check -j`.
// --least: exit status 1 if the last size is checked at fewer instructions per second of CPU.
#include "Checker.h"
#include "InputReader.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <malloc.h>
#include <random>
#include <sys/resource.h>
#include <thread>
#include <time.h>
#include <unistd.h>

using namespace wavesan::waitcheck;

namespace {

/// Unrolled loops: loads, LDS traffic, arithmetic on what was waited for. Registers vary, so encodings do not repeat too often.
std::string generate(size_t instructions, std::mt19937 &rng, const std::string &name, unsigned &loops, bool function) {
  std::string s = ".text\n.globl " + name + "\n.p2align 8\n.type " + name + ",@function\n" + name + ":\n";
  size_t n = 0;
  auto line = [&](const std::string &t) {
    s += " " + t + "\n";
    ++n;
  };
  if (function)
    line("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)");
  auto v = [](unsigned r) { return "v" + std::to_string(r); };
  while (n < instructions) {
    const unsigned loop = loops++;
    s += ".L" + std::to_string(loop) + ":\n";
    for (unsigned i = 0; i < 8; ++i)
      line("global_load_dwordx4 v[" + std::to_string(128 + 4 * i) + ":" + std::to_string(131 + 4 * i) + "], v1, s[4:5] offset:" +
           std::to_string(16 * (rng() % 200)));
    for (unsigned i = 0; i < 8; ++i)
      line("ds_read_b128 v[" + std::to_string(64 + 4 * i) + ":" + std::to_string(67 + 4 * i) + "], v2 offset:" + std::to_string(16 * (rng() % 3000)));
    for (unsigned i = 0; i < 8; ++i) {
      line("s_waitcnt lgkmcnt(" + std::to_string(7 - i) + ")");
      for (unsigned k = 0; k < 12; ++k)
        line("v_fma_f32 " + v(16 + rng() % 48) + ", " + v(64 + 4 * i + rng() % 4) + ", " + v(16 + rng() % 48) + ", " + v(16 + rng() % 48));
    }
    for (unsigned i = 0; i < 8; ++i) {
      line("s_waitcnt vmcnt(" + std::to_string(7 - i) + ")");
      line("ds_write_b128 v3, v[" + std::to_string(128 + 4 * i) + ":" + std::to_string(131 + 4 * i) + "] offset:" + std::to_string(16 * (rng() % 3000)));
    }
    line("s_waitcnt lgkmcnt(0)");
    line("s_barrier");
    line("s_sub_u32 s8, s8, 1");
    line("s_cmp_lg_u32 s8, 0");
    line("s_cbranch_scc1 .L" + std::to_string(loop));
  }
  if (function)
    return s + " s_waitcnt vmcnt(0) lgkmcnt(0)\n s_setpc_b64 s[30:31]\n.Le_" + name + ":\n.size " + name + ", .Le_" + name + "-" + name + "\n";
  return s + " s_endpgm\n.Le_" + name + ":\n.size " + name + ", .Le_" + name + "-" + name + "\n.rodata\n.p2align 6\n.amdhsa_kernel " + name +
         "\n.amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 64\n.amdhsa_accum_offset 256\n.end_amdhsa_kernel\n";
}

/// One code object with that many kernels of equal size.
std::unique_ptr<llvm::MemoryBuffer> object(size_t instructions, unsigned kernels, bool functions) {
  std::mt19937 rng(1);
  std::string text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n";
  unsigned loops = 0;
  for (unsigned k = 0; k < kernels; ++k)
    text += generate(instructions / kernels, rng, "k" + std::to_string(k), loops, functions);
  auto assembled = assemble("k.s", text, "");
  if (assembled)
    return std::move(*assembled);
  std::fprintf(stderr, "%s\n", llvm::toString(assembled.takeError()).c_str());
  std::exit(2);
}

double cpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Peak of this process's memory since the last call of resetPeak(), in bytes.
size_t peakBytes() {
  FILE *f = std::fopen("/proc/self/status", "r");
  char line[256];
  unsigned long kib = 0;
  while (f && std::fgets(line, sizeof line, f))
    if (std::sscanf(line, "VmHWM: %lu", &kib) == 1)
      break;
  if (f)
    std::fclose(f);
  return size_t(kib) * 1024;
}

void resetPeak() {
  if (FILE *f = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", f);
    std::fclose(f);
  }
}

/// CPU time of one thread of this process.
double threadSeconds(pid_t thread) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/schedstat", int(thread));
  unsigned long long nanoseconds = 0;
  if (FILE *f = std::fopen(name, "r")) {
    if (std::fscanf(f, "%llu", &nanoseconds) != 1)
      nanoseconds = 0;
    std::fclose(f);
  }
  return 1e-9 * double(nanoseconds);
}

/// Of all threads; from the calling one's, what it had used before is taken off.
double busiestSeconds(double own) {
  double most = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    most = std::max(most, threadSeconds(thread) - (thread == gettid() ? own : 0));
  }
  return most;
}

struct Run {
  CheckResult result;
  double cpu = 0, wall = 0;
  double busiest = 0; ///< CPU seconds of the thread that worked most: where every thread has a processor, it takes that long
  double bytes = 0; ///< peak growth while checking
};

/// Checks it once, in a fresh decoder, whose start (the same for any size) is not measured.
Run check(const llvm::MemoryBuffer &image, unsigned jobs) {
  Decoders decoders;
  if (jobs == 1)
    llvm::cantFail(decoders.get(*findTarget("gfx90a"), true));
  CheckOptions options;
  options.jobs = jobs;
  malloc_trim(0); // what assembling left behind
  resetPeak();
  const size_t before = peakBytes();
  Run run;
  const double cpu = cpuSeconds(), wall = wallSeconds();
  Crew crew(jobs);
  const double own = threadSeconds(gettid());
  auto r = checkObject(image.getMemBufferRef(), options, decoders, crew);
  run.busiest = busiestSeconds(own);
  run.cpu = cpuSeconds() - cpu;
  run.wall = wallSeconds() - wall;
  run.bytes = double(peakBytes()) - double(before);
  if (!r) {
    std::fprintf(stderr, "%s\n", llvm::toString(r.takeError()).c_str());
    std::exit(2);
  }
  run.result = std::move(*r);
  return run;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<size_t> sizes;
  unsigned jobs = 1, kernels = 0;
  double least = 0;
  bool functions = false;
  const char *file = nullptr;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (!std::strcmp(argv[i], "-j") && more)
      jobs = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else if (!std::strcmp(argv[i], "-k") && more)
      kernels = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else if (!std::strcmp(argv[i], "--functions"))
      functions = true;
    else if (!std::strcmp(argv[i], "--write") && more)
      file = argv[++i];
    else if (!std::strcmp(argv[i], "--least") && more)
      least = std::strtod(argv[++i], nullptr);
    else
      sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  if (sizes.empty())
    sizes = {10000, 100000, 1000000};
  if (kernels == 0)
    kernels = jobs > 1 ? 8 * jobs : 1;
  double rate = 0, firstRate = 0;
  std::printf("%12s %8s %12s %14s %10s %12s %14s %12s %8s\n", "instructions", "threads", "CPU seconds", "instr/CPU s", "ratio", "wall seconds",
              "busiest thread",
              "bytes/instr", "hazards");
  for (size_t n : sizes) {
    const auto image = object(n, kernels, functions);
    if (file) {
      std::FILE *f = std::fopen(file, "wb");
      if (!f || std::fwrite(image->getBufferStart(), 1, image->getBufferSize(), f) != image->getBufferSize() || std::fclose(f) != 0) {
        std::perror(file);
        return 2;
      }
    }
    double oneThread = 0;
    for (unsigned j = 1; j <= std::max(1u, jobs); j *= 2) {
      const Run run = check(*image, j);
      const double count = double(run.result.counts.instructions);
      rate = count / run.cpu;
      if (firstRate == 0)
        firstRate = rate;
      if (j == 1)
        oneThread = run.wall;
      // Sizes are compared by rate, numbers of threads by the time they take.
      const double ratio = jobs > 1 ? oneThread / run.wall : rate / firstRate;
      std::printf("%12.0f %8u %12.3f %14.0f %10.2f %12.3f %14.3f %12.1f %8zu\n", count, j, run.cpu, rate, ratio, run.wall, run.busiest, run.bytes / count,
                  run.result.diagnostics.size());
    }
  }
  if (rate < least) {
    std::printf("fewer than %.0f instructions a second\n", least);
    return 1;
  }
  return 0;
}
