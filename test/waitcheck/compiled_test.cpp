// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What clang compiles must be clean, on every target at -O0, -O2 and -O3. And then every wait that it emitted is taken
// away, weakened by one, or robbed of one counter: the checker must notice, unless the wait guards no register and no
// LDS access. The table is printed.
#include "asm_check.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <map>
#include <set>

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

const char *const files[] = {"lds", "memory", "calls", "indexed"};

/// Files for that target: registers beyond v255 exist on gfx1250 only.
std::vector<std::string> filesFor(const std::string &target) {
  std::vector<std::string> all(std::begin(files), std::end(files));
  if (target == "gfx1250")
    all.push_back("wide");
  return all;
}

/// Compiles one kernel file; the code object's bytes. Fails the test if clang does.
std::unique_ptr<llvm::MemoryBuffer> compile(const std::string &file, const std::string &target,
                                            const std::string &level, llvm::StringRef action = "-c") {
  llvm::SmallString<128> out;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("waitcheck", "hsaco", out));
  const std::string arch = "--offload-arch=" + target, source = std::string(WAITCHECK_KERNELS) + "/" + file + ".hip";
  const std::vector<llvm::StringRef> words = {WAITCHECK_CLANG,
                                              "-x",
                                              "hip",
                                              arch,
                                              "--cuda-device-only",
                                              "--no-gpu-bundle-output",
                                              "-nogpuinc",
                                              "-nogpulib",
                                              "-mcode-object-version=5",
                                              level,
                                              "-gline-tables-only",
                                              action,
                                              source,
                                              "-o",
                                              out};
  std::string error;
  const int status = llvm::sys::ExecuteAndWait(WAITCHECK_CLANG, words, std::nullopt, {}, 120, 0, &error);
  EXPECT_EQ(status, 0) << target << " " << level << " " << file << " " << error;
  auto buffer = llvm::MemoryBuffer::getFile(out, false, false);
  llvm::sys::fs::remove(out);
  if (status != 0 || !buffer)
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), file + target + level);
}

struct Score {
  unsigned total = 0, guarding = 0, found = 0;
  std::map<std::string, unsigned> missed; ///< by cause
};

/// What one wait clears of one counter. Items that only order memory do not count as guarded.
struct Cleared {
  bool something = false, guards = false, tight = false;
};

Cleared whatItClears(const Generation &g, const PendingState &state, const Decoded &d, unsigned c) {
  Cleared r;
  for (const Item &i : state.all()) {
    if (i.cls() == OrderClass::WaitStates || static_cast<unsigned>(g.counter(i.cls())) != c)
      continue;
    const int age = isOrdered(i.cls()) ? i.age : 0;
    if (d.wait[c] > age)
      continue;
    r.something = true;
    // A wait for one less than the counter can hold does what issuing the next counted instruction does anyway.
    if (d.wait[c] + 1 >= g.limit(static_cast<Counter>(c)))
      continue;
    if (i.kind() != ItemKind::MemoryWrite) {
      r.guards = true;
      r.tight |= age == d.wait[c];
    }
  }
  return r;
}

/// Tries all mutations of the waits of one function.
class Mutator {
public:
  Mutator(IsaContext &isa, Function &f, CalleeFacts callee) : isa(isa), f(f), callee(callee) {
    const FunctionResult base = analyseFunction(isa, f, callee);
    for (const Hazard &h : base.hazards)
      known.insert(keyOf(h));
    solution = base.solution;
  }

  void run(Score &deleted, Score &field, Score &weakened) {
    const Transfer transfer(isa, f);
    for (uint32_t b : f.order) {
      PendingState state = solution.entry[b];
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
        if (f.code[i].decoded >= 0 && isa.decoded(f.code[i].decoded).facts.control == Control::Wait)
          wait(i, state, deleted, field, weakened);
        transfer.step(state, i, solution.calls[b], nullptr);
      }
    }
  }

