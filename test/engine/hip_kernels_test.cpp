// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels compiled from HIP, for waves of 64 (gfx90a) and of 32 (gfx1030), against the host's results.
#include "engine_fixture.h"

#include <cmath>
#include <numeric>

namespace wavesan::cpu::test {
namespace {

class HipKernels : public testing::TestWithParam<const char *> {
protected:
  Options options;
  std::unique_ptr<Program> program;
  uint32_t waveSize = 0;

  void SetUp() override {
    options.target = GetParam();
    program = load(compiledKernels(GetParam()), options);
    ASSERT_NE(program, nullptr);
    waveSize = program->waveSize();
  }
  void launch(const std::string &kernel, const Size &size, const Arguments &arguments) {
    const Outcome outcome = run(*program, kernel, size, arguments, options);
    ASSERT_EQ(outcome.kind, Outcome::Success) << outcome.message;
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, HipKernels, testing::Values("gfx90a", "gfx1030"));

std::vector<float> ramp(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = float(i % 17) - 5;
  return v;
}

TEST_P(HipKernels, WaveSizeFollowsTheTarget) {
  EXPECT_EQ(waveSize, std::string(GetParam()) == "gfx90a" ? 64u : 32u);
  EXPECT_TRUE(program->hasKernel("reduce"));
  EXPECT_FALSE(program->hasKernel("ackermann"));
}

TEST_P(HipKernels, VectorAddWithPartialWorkgroup) {
  const auto a = ramp(1000), b = ramp(1000);
  std::vector<float> c(1001, -1);
  launch("vector_add", linear(1024, 256), arguments(a.data(), b.data(), c.data(), 1000));
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]);
  EXPECT_EQ(c[1000], -1);
  // A grid that is no multiple of the workgroup.
  std::fill(c.begin(), c.end(), -1.0f);
  launch("vector_add", linear(300, 128), arguments(a.data(), b.data(), c.data(), 1000));
  for (size_t i = 0; i < 300; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]);
  EXPECT_EQ(c[300], -1);
}

TEST_P(HipKernels, Reduction) {
  const auto in = ramp(5000);
  for (const uint32_t block : {32u, 64u, 256u, 1024u}) {
    for (options.seed = 0; options.seed < 5; ++options.seed) {
      float out = 0;
      options.dynamicLds = block * 4;
      launch("reduce", linear(5120, block), arguments(in.data(), &out, 5000));
      EXPECT_EQ(out, std::accumulate(in.begin(), in.end(), 0.0f)) << block;
    }
  }
}

TEST_P(HipKernels, Transpose) {
  const uint32_t width = 70, height = 45;
  const auto in = ramp(width * height);
  std::vector<float> out(width * height);
  options.fixedLds = 32 * 33 * 4;
  launch("transpose", {{96, 16, 1}, {32, 8, 1}}, arguments(in.data(), out.data(), int(width), int(height)));
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      ASSERT_EQ(out[x * height + y], in[y * width + x]);
}

TEST_P(HipKernels, TiledMatrixProduct) {
  const uint32_t n = 64;
  const auto a = ramp(n * n), b = ramp(n * n);
  std::vector<float> c(n * n);
  options.fixedLds = 2048;
  launch("matmul", {{n, n, 1}, {16, 16, 1}}, arguments(a.data(), b.data(), c.data(), int(n)));
  for (uint32_t y = 0; y < n; ++y)
    for (uint32_t x = 0; x < n; ++x) {
      float sum = 0;
      for (uint32_t k = 0; k < n; ++k)
        sum += a[y * n + k] * b[k * n + x];
      ASSERT_EQ(c[y * n + x], sum); // all products are small integers: exact
    }
}

TEST_P(HipKernels, HistogramWithLdsAtomics) {
  std::vector<uint8_t> data(10000);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = uint8_t(i * i / 7);
  std::vector<uint32_t> bins(256), expected(256);
  for (const uint8_t v : data)
    ++expected[v];
  options.fixedLds = 1024;
  launch("histogram", linear(1024, 256), arguments(data.data(), bins.data(), int(data.size())));
  EXPECT_EQ(bins, expected);
}

