// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that writes global memory says so before (write_notes.h): each way to write, at random places. What is
// noted and what was kept must give back the memory that was there.
#include "engine_fixture.h"

#include "../order/write_notes.h"

#include <random>

namespace wavesan::cpu::test {
namespace {

using Record = abi::WriteRecord;
constexpr uint64_t kChunk = Record::kChunk, kChunks = 48, kBytes = kChunks * kChunk + 1000;

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare void @llvm.memmove.p1.p5.i32(ptr addrspace(1), ptr addrspace(5), i32, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
declare void @llvm.memset.p0.i32(ptr, i8, i32, i1)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.v3i32(<3 x i32>, ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.i8(i8, ptr addrspace(8), i32, i32, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32, ptr addrspace(8), i32, i32, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32(i32, i32, ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.global.store.async.from.lds.b128(ptr addrspace(1), ptr addrspace(3), i32, i32)
declare void @llvm.amdgcn.s.wait.asynccnt(i16)
@lds = internal addrspace(3) global [1024 x i32] undef
)";

struct Case {
  const char *name,
      *body; ///< %p: where to write, a multiple of 16; %q: the same, generic; %t, %i: lane, its number as i64
  const char *target = "gfx90a";
};

const Case kCases[] = {
    {"store", "store i32 77, ptr addrspace(1) %p"},
    {"a byte", "store i8 77, ptr addrspace(1) %p"},
    {"generic", "store i64 %i, ptr %q"},
    {"odd", "store i24 77777, ptr addrspace(1) %p, align 1"},
    {"vector", "store <4 x i32> <i32 1, i32 2, i32 3, i32 4>, ptr addrspace(1) %p"},
    {"wide", "store [9 x i64] [i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9], ptr addrspace(1) %p"},
    {"structure", "store {i8, i64, i16} {i8 1, i64 2, i16 3}, ptr addrspace(1) %p"},
    {"volatile", "store volatile i32 77, ptr addrspace(1) %p"},
    {"some lanes", "%c = icmp ult i32 %t, 7\nbr i1 %c, label %yes, label %no\nyes:\nstore i32 77, ptr addrspace(1) %p\n"
                   "br label %no\nno:"},
    {"atomic store", "store atomic i32 77, ptr addrspace(1) %p monotonic, align 4"},
    {"add", "%a = atomicrmw add ptr addrspace(1) %p, i32 77 monotonic"},
    {"exchange",
     "%a = atomicrmw xchg ptr %q, i64 77 seq_cst\n%b = atomicrmw add ptr addrspace(1) %p, i64 %a monotonic"},
    {"float", "%a = atomicrmw fadd ptr addrspace(1) %p, float 1.0 monotonic"},
    {"pair", "%a = atomicrmw fadd ptr addrspace(1) %p, <2 x half> <half 1.0, half 2.0> monotonic"},
    {"compare",
     "%v = load i32, ptr addrspace(1) %p\n%a = cmpxchg ptr addrspace(1) %p, i32 %v, i32 77 monotonic monotonic"},
    {"memcpy", "call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) %p, ptr addrspace(1) %base, i64 3000, i1 false)"},
    {"memmove", "%s = alloca [8 x i32], addrspace(5)\nstore i32 77, ptr addrspace(5) %s\n"
                "call void @llvm.memmove.p1.p5.i32(ptr addrspace(1) %p, ptr addrspace(5) %s, i32 32, i1 false)"},
    {"memset", "call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 7, i64 %i, i1 false)"},
    {"long memset", "%c = icmp eq i32 %t, 3\n%m = select i1 %c, i32 200000, i32 0\n"
                    "call void @llvm.memset.p0.i32(ptr %q, i8 7, i32 %m, i1 false)"},
    {"buffer store",
     "call void @llvm.amdgcn.raw.ptr.buffer.store.v3i32(<3 x i32> <i32 1, i32 2, i32 3>, ptr addrspace(8) "
     "%r, i32 %o32, i32 0, i32 0)"},
    {"buffer byte",
     "call void @llvm.amdgcn.raw.ptr.buffer.store.i8(i8 77, ptr addrspace(8) %r, i32 %o32, i32 0, i32 0)"},
    {"buffer atomic",
     "%a = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32 77, ptr addrspace(8) %r, i32 %o32, i32 "
     "0, i32 0)"},
    {"buffer compare",
     "%v = load i32, ptr addrspace(1) %p\n%a = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32("
     "i32 77, i32 %v, ptr addrspace(8) %r, i32 %o32, i32 0, i32 0)"},
    {"assembly",
     "call void asm sideeffect \"global_store_dwordx2 $0, $1, off offset:16\", \"v,v\"(ptr addrspace(1) %p, "
     "i64 77)"},
    {"assembly, flat", "call void asm sideeffect \"flat_store_byte $0, $1\", \"v,v\"(ptr %q, i32 77)"},
    {"assembly, atomic",
     "call void asm sideeffect \"global_atomic_add $0, $1, off offset:-16\", \"v,v\"(ptr addrspace(1) "
     "%p, i32 77)"},
    {"copy from LDS",
     "%l = getelementptr i32, ptr addrspace(3) @lds, i32 %t\nstore i32 77, ptr addrspace(3) %l\n"
     "call void @llvm.amdgcn.global.store.async.from.lds.b128(ptr addrspace(1) %p, ptr addrspace(3) %l, "
     "i32 16, i32 0)\ncall void @llvm.amdgcn.s.wait.asynccnt(i16 0)",
     "gfx1250"},
    {"function", "call void @callee(ptr %q)"},
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

std::string text(const Case &c) {
  return std::string(kDeclarations) + R"(
define internal void @callee(ptr %q) noinline {
  store i32 77, ptr %q
  ret void
}
define amdgpu_kernel void @k(ptr addrspace(1) %base, ptr addrspace(1) %offsets) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %g, 64
  %n = add i32 %t, %first
  %i = zext i32 %n to i64
  %po = getelementptr i64, ptr addrspace(1) %offsets, i64 %i
  %o = load i64, ptr addrspace(1) %po
  %o32 = trunc i64 %o to i32
  %p = getelementptr i8, ptr addrspace(1) %base, i64 %o
  %q = addrspacecast ptr addrspace(1) %p to ptr
  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %base, i16 0, i64 4294967295, i32 159744)
  )" + c.body +
         "\n  ret void\n}\n";
}

class NoteWrites : public ::testing::TestWithParam<Case> {};

TEST_P(NoteWrites, NothingIsMissed) {
  const Case &c = GetParam();
  Options options;
  options.target = c.target;
  options.fixedLds = 4096;
  std::string body = text(c);
  if (options.target != "gfx1250") // buffer resources of others; the copy is its own
    for (size_t at; (at = body.find("declare void @llvm.amdgcn.global.store.async")) != std::string::npos;)
      body.erase(at, body.find('\n', at) - at);
  else
    body.erase(body.find("  %r = call"), body.find('\n', body.find("  %r = call")) - body.find("  %r = call"));
  const std::unique_ptr<Program> program = load(assemble(body), options);
  ASSERT_TRUE(program);
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> memory(kBytes + 256);
    for (size_t i = 0; i < memory.size(); i += 8)
      *reinterpret_cast<uint64_t *>(&memory[i]) = random() & 0x3c003c003c003c00; // as halves neither huge nor NaN
    const std::vector<uint8_t> before = memory;
    uint64_t base = (reinterpret_cast<uint64_t>(memory.data()) + 15) / 16 * 16;
    std::vector<uint64_t> offsets(4 * 64);
    for (size_t g = 0; g < 4; ++g) {
      const uint64_t near = random() % (kBytes - 210'000);
      for (size_t i = 0; i < 64; ++i) // lane by lane in order, in one neighbourhood, or anywhere
        offsets[g * 64 + i] = (seed % 3 == 0   ? near + 80 * i
                               : seed % 3 == 1 ? near + random() % 5000
                                               : 64 + random() % (kBytes - 210'000)) /
                              16 * 16;
    }
    std::vector<uint8_t> copy(memory.size());
    std::vector<std::atomic<uint8_t>> state(kChunks + 3);
    // Two regions side by side, and nothing of the rest.
    const auto address = reinterpret_cast<uint64_t>(memory.data());
    const uint64_t middle = 20 * kChunk + 500;
    Record::Region regions[] = {{address, middle, copy.data(), state.data()},
                                {address + middle, memory.size() - middle, copy.data() + middle, &state[21]}};
    Record record;
    record.regions = regions;
    record.count = 2;
    WriteNotes::add(&record);
    {
      const WriteNotes notes;
      options.notes = &notes;
      options.seed = seed;
      options.threads = 1 + seed % 2 * 3;
      const Outcome outcome = run(*program, "k", linear(256, 64), arguments(base, offsets.data()), options);
      EXPECT_TRUE(outcome) << outcome.message;
    }
    WriteNotes::remove(&record);
    EXPECT_NE(memory, before);
    size_t touched = 0;
    for (const Record::Region &r : regions)
      for (uint64_t at = 0; at < r.bytes; at += kChunk)
        if (r.state[at / kChunk] == Record::Touched) {
          std::memcpy(reinterpret_cast<void *>(r.begin + at), r.copy + at, std::min(kChunk, r.bytes - at));
          ++touched;
        }
    EXPECT_EQ(memory, before) << "seed " << seed;
    if (seed == 0) // few places: few chunks
      EXPECT_LE(touched, 4u * 6);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, NoteWrites, ::testing::ValuesIn(kCases),
                         [](const auto &info) { return "Way" + std::to_string(info.index); });

} // namespace
} // namespace wavesan::cpu::test
