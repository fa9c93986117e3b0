// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores, address spaces, globals, barriers.
#include "engine_fixture.h"

#include <numeric>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p5.p1.i64(ptr addrspace(5), ptr addrspace(1), i64, i1)
declare void @llvm.memmove.p1.p5.i32(ptr addrspace(1), ptr addrspace(5), i32, i1)
declare void @llvm.memset.p3.i32(ptr addrspace(3), i8, i32, i1)
declare i1 @llvm.amdgcn.is.shared(ptr)
declare i1 @llvm.amdgcn.is.private(ptr)
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
)";

/// Copies a value of the type through registers, at an address that need not be aligned.
void copies(const std::string &type, size_t bytes, size_t misalignment, bool keepsAllBits = true) {
  const std::string stride = std::to_string(bytes + 3);
  std::vector<uint8_t> in(64 * (bytes + 3) + 16), out(in.size());
  std::iota(in.begin(), in.end(), uint8_t(1));
  if (!keepsAllBits)
    for (auto &v : in)
      v &= 1;
  runText("define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
          "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %o = mul i32 %t, " +
              stride +
              "\n  %a = getelementptr i8, ptr addrspace(1) %in, i32 %o\n  %b = getelementptr i8, ptr addrspace(1) "
              "%out, i32 %o\n"
              "  %v = load " +
              type + ", ptr addrspace(1) %a, align 1\n  store " + type +
              " %v, ptr addrspace(1) %b, align 1\n  ret void\n}\n" + kDeclarations,
          linear(64, 64), arguments(in.data() + misalignment, out.data() + misalignment));
  for (size_t i = 0; i < 64; ++i)
    for (size_t k = 0; k < bytes + 3; ++k) {
      const size_t at = misalignment + i * (bytes + 3) + k;
      ASSERT_EQ(out[at], k < bytes ? in[at] : 0) << type << " lane " << i << " byte " << k;
    }
}

TEST(Memory, EveryTypeAtEveryAlignment) {
  for (size_t m = 0; m < 4; ++m) {
    copies("i1", 1, m, false);
    copies("i8", 1, m);
    copies("i16", 2, m);
    copies("i24", 3, m);
    copies("i32", 4, m);
    copies("i48", 6, m);
    copies("i64", 8, m);
    copies("i96", 12, m);
    copies("i128", 16, m);
    copies("half", 2, m);
    copies("bfloat", 2, m);
    copies("float", 4, m);
    copies("double", 8, m);
    copies("ptr", 8, m);
    copies("ptr addrspace(3)", 4, m);
    copies("<2 x i8>", 2, m);
    copies("<3 x i8>", 3, m);
    copies("<3 x i16>", 6, m);
    copies("<4 x half>", 8, m);
    copies("<3 x float>", 12, m);
    copies("<4 x i32>", 16, m);
    copies("<8 x i64>", 64, m);
    copies("[5 x i16]", 10, m);
  }
}

TEST(Memory, StructsKeepTheirLayout) {
  struct Item {
    int8_t a;
    double b;
    int16_t c[3];
    float d;
  };
  std::vector<Item> in(64), out(64);
  for (int i = 0; i < 64; ++i)
    in[size_t(i)] = {int8_t(-i), i * 0.5, {int16_t(i), int16_t(-i), 7}, float(i)};
  runText(std::string(R"(
%item = type { i8, double, [3 x i16], float }
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr %item, ptr addrspace(1) %in, i32 %t
  %b = getelementptr %item, ptr addrspace(1) %out, i32 %t
  %v = load %item, ptr addrspace(1) %a
  %c1 = extractvalue %item %v, 2, 1
  %w = insertvalue %item %v, i16 %c1, 2, 0
  %q = getelementptr %item, ptr addrspace(1) %in, i32 %t, i32 3
  %d = load float, ptr addrspace(1) %q
  %d2 = fadd float %d, 1.0
  %x = insertvalue %item %w, float %d2, 3
  store %item %x, ptr addrspace(1) %b
  ret void
}
)") + kDeclarations,
          linear(64, 64), arguments(in.data(), out.data()));
  for (int i = 0; i < 64; ++i) {
    const Item &o = out[size_t(i)];
    EXPECT_EQ(o.a, int8_t(-i));
    EXPECT_EQ(o.b, i * 0.5);
    EXPECT_EQ(o.c[0], -i);
    EXPECT_EQ(o.c[1], -i);
    EXPECT_EQ(o.c[2], 7);
    EXPECT_EQ(o.d, float(i + 1));
  }
}

