// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the engine tells hooks about barriers, branches and clashing stores.
#include "engine_fixture.h"

#include "wavesan/abi/hooks.h"

#include <optional>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @__wavesan_kernel_begin(ptr addrspace(5), ptr addrspace(1))
declare void @__wavesan_kernel_end(ptr addrspace(5))
declare void @__wavesan_lds_access(ptr addrspace(5), i32, i32, i32, i32)
declare void @__wavesan_global_access(ptr addrspace(5), ptr, i32, i32)
declare void @__wavesan_barrier_arrive(ptr addrspace(5), i32)
declare void @__wavesan_barrier_leave(ptr addrspace(5), i32)
)";

/// Three barriers: site 1 and its copy 2 in line 10, called from line 20; site 3 in line 11 of the kernel; and the
/// branches.
const char kDebugInfo[] = R"(
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "app.hip", directory: "/project")
!3 = !DIFile(filename: "/usr/include/hip/amd_detail/amd_device_functions.h", directory: "")
!4 = !DISubroutineType(types: !5)
!5 = !{}
!6 = distinct !DISubprogram(name: "k", file: !2, line: 1, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "__syncthreads", file: !3, line: 900, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!10 = !DILocation(line: 910, column: 3, scope: !7, inlinedAt: !12)
!11 = !DILocation(line: 11, column: 5, scope: !6)
!12 = distinct !DILocation(line: 20, column: 7, scope: !6)
!13 = !DILocation(line: 15, column: 9, scope: !6)
!14 = !DILocation(line: 0, scope: !6)
)";

struct Seen : NoHooks {
  const BarrierMap *map = nullptr;
  struct Event {
    uint32_t wave;
    LaneMask exec;
    uint32_t site; ///< 0: end
    std::vector<Turn> turns;
  };
  std::vector<Event> events;
  std::vector<LaneClash> clashes;
  bool clashInLds = false;
  uint32_t clashSite = 0, clashVariable = 0;

  void kernelBegin(WaveView &w, LaneMask, const abi::DispatchContext *) override { map = w.barriers; }
  void note(WaveView &w, LaneMask exec, uint32_t site) {
    events.push_back({w.wave, exec, site, std::vector<Turn>(w.turns, w.turns + w.turnCount)});
  }
  void barrierArrive(WaveView &w, LaneMask exec, uint32_t site) override { note(w, exec, site); }
  void kernelEnd(WaveView &w, LaneMask exec) override { note(w, exec, 0); }
  void laneClash(WaveView &, const LaneClash &clash, bool lds, uint32_t, uint32_t site, uint32_t variable) override {
    clashes.push_back(clash);
    clashInLds = lds;
    clashSite = site;
    clashVariable = variable;
  }
};

/// `program` keeps what Seen::map points to.
std::unique_ptr<Program> runSeen(const std::string &ir, Seen &seen, const Arguments &arguments, uint32_t lanes = 64) {
  Options options;
  options.hooks = &seen;
  options.fixedLds = 1024;
  auto program = load(assemble(ir), options);
  const Outcome outcome = run(*program, "k", linear(lanes, lanes), arguments, options);
  EXPECT_TRUE(outcome) << outcome.message;
  return program;
}

TEST(Divergence, BranchesAndCopiesOfBarriers) {
  Seen seen;
  auto program = runSeen(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %ctx) !dbg !6 {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %copies, label %other, !dbg !13
copies:
  %odd = trunc i32 %t to i1
  br i1 %odd, label %one, label %two, !dbg !13
one:
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 1), !dbg !10
  br label %exit
two:
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 2), !dbg !10
  br label %exit
other:
  %most = icmp ult i32 %t, 60
  br i1 %most, label %third, label %exit, !dbg !13
third:
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 3), !dbg !11
  br label %exit