private:
  using Key = std::tuple<uint32_t, HazardCode, uint16_t>;
  static Key keyOf(const Hazard &h) { return {h.consumer, h.code, h.slot}; }

  void wait(uint32_t i, const PendingState &state, Score &deleted, Score &field, Score &weakened) {
    const Decoded original = isa.decoded(f.code[i].decoded);
    bool guards = false;
    unsigned fields = 0;
    for (unsigned c = 0; c < numCounters; ++c)
      if (original.wait[c] >= 0) {
        ++fields;
        guards |= whatItClears(isa.generation(), state, original, c).guards;
      }
    Decoded none = original;
    none.wait.fill(-1);
    judge(i, none, guards, deleted);
    for (unsigned c = 0; c < numCounters; ++c) {
      if (original.wait[c] < 0)
        continue;
      const Cleared cleared = whatItClears(isa.generation(), state, original, c);
      if (fields > 1) {
        Decoded without = original;
        without.wait[c] = -1;
        judge(i, without, cleared.guards, field);
      }
      Decoded weaker = original;
      ++weaker.wait[c];
      judge(i, weaker, cleared.guards && cleared.tight, weakened);
    }
  }

  void judge(uint32_t i, const Decoded &mutant, bool guards, Score &score) {
    ++score.total;
    if (!guards)
      return;
    ++score.guarding;
    const int32_t original = f.code[i].decoded;
    f.code[i].decoded = static_cast<int32_t>(isa.addVariant(mutant));
    const FunctionResult r = analyseFunction(isa, f, callee);
    f.code[i].decoded = original;
    for (const Hazard &h : r.hazards)
      if (!known.count(keyOf(h))) {
        ++score.found;
        return;
      }
    // Not found: say why. What is never used before it is overwritten, waited for again or the kernel ends needs no
    // wait.
    ++score.missed[stillWaitedLater(i) ? "a later wait covers it" : "result never used again"];
  }

  /// Whether another wait follows in the same block.
  bool stillWaitedLater(uint32_t i) const {
    for (const Block &b : f.blocks)
      if (i >= b.first && i < b.last)
        for (uint32_t k = i + 1; k < b.last; ++k)
          if (f.code[k].decoded >= 0 && isa.decoded(f.code[k].decoded).facts.control == Control::Wait)
            return true;
    return false;
  }

  IsaContext &isa;
  Function &f;
  CalleeFacts callee;
  Solution solution;
  std::set<Key> known;
};

void print(const char *target, const char *what, const Score &s) {
  std::printf("%-8s %-10s %6u mutants, %6u of them guard something, %6u found (%.2f%%)", target, what, s.total,
              s.guarding, s.found, s.guarding ? 100.0 * s.found / s.guarding : 100.0);
  for (const auto &[cause, n] : s.missed)
    std::printf("; %u: %s", n, cause.c_str());
  std::printf("\n");
}

} // namespace

/// The vector registers of a line of the compiler's assembly: "v[32:35] /*v[288:291]*/" are v288 to v291.
std::set<std::string> registersOfLine(llvm::StringRef line) {
  std::set<std::string> all;
  auto digits = [](llvm::StringRef &s, unsigned &n) { return !s.consumeInteger(10, n); };
  while (!line.empty()) {
    const bool word = llvm::isAlnum(line[0]) || line[0] == '_' || line[0] == '.';
    llvm::StringRef rest = line;
    unsigned first = 0, last = 0;
    bool found = false;
    if (rest.consume_front("v[")) {
      found = digits(rest, first) && rest.consume_front(":") && digits(rest, last) && rest.consume_front("]");
    } else if (rest.consume_front("v") && digits(rest, first)) {
      last = first;
      found = rest.empty() || !llvm::isAlnum(rest[0]);
    }
    if (!found) {
      line =
          word ? line.drop_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }) : line.drop_front();
      continue;
    }
    line = rest;
    llvm::StringRef comment = rest.ltrim();
    if (comment.consume_front("/*v")) { // what the low bits stand for
      const bool tuple = comment.consume_front("[");
      digits(comment, first);
      last = first;
      if (tuple && comment.consume_front(":"))
        digits(comment, last);
      line = comment.drop_until([](char c) { return c == '/'; });
    }
    for (unsigned r = first; r <= last; ++r)
      all.insert("v" + std::to_string(r));
  }
  return all;
}

class Compiled : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Targets, Compiled,
                         testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010",
                                         "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Compiled, IsClean) {
  Decoders decoders;
  uint64_t instructions = 0, waits = 0;
  for (const char *level : {"-O0", "-O2", "-O3"})
    for (const std::string &file : filesFor(GetParam())) {
      const auto image = compile(file, GetParam(), level);
      ASSERT_TRUE(image);
      auto r = checkObject(image->getMemBufferRef(), {}, decoders);
      ASSERT_TRUE(static_cast<bool>(r)) << llvm::toString(r.takeError());
      EXPECT_EQ(findings(*r), "") << GetParam() << " " << level << " " << file;
      EXPECT_GE(r->counts.kernels, 3u);
      EXPECT_GT(r->counts.waits, 10u);
      instructions += r->counts.instructions;
      waits += r->counts.waits;
    }
  std::printf("%s: %llu instructions, %llu waits, no hazard\n", GetParam(), (unsigned long long)instructions,
              (unsigned long long)waits);
}

