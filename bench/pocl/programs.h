// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The five programs, over what a side offers:
//   Buffer alloc(bytes); void write(Buffer, from, bytes); void read(Buffer, to, bytes); void fill(Buffer, 0, bytes);
//   void launch(kernel, {groups x, y}, {items x, y}, {arguments}); void finish();
// Prints a line for each: name, seconds (the least of some repetitions), check sum of the results.
#ifndef WAVESAN_BENCH_POCL_PROGRAMS_H
#define WAVESAN_BENCH_POCL_PROGRAMS_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

struct Argument {
  const void *value;
  size_t bytes;
};
template <class T> Argument argument(const T &value) { return {&value, sizeof(T)}; }
struct Extent {
  size_t x, y = 1;
};

[[noreturn]] inline void stop(const char *what, int code) {
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(2);
}

template <class Side> class Programs {
public:
  explicit Programs(Side &side) : Device(side) {}

  void run(const char *only) {
    const struct {
      const char *name;
      void (Programs::*body)();
    } all[] = {{"matrix product", &Programs::matrixProduct},
               {"histogram", &Programs::histogram},
               {"stencil", &Programs::stencil},
               {"n-body", &Programs::nBody},
               {"scan", &Programs::scan}};
    for (const auto &p : all) {
      if (only && std::strcmp(only, p.name) != 0)
        continue;
      (this->*p.body)();
      std::printf("%s\t%.6f\t%.9g\n", p.name, Seconds, Sum);
      std::fflush(stdout);
    }
  }

private:
  using Buffer = typename Side::Buffer;
  Side &Device;
  double Seconds = 0, Sum = 0;

  /// The first repetition compiles.
  template <class Body> void timed(Body body) {
    Seconds = 1e30;
    for (int k = 0; k < 5; ++k) {
      Device.finish();
      const auto begin = std::chrono::steady_clock::now();
      body();
      Device.finish();
      const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (k > 0)
        Seconds = std::min(Seconds, taken);
    }
  }
  static std::vector<float> floats(size_t n) {
    std::vector<float> all(n);
    uint32_t x = 1;
    for (float &f : all)
      f = float((x = x * 1664525u + 1013904223u) >> 8) / float(1 << 24);
    return all;
  }
  static std::vector<uint32_t> numbers(size_t n) {
    std::vector<uint32_t> all(n);
    uint32_t x = 1;
    for (uint32_t &u : all)
      u = (x = x * 1664525u + 1013904223u) >> 20;
    return all;
  }
  template <class T> Buffer with(const std::vector<T> &data) {
    Buffer b = Device.alloc(data.size() * sizeof(T));
    Device.write(b, data.data(), data.size() * sizeof(T));
    return b;
  }
  /// Weighted by the place, so that exchanged results show.
  template <class T> void check(Buffer b, size_t n) {
    std::vector<T> data(n);
    Device.read(b, data.data(), n * sizeof(T));
    Sum = 0;
    for (size_t i = 0; i < n; ++i)
      Sum += double(data[i]) * double(i % 97 + 1);
  }

  void matrixProduct() {
    const int n = 512;
    Buffer a = with(floats(n * n)), b = with(floats(n * n)), c = Device.alloc(n * n * sizeof(float));
    timed([&] {
      Device.launch("matrix_product", {n / 16, n / 16}, {16, 16}, {argument(a), argument(b), argument(c), argument(n)});
    });
    check<float>(c, n * n);
  }
  void histogram() {
    const int perItem = 64, groups = 256;
    Buffer in = with(numbers(size_t(groups) * perItem * 256)), out = Device.alloc(256 * 4);
    timed([&] {
      Device.fill(out, 256 * 4);
      Device.launch("histogram", {groups}, {256}, {argument(in), argument(out), argument(perItem)});
    });
    check<uint32_t>(out, 256);
  }
  void stencil() {
    const int n = 2048;
    Buffer a = with(floats(n * n)), b = Device.alloc(n * n * sizeof(float));
    timed([&] {
      for (int k = 0; k < 4; ++k) {
        Device.launch("stencil", {n / 16, n / 16}, {16, 16}, {argument(a), argument(b), argument(n)});
        std::swap(a, b);
      }
    });
    check<float>(a, n * n);
  }
  void nBody() {
    const int n = 4096;
    Buffer bodies = with(floats(4 * n)), forces = Device.alloc(3 * n * sizeof(float));
    timed([&] { Device.launch("n_body", {n / 256}, {256}, {argument(bodies), argument(forces), argument(n)}); });
    check<float>(forces, 3 * n);
  }
  void scan() {
    const size_t n = size_t(1) << 22;
    Buffer in = with(numbers(n)), out = Device.alloc(n * 4), sums = Device.alloc(n / 256 * 4),
           scanned = Device.alloc(n / 256 * 4), sums2 = Device.alloc(n / 65536 * 4 + 1024), last = Device.alloc(1024),
           none = Device.alloc(1024);
    Device.fill(sums2, n / 65536 * 4 + 1024);
    timed([&] {
      Device.launch("scan_groups", {n / 256}, {256}, {argument(in), argument(out), argument(sums)});
      Device.launch("scan_groups", {n / 65536}, {256}, {argument(sums), argument(scanned), argument(sums2)});
      Device.launch("scan_groups", {1}, {256}, {argument(sums2), argument(last), argument(none)});
      Device.launch("scan_add", {n / 65536}, {256}, {argument(scanned), argument(last)});
      Device.launch("scan_add", {n / 256}, {256}, {argument(out), argument(scanned)});
    });
    check<uint32_t>(out, n);
  }
};

#endif // WAVESAN_BENCH_POCL_PROGRAMS_H