exit:
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)") + kDeclarations + kDebugInfo,
                         seen, arguments(uint64_t(0)));
  const BarrierMap *map = seen.map;
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->barrier(1).source, map->barrier(2).source);
  EXPECT_NE(map->barrier(1).source, map->barrier(3).source);
  EXPECT_FALSE(map->barrier(1).bare) << "in HIP's header";
  EXPECT_TRUE(map->barrier(3).bare) << "in the user's own file";
  ASSERT_EQ(seen.events.size(), 4u);
  // The branch between the two copies decides nothing.
  for (size_t e = 0; e < 2; ++e) {
    ASSERT_EQ(seen.events[e].turns.size(), 2u) << "those of both groups of lanes that are on their way";
    EXPECT_EQ(seen.events[e].turns[0].lanes, e == 0 ? 0xffffu : 0x5555u) << "lanes that have arrived start anew";
  }
  const auto &end = seen.events[3];
  EXPECT_EQ(end.exec, ~LaneMask(0));
  ASSERT_FALSE(end.turns.empty());
  const Turn &last = end.turns.back();
  EXPECT_EQ(last.lanes, LaneMask(0xf) << 60);
  EXPECT_TRUE(map->leaves(last.turn, map->barrier(3).source));
  EXPECT_FALSE(map->leaves(last.turn, map->barrier(1).source)) << "it was left one branch before";
  const BarrierMap::Position p = map->position(last.turn, 1);
  EXPECT_EQ(p.line, 15u);
  EXPECT_EQ(p.column, 9u);
  EXPECT_EQ(p.depth, 0u);
}

TEST(Divergence, ABarrierWithoutPositionMayBeAny) {
  Seen seen;
  auto program = runSeen(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %ctx) !dbg !6 {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 1)
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 2), !dbg !14
  ret void
}
)") + kDeclarations + kDebugInfo,
                         seen, arguments(uint64_t(0)));
  ASSERT_NE(seen.map, nullptr);
  EXPECT_EQ(seen.map->barrier(1).source, BarrierMap::kAnySource);
  EXPECT_FALSE(seen.map->barrier(1).bare);
  EXPECT_EQ(seen.map->barrier(2).source, BarrierMap::kAnySource);
  EXPECT_EQ(seen.map->barrier(99).source, BarrierMap::kAnySource);
}

// `continue` gives a loop several back edges; the lanes of all of them begin the next round together, as on hardware.
TEST(Divergence, LanesOfSeveralBackEdgesMeet) {
  Seen seen;
  auto program = runSeen(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %ctx) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %n1, %a ], [ %n2, %b ], [ %n3, %c ]
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 7)
  %more = icmp ult i32 %i, 5
  br i1 %more, label %body, label %exit
body:
  %s = add i32 %t, %i
  %r = urem i32 %s, 3
  %n1 = add i32 %i, 1
  %n2 = add i32 %i, 1
  %n3 = add i32 %i, 1
  switch i32 %r, label %a [ i32 1, label %b
                            i32 2, label %c ]
a:
  br label %head
b:
  br label %head
c:
  br label %head
exit:
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)") + kDeclarations,
                         seen, arguments(uint64_t(0)));
  ASSERT_EQ(seen.events.size(), 7u);
  for (const Seen::Event &e : seen.events)
    EXPECT_EQ(e.exec, ~LaneMask(0));
}