// What the optimiser makes of several addresses at a time.
TEST(Memory, ConstantExpressionsOfVectors) {
  std::vector<uint32_t> out(64 * 4);
  runText(std::string(R"(
@lds = internal addrspace(3) global [64 x i32] poison, align 16
%pair = type { i32, <2 x i32> }
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %at = mul i32 %t, 16
  %p = getelementptr i8, ptr addrspace(1) %out, i32 %at
  %v = add <2 x i32> ptrtoint (<2 x ptr addrspace(3)> getelementptr (i8, <2 x ptr addrspace(3)> splat (ptr addrspace(3) @lds), <2 x i32> <i32 4, i32 12>) to <2 x i32>), splat (i32 1)
  store <2 x i32> %v, ptr addrspace(1) %p
  %q = getelementptr i8, ptr addrspace(1) %p, i32 8
  %w = extractvalue %pair { i32 5, <2 x i32> ptrtoint (<2 x ptr addrspace(3)> getelementptr (i8, <2 x ptr addrspace(3)> splat (ptr addrspace(3) @lds), <2 x i32> <i32 8, i32 20>) to <2 x i32>) }, 1
  store <2 x i32> %w, ptr addrspace(1) %q
  store i32 %t, ptr addrspace(3) @lds
  ret void
}
)") + kDeclarations,
          linear(64, 64), arguments(out.data()), {.fixedLds = 256});
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(out[4 * i], 5u);
    EXPECT_EQ(out[4 * i + 1], 13u);
    EXPECT_EQ(out[4 * i + 2], 8u);
    EXPECT_EQ(out[4 * i + 3], 20u);
  }
}

TEST(Memory, ConstantIndicesWiderThanAddresses) {
  std::vector<uint32_t> out(64);
  runText(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %p = getelementptr i32, ptr addrspace(1) %out, i128 73786976294838206471 ; 7 modulo 2^64
  store i32 9, ptr addrspace(1) %p
  ret void
}
)"),
          linear(1, 1), arguments(out.data()));
  EXPECT_EQ(out[7], 9u);
}

TEST(Memory, KernelArgumentsOfAllKinds) {
  struct Pair {
    int32_t a;
    double b;
  };
  std::vector<double> out(8);
  struct Half2 {
    uint16_t v[2];
  };
  runText(std::string(R"(
%pair = type { i32, double }
define amdgpu_kernel void @k(ptr addrspace(1) %out, i8 %a, i16 %b, i1 %c, ptr addrspace(4) byref(%pair) align 8 %p, <2 x half> %h, float %f, [3 x i32] %x) {
  %a1 = sitofp i8 %a to double
  store double %a1, ptr addrspace(1) %out
  %o1 = getelementptr double, ptr addrspace(1) %out, i32 1
  %b1 = uitofp i16 %b to double
  store double %b1, ptr addrspace(1) %o1
  %o2 = getelementptr double, ptr addrspace(1) %out, i32 2
  %c1 = uitofp i1 %c to double
  store double %c1, ptr addrspace(1) %o2
  %o3 = getelementptr double, ptr addrspace(1) %out, i32 3
  %pp = getelementptr %pair, ptr addrspace(4) %p, i32 0, i32 1
  %pv = load double, ptr addrspace(4) %pp
  store double %pv, ptr addrspace(1) %o3
  %o4 = getelementptr double, ptr addrspace(1) %out, i32 4
  %h1 = extractelement <2 x half> %h, i32 1
  %h2 = fpext half %h1 to double
  store double %h2, ptr addrspace(1) %o4
  %o5 = getelementptr double, ptr addrspace(1) %out, i32 5
  %f1 = fpext float %f to double
  store double %f1, ptr addrspace(1) %o5
  %o6 = getelementptr double, ptr addrspace(1) %out, i32 6
  %x2 = extractvalue [3 x i32] %x, 2
  %x3 = sitofp i32 %x2 to double
  store double %x3, ptr addrspace(1) %o6
  %o7 = getelementptr double, ptr addrspace(1) %out, i32 7
  %d = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %dp = getelementptr i8, ptr addrspace(4) %d, i32 12
  %g = load i32, ptr addrspace(4) %dp
  %g1 = uitofp i32 %g to double
  store double %g1, ptr addrspace(1) %o7
  ret void
}
)") + kDeclarations,
          linear(77, 64),
          arguments(out.data(), int8_t(-3), uint16_t(60000), true, Pair{1, 2.5}, uint32_t(0x4200'0000), 1.25f,
                    std::array<int32_t, 3>{1, 2, -9}));
  EXPECT_EQ(out, (std::vector<double>{-3, 60000, 1, 2.5, 3, 1.25, -9, 77}));
}

TEST(Memory, HiddenArgumentsFollowTheExplicitOnes) {
  uint32_t out[2] = {};
  Options options;
  options.codeObjectVersion = 5;
  runText(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out, i8 %pad) {
  %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %blocks = load i32, ptr addrspace(4) %p
  %q = getelementptr i8, ptr addrspace(4) %p, i32 12
  %size = load i16, ptr addrspace(4) %q
  %size32 = zext i16 %size to i32
  store i32 %blocks, ptr addrspace(1) %out
  %o = getelementptr i32, ptr addrspace(1) %out, i32 1
  store i32 %size32, ptr addrspace(1) %o
  ret void
}
)") + kDeclarations,
          linear(192, 64), arguments(out, int8_t(0)), options);
  EXPECT_EQ(out[0], 3u);
  EXPECT_EQ(out[1], 64u);
}

