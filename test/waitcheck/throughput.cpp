// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speed and memory: one kernel of N instructions in the style of a generated matrix kernel, checked whole (decode and analysis).
//   waitcheck_throughput [INSTRUCTIONS...]
#include "Checker.h"
#include "InputReader.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/resource.h>

using namespace wavesan::waitcheck;

namespace {

/// Unrolled loops: loads, LDS traffic, arithmetic on what was waited for. Registers vary, so encodings do not repeat too often.
std::string generate(size_t instructions) {
  std::mt19937 rng(1);
  std::string s = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n";
  size_t n = 0;
  auto line = [&](const std::string &t) {
    s += " " + t + "\n";
    ++n;
  };
  auto v = [](unsigned r) { return "v" + std::to_string(r); };
  unsigned loops = 0;
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
  return s + " s_endpgm\n.Le:\n.size k, .Le-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 64\n"
             ".amdhsa_accum_offset 256\n.end_amdhsa_kernel\n";
}

long residentKiB() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i)
    sizes.push_back(strtoull(argv[i], nullptr, 10));
  if (sizes.empty())
    sizes = {10000, 100000, 1000000};
  std::printf("%12s %10s %14s %12s %12s %10s\n", "instructions", "seconds", "instr/s", "steps/instr", "bytes/instr", "hazards");
  for (size_t n : sizes) {
    auto object = assemble("k.s", generate(n), "");
    if (!object) {
      std::fprintf(stderr, "%s\n", llvm::toString(object.takeError()).c_str());
      return 1;
    }
    Decoders decoders;
    const long before = residentKiB();
    const auto start = std::chrono::steady_clock::now();
    auto r = checkObject((*object)->getMemBufferRef(), {}, decoders);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!r) {
      std::fprintf(stderr, "%s\n", llvm::toString(r.takeError()).c_str());
      return 1;
    }
    // Peak growth of the process: exact only where it exceeds what assembling the input took before.
    std::printf("%12llu %10.3f %14.0f %12.2f %12.1f %10zu\n", (unsigned long long)r->counts.instructions, seconds,
                r->counts.instructions / seconds, double(r->counts.steps) / r->counts.instructions,
                1024.0 * (residentKiB() - before) / r->counts.instructions, r->diagnostics.size());
  }
  return 0;
}
