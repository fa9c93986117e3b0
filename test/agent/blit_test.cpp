// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The native blit kernels, held against per-element loops that say what each work-item does.
#include "hsa_support.h"

namespace wavesan::agent::test {
namespace {

struct alignas(32) Vector4 {
  uint64_t x, y, z, w;
};

class BlitTest : public HsaTest {
protected:
  void SetUp() override {
    HsaTest::SetUp();
    Executable = load("blit_kernels.hsaco");
  }

  /// Dispatches the blit; returns its completion value (0, or -1 if it failed).
  template <class Arguments>
  int64_t run(const std::string &name, const Arguments &arguments, uint32_t x, uint32_t y = 1, uint32_t z = 1) {
    static_assert(sizeof(Arguments) <= 256);
    alignas(64) static char kernarg[512]; // larger than any argument block with hidden arguments
    std::memcpy(kernarg, &arguments, sizeof(arguments));
    hsa_signal_t done = signal(1);
    hsa_kernel_dispatch_packet_t p =
        dispatch(kernelObject(Executable, ("__amd_rocclr_" + name + ".kd").c_str()), kernarg, done);
    p.grid_size_x = x;
    p.grid_size_y = y;
    p.grid_size_z = z;
    submit(queue(8), p);
    return hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, kTenSeconds, HSA_WAIT_STATE_BLOCKED);
  }