TEST(Memory, GlobalsAreInitialised) {
  uint64_t out[10] = {};
  runText(std::string(R"(
%node = type { i16, ptr addrspace(1), [2 x float] }
@a = internal addrspace(1) global i32 11
@list = internal addrspace(1) global [3 x i16] [i16 1, i16 2, i16 3]
@node = internal addrspace(4) constant %node { i16 -2, ptr addrspace(1) getelementptr ([3 x i16], ptr addrspace(1) @list, i32 0, i32 2), [2 x float] [float 1.5, float 2.5] }
@zero = internal addrspace(1) global [1000 x i64] zeroinitializer
@text = internal addrspace(4) constant [6 x i8] c"hello\00"
@vector = internal addrspace(4) constant <4 x i8> <i8 1, i8 2, i8 3, i8 4>
@function = internal addrspace(4) constant ptr @f
define i64 @f() {
  ret i64 77
}
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) @a
  %a1 = zext i32 %a to i64
  store i64 %a1, ptr addrspace(1) %out
  %p = load ptr addrspace(1), ptr addrspace(4) getelementptr (%node, ptr addrspace(4) @node, i32 0, i32 1)
  %v = load i16, ptr addrspace(1) %p
  %v1 = zext i16 %v to i64
  %o1 = getelementptr i64, ptr addrspace(1) %out, i32 1
  store i64 %v1, ptr addrspace(1) %o1
  %f = load float, ptr addrspace(4) getelementptr (%node, ptr addrspace(4) @node, i32 0, i32 2, i32 1)
  %f1 = fptoui float %f to i64
  %o2 = getelementptr i64, ptr addrspace(1) %out, i32 2
  store i64 %f1, ptr addrspace(1) %o2
  %z = load i64, ptr addrspace(1) getelementptr ([1000 x i64], ptr addrspace(1) @zero, i32 0, i32 999)
  %o3 = getelementptr i64, ptr addrspace(1) %out, i32 3
  store i64 %z, ptr addrspace(1) %o3
  %c = load i8, ptr addrspace(4) getelementptr (i8, ptr addrspace(4) @text, i32 4)
  %c1 = zext i8 %c to i64
  %o4 = getelementptr i64, ptr addrspace(1) %out, i32 4
  store i64 %c1, ptr addrspace(1) %o4
  %x = load i32, ptr addrspace(4) @vector
  %x1 = zext i32 %x to i64
  %o5 = getelementptr i64, ptr addrspace(1) %out, i32 5
  store i64 %x1, ptr addrspace(1) %o5
  %fp = load ptr, ptr addrspace(4) @function
  %r = call i64 %fp()
  %o6 = getelementptr i64, ptr addrspace(1) %out, i32 6
  store i64 %r, ptr addrspace(1) %o6
  ret void
}
)") + kDeclarations,
          linear(1, 1), arguments(out));
  EXPECT_EQ(out[0], 11u);
  EXPECT_EQ(out[1], 3u);
  EXPECT_EQ(out[2], 2u);
  EXPECT_EQ(out[3], 0u);
  EXPECT_EQ(out[4], uint64_t('o'));
  EXPECT_EQ(out[5], 0x04030201u);
  EXPECT_EQ(out[6], 77u);
}