/// Lane t stores `value` at LDS address `address`, both functions of %t.
std::optional<LaneClash> ldsClash(const std::string &type, const std::string &code, uint32_t bytes,
                                  uint32_t lanes = 64) {
  Seen seen;
  const auto info = std::to_string(abi::accessInfo(abi::kAccessWrite, bytes));
  runSeen(std::string("@tile = internal addrspace(3) global [1024 x i8] poison, align 16\n"
                      "define amdgpu_kernel void @k(ptr addrspace(1) %ctx) {\n"
                      "  %state = alloca [64 x i8], align 8, addrspace(5)\n"
                      "  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)\n"
                      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n") +
              code +
              "  %p = getelementptr i8, ptr addrspace(3) @tile, i32 %address\n"
              "  %i = ptrtoint ptr addrspace(3) %p to i32\n"
              "  call void @__wavesan_lds_access(ptr addrspace(5) %state, i32 %i, i32 " +
              info + ", i32 9, i32 0)\n  store " + type + " %value, ptr addrspace(3) %p, align 1\n  ret void\n}\n" +
              kDeclarations,
          seen, arguments(uint64_t(0)), lanes);
  EXPECT_LE(seen.clashes.size(), 1u);
  if (seen.clashes.empty())
    return std::nullopt;
  EXPECT_TRUE(seen.clashInLds);
  EXPECT_EQ(seen.clashSite, 9u);
  EXPECT_EQ(seen.clashVariable, 0u);
  return seen.clashes[0];
}

TEST(LaneClash, OwnElementsDoNotClash) {
  EXPECT_FALSE(ldsClash("i32", "%address = mul i32 %t, 4\n%value = add i32 %t, 0\n", 4));
  // Backwards, and transposed: another path.
  EXPECT_FALSE(ldsClash("i32", "%b = sub i32 63, %t\n%address = mul i32 %b, 4\n%value = add i32 %t, 0\n", 4));
  EXPECT_FALSE(ldsClash("i16",
                        "%lo = and i32 %t, 7\n%hi = lshr i32 %t, 3\n%h8 = mul i32 %lo, 8\n%x = add i32 %h8, %hi\n"
                        "%address = mul i32 %x, 2\n%value = trunc i32 %t to i16\n",
                        2));
  EXPECT_FALSE(
      ldsClash("<3 x i32>",
               "%b = sub i32 63, %t\n%address = mul i32 %b, 12\n%w = insertelement <3 x i32> poison, i32 %t, i32 0\n"
               "%value = shufflevector <3 x i32> %w, <3 x i32> poison, <3 x i32> zeroinitializer\n",
               12));
}

TEST(LaneClash, OneElementWithOneValueDoesNotClash) {
  EXPECT_FALSE(ldsClash("i32", "%address = mul i32 %t, 0\n%value = add i32 5, 0\n", 4));
}

TEST(LaneClash, OneElementWithManyValues) {
  const auto clash = ldsClash("i32", "%address = and i32 %t, 0\n%value = lshr i32 %t, 4\n", 4);
  ASSERT_TRUE(clash);
  EXPECT_EQ(clash->address, 0u);
  EXPECT_EQ(clash->size, 4u);
  EXPECT_EQ(clash->lanes[0], 0);
  EXPECT_EQ(clash->lanes[1], 16);
}

TEST(LaneClash, TwoLanesFarApart) {
  // Lane 63 writes where lane 2 does.
  const auto clash = ldsClash("i64",
                              "%is = icmp eq i32 %t, 63\n%x = select i1 %is, i32 2, i32 %t\n"
                              "%address = mul i32 %x, 8\n%value = zext i32 %t to i64\n",
                              8);
  ASSERT_TRUE(clash);
  EXPECT_EQ(clash->address, 16u);
  EXPECT_EQ(clash->lanes[0], 2);
  EXPECT_EQ(clash->lanes[1], 63);
}

TEST(LaneClash, PartsOverlap) {
  const auto clash = ldsClash("i32", "%address = mul i32 %t, 3\n%value = add i32 %t, 256\n", 4);
  ASSERT_TRUE(clash);
  EXPECT_EQ(clash->address, 3u);
  EXPECT_EQ(clash->size, 1u);
  // The overlapping bytes are the same.
  EXPECT_FALSE(ldsClash("i16", "%address = mul i32 %t, 1\n%value = add i16 257, 0\n", 2));
}

TEST(LaneClash, InactiveLanesDoNotCount) {
  EXPECT_FALSE(ldsClash("i32", "%address = and i32 %t, 0\n%value = lshr i32 %t, 4\n", 4, 16));
}

/// Lane t of 64 stores a value to the first bytes of LDS that hold 7 in each dword up to lane 3's.
std::vector<bool> heldBefore(const std::string &value, uint32_t bytes) {
  struct Asks final : Seen {
    std::vector<bool> held;
    void ldsAccess(WaveView &w, LaneMask, const uint32_t *, uint32_t, uint32_t, uint32_t) override {
      for (uint32_t i = 0; i < 16; ++i)
        w.lds[i] = i % 4 == 0 ? 7 : 0;
      w.asksForValues = true;
    }
    void storeFollows(WaveView &, bool lds, uint32_t site, const HeldBytes &bytes) override {
      EXPECT_TRUE(lds);
      EXPECT_EQ(site, 9u);
      for (auto [address, size] : {std::pair(0, 4), {4, 12}, {1, 2}, {12, 8}, {512, 4}})
        held.push_back(bytes.held(uint64_t(address), uint32_t(size)));
    }
  } asks;
  const auto info = std::to_string(abi::accessInfo(abi::kAccessWrite, bytes));
  runSeen("@tile = internal addrspace(3) global [1024 x i8] poison, align 16\n"
          "define amdgpu_kernel void @k(ptr addrspace(1) %ctx) {\n"
          "  %state = alloca [64 x i8], align 8, addrspace(5)\n"
          "  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)\n"
          "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %address = mul i32 %t, 4\n" +
              value +
              "  %p = getelementptr i8, ptr addrspace(3) @tile, i32 %address\n"
              "  %i = ptrtoint ptr addrspace(3) %p to i32\n"
              "  call void @__wavesan_lds_access(ptr addrspace(5) %state, i32 %i, i32 " +
              info + ", i32 9, i32 0)\n  store i32 %value, ptr addrspace(3) %p, align 1\n  ret void\n}\n" +
              kDeclarations,
          asks, arguments(uint64_t(0)));
  return asks.held;
}

TEST(HeldBytes, OfTheLanesThatWriteThem) {
  // Dwords of four lanes; the fifth lane's holds something else. Bytes that nobody writes are not held.
  EXPECT_EQ(heldBefore("  %value = add i32 7, 0\n", 4), (std::vector<bool>{true, true, true, false, false}));
  EXPECT_EQ(heldBefore("  %first = icmp eq i32 %t, 2\n  %value = select i1 %first, i32 263, i32 7\n", 4),
            (std::vector<bool>{true, false, true, false, false}));
}

/// `body` sees %t, %state, %i (LDS address of @tile as an integer) and %out with its generic form %g.
std::vector<LaneClash> clashesOf(const std::string &body, void *out, Seen &seen) {
  runSeen(
      std::string("@tile = internal addrspace(3) global [1024 x i8] poison, align 16\n"
                  "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)\n"
                  "declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr addrspace(8), i32, i32, i32)\n"
                  "declare void @llvm.amdgcn.raw.ptr.buffer.store.v2i32(<2 x i32>, ptr addrspace(8), i32, i32, i32)\n"
                  "declare void @__wavesan_global_range(ptr addrspace(5), ptr, i64, i32, i32)\n"
                  "define amdgpu_kernel void @k(ptr addrspace(1) %ctx, ptr addrspace(1) %out) {\n"
                  "entry:\n"
                  "  %state = alloca [64 x i8], align 8, addrspace(5)\n"
                  "  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)\n"
                  "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
                  "  %i = add i32 ptrtoint (ptr addrspace(3) @tile to i32), 0\n"
                  "  %g = addrspacecast ptr addrspace(1) %out to ptr\n") +
          body + "  ret void\n}\n" + kDeclarations,
      seen, arguments(uint64_t(0), out));
  return seen.clashes;
}
std::string accessOf(const char *hook, const char *address, int bytes, int site, uint32_t more = 0) {
  return std::string("  call void @__wavesan_") + hook + "_access(ptr addrspace(5) %state, " + address + ", i32 " +
         std::to_string(int32_t(abi::accessInfo(abi::kAccessWrite, uint32_t(bytes)) | more)) + ", i32 " +
         std::to_string(site) + (hook[0] == 'l' ? ", i32 0)\n" : ")\n");
}

TEST(LaneClash, InlineAssembly) {
  Seen lds;
  const auto inLds =
      clashesOf(accessOf("lds", "i32 %i", 4, 7) +
                    "  call void asm sideeffect \"ds_write_b32 $0, $1 offset:16\", \"v,v\"(i32 %i, i32 %t)\n",
                nullptr, lds);
  ASSERT_EQ(inLds.size(), 1u);
  EXPECT_EQ(inLds[0].address, 16u);
  EXPECT_EQ(inLds[0].size, 4u);
  EXPECT_EQ(inLds[0].lanes[0], 0);
  EXPECT_EQ(inLds[0].lanes[1], 1);
  EXPECT_TRUE(lds.clashInLds);
  EXPECT_EQ(lds.clashSite, 7u);
  EXPECT_EQ(lds.clashVariable, 0u);

  uint64_t cells[65] = {};
  Seen global;
  const auto inGlobal = clashesOf("  %o = mul i32 %t, 8\n" + accessOf("global", "ptr %g", 16, 8) +
                                      "  call void asm sideeffect \"global_store_dwordx4 $0, v[10:13], $1\", "
                                      "\"v,s,{v[10:13]}\"(i32 %o, ptr addrspace(1) %out, "
                                      "<4 x i32> <i32 1, i32 1, i32 1, i32 2>)\n",
                                  cells, global);
  ASSERT_EQ(inGlobal.size(), 1u) << "the second half of a lane's is the first half of its neighbour's";
  EXPECT_EQ(inGlobal[0].address, reinterpret_cast<uint64_t>(cells + 1));
  EXPECT_FALSE(global.clashInLds);
  EXPECT_EQ(global.clashSite, 8u);
}

TEST(LaneClash, InlineAssemblyOfOneValueOrPlaceEach) {
  Seen seen;
  EXPECT_TRUE(clashesOf("  %o = mul i32 %t, 4\n  %mine = add i32 %i, %o\n" + accessOf("lds", "i32 %i", 4, 7) +
                            accessOf("lds", "i32 %i", 2, 8) +
                            "  call void asm sideeffect \"ds_write_b32 $0, $1\\0Ads_write_b16 $2, $3 offset:256\", "
                            "\"v,v,v,v\"(i32 %mine, i32 %t, i32 %i, i32 5)\n",
                        nullptr, seen)
                  .empty());
}

// Each instruction has its site; both parts of a pair belong to one.
TEST(LaneClash, SeveralInstructionsInOneText) {
  Seen seen;
  const auto clashes =
      clashesOf("  %o = mul i32 %t, 4\n  %mine = add i32 %i, %o\n" + accessOf("lds", "i32 %i", 4, 3) +
                    accessOf("lds", "i32 %i", 4, 4) + accessOf("lds", "i32 %i", 4, 4, abi::kAccessOfCopy) +
                    "  call void asm sideeffect \"ds_write_b32 $0, $1\\0Ads_write2_b32 $0, $1, $1 offset1:1\", "
                    "\"v,v\"(i32 %mine, i32 %t)\n",
                nullptr, seen);
  ASSERT_EQ(clashes.size(), 1u);
  EXPECT_EQ(clashes[0].address, 4u);
  EXPECT_EQ(seen.clashSite, 4u);
}

TEST(LaneClash, InlineAssemblyBehindItsBarrier) {
  Seen seen;
  const auto clashes =
      clashesOf("  %o = mul i32 %t, 4\n  %mine = add i32 %i, %o\n" + accessOf("lds", "i32 %i", 4, 3) +
                    "  call void asm sideeffect \"ds_write_b32 $0, $1\\0As_barrier\\0Ads_write_b32 $2, $1\", "
                    "\"v,v,v\"(i32 %mine, i32 %t, i32 %i)\n" +
                    accessOf("lds", "i32 %i", 4, 5),
                nullptr, seen);
  ASSERT_EQ(clashes.size(), 1u);
  EXPECT_EQ(seen.clashSite, 5u);
}

TEST(LaneClash, InlineAssemblyWithoutHooksIsNotCompared) {
  Seen seen;
  EXPECT_TRUE(clashesOf("  call void asm sideeffect \"ds_write_b32 $0, $1\", \"v,v\"(i32 %i, i32 %t)\n" +
                            accessOf("lds", "i32 %i", 4, 5) + "  store i32 7, ptr addrspace(3) @tile\n",
                        nullptr, seen)
                  .empty());
}

/// A store of %v through a resource of `records` bytes at %offset, as the pass surrounds it with hooks.
std::string bufferStore(const char *type, const char *name, int bytes, int records) {
  return "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %out, i16 0, i64 " +
         std::to_string(records) +
         ", i32 131072)\n"
         "  br i1 true, label %whole, label %middle\nwhole:\n" +
         accessOf("global", "ptr %g", bytes, 6) +
         "  br label %middle\nmiddle:\n  br i1 false, label %part, label %go\npart:\n"
         "  call void @__wavesan_global_range(ptr addrspace(5) %state, ptr %g, i64 4, i32 2, i32 6)\n"
         "  br label %go\ngo:\n  call void @llvm.amdgcn.raw.ptr.buffer.store." +
         name + "(" + type + " %v, ptr addrspace(8) %r, i32 %offset, i32 0, i32 0)\n";
}

TEST(LaneClash, Buffers) {
  std::vector<uint32_t> cells(256);
  Seen same;
  const auto one = clashesOf("  %v = add i32 %t, 0\n  %offset = and i32 %t, 0\n" + bufferStore("i32", "i32", 4, 1024),
                             cells.data(), same);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].address, reinterpret_cast<uint64_t>(cells.data()));
  EXPECT_FALSE(same.clashInLds);
  EXPECT_EQ(same.clashSite, 6u);
  Seen own;
  EXPECT_TRUE(clashesOf("  %v = add i32 %t, 0\n  %offset = mul i32 %t, 4\n" + bufferStore("i32", "i32", 4, 1024),
                        cells.data(), own)
                  .empty());
  Seen outside;
  EXPECT_TRUE(clashesOf("  %v = add i32 %t, 0\n  %offset = or i32 %t, 4095\n" + bufferStore("i32", "i32", 4, 1024),
                        cells.data(), outside)
                  .empty())
      << "nobody writes";
}

