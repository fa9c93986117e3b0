// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden texts: one report of each class and situation, word for word.
#include "sample_races.h"
#include "temporary_file.h"

#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>

using namespace wavesan::report;

using namespace wavesan::test;

namespace {
std::string text(const Race &r) { return raceText(r, TextOptions{}); }

} // namespace

TEST(RaceText, MissingBarrierOfTheReferenceExample) {
  wavesan::test::TemporaryFile source(
      "#include <hip/hip_runtime.h>\n\n__global__ void transpose_lds(const int *in, int *out) {\n"
      "  __shared__ int tile[128];\n\n\n  int tid = threadIdx.x;\n  tile[tid] = in[tid];\n"
      "  // missing barrier\n\n  out[tid] = tile[127 - tid];\n}\n");
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(11, 14, "transpose_lds", source.path())}),
                access(W, 1, 63, {at(8, 13, "transpose_lds", source.path())}));
  r.kernel = "transpose_lds(int const*, int*)";
  r.dispatch = 1;
  r.current.workgroup[0] = r.previous.workgroup[0] = 0;
  r.variableOffset = 508;
  r.occurrences = 128;
  TextOptions options;
  size_t slash = source.path().rfind('/');
  options.directory = source.path().substr(0, slash);
  std::string name = source.path().substr(slash + 1);
  EXPECT_EQ(raceText(r, options),
            "wavesan: race: LDS write-read (read after write) on `tile`, 4 bytes at tile+508 (LDS bytes 508..511)\n"
            "  kernel transpose_lds(int const*, int*), dispatch 1, workgroup (0,0,0), wave size 64\n"
            "  read  of 4 bytes by wave 0 lane 0  at " +
                name +
                ":11:14 in transpose_lds\n"
                "        11 |   out[tid] = tile[127 - tid];\n"
                "           |              ^\n"
                "  write of 4 bytes by wave 1 lane 63 at " +
                name +
                ":8:13 in transpose_lds\n"
                "         8 |   tile[tid] = in[tid];\n"
                "           |             ^\n"
                "  no barrier between them: waves 0 and 1 may execute these in either order\n"
                "  fix: put __syncthreads() between line 8 and line 11\n"
                "  seen 128 times\n");
  options.sourceExcerpt = false;
  EXPECT_EQ(raceText(r, options).find("out[tid]"), std::string::npos);
}

TEST(RaceText, LoopCarriedWriteAfterRead) {
  Race r = race(Order::WriteAfterRead, access(W, 2, 5, {at(26, 13)}), access(R, 1, 36, {at(28, 12)}),
                {{{at(27, 5, "__syncthreads", "hip.h"), at(27, 5)}}, {{"k", "app.hip", 24, 29}}});
  r.bothOrders = true;
  r.occurrences = 2;
  EXPECT_EQ(text(r),
            "wavesan: race: LDS read-write (write after read) on `tile`, 4 bytes at tile+252 (LDS bytes 508..511)\n"
            "  kernel k(int*), dispatch 3, workgroup (1,0,0), wave size 64\n"
            "  write of 4 bytes by wave 2 lane 5  at app.hip:26:13 in k\n"
            "  read  of 4 bytes by wave 1 lane 36 at app.hip:28:12 in k\n"
            "  no barrier between one iteration's line 28 and the next iteration's line 26: waves 1 and 2 may execute "
            "these in either order\n"
            "  fix: add __syncthreads() at the end of the loop body: after line 28 and before line 26 of the next "
            "iteration\n"
            "  seen 2 times, in both orders\n");
}

TEST(RaceText, BarrierThatSomeWorkItemsSkip) {
  Race r =
      race(Order::ReadAfterWrite, access(R, 2, 5, {at(28, 13)}), access(W, 1, 36, {at(26, 12)}), {{{at(27, 5)}}, {}});
  EXPECT_NE(text(r).find("  not every work-item executes the barrier between them: waves 1 and 2 may execute these in "
                         "either order\n"
                         "  fix: let every work-item execute a barrier between line 26 and line 28: the one that is "
                         "there lies in a branch that some of them do not take\n"),
            std::string::npos)
      << text(r);
}