TEST(Memory, GlobalsKeepTheirValueBetweenLaunches) {
  auto program = load(assemble(std::string(R"(
@n = addrspace(1) externally_initialized global i32 5
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %old = atomicrmw add ptr addrspace(1) @n, i32 1 monotonic
  store i32 %old, ptr addrspace(1) %out
  ret void
}
)") + kDeclarations));
  uint32_t out = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(run(*program, "k", linear(1, 1), arguments(&out)));
    EXPECT_EQ(out, 5 + i);
  }
}

TEST(Memory, AddressSpacesThroughGenericPointers) {
  std::vector<uint32_t> in(64), out(64 * 4);
  std::iota(in.begin(), in.end(), 100u);
  Options options;
  options.fixedLds = 256;
  runText(std::string(R"(
@lds = internal addrspace(3) global [64 x i32] poison
define i32 @read(ptr %p) {
  %v = load i32, ptr %p
  %s = call i1 @llvm.amdgcn.is.shared(ptr %p)
  %q = call i1 @llvm.amdgcn.is.private(ptr %p)
  %s1 = select i1 %s, i32 1000, i32 0
  %q1 = select i1 %q, i32 2000, i32 0
  %x = add i32 %v, %s1
  %y = add i32 %x, %q1
  ret i32 %y
}
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %private = alloca [4 x i32], addrspace(5)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %l = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %t
  store i32 %t, ptr addrspace(3) %l
  %i = and i32 %t, 3
  %pp = getelementptr [4 x i32], ptr addrspace(5) %private, i32 0, i32 %i
  %t7 = mul i32 %t, 7
  store i32 %t7, ptr addrspace(5) %pp
  %g = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %gl = addrspacecast ptr addrspace(3) %l to ptr
  %gp = addrspacecast ptr addrspace(5) %pp to ptr
  %gg = addrspacecast ptr addrspace(1) %g to ptr
  %a = call i32 @read(ptr %gl)
  %b = call i32 @read(ptr %gp)
  %c = call i32 @read(ptr %gg)
  %first = load i32, ptr addrspacecast (ptr addrspace(3) @lds to ptr)
  %back = addrspacecast ptr %gp to ptr addrspace(5)
  %d0 = load i32, ptr addrspace(5) %back
  %nullp = icmp eq ptr addrspacecast (ptr addrspace(3) null to ptr), null
  %d = add i32 %d0, %first
  %o = getelementptr <4 x i32>, ptr addrspace(1) %out, i32 %t
  %v0 = insertelement <4 x i32> poison, i32 %a, i32 0
  %v1 = insertelement <4 x i32> %v0, i32 %b, i32 1
  %v2 = insertelement <4 x i32> %v1, i32 %c, i32 2
  %v3 = insertelement <4 x i32> %v2, i32 %d, i32 3
  store <4 x i32> %v3, ptr addrspace(1) %o
  ret void
}
)") + kDeclarations,
          linear(64, 64), arguments(in.data(), out.data()), options);
  for (uint32_t t = 0; t < 64; ++t) {
    EXPECT_EQ(out[t * 4 + 0], t + 1000);
    EXPECT_EQ(out[t * 4 + 1], t * 7 + 2000);
    EXPECT_EQ(out[t * 4 + 2], t + 100);
    EXPECT_EQ(out[t * 4 + 3], t * 7);
  }
}

