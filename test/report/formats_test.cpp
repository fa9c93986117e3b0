// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same reports through every format.
#include "sample_documents.h"
#include "temporary_file.h"

#include "wavesan/report/document.h"
#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"
#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace wavesan::report;
using namespace wavesan::test;
using Json = nlohmann::json;

namespace {

/// A small reader of XML: enough to see that tags nest and to find attributes. Fails the test on malformed input.
struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
  std::vector<XmlElement> children;

  const XmlElement *child(const std::string &n) const {
    for (const XmlElement &c : children)
      if (c.name == n)
        return &c;
    return nullptr;
  }
};

std::string unescaped(std::string s) {
  for (auto [entity, c] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    for (size_t at = s.find(entity); at != std::string::npos; at = s.find(entity, at + 1))
      s.replace(at, strlen(entity), c);
  return s;
}

XmlElement parseElement(const std::string &s, size_t &at) {
  XmlElement e;
  EXPECT_EQ(s.at(at), '<');
  size_t end = s.find('>', at);
  std::string tag = s.substr(at + 1, end - at - 1);
  const bool empty = tag.back() == '/';
  if (empty)
    tag.pop_back();
  size_t i = tag.find(' ');
  e.name = tag.substr(0, i);
  while (i != std::string::npos && i + 1 < tag.size()) {
    size_t equals = tag.find("=\"", i), close = tag.find('"', equals + 2);
    e.attributes[tag.substr(i + 1, equals - i - 1)] = unescaped(tag.substr(equals + 2, close - equals - 2));
    i = close + 1;
  }
  at = end + 1;
  while (!empty) {
    size_t next = s.find('<', at);
    if (next == std::string::npos) {
      ADD_FAILURE() << "unclosed " << e.name;
      return e;
    }
    e.text += unescaped(s.substr(at, next - at));
    at = next;
    if (s[at + 1] == '/') {
      size_t close = s.find('>', at);
      EXPECT_EQ(s.substr(at + 2, close - at - 2), e.name);
      at = close + 1;
      break;
    }
    e.children.push_back(parseElement(s, at));
  }
  return e;
}

} // namespace

TEST(Formats, EveryFormatHoldsTheSameRaces) {
  const Document d = sampleDocument();
  std::string text;
  TextSink sink(
      [&](std::string_view s) {
        text += s;
        return std::string();
      },
      TextOptions{});
  for (const Race &r : d.races)
    sink.onRace(r);
  for (const WaitHazard &h : d.waitHazards)
    sink.onWaitHazard(h);
  const Json json = Json::parse(jsonText(d)), sarif = Json::parse(sarifText(d));
  const std::string junit = junitText(d);
  ASSERT_EQ(json["races"].size(), d.races.size());
  ASSERT_EQ(sarif["runs"][0]["results"].size(), d.races.size() + d.waitHazards.size());
  for (size_t i = 0; i < d.races.size(); ++i) {
    const std::string name = className(d.races[i].raceClass), fix = json["races"][i]["fix"];
    EXPECT_EQ(json["races"][i]["class"], name);
    EXPECT_EQ(sarif["runs"][0]["results"][i]["ruleId"], name);
    EXPECT_NE(text.find("wavesan: " + name + ":"), std::string::npos);
    EXPECT_NE(text.find("  fix: " + fix + "\n"), std::string::npos);
    EXPECT_NE(junit.find("fix: " + fix + "\n"), std::string::npos);
    EXPECT_NE(sarif["runs"][0]["results"][i]["message"]["text"].get<std::string>().find("Fix: " + fix + "."),
              std::string::npos);
  }
  ASSERT_EQ(json["waitHazards"].size(), d.waitHazards.size());
  for (size_t i = 0; i < d.waitHazards.size(); ++i) {
    const WaitHazard &h = d.waitHazards[i];
    EXPECT_EQ(json["waitHazards"][i]["code"], h.code);
    EXPECT_EQ(sarif["runs"][0]["results"][d.races.size() + i]["ruleId"], h.code);
    EXPECT_NE(text.find("wavesan: " + h.code + ": " + h.title), std::string::npos) << text;
    EXPECT_NE(text.find(h.consumer.instruction), std::string::npos) << text;
    EXPECT_NE(junit.find(h.consumer.instruction), std::string::npos) << junit;
  }
  EXPECT_NE(text.find("  producer +0x0010  global_load_dword v3, v[0:1], off  at /src/my app/app.hip:4:3\n"
                      "  consumer +0x0018  v_add_f32_e32 v3, 1.0, v3  at /src/my app/app.hip:5:3\n"
                      "  vmcnt is waited down to 1 in between; 0 is needed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  consumer +0x0020  v_mov_b32_e32 v3, 0\n  2 wait states are needed in between\n"),
            std::string::npos)
      << text;
}

