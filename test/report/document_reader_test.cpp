// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sample_documents.h"
#include "temporary_file.h"

#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace wavesan::report;
using namespace wavesan::test;
using Json = nlohmann::json;

namespace {

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseDocument(text, error).has_value()) << text.substr(0, 200);
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_FALSE(error.empty());
  return error;
}

std::string changed(const std::function<void(Json &)> &change) {
  Json j = Json::parse(jsonText(sampleDocument()));
  change(j);
  return j.dump();
}

} // namespace

TEST(DocumentReader, ReadsWhatWasWritten) {
  for (const Document &d : {sampleDocument(), sampleDivergence(), Document{}}) {
    std::string error;
    const std::string text = jsonText(d);
    const std::optional<Document> read = parseDocument(text, error);
    ASSERT_TRUE(read) << error;
    EXPECT_EQ(jsonText(*read), text);
  }
  Document merged = sampleDocument();
  merged.processes = 3;
  merged.races[0].processes = 2;
  std::string error;
  EXPECT_EQ(jsonText(*parseDocument(jsonText(merged), error)), jsonText(merged));
}

TEST(DocumentReader, UnknownMembersAreIgnored) {
  std::string error;
  EXPECT_TRUE(parseDocument(changed([](Json &j) {
                              j["later"] = {1, 2};
                              j["races"][0]["later"] = "x";
                              j["races"][0]["sides"][0]["later"] = nullptr;
                              j["summary"]["losses"]["later"] = 7;
                            }),
                            error))
      << error;
}

TEST(DocumentReader, AColumnWithoutALineIsNoPosition) {
  std::string error;
  const std::string text = changed([](Json &j) {
    for (Json &race : j["races"])
      for (Json &side : race["sides"])
        for (Json &frame : side["frames"])
          frame.erase("line");
    for (Json &hazard : j["waitHazards"])
      for (Json &member : hazard)
        if (member.is_object() && member.contains("line"))
          member.erase("line");
  });
  const std::optional<Document> read = parseDocument(text, error);
  ASSERT_TRUE(read) << error;
  const std::optional<Document> again = parseDocument(jsonText(*read), error);
  ASSERT_TRUE(again) << error;
  ASSERT_FALSE(read->races.empty());
  // What is written and read again is the same race.
  for (size_t i = 0; i < read->races.size(); ++i)
    EXPECT_EQ(raceKey(read->races[i]), raceKey(again->races[i]));
  EXPECT_EQ(read->waitHazards, again->waitHazards);
}

TEST(DocumentReader, OtherFilesAndVersionsAreNamed) {
  EXPECT_EQ(errorOf(""), "empty file");
  EXPECT_EQ(errorOf("\x7f"
                    "ELF"),
            "malformed JSON at byte 1");
  EXPECT_EQ(errorOf("[]"), "not a WaveSan report (JSON of `json_path`)");
  EXPECT_EQ(errorOf("{\"version\": \"2.1.0\", \"runs\": []}"), "not a WaveSan report (JSON of `json_path`)");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["schemaVersion"] = 2; })),
            "written by another version of WaveSan (report format 2, this one reads 1)");
}

TEST(DocumentReader, DamageIsNamedByItsPlace) {
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][1]["sides"][0].erase("wave"); })),
            "damaged report: races[1].sides[0] lacks 'wave'");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][0]["dispatch"] = -1; })),
            "damaged report: races[0].dispatch is not a number");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][0]["waveSize"] = 1e300; })),
            "damaged report: races[0].waveSize is not a number");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][0]["waveSize"] = uint64_t(1) << 40; })),
            "damaged report: races[0].waveSize is too large");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][0]["order"] = "sideways"; })),
            "damaged report: races[0].order has the unknown value 'sideways'");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][0]["class"] = "rice"; })),
            "damaged report: races[0].class is no class of races that this version knows");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["races"][0]["sides"] = Json::array(); })),
            "damaged report: races[0].sides has not two entries");
  EXPECT_EQ(errorOf(changed([](Json &j) { j.erase("summary"); })), "damaged report: the document lacks 'summary'");
  EXPECT_EQ(errorOf(changed([](Json &j) { j["summary"]["races"] = 0; })),
            "damaged report: summary.races is less than the races listed");
}

TEST(DocumentReader, EveryTruncationIsAnError) {
  const std::string text = jsonText(sampleDocument());
  const size_t end = text.find_last_of('}') + 1;
  for (size_t n = 0; n < end; n += n < end - 200 ? 7 : 1)
    errorOf(text.substr(0, n));
  EXPECT_EQ(errorOf(text.substr(0, end - 1)), "truncated JSON");
}

TEST(DocumentReader, TowersOfBracketsAreRefused) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 300000; ++i)
      text += open;
    EXPECT_EQ(errorOf(text), "not a WaveSan report (nested too deep)");
  }
}

TEST(DocumentReader, NothingFromAFileReachesTheTerminalAsAnEscape) {
  std::string error;
  const auto read = parseDocument(changed([](Json &j) {
                                    j["messages"][0] = "a\x1b[2Jb\nc";
                                    j["races"][0]["kernel"] = "\x1b]0;title\x07";
                                  }),
                                  error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(read->messages[0], "a?[2Jb?c");
  EXPECT_EQ(read->races[0].kernel, "?]0;title?");
}

TEST(DocumentReader, FilesAreNamed) {
  std::string error;
  EXPECT_FALSE(readDocument("/no/such/file", error));
  EXPECT_EQ(error, "/no/such/file: No such file or directory");
  EXPECT_FALSE(readDocument("/", error));
  EXPECT_EQ(error, "/: Is a directory");
  TemporaryFile good(jsonText(sampleDocument())), bad("{");
  EXPECT_TRUE(readDocument(good.path(), error));
  EXPECT_FALSE(readDocument(bad.path(), error));
  EXPECT_EQ(error, bad.path() + ": truncated JSON");
}
