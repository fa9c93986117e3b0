// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LDS operations across calls inside one object: what the caller leaves pending for the callee, and the other way
// round. Each program is checked as assembled, where every function may be called by strangers, and linked, where the
// callers are known.
#include "asm_check.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

std::string call(const std::string &callee) {
  return "s_getpc_b64 s[8:9]\n s_add_u32 s8, s8, " + callee + "@rel32@lo+4\n s_addc_u32 s9, s9, " + callee +
         "@rel32@hi+12\n s_swappc_b64 s[30:31], s[8:9]\n ";
}

std::string function(const std::string &name, const std::string &body,
                     const std::string &end = "s_setpc_b64 s[30:31]") {
  return ".p2align 2\n.type " + name + ",@function\n" + name + ":\n " + body + "\n " + end + "\n.L" + name +
         ":\n.size " + name + ", .L" + name + "-" + name + "\n";
}

const std::string waitsForAll = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n ";
const std::string ldsWrite = "ds_write_b32 v1, v2\n ";
const std::string copy = "s_mov_b32 m0, 0\n global_load_lds_dword v[0:1], off\n ";

/// Links with clang's lld and checks the code object.
std::string linked(const std::string &target, const std::string &body, const std::string &more) {
  llvm::SmallString<128> source, out;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("waitcheck", "s", source));
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("waitcheck", "hsaco", out));
  {
    std::error_code error;
    llvm::raw_fd_ostream file(source, error);
    file << kernelText(target, body, more);
  }
  const std::string cpu = "-mcpu=" + target;
  const std::vector<llvm::StringRef> words = {
      WAITCHECK_CLANG, "-target", "amdgcn-amd-amdhsa", cpu, "-x", "assembler", source, "-o", out};
  const int status = llvm::sys::ExecuteAndWait(WAITCHECK_CLANG, words, std::nullopt, {}, 60);
  EXPECT_EQ(status, 0) << body << more;
  auto buffer = llvm::MemoryBuffer::getFile(out, false, false);
  llvm::sys::fs::remove(source);
  llvm::sys::fs::remove(out);
  if (status != 0 || !buffer)
    return "not linked";
  static Decoders decoders;
  auto result = checkObject((*buffer)->getMemBufferRef(), {}, decoders);
  if (!result)
    return llvm::toString(result.takeError());
  return findings(*result);
}

std::string assembled(const std::string &target, const std::string &body, const std::string &more) {
  return findings(checkBody(target, body, more));
}

} // namespace

TEST(LdsAcrossCalls, CalleeReachesABarrierWithItsCallersWritePending) {
  const std::string barrier = function("f", "s_waitcnt vmcnt(0)\n s_barrier\n s_waitcnt lgkmcnt(0)");
  for (const char *target : {"gfx90a", "gfx942"}) {
    EXPECT_EQ(assembled(target, ldsWrite + call("f"), barrier), "W08");
    EXPECT_EQ(linked(target, ldsWrite + call("f"), barrier), "W08");
    // Nobody has anything pending: known only when linked.
    EXPECT_EQ(assembled(target, ldsWrite + "s_waitcnt lgkmcnt(0)\n " + call("f"), barrier), "W08");
    EXPECT_EQ(linked(target, ldsWrite + "s_waitcnt lgkmcnt(0)\n " + call("f"), barrier), "");
    const std::string waits = function("f", waitsForAll + "s_barrier");
    EXPECT_EQ(assembled(target, ldsWrite + call("f"), waits), "");
    EXPECT_EQ(linked(target, ldsWrite + call("f"), waits), "");
  }
}