TEST(Formats, AVerdictThatComesBehindItsRaceIsAMemberOfIt) {
  const Document d = sampleDocument();
  std::string text;
  TextSink sink(
      [&](std::string_view s) {
        text += s;
        return std::string();
      },
      TextOptions{});
  TemporaryFile file;
  DocumentSink document("json_path", file.path(), "", jsonText);
  for (Sink *to : {static_cast<Sink *>(&sink), static_cast<Sink *>(&document)}) {
    for (Race r : d.races) {
      r.confirmation.reset();
      to->onRace(r);
    }
    to->onConfirmation(
        1, {.verdict = Confirmation::Verdict::NotObserved, .passes = 8, .asReported = 4, .reversed = 3, .seed = 1});
    EXPECT_EQ(to->onSummary(d.summary), "");
  }
  const Json json = Json::parse(file.read());
  EXPECT_FALSE(json["races"][0].contains("confirmation"));
  EXPECT_EQ(json["races"][1]["confirmation"],
            (Json{{"verdict", "not-observed"}, {"passes", 8}, {"asReported", 4}, {"reversed", 3}, {"seed", 1}}));
  EXPECT_EQ(json["messages"], Json::array());
  EXPECT_NE(
      text.find("wavesan: not observed in 8 passes (4 in the order reported, 3 in the other): scope-too-small at "),
      std::string::npos)
      << text;
  const Json results = Json::parse(sarifText(d))["runs"][0]["results"];
  EXPECT_EQ(results[0]["properties"]["confirmation"]["verdict"], "confirmed");
  EXPECT_NE(raceText(d.races[0], {}).find("\n  confirmed: output differs at allocation 2 + 128 with seed 3\n"),
            std::string::npos);
}

TEST(Formats, TheLastLineCountsWaitHazardsOnlyWhereWaitsWereChecked) {
  Summary s;
  s.checkedAccesses = 8;
  s.kernels = 1;
  EXPECT_EQ(checkedText(s), "checked 8 accesses in 1 kernels: 0 races");
  s.waitObjects = 2;
  EXPECT_EQ(checkedText(s), "checked 8 accesses in 1 kernels: 0 races, 0 wait hazards in 2 code objects");
}