TEST_P(HipKernels, WaveScanByShuffles) {
  std::vector<int> in(128), out(128), odd(128);
  std::iota(in.begin(), in.end(), 3);
  launch("wave_scan", linear(128, 128), arguments(in.data(), out.data(), odd.data()));
  for (uint32_t i = 0; i < 128; ++i) {
    const uint32_t first = i / waveSize * waveSize;
    EXPECT_EQ(out[i], std::accumulate(&in[first], &in[i] + 1, 0)) << i;
    EXPECT_EQ(odd[i], int(waveSize / 2));
  }
}

TEST_P(HipKernels, LdsExchangeWithinAWaveNeedsNoBarrier) {
  std::vector<int> data(waveSize);
  std::iota(data.begin(), data.end(), 0);
  options.fixedLds = 256;
  launch("wave_reverse", linear(waveSize, waveSize), arguments(data.data()));
  for (uint32_t i = 0; i < waveSize; ++i)
    EXPECT_EQ(data[i], int(waveSize - 1 - i));
}

int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
TEST_P(HipKernels, DivergentRecursion) {
  std::vector<int> out(64);
  launch("recursion", linear(64, 64), arguments(out.data()));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[size_t(i)], ackermann(i % 3, i % 5)) << i;
}

TEST_P(HipKernels, VirtualCalls) {
  std::vector<float> out(64);
  launch("virtual_calls", linear(64, 64), arguments(out.data()));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[size_t(i)], float((i / 3) % 2 ? 3 * i * i : i * i)) << i;
}

TEST_P(HipKernels, GlobalsResolveToTheLoadedCodeObject) {
  float constants[4] = {1, 2, 3, 4};
  int count = 10;
  options.resolve = [&](std::string_view name) -> uint64_t {
    return name == "coefficients" ? uint64_t(constants) : name == "counter" ? uint64_t(&count) : 0;
  };
  program = load(compiledKernels(GetParam()), options);
  std::vector<float> out(64);
  launch("globals", linear(64, 64), arguments(out.data()));
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], constants[i % 4]);
  EXPECT_EQ(count, 74);
}

TEST_P(HipKernels, Math) {
  std::vector<float> in(64), out(64 * 8);
  std::vector<double> din(64), dout(64 * 4);
  for (size_t i = 0; i < 64; ++i)
    din[i] = in[i] = 0.37f * float(i) + 0.1f;
  launch("math", linear(64, 64), arguments(in.data(), out.data(), din.data(), dout.data()));
  for (size_t i = 0; i < 64; ++i) {
    const float x = in[i];
    const double y = din[i];
    EXPECT_FLOAT_EQ(out[i * 8 + 0], std::sqrt(x));
    EXPECT_FLOAT_EQ(out[i * 8 + 1], std::exp(-x));
    EXPECT_FLOAT_EQ(out[i * 8 + 2], std::log(x + 1));
    EXPECT_NEAR(out[i * 8 + 3], std::sin(x), 1e-6);
    EXPECT_FLOAT_EQ(out[i * 8 + 4], std::pow(x, 1.5f));
    EXPECT_FLOAT_EQ(out[i * 8 + 5], 1.0f / (x + 0.5f));
    EXPECT_NEAR(out[i * 8 + 6], std::fmod(x, 0.7f), 1e-6);
    EXPECT_EQ(out[i * 8 + 7], std::floor(x * 3) + std::ceil(x) + std::rint(x));
    EXPECT_DOUBLE_EQ(dout[i * 4 + 0], std::sqrt(y));
    EXPECT_DOUBLE_EQ(dout[i * 4 + 1], std::exp(-y));
    EXPECT_DOUBLE_EQ(dout[i * 4 + 2], std::log(y + 1));
    EXPECT_DOUBLE_EQ(dout[i * 4 + 3], y / (y + 3));
  }
}

TEST_P(HipKernels, ThreeDimensionsWithPartialWorkgroups) {
  const uint32_t nx = 10, ny = 7, nz = 5;
  std::vector<int> out(nx * ny * nz);
  launch("ids", {{nx, ny, nz}, {4, 3, 2}}, arguments(out.data(), int(nx), int(ny)));
  for (uint32_t z = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x)
        ASSERT_EQ(out[(z * ny + y) * nx + x], int(1 + x % 4 + 100 * (y % 3) + 10000 * (z % 2)));
}

TEST_P(HipKernels, PrivateAndSharedArraysThroughGenericPointers) {
  std::vector<int> out(64);
  options.fixedLds = 256;
  launch("private_arrays", linear(64, 64), arguments(out.data()));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[size_t(i)], 120 * i + 28) << i;
}

} // namespace
} // namespace wavesan::cpu::test