TEST(LdsAcrossCalls, CalleeReturnsWithAWritePending) {
  const std::string writes = function("f", waitsForAll + ldsWrite);
  for (const bool isLinked : {false, true}) {
    auto found = [&](const std::string &body, const std::string &more) {
      return isLinked ? linked("gfx90a", body, more) : assembled("gfx90a", body, more);
    };
    EXPECT_EQ(found(call("f") + "s_barrier", writes), "W04") << isLinked;
    EXPECT_EQ(found(call("f") + "s_waitcnt vmcnt(0)\n s_barrier", writes), "W04") << isLinked;
    EXPECT_EQ(found(call("f") + "s_waitcnt lgkmcnt(0)\n s_barrier", writes), "") << "the caller waits";
    EXPECT_EQ(found(call("f"), writes), "") << "nobody minds";
    EXPECT_EQ(found("s_nop 0", writes), "W07") << "callers that are not here may reach a barrier";
    // Handed on by a function in between, by return, by a second call and by a tail call.
    const std::string middle = function("g", "s_mov_b64 s[34:35], s[30:31]\n " + call("f"), "s_setpc_b64 s[34:35]");
    EXPECT_EQ(found(call("g") + "s_barrier", writes + middle), isLinked ? "W04" : "W04; W08") << "W08: s30 is read";
    const std::string barrier = function("h", "s_barrier");
    EXPECT_EQ(found(call("f") + call("h"), writes + barrier), isLinked ? "W08" : "W08; W08") << isLinked;
  }
}

TEST(LdsAcrossCalls, CopiesIntoLds) {
  const std::string copies = function("f", waitsForAll + copy);
  const std::string read = "v_mov_b32 v9, 0\n ds_read_b32 v4, v9\n s_waitcnt lgkmcnt(0)\n ";
  const std::string barrier = function("f", "s_waitcnt lgkmcnt(0)\n s_barrier");
  EXPECT_EQ(linked("gfx942", call("f") + "s_barrier\n " + read, copies), "W05; W06");
  EXPECT_EQ(linked("gfx942", call("f") + read, copies), "W06");
  EXPECT_EQ(linked("gfx942", call("f") + "s_waitcnt vmcnt(0)\n s_barrier\n " + read, copies), "");
  EXPECT_EQ(linked("gfx942", copy + call("f") + "s_waitcnt vmcnt(0)\n " + read, barrier), "W08");
  EXPECT_EQ(linked("gfx942", copy + call("f"), function("f", "s_waitcnt lgkmcnt(0)\n " + read)), "W08");
  EXPECT_EQ(linked("gfx942", copy + "s_waitcnt vmcnt(0)\n " + call("f"), function("f", read)), "");
}

TEST(LdsAcrossCalls, RegistersOfKnownCallers) {
  const std::string uses = function("f", "v_mov_b32 v3, v4");
  EXPECT_EQ(linked("gfx90a", "global_load_dword v4, v[0:1], off\n " + call("f") + "s_waitcnt vmcnt(0)", uses), "W08")
      << "the vector counter only";
  EXPECT_EQ(linked("gfx90a", "global_load_dword v4, v[0:1], off\n s_waitcnt vmcnt(0)\n " + call("f"), uses), "");
  EXPECT_EQ(assembled("gfx90a", "global_load_dword v4, v[0:1], off\n s_waitcnt vmcnt(0)\n " + call("f"), uses),
            "W08; W08");
  // Through a function that uses no register: its callers' operations are still pending in the one that it calls.
  const std::string middle = function("g", "s_nop 0",
                                      "s_getpc_b64 s[8:9]\n s_add_u32 s8, s8, f@rel32@lo+4\n"
                                      " s_addc_u32 s9, s9, f@rel32@hi+12\n s_setpc_b64 s[8:9]");
  EXPECT_EQ(linked("gfx90a", "global_load_dword v4, v[0:1], off\n " + call("g") + "s_waitcnt vmcnt(0)", uses + middle),
            "W08");
}

TEST(LdsAcrossCalls, FunctionsThatOnlyCallOneAnotherMayHaveStrangersAsCallers) {
  const std::string both =
      function("f", "s_barrier\n s_cbranch_scc1 1f\n " + call("g") + "1:") + function("g", call("f"));
  EXPECT_NE(linked("gfx90a", "s_nop 0", both).find("W08"), std::string::npos);
  EXPECT_EQ(linked("gfx90a", call("f"), both), "") << "a kernel calls them, with nothing pending";
}

TEST(LdsAcrossCalls, ACallThroughARegisterMayBeToAnyFunction) {
  const std::string writes = function("f", waitsForAll + ldsWrite);
  EXPECT_EQ(linked("gfx90a", "s_swappc_b64 s[30:31], s[10:11]\n s_barrier", writes), "W04");
  EXPECT_EQ(linked("gfx90a", ldsWrite + "s_swappc_b64 s[30:31], s[10:11]", function("f", "s_barrier\n " + waitsForAll)),
            "W08");
}