TEST(RaceText, TheOtherOrderOfAStraightLineRaceGetsTheSameFix) {
  Race r = race(Order::WriteAfterRead, access(W, 1, 63, {at(8, 13)}), access(R, 0, 0, {at(11, 14)}));
  EXPECT_NE(text(r).find("fix: put __syncthreads() between line 8 and line 11\n"), std::string::npos) << text(r);
}

TEST(RaceText, InlinedAccessesAreOrderedInTheirCommonCaller) {
  Race r = race(Order::ReadAfterWrite,
                access(R, 0, 1, {at(5, 10, "load", "/src/tile.h"), at(20, 3, "body", "/src/body.h"), at(40, 7)}),
                access(W, 1, 2, {at(9, 11, "store", "/src/tile.h"), at(18, 3, "body", "/src/body.h"), at(40, 7)}));
  EXPECT_EQ(text(r),
            "wavesan: race: LDS write-read (read after write) on `tile`, 4 bytes at tile+252 (LDS bytes 508..511)\n"
            "  kernel k(int*), dispatch 3, workgroup (1,0,0), wave size 64\n"
            "  read  of 4 bytes by wave 0 lane 1 at /src/tile.h:5:10 in load\n"
            "    inlined into body at /src/body.h:20:3\n"
            "    inlined into k at app.hip:40:7\n"
            "  write of 4 bytes by wave 1 lane 2 at /src/tile.h:9:11 in store\n"
            "    inlined into body at /src/body.h:18:3\n"
            "    inlined into k at app.hip:40:7\n"
            "  no barrier between them: waves 0 and 1 may execute these in either order\n"
            "  fix: put __syncthreads() between line 18 and line 20 of body.h (in body)\n"
            "  seen 1 time\n");
}

TEST(RaceText, WriteWriteOnOneLine) {
  Race r = race(Order::WriteAfterWrite, access(W, 1, 0, {at(7, 9)}), access(W, 0, 0, {at(7, 9)}));
  std::string t = text(r);
  EXPECT_NE(t.find("wavesan: race: LDS write-write (write after write) on `tile`"), std::string::npos) << t;
  EXPECT_NE(
      t.find("  fix: let only one work-item execute the write in line 7, or give every work-item its own element, or "
             "use an atomic operation\n"),
      std::string::npos)
      << t;
}

TEST(RaceText, ReadAndWriteInOneStatement) {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 3, {at(30, 13)}), access(W, 1, 3, {at(30, 10)}));
  EXPECT_NE(text(r).find("  fix: split line 30: read into a local variable, then __syncthreads(), then write\n"),
            std::string::npos)
      << text(r);
}

TEST(RaceText, UpdateInPlace) {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 3, {at(18, 19)}), access(W, 1, 3, {at(18, 19)}));
  EXPECT_NE(
      text(r).find(
          "  fix: use an atomic operation such as atomicAdd() in line 18, or give every work-item its own element\n"),
      std::string::npos)
      << text(r);
}

TEST(RaceText, AtomicAgainstPlain) {
  Race r = race(Order::WriteAfterWrite, access(R | W | A, 0, 3, {at(33, 5)}), access(W, 3, 1, {at(28, 40)}));
  EXPECT_EQ(
      text(r),
      "wavesan: race: LDS plain write against atomic on `tile`, 4 bytes at tile+252 (LDS bytes 508..511)\n"
      "  kernel k(int*), dispatch 3, workgroup (1,0,0), wave size 64\n"
      "  atomic read-modify-write of 4 bytes by wave 0 lane 3 at app.hip:33:5 in k\n"
      "  write                    of 4 bytes by wave 3 lane 1 at app.hip:28:40 in k\n"
      "  one side is atomic, the other is not, and no barrier lies between them: waves 0 and 3 may execute these in "
      "either order\n"
      "  fix: put __syncthreads() between line 28 and line 33, or make both accesses atomic\n"
      "  seen 1 time\n");
}

TEST(RaceText, MissingFence) {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(12, 3)}), access(W, 1, 0, {at(9, 3)}), {{{at(10, 3)}}, {}});
  r.raceClass = wavesan::abi::RaceClass::MissingFence;
  std::string t = text(r);
  EXPECT_EQ(t.find("wavesan: missing-fence: LDS write-read (read after write) on `tile`"), 0u) << t;
  EXPECT_NE(
      t.find("  a barrier lies between them, but the write of wave 1 may still be under way when the barrier lets "
             "wave 0 go on\n"
             "  fix: use __syncthreads() between line 9 and line 12, or a workgroup release fence before and an "
             "acquire fence after s_barrier: __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), "
             "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\")\n"),
      std::string::npos)
      << t;
}