TEST(Formats, Json) {
  const Json j = Json::parse(jsonText(sampleDocument()));
  EXPECT_EQ(j["schema"], "wavesan-report");
  EXPECT_EQ(j["schemaVersion"], 1);
  EXPECT_EQ(j["messages"], Json::array({"something about <the tool>"}));
  const Json &lds = j["races"][0], &scope = j["races"][1];
  EXPECT_EQ(lds["space"], "lds");
  EXPECT_EQ(lds["order"], "read-after-write");
  EXPECT_EQ(lds["situation"], "straight-line");
  EXPECT_EQ(lds["kernelMangled"], "_Z1kPi");
  EXPECT_EQ(lds["variable"], "tile");
  EXPECT_EQ(lds["variableOffset"], 252);
  EXPECT_EQ(lds["place"], (Json{{"kind", "lds"}, {"offset", 508}}));
  EXPECT_EQ(lds["occurrences"], 128);
  EXPECT_EQ(lds["bothOrders"], true);
  EXPECT_EQ(lds["confirmation"],
            (Json{{"verdict", "confirmed"},
                  {"passes", 16},
                  {"asReported", 8},
                  {"reversed", 7},
                  {"seed", 3},
                  {"place", {{"kind", "allocation"}, {"number", 2}, {"bytes", 4096}, {"offset", 128}}}}));
  EXPECT_EQ(scope["confirmation"], (Json{{"verdict", "not-tried"}, {"reason", "footprint_budget"}}));
  ASSERT_EQ(lds["sides"].size(), 2u);
  EXPECT_EQ(
      lds["sides"][0],
      (Json{{"role", "current"},
            {"access", "read"},
            {"reads", true},
            {"writes", false},
            {"atomic", false},
            {"bytes", 4},
            {"operation", "load"},
            {"workgroup", {1, 0, 0}},
            {"wave", 0},
            {"lane", 0},
            {"barriersPassed", 2},
            {"frames",
             Json::array({{{"function", "load<int>"}, {"file", "/src/my app/tile.h"}, {"line", 5}, {"column", 10}},
                          {{"function", "k"}, {"file", "/src/my app/app.hip"}, {"line", 20}, {"column", 3}}})}}));
  EXPECT_EQ(scope["place"], (Json{{"kind", "allocation"}, {"number", 3}, {"bytes", 4096}, {"offset", 16}}));
  EXPECT_EQ(scope["betweenWorkgroups"], true);
  EXPECT_EQ(scope["neededScope"], "agent");
  EXPECT_EQ(scope["sides"][0]["scope"], "workgroup");
  EXPECT_TRUE(scope["sides"][1]["lane"].is_null());
  EXPECT_EQ(scope["sides"][1]["frames"], Json::array());
  EXPECT_EQ(scope["variable"], "a<b>&\"c\"\xef\xbf\xbd"); // no UTF-8: replaced
  const Json &s = j["summary"];
  EXPECT_EQ(s["checkedAccesses"], 1200);
  EXPECT_EQ(s["globalAccesses"], 200);
  EXPECT_EQ(s["races"], 3);
  EXPECT_EQ(s["losses"]["racesNotPrinted"], 1);
  EXPECT_EQ(s["losses"]["errors"], 1);
  EXPECT_EQ(s["uninstrumentedKernels"], Json::array({{{"kernel", "vadd(float*)"}, {"dispatches", 1}}}));
  EXPECT_EQ(s["uncheckedKernels"], Json::array({{{"kernel", "big()"}, {"reason", "too big"}, {"dispatches", 1}}}));
  EXPECT_EQ(s["suppressed"], Json::array({{{"suppression", "race:known (s.txt:1)"}, {"races", 4}}}));
  EXPECT_EQ(s["skippedSites"], Json::array({{{"reason", "inline asm"}, {"places", 2}}}));
}

TEST(Formats, ValueHeld) {
  Document d = sampleDocument();
  d.races[0].valueHeld = true;
  const Json json = Json::parse(jsonText(d)), sarif = Json::parse(sarifText(d));
  EXPECT_EQ(json["races"][0]["valueHeld"], true);
  EXPECT_EQ(json["races"][0]["severity"], "error");
  EXPECT_FALSE(json["races"][1].contains("valueHeld"));
  const Json result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["properties"]["valueHeld"], true);
  EXPECT_NE(result["message"]["text"].get<std::string>().find("held this value already"), std::string::npos);
  EXPECT_EQ(result["level"], "error");
  EXPECT_NE(raceText(d.races[0], {}).find("  the bytes held this value already"), std::string::npos);
  EXPECT_EQ(raceText(d.races[1], {}).find("held this value"), std::string::npos);
  std::string error;
  std::optional<Document> read = parseDocument(jsonText(d), error);
  ASSERT_TRUE(read) << error;
  EXPECT_TRUE(read->races[0].valueHeld);
  EXPECT_FALSE(read->races[1].valueHeld);
  // Of two processes both must have seen it.
  Document other = sampleDocument();
  const Document merged = mergeDocuments({d, other}), both = mergeDocuments({d, d});
  EXPECT_FALSE(merged.races[0].valueHeld);
  EXPECT_TRUE(both.races[0].valueHeld);
}