// Lanes at two dwords each, one dword apart: the second of one is the first of the next. Of 8 bytes in range only lane
// 0 writes two, lane 1 one, the others none.
TEST(LaneClash, BufferPartsInRange) {
  std::vector<uint32_t> cells(256);
  const std::string pairs = "  %offset = mul i32 %t, 4\n  %v1 = insertelement <2 x i32> poison, i32 %t, i32 0\n";
  Seen seen;
  const auto clashes =
      clashesOf(pairs + "  %v = insertelement <2 x i32> %v1, i32 77, i32 1\n" + bufferStore("<2 x i32>", "v2i32", 8, 8),
                cells.data(), seen);
  ASSERT_EQ(clashes.size(), 1u);
  EXPECT_EQ(clashes[0].address, reinterpret_cast<uint64_t>(&cells[1]));
  EXPECT_EQ(clashes[0].size, 4u);
  EXPECT_EQ(clashes[0].lanes[1], 1);
  Seen ends;
  EXPECT_TRUE(
      clashesOf(pairs + "  %v = insertelement <2 x i32> %v1, i32 1, i32 1\n" + bufferStore("<2 x i32>", "v2i32", 8, 8),
                cells.data(), ends)
          .empty())
      << "lane 0 stores 1 where lane 1 stores its number; what lane 1 would store next is out of range";
}

TEST(LaneClash, GlobalMemory) {
  uint32_t cell = 0;
  Seen seen;
  runSeen(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %ctx, ptr addrspace(1) %out) {
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = addrspacecast ptr addrspace(1) %out to ptr
  call void @__wavesan_global_access(ptr addrspace(5) %state, ptr %g, i32 1026, i32 4)
  store i32 %t, ptr addrspace(1) %out
  store i32 %t, ptr addrspace(1) %out
  ret void
}
)") + kDeclarations,
          seen, arguments(uint64_t(0), &cell));
  ASSERT_EQ(seen.clashes.size(), 1u) << "the second store has no hook";
  EXPECT_EQ(seen.clashes[0].address, reinterpret_cast<uint64_t>(&cell));
  EXPECT_FALSE(seen.clashInLds);
  EXPECT_EQ(seen.clashSite, 4u);
}

} // namespace
} // namespace wavesan::cpu::test