TEST(RaceText, WaveSizeNoteOnlyForHalvesOfOneWave64) {
  const std::string note =
      "  wave size is 32 here: code that relies on 64 lanes in lockstep is ordered on wave64 and needs a "
      "barrier on wave32\n";
  Race r = race(Order::ReadAfterWrite, access(R, 2, 0, {at(12, 3)}), access(W, 3, 0, {at(9, 3)}));
  EXPECT_EQ(text(r).find(note), std::string::npos);
  r.waveSize = 32;
  EXPECT_NE(text(r).find(note), std::string::npos) << text(r);
  r.current.wave = 1; // 1 and 3 are different waves on wave64, too
  EXPECT_EQ(text(r).find(note), std::string::npos);
}

TEST(RaceText, WithoutDebugInfoOrVariable) {
  Race r = race(Order::WriteAfterRead, access(W, 1, 0, {}), access(R, 0, 0, {}));
  r.variable.clear();
  r.size = 1;
  r.current.sizeBytes = 0;
  r.current.opcode = "memset";
  r.previous.sizeBytes = 1;
  EXPECT_EQ(text(r),
            "wavesan: race: LDS read-write (write after read), 1 byte at LDS byte 508\n"
            "  kernel k(int*), dispatch 3, workgroup (1,0,0), wave size 64\n"
            "  write of a range (memset) by wave 1 lane 0 at an unknown line\n"
            "  read  of 1 byte by wave 0 lane 0           at an unknown line\n"
            "  no barrier between them: waves 0 and 1 may execute these in either order\n"
            "  fix: put __syncthreads() between the two accesses (compile with -gline-tables-only to see their lines)\n"
            "  seen 1 time\n");
}

TEST(TextSink, WritesWholeReportsAndPrefixedMessages) {
  std::vector<std::string> writes;
  TextSink sink(
      [&](std::string_view s) {
        writes.emplace_back(s);
        return std::string();
      },
      TextOptions{});
  sink.onRace(race(Order::ReadAfterWrite, access(R, 0, 0, {at(11, 14)}), access(W, 1, 63, {at(8, 13)})));
  sink.onMessage("warning: something");
  sink.onSummary(Summary{});
  ASSERT_EQ(writes.size(), 3u);
  EXPECT_EQ(writes[0].find("wavesan: race: "), 0u);
  EXPECT_EQ(writes[1], "wavesan: warning: something\n");
  EXPECT_EQ(writes[2], summaryText(Summary{}, TextOptions{}));
}

TEST(RaceText, ThePositionShownIsTheUsersOwnLineNotAHeaders) {
  Race r = race(Order::WriteAfterWrite,
                access(R | W | A, 1, 0,
                       {at(153, 10, "atomicAdd", "/usr/include/hip/amd_detail/amd_hip_atomic.h"), at(31, 5, "count")}),
                access(W, 3, 0, {at(26, 42, "count")}));
  const std::string t = text(r);
  EXPECT_NE(t.find("lane 0 at app.hip:31:5 in count\n    which calls atomicAdd: "
                   "/usr/include/hip/amd_detail/amd_hip_atomic.h:153:10\n"),
            std::string::npos)
      << t;
  EXPECT_EQ(t.find("inlined into"), std::string::npos) << t;
}

TEST(TextSink, ColoursMarkTheWordsAndChangeNothingElse) {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(11, 14)}), access(W, 1, 63, {at(8, 13)}));
  TextOptions options;
  options.color = true;
  std::string colored = raceText(r, options);
  EXPECT_EQ(colored.find("\x1b[1;31mwavesan: race:\x1b[0m LDS write-read"), 0u) << colored;
  EXPECT_NE(colored.find("  \x1b[1;32mfix:\x1b[0m put __syncthreads()"), std::string::npos) << colored;
  for (size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b'))
    colored.erase(at, colored.find('m', at) + 1 - at);
  EXPECT_EQ(colored, text(r));
}
