// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One result through all three formats, and the C interface.
#include "asm_check.h"

#include "Report.h"

#include "wavesan/waitcheck.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace wavesan::waitcheck;
using namespace wavesan::waitcheck::test;

namespace {

const char *const body = "s_load_dword s8, s[4:5], 0x0\n global_load_dword v2, v1, s[4:5]\n s_cbranch_scc0 1f\n s_waitcnt vmcnt(0)\n1:\n"
                         " v_mov_b32_e32 v3, v2\n s_mov_b32 s9, s8\n ds_write_b32 v1, v3\n s_barrier";

std::string render(std::unique_ptr<ReportSink> (*make)(llvm::raw_ostream &)) {
  const CheckResult r = checkBody("gfx90a", body);
  std::string text;
  llvm::raw_string_ostream out(text);
  const auto sink = make(out);
  sink->object("a.hsaco", r);
  sink->problem("b.hsaco", "broken");
  Summary s;
  s.objects = 1;
  s.failedObjects = 1;
  s.counts = r.counts;
  s.hazards = r.diagnostics.size();
  sink->finish(s);
  return text;
}

} // namespace

TEST(Report, ThreeHazardsInOrder) {
  EXPECT_EQ(findings(checkBody("gfx90a", body)), "W01 s8; W01 v2; W04");
}

TEST(Report, Text) {
  const std::string t = render(makeTextSink);
  for (const char *part : {"a.hsaco: W01 [possible] register read before", ": v2\n", "kernel:   k (gfx90a)", "producer: +0x0008  global_load_dword v2, v1, s[4:5]",
                           "consumer: +0x0018  v_mov_b32_e32 v3, v2", "vmcnt: no wait in between, 0 or less is needed", "via:      +0x0010  s_cbranch_scc0",
                           "W04 [proven]", "b.hsaco: not analysed: broken", "test.s:", "NOT EVERYTHING ANALYSED"})
    EXPECT_NE(t.find(part), std::string::npos) << part << "\n" << t;
}

TEST(Report, JsonLines) {
  llvm::StringRef rest;
  const std::string t = render(makeJsonSink);
  unsigned hazards = 0, summaries = 0, problems = 0;
  for (rest = t; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    auto v = llvm::json::parse(line);
    ASSERT_TRUE(static_cast<bool>(v)) << line.str();
    const llvm::json::Object &o = *v->getAsObject();
    const auto type = *o.getString("type");
    if (type == "hazard") {
      ++hazards;
      for (const char *key : {"code", "confidence", "function", "registers", "producer", "consumer", "path", "target", "object"})
        EXPECT_TRUE(o.get(key)) << key;
      EXPECT_TRUE(o.getObject("consumer")->getInteger("line"));
    }
    summaries += type == "summary";
    problems += type == "problem";
  }
  EXPECT_EQ(hazards, 3u);
  EXPECT_EQ(summaries, 1u);
  EXPECT_EQ(problems, 1u);
}

TEST(Report, Sarif) {
  const std::string t = render(makeSarifSink);
  auto v = llvm::json::parse(t);
  ASSERT_TRUE(static_cast<bool>(v));
  const llvm::json::Object &o = *v->getAsObject();
  EXPECT_EQ(*o.getString("version"), "2.1.0");
  const llvm::json::Object &run = *(*o.getArray("runs"))[0].getAsObject();
  const llvm::json::Array &rules = *run.getObject("tool")->getObject("driver")->getArray("rules");
  EXPECT_EQ(rules.size(), numHazardCodes);
  const llvm::json::Array &results = *run.getArray("results");
  ASSERT_EQ(results.size(), 3u);
  for (const llvm::json::Value &r : results) {
    const llvm::json::Object &ro = *r.getAsObject();
    const int64_t index = *ro.getInteger("ruleIndex");
    EXPECT_EQ(*ro.getString("ruleId"), *rules[index].getAsObject()->getString("id"));
    EXPECT_TRUE(ro.getArray("codeFlows"));
    EXPECT_TRUE((*ro.getArray("locations"))[0].getAsObject()->getObject("physicalLocation")->getObject("region"));
  }
}

TEST(Report, ExitCodes) {
  Summary s;
  EXPECT_EQ(s.exitCode(), 0);
  s.counts.incompleteFunctions = 1;
  EXPECT_EQ(s.exitCode(), 2);
  s.hazards = 1;
  EXPECT_EQ(s.exitCode(), 1);
}

TEST(CInterface, FromManyThreads) {
  auto object = assemble("t.s", kernelText("gfx90a", body), "");
  ASSERT_TRUE(static_cast<bool>(object));
  const llvm::StringRef image = (*object)->getBuffer();
  std::vector<std::thread> threads;
  std::vector<unsigned> found(8, 0);
  for (unsigned t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] {
      wavesan_waitcheck_options options;
      wavesan_waitcheck_default_options(&options);
      wavesan_waitcheck_summary summary;
      char error[256];
      const int status = wavesan_waitcheck_image(
          image.data(), image.size(), &options,
          [](const wavesan_waitcheck_hazard *h, void *user) {
            *static_cast<unsigned *>(user) += h->code >= 1 && h->code <= 9 && h->kernel[0] == 'k';
          },
          &found[t], &summary, error, sizeof error);
      EXPECT_EQ(status, WAVESAN_WAITCHECK_HAZARDS);
      EXPECT_EQ(summary.hazards, 3u);
      EXPECT_EQ(summary.kernels, 1u);
    });
  for (std::thread &t : threads)
    t.join();
  for (unsigned n : found)
    EXPECT_EQ(n, 3u);
}

TEST(CInterface, ErrorsAreTexts) {
  wavesan_waitcheck_summary summary;
  char error[64];
  EXPECT_EQ(wavesan_waitcheck_image("junk", 4, nullptr, nullptr, nullptr, &summary, error, sizeof error), WAVESAN_WAITCHECK_INCOMPLETE);
  EXPECT_NE(std::string(error), "");
}