TEST_P(Compiled, EveryGuardingWaitMatters) {
  Decoders decoders;
  Score deleted, field, weakened;
  for (const std::string &file : filesFor(GetParam())) {
    const auto image = compile(file, GetParam(), "-O3");
    ASSERT_TRUE(image);
    auto object = CodeObject::parse(image->getMemBufferRef());
    ASSERT_TRUE(static_cast<bool>(object)) << llvm::toString(object.takeError());
    for (const FunctionEntry &entry : (*object)->functions()) {
      auto isa = decoders.get((*object)->target(), entry.wave64);
      ASSERT_TRUE(static_cast<bool>(isa));
      Function f = buildFunction(**isa, entry, (*object)->sections()[entry.section]);
      Mutator(**isa, f, [](const Block &) { return allCounters; }).run(deleted, field, weakened);
    }
  }
  print(GetParam(), "deleted", deleted);
  print(GetParam(), "field", field);
  print(GetParam(), "weakened", weakened);
  for (const Score *s : {&deleted, &field, &weakened})
    if (s->guarding)
      EXPECT_GE(100.0 * s->found, 99.0 * s->guarding);
  EXPECT_GT(deleted.guarding, 50u);
}

// gfx1250 has 1024 vector registers, of which an encoding shows eight bits; the compiler's assembly says which ones it
// means.
TEST(WideRegisters, AgreeWithTheCompiler) {
  Decoders decoders;
  for (const char *level : {"-O2", "-O3"}) {
    const auto image = compile("wide", "gfx1250", level), text = compile("wide", "gfx1250", level, "-S");
    ASSERT_TRUE(image && text);
    auto object = CodeObject::parse(image->getMemBufferRef());
    ASSERT_TRUE(static_cast<bool>(object)) << llvm::toString(object.takeError());
    std::map<std::string, std::vector<std::string>> lines; // by function
    std::string current;
    llvm::SmallVector<llvm::StringRef> all;
    text->getBuffer().split(all, '\n');
    for (llvm::StringRef line : all) {
      llvm::StringRef code = line.ltrim();
      if (line.starts_with("_Z") && line.contains(':'))
        current = line.take_front(line.find(':')).str();
      else if (line.starts_with("\t") && !code.starts_with(".") && !code.starts_with(";") && !code.empty())
        lines[current].push_back(code.split(" ; ").first.str());
    }
    unsigned wide = 0;
    for (const FunctionEntry &entry : (*object)->functions()) {
      auto isa = decoders.get((*object)->target(), entry.wave64);
      ASSERT_TRUE(static_cast<bool>(isa));
      const Function f = buildFunction(**isa, entry, (*object)->sections()[entry.section]);
      EXPECT_EQ(f.gaps.wideRegisters, 0u) << f.gaps.firstName;
      const std::vector<std::string> &expected = lines[entry.name];
      ASSERT_LE(expected.size(), f.code.size()) << entry.name;
      for (uint32_t i = 0; i < expected.size(); ++i) {
        ASSERT_GE(f.code[i].decoded, 0);
        const Decoded &d = (*isa)->decoded(f.code[i].decoded);
        Operands operands;
        (*isa)->operands(d, f.bytesAt(i).data(), operands);
        std::set<std::string> mine;
        for (RegRef r : operands.all())
          if ((*isa)->isVector(r.slot))
            mine.insert((*isa)->slotName(r.slot));
        ASSERT_EQ(testing::PrintToString(mine), testing::PrintToString(registersOfLine(expected[i])))
            << entry.name << ": " << expected[i];
        wide += d.wide;
      }
    }
    EXPECT_GT(wide, 500u);
    std::printf("%s: %u instructions with registers beyond v255\n", level, wide);
  }
}