  hsa_executable_t Executable{};
};

struct FillArguments {
  void *bytes, *shorts, *ints, *longs;
  const void *pattern;
  uint32_t patternSize;
  uint64_t offset, size;
};

TEST_F(BlitTest, FillRepeatsThePattern) {
  const uint8_t pattern[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (int width : {1, 2, 4, 8})
    for (uint32_t patternSize : {1u, 2u}) {
      auto *p = allocate<uint8_t>(4096);
      FillArguments a{width == 1 ? p : nullptr,
                      width == 2 ? p : nullptr,
                      width == 4 ? p : nullptr,
                      width == 8 ? p : nullptr,
                      pattern,
                      patternSize,
                      3,
                      50};
      ASSERT_EQ(run("fillBufferAligned", a, 64), 0);
      const size_t period = width * patternSize, begin = 3 * width, end = begin + 50 * period;
      for (size_t i = 0; i < 4096; ++i)
        ASSERT_EQ(p[i], i < begin || i >= end ? 0 : pattern[(i - begin) % period]) << width << " " << i;
    }
}

TEST_F(BlitTest, FillStopsAtTheGrid) {
  auto *p = allocate<uint8_t>(4096);
  const uint8_t pattern[] = {9};
  ASSERT_EQ(run("fillBufferAligned", FillArguments{p, nullptr, nullptr, nullptr, pattern, 1, 0, 100}, 64), 0);
  EXPECT_EQ(p[63], 9);
  EXPECT_EQ(p[64], 0);
}

TEST_F(BlitTest, Fill2DLeavesThePadding) {
  struct {
    FillArguments fill; // size is the width here
    uint64_t height, pitch;
  } a{};
  auto *p = allocate<uint32_t>(1024);
  const uint32_t pattern = 0xdeadbeef;
  a.fill = {nullptr, nullptr, p, nullptr, &pattern, 1, 5, 10};
  a.height = 4;
  a.pitch = 32;
  ASSERT_EQ(run("fillBufferAligned2D", a, 16, 16), 0);
  for (uint32_t i = 0; i < 1024; ++i) {
    const bool inside = i >= 5 && (i - 5) / 32 < 4 && (i - 5) % 32 < 10;
    ASSERT_EQ(p[i], inside ? pattern : 0) << i;
  }
}

struct CopyArguments {
  void *src, *dst;
  uint64_t srcOrigin, dstOrigin, size;
  uint32_t remain;
};

TEST_F(BlitTest, CopyMovesDwordsAndTheRest) {
  for (uint32_t bytes : {1u, 3u, 4u, 7u, 1000u}) {
    auto *src = allocate<uint8_t>(4096), *dst = allocate<uint8_t>(4096);
    for (int i = 0; i < 4096; ++i)
      src[i] = uint8_t(i * 11 + 1);
    ASSERT_EQ(run("copyBuffer", CopyArguments{src, dst, 5, 9, bytes / 4 + 1, bytes % 4}, 256), 0);
    for (uint32_t i = 0; i < 4096; ++i)
      ASSERT_EQ(dst[i], i >= 9 && i < 9 + bytes ? src[i - 9 + 5] : 0) << bytes << " " << i;
  }
}

struct RectArguments {
  void *src, *dst;
  alignas(32) Vector4 srcRect, dstRect, size;
};

TEST_F(BlitTest, RectanglesOfAllElementSizes) {
  for (uint64_t element : {1, 4, 16}) {
    auto *src = allocate<uint8_t>(65536), *dst = allocate<uint8_t>(65536);
    for (int i = 0; i < 65536; ++i)
      src[i] = uint8_t(i * 13 + i / 256);
    const RectArguments a{src, dst, {20, 200, 7, 0}, {30, 400, 11, 0}, {9, 5, 3, element}};
    ASSERT_EQ(run(element == 1 ? "copyBufferRect" : "copyBufferRectAligned", a, 16, 8, 4), 0);
    std::vector<uint8_t> expected(65536);
    for (uint64_t z = 0; z < 3; ++z)
      for (uint64_t y = 0; y < 5; ++y)
        for (uint64_t x = 0; x < 9; ++x)
          std::memcpy(&expected[(11 + x + y * 30 + z * 400) * element], src + (7 + x + y * 20 + z * 200) * element,
                      element);
    ASSERT_EQ(std::memcmp(dst, expected.data(), expected.size()), 0) << element;
  }
}

struct WriteArguments {
  void *word32, *word64;
  uint64_t value, bytes;
};
struct WaitArguments {
  void *word32, *word64;
  uint64_t value, comparison, mask;
};

TEST_F(BlitTest, StreamWaitComparesLikeHip) {
  auto *word = allocate<uint64_t>(1);
  ASSERT_EQ(run("streamOpsWrite", WriteArguments{nullptr, word, 0x1'0000'0005, 8}, 1), 0);
  EXPECT_EQ(*word, 0x1'0000'0005u);
  ASSERT_EQ(run("streamOpsWrite", WriteArguments{word, nullptr, 0x77, 4}, 1), 0);
  EXPECT_EQ(*word, 0x1'0000'0077u);
  // Each of these holds already.
  for (WaitArguments a : {WaitArguments{word, nullptr, 0x77, 0, 0xff}, WaitArguments{word, nullptr, 0x70, 0, 0xf0},
                          WaitArguments{word, nullptr, 7, 1, 0xf}, WaitArguments{nullptr, word, 1ull << 32, 2, ~0ull},
                          WaitArguments{word, nullptr, 0x70, 3, 0xff}})
    EXPECT_EQ(run("streamOpsWait", a, 1), 0);
}

TEST_F(BlitTest, StreamWaitWaits) {
  auto *word = allocate<uint32_t>(1);
  alignas(64) static char kernarg[512];
  const WaitArguments arguments{word, nullptr, 3, 1, ~0ull};
  std::memcpy(kernarg, &arguments, sizeof(arguments));
  hsa_signal_t done = signal(1);
  submit(queue(8), dispatch(kernelObject(Executable, "__amd_rocclr_streamOpsWait.kd"), kernarg, done));
  EXPECT_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 10'000'000, HSA_WAIT_STATE_BLOCKED), 1);
  __atomic_store_n(word, 3, __ATOMIC_RELEASE);
  EXPECT_TRUE(becomes(done, 0));
}

TEST_F(BlitTest, OtherArgumentsAreRefused) {
  auto *p = allocate<uint32_t>(64);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("copyBufferAligned", CopyArguments{p, p + 32, 0, 0, 8, 4}, 64), -1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wavesan: kernel __amd_rocclr_copyBufferAligned of the HIP runtime has other arguments than the CPU agent "
            "knows\n");
}

TEST_F(BlitTest, UnknownRuntimeKernelIsNamed) {
  auto *p = allocate<uint32_t>(64);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("scheduler", PointerArgument{p}, 1), -1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wavesan: kernel __amd_rocclr_scheduler of the HIP runtime is not supported by the CPU agent\n");
}

} // namespace
} // namespace wavesan::agent::test