void expectNoFailure(Severity severity, const std::string &name, uint64_t Summary::*count) {
  Document d = sampleDocument();
  const size_t errors = d.races.size() - 1;
  d.races[0].severity = severity;
  d.races[0].sameValue = true;
  --d.summary.races;
  d.summary.*count = 1;
  const Json json = Json::parse(jsonText(d)), sarif = Json::parse(sarifText(d));
  EXPECT_EQ(json["races"][0]["severity"], name);
  EXPECT_EQ(json["races"][0]["sameValue"], true);
  EXPECT_FALSE(json["races"][1].contains("sameValue"));
  EXPECT_EQ(json["races"][1]["severity"], "error");
  EXPECT_EQ(json["summary"][name + "s"], 1);
  EXPECT_EQ(sarif["runs"][0]["results"][0]["level"], name);
  EXPECT_EQ(sarif["runs"][0]["results"][1]["level"], "error");
  const std::string junit = junitText(d), before = junitText(sampleDocument());
  const auto failures = [](const std::string &xml) {
    size_t n = 0;
    for (size_t at = 0; (at = xml.find("<failure ", at)) != std::string::npos; ++at)
      ++n;
    return n;
  };
  EXPECT_EQ(failures(junit), failures(before) - 1);
  EXPECT_NE(junit.find("name=\"" + name + ": race "), std::string::npos) << junit;
  std::string error;
  std::optional<Document> read = parseDocument(jsonText(d), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(countOf(read->races, Severity::Error), errors);
  EXPECT_EQ(read->summary.*count, 1u);
  EXPECT_TRUE(read->races[0].sameValue);
  EXPECT_FALSE(read->races[1].sameValue);
  TextOptions options;
  EXPECT_EQ(raceText(d.races[0], options).find("wavesan: " + name + ": race: "), 0u);
  EXPECT_NE(summaryText(d.summary, options).find(", 1 " + name + "s"), std::string::npos);
  Json damaged = json;
  damaged["summary"][name + "s"] = 0;
  EXPECT_FALSE(parseDocument(damaged.dump(), error));
  EXPECT_EQ(error, "damaged report: summary." + name + "s is less than the " + name + "s listed");
}

TEST(Formats, WarningsAreNoFailures) { expectNoFailure(Severity::Warning, "warning", &Summary::warnings); }
TEST(Formats, NotesAreNoFailures) { expectNoFailure(Severity::Note, "note", &Summary::notes); }

TEST(Formats, SarifHasWhatTheStandardRequires) {
  const Json j = Json::parse(sarifText(sampleDocument()));
  EXPECT_EQ(j["version"], "2.1.0");
  EXPECT_NE(j["$schema"].get<std::string>().find("sarif-schema-2.1.0.json"), std::string::npos);
  ASSERT_TRUE(j["runs"].is_array());
  ASSERT_EQ(j["runs"].size(), 1u);
  const Json &run = j["runs"][0], &driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "WaveSan");
  ASSERT_TRUE(driver["rules"].is_array());
  EXPECT_EQ(run["originalUriBaseIds"]["SRCROOT"]["uri"], "file:///src/my%20app/");
  ASSERT_TRUE(run["invocations"].is_array());
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false); // an error of the tool itself
  for (const Json &note : run["invocations"][0]["toolExecutionNotifications"])
    EXPECT_TRUE(note["message"]["text"].is_string());
  ASSERT_TRUE(run["results"].is_array());
  for (const Json &result : run["results"]) {
    ASSERT_LT(result["ruleIndex"].get<size_t>(), driver["rules"].size());
    const Json &rule = driver["rules"][result["ruleIndex"].get<size_t>()];
    EXPECT_EQ(rule["id"], result["ruleId"]);
    EXPECT_TRUE(rule["shortDescription"]["text"].is_string());
    EXPECT_TRUE(result["message"]["text"].is_string());
    EXPECT_EQ(result["level"], result["ruleId"] == "W09" ? "warning" : "error"); // only possible
    EXPECT_TRUE(result["locations"].is_array());
    EXPECT_TRUE(result["relatedLocations"].is_array());
    EXPECT_GE(result["occurrenceCount"].get<int>(), 1);
  }
  const Json &lds = run["results"][0], &scope = run["results"][1];
  EXPECT_EQ(lds["locations"][0]["physicalLocation"],
            (Json{{"artifactLocation", {{"uri", "tile.h"}, {"uriBaseId", "SRCROOT"}}},
                  {"region", {{"startLine", 5}, {"startColumn", 10}}}}));
  EXPECT_EQ(lds["locations"][0]["logicalLocations"],
            Json::array({{{"fullyQualifiedName", "load<int>"}, {"kind", "function"}}}));
  EXPECT_EQ(lds["locations"][0]["message"]["text"], "read by wave 0 lane 0");
  EXPECT_EQ(lds["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 8);
  EXPECT_EQ(lds["relatedLocations"][0]["id"], 1);
  ASSERT_EQ(lds["stacks"].size(), 1u); // the other side has no caller
  EXPECT_EQ(lds["stacks"][0]["frames"].size(), 2u);
  EXPECT_EQ(
      lds["message"]["text"].get<std::string>().find(
          "LDS write-read (read after write) on `tile`, 4 bytes at tile+252 (LDS bytes 508..511) in kernel k(int*): "
          "no barrier between them"),
      0u)
      << lds["message"];
  EXPECT_EQ(scope["locations"][0]["physicalLocation"]["artifactLocation"], (Json{{"uri", "file:///other/a+b.hip"}}));
  EXPECT_TRUE(scope["relatedLocations"].empty());
}

TEST(Formats, JUnit) {
  const std::string text = junitText(sampleDocument());
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  ASSERT_EQ(text.find(head), 0u);
  size_t at = head.size();
  const XmlElement root = parseElement(text, at);
  EXPECT_EQ(text.substr(at), "\n");
  EXPECT_EQ(root.name, "testsuites");
  ASSERT_EQ(root.children.size(), 1u);
  const XmlElement &suite = root.children[0];
  std::map<std::string, size_t> counts;
  for (const XmlElement &c : suite.children) {
    if (c.name != "testcase")
      continue;
    ++counts["tests"];
    for (auto [tag, counter] : {std::pair{"failure", "failures"}, {"error", "errors"}, {"skipped", "skipped"}})
      counts[counter] += c.child(tag) != nullptr;
  }
  for (const char *counter : {"tests", "failures", "errors", "skipped"}) {
    EXPECT_EQ(suite.attributes.at(counter), std::to_string(counts[counter])) << counter;
    EXPECT_EQ(root.attributes.at(counter), std::to_string(counts[counter])) << counter;
  }
  EXPECT_EQ(counts["failures"], 5u); // two races, two missing waits, and a race that was not printed
  EXPECT_EQ(counts["errors"], 1u);
  const XmlElement &race = suite.children[0];
  EXPECT_EQ(race.attributes.at("classname"), "wavesan.k(int*)");
  EXPECT_EQ(race.attributes.at("name"), "race tile.h:5:10 against app.hip:8:13");
  EXPECT_EQ(race.child("failure")->attributes.at("type"), "race");
  EXPECT_NE(race.child("failure")->text.find("  fix: put __syncthreads() between line 8 and line 20"),
            std::string::npos)
      << race.child("failure")->text;
  EXPECT_NE(suite.children[1].child("failure")->text.find("on `a<b>&\"c\"?`"), std::string::npos);
  EXPECT_EQ(suite.children.back().name, "system-err");
  EXPECT_EQ(suite.children.back().text, "something about <the tool>\n");
}

TEST(Formats, NothingCheckedIsNoPassedTest) {
  const std::string text = junitText(Document{});
  EXPECT_NE(text.find("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos) << text;
  EXPECT_NE(text.find("nothing was checked: the program ran no kernel"), std::string::npos) << text;
  Document clean;
  clean.summary.checkedAccesses = 7;
  clean.summary.kernels = clean.summary.dispatches = clean.summary.checkedDispatches = 1;
  EXPECT_NE(junitText(clean).find("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""), std::string::npos);
  EXPECT_EQ(Json::parse(sarifText(clean))["runs"][0]["results"], Json::array());
  EXPECT_EQ(Json::parse(jsonText(clean))["races"], Json::array());
}

TEST(Formats, ControlCharactersAndBrokenUtf8DoNotBreakXml) {
  Document d = sampleDocument();
  d.messages = {std::string("a\x01\x1b b\xc3\xa4 \xed\xa0\x80 \xf0\x9f\x98\x80 \xc3")};
  EXPECT_NE(junitText(d).find("<system-err>a?? b\xc3\xa4 ??? \xf0\x9f\x98\x80 ?\n"), std::string::npos) << junitText(d);
}