// The same for kinds of instructions that the compiler does not use above, as LLVM's disassembler shows them behind
// s_set_vgpr_msb 0xe4: 0 for the first source, 1, 2, and 3 for the result.
TEST(WideRegisters, EveryKindOfInstruction) {
  const char *const lines[] = {
      "v_fmamk_f32 v1 /*v769*/, v2, 0x42000000, v3 /*v515*/",
      "v_fmaak_f32 v1 /*v769*/, v2, v3 /*v259*/, 0x42000000",
      "v_dual_fmamk_f32 v4 /*v772*/, v2, 0x42000000, v3 /*v515*/ :: v_dual_mul_f32 v5 /*v773*/, v7, v8 /*v264*/",
      "v_fma_f32 v1 /*v769*/, v2, v3 /*v259*/, v4 /*v516*/",
      ("v_dual_fma_f32 v0 /*v768*/, v1, v5 /*v261*/, v7 /*v519*/ :: v_dual_fma_f32 v1 /*v769*/, v2, v6 /*v262*/, v8 "
       "/*v520*/"),
      "buffer_atomic_add_u32 v4 /*v772*/, v1, s[8:11], null offen",
      "global_load_async_to_lds_b32 v2 /*v770*/, v1, s[4:5]",
      "global_store_async_from_lds_b32 v1, v2 /*v258*/, s[4:5]",
      "ds_cmpstore_rtn_b32 v4 /*v772*/, v1, v2 /*v258*/, v3 /*v515*/",
      "v_swap_b32 v1 /*v769*/, v2",
      "v_permlane16_swap_b32_e32 v1 /*v769*/, v2",
      "v_writelane_b32 v1 /*v769*/, s4, 3",
      "v_fmac_f32_e32 v1 /*v769*/, v2, v3 /*v259*/",
      "scratch_store_b32 v1, v4 /*v260*/, off",
      "v_mov_b32_dpp v1 /*v769*/, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
      "v_add_f32_dpp v1 /*v769*/, v2, v3 /*v259*/ row_ror:1 row_mask:0xf bank_mask:0xf",
      "v_fma_f32_e64_dpp v1 /*v769*/, v2, v3 /*v259*/, v4 /*v516*/ row_ror:1 row_mask:0xf bank_mask:0xf",
      "v_cmp_lt_f32_e64 s4, v1, v2 /*v258*/",
      "v_mov_b32_dpp v1 /*v769*/, v2 dpp8:[0,1,2,3,4,5,6,7]",
      "v_readlane_b32 s4, v1, 3",
      "flat_atomic_add_u32 v[2:3], v4 /*v260*/",
      "ds_store_2addr_b32 v9, v8 /*v264*/, v2 /*v514*/ offset1:1",
      "v_swmmac_f32_16x16x64_f16 v[0:7] /*v[768:775]*/, v[8:15], v[16:31] /*v[272:287]*/, v40 /*v552*/",
      "v_pk_fma_f32 v[2:3] /*v[770:771]*/, v[4:5], v[6:7] /*v[262:263]*/, v[8:9] /*v[520:521]*/",
      "v_wmma_f32_16x16x32_f16 v[0:7] /*v[768:775]*/, v[8:15], v[16:23] /*v[272:279]*/, v[0:7] /*v[512:519]*/",
      "v_dual_fmac_f32 v4 /*v772*/, v1, v2 /*v258*/ :: v_dual_mul_f32 v5 /*v773*/, v6, v7 /*v263*/",
      "global_atomic_cmpswap_b32 v4 /*v772*/, v1, v[6:7] /*v[262:263]*/, s[4:5] th:TH_ATOMIC_RETURN",
      "buffer_store_b128 v[4:7] /*v[772:775]*/, v1, s[8:11], null offen",
      "ds_bpermute_b32 v4 /*v772*/, v1, v2 /*v258*/",
      "v_add_co_ci_u32_e64 v1 /*v769*/, s4, v2, v3 /*v259*/, s5",
      "v_cmp_lt_f32_e32 vcc_lo, v1, v2 /*v258*/",
      "v_cvt_scale_pk8_f16_fp8 v[4:7] /*v[772:775]*/, v[2:3], v8 /*v264*/",
      "v_bitop3_b32 v1 /*v769*/, v2, v3 /*v259*/, v4 /*v516*/ bitop3:0x40",
      "ds_load_tr16_b128 v[4:7] /*v[772:775]*/, v1",
  };
  std::string body = "s_set_vgpr_msb 0xe4\n";
  for (const char *line : lines)
    body += std::string(line) + "\n"; // to the assembler, what the low bits stand for is a comment
  auto image = assemble("t.s", kernelText("gfx1250", body, "", /*wave32=*/true), "");
  ASSERT_TRUE(static_cast<bool>(image)) << llvm::toString(image.takeError());
  auto object = CodeObject::parse((*image)->getMemBufferRef());
  ASSERT_TRUE(static_cast<bool>(object));
  Decoders decoders;
  const FunctionEntry &entry = (*object)->functions().front();
  auto isa = decoders.get((*object)->target(), entry.wave64);
  ASSERT_TRUE(static_cast<bool>(isa));
  const Function f = buildFunction(**isa, entry, (*object)->sections()[entry.section]);
  EXPECT_FALSE(f.gaps.any()) << f.gaps.firstName;
  for (uint32_t i = 0; i < std::size(lines); ++i) {
    Operands operands;
    (*isa)->operands((*isa)->decoded(f.code[i + 1].decoded), f.bytesAt(i + 1).data(), operands);
    std::set<std::string> mine;
    for (RegRef r : operands.all())
      if ((*isa)->isVector(r.slot))
        mine.insert((*isa)->slotName(r.slot));
    EXPECT_EQ(testing::PrintToString(mine), testing::PrintToString(registersOfLine(lines[i]))) << lines[i];
  }
}