TEST(Memory, DynamicLdsBeginsBehindTheFixedPart) {
  std::vector<uint32_t> out(64);
  Options options;
  options.fixedLds = 80; // larger than what the variables need
  options.dynamicLds = 256;
  runText(std::string(R"(
@small = internal addrspace(3) global i8 poison
@big = internal addrspace(3) global [4 x double] poison, align 16
@dyn = external addrspace(3) global [0 x i32], align 4
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %l = getelementptr [0 x i32], ptr addrspace(3) @dyn, i32 0, i32 %t
  store i32 %t, ptr addrspace(3) %l
  store i8 3, ptr addrspace(3) @small
  store double 0.0, ptr addrspace(3) getelementptr ([4 x double], ptr addrspace(3) @big, i32 0, i32 3)
  %b = load i8, ptr addrspace(3) @small
  %b1 = zext i8 %b to i32
  %address = ptrtoint ptr addrspace(3) @dyn to i32
  %v = load i32, ptr addrspace(3) %l
  %x = mul i32 %address, %b1
  %y = add i32 %v, %x
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %y, ptr addrspace(1) %o
  ret void
}
)") + kDeclarations,
          linear(64, 64), arguments(out.data()), options);
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t + 240);
}

TEST(Memory, BarriersOrderWaves) {
  // 16 rounds: each wave writes its slot, all sum up what the others wrote.
  std::vector<uint32_t> out(256);
  Options options;
  options.fixedLds = 1024;
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    runText(std::string(R"(
@lds = internal addrspace(3) global [256 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %mine = getelementptr [256 x i32], ptr addrspace(3) @lds, i32 0, i32 %t
  %u = add i32 %t, 65
  %m = and i32 %u, 255
  %other = getelementptr [256 x i32], ptr addrspace(3) @lds, i32 0, i32 %m
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %v = phi i32 [ %t, %entry ], [ %w, %loop ]
  store i32 %v, ptr addrspace(3) %mine
  call void @llvm.amdgcn.s.barrier()
  %x = load i32, ptr addrspace(3) %other
  call void @llvm.amdgcn.s.barrier()
  %w = add i32 %x, 1
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, 16
  br i1 %more, label %loop, label %exit
exit:
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
}
)") + kDeclarations,
            linear(256, 256), arguments(out.data()), options);
    for (uint32_t t = 0; t < 256; ++t)
      ASSERT_EQ(out[t], (t + 65 * 15) % 256 + 15) << options.seed;
  }
}

TEST(Memory, CopiesAndFills) {
  std::vector<uint8_t> in(64 * 20), out(64 * 20);
  std::iota(in.begin(), in.end(), uint8_t(0));
  Options options;
  options.fixedLds = 64;
  runText(std::string(R"(
@lds = internal addrspace(3) global [64 x i8] poison
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %private = alloca [20 x i8], addrspace(5)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %o = mul i32 %t, 20
  %a = getelementptr i8, ptr addrspace(1) %in, i32 %o
  %b = getelementptr i8, ptr addrspace(1) %out, i32 %o
  %n0 = urem i32 %t, 15
  %n = zext i32 %n0 to i64
  call void @llvm.memcpy.p5.p1.i64(ptr addrspace(5) %private, ptr addrspace(1) %a, i64 %n, i1 false)
  call void @llvm.memmove.p1.p5.i32(ptr addrspace(1) %b, ptr addrspace(5) %private, i32 %n0, i1 false)
  call void @llvm.memset.p3.i32(ptr addrspace(3) @lds, i8 9, i32 64, i1 false)
  %l = getelementptr i8, ptr addrspace(3) @lds, i32 %t
  %v = load i8, ptr addrspace(3) %l
  %c = getelementptr i8, ptr addrspace(1) %b, i32 19
  store i8 %v, ptr addrspace(1) %c
  ret void
}
)") + kDeclarations,
          linear(64, 64), arguments(in.data(), out.data()), options);
  for (size_t t = 0; t < 64; ++t)
    for (size_t k = 0; k < 20; ++k)
      ASSERT_EQ(out[t * 20 + k], k < t % 15 ? in[t * 20 + k] : k == 19 ? 9 : 0) << t << " " << k;
}

} // namespace
} // namespace wavesan::cpu::test
