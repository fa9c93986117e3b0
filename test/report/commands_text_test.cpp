// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races between commands, as text and through the formats.
#include "sample_documents.h"

#include "wavesan/report/commands.h"
#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"
#include "wavesan/report/suppressions.h"
#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>

namespace wavesan::test {
namespace {

std::string textOf(const report::Race &race) {
  report::TextOptions options;
  options.sourceExcerpt = false;
  return raceText(race, options);
}

} // namespace

TEST(CommandsText, NamesBothCommandsAndTheMissingEdge) {
  EXPECT_EQ(textOf(commandRace()),
            "wavesan: stream-race: global memory write-read (read after write), 4096 bytes at allocation 3 (4096 "
            "bytes) + 16\n"
            "  read by hipMemcpyAsync in stream 2 at app.hip:40:3 in main\n"
            "    stream 2 was created at app.hip:11:3\n"
            "  write of 4 bytes by kernel k(int*), dispatch 3, at app.hip:8:13 in k\n"
            "    launched in stream 1 at app.hip:30:3 in main\n"
            "  nothing orders the two: stream 2 does not wait for the launch of k (app.hip:30) in stream 1\n"
            "  fix: record an event in stream 1 behind the launch of k (app.hip:30): hipEventRecord(event, <stream "
            "1>); and let "
            "stream 2 wait for it before hipMemcpyAsync (app.hip:40): hipStreamWaitEvent(<stream 2>, event, 0)\n"
            "  seen 1 time\n");
}

TEST(CommandsText, SaysWhichEventWouldDoAndWhichIsTooEarly) {
  report::Race race = commandRace();
  race.commands->lateEvent = 2;
  race.commands->lateRecord = {at(33, 3, "main")};
  race.commands->earlyEvent = 1;
  race.commands->earlyRecord = {at(20, 3, "main")};
  const std::string text = textOf(race);
  EXPECT_NE(
      text.find("it does wait for the event recorded at app.hip:20, but that was recorded before the launch of k"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "fix: the event recorded at app.hip:33 covers the launch of k (app.hip:30): let stream 2 wait for it before "
          "hipMemcpyAsync (app.hip:40): hipStreamWaitEvent(<stream 2>, <that event>, 0)"),
      std::string::npos)
      << text;
}

TEST(CommandsText, KernelsOfAnonymousNamespacesHaveNames) {
  report::Race race = commandRace();
  race.commands->previous.kernel = "(anonymous namespace)::k(int*)";
  EXPECT_NE(textOf(race).find("the launch of (anonymous namespace)::k (app.hip:30)"), std::string::npos)
      << textOf(race);
}

TEST(CommandsText, NodesOfAGraphAndTheMissingEdge) {
  report::Race race = commandRace();
  race.commands->previous.node = 1;
  race.commands->previous.function = "hipGraphAddKernelNode";
  race.commands->current.node = 2;
  race.commands->current.function = "hipGraphAddMemcpyNode1D";
  race.commands->graphLaunch = {at(50, 3, "main")};
  const std::string text = textOf(race);
  for (const char *part : {"  read by hipGraphAddMemcpyNode1D, node 2 of a graph, at app.hip:40:3 in main\n",
                           "    node 1 of a graph, made by hipGraphAddKernelNode at app.hip:30:3 in main\n",
                           "  both are nodes of the graph that is launched at app.hip:50, and no path of edges leads "
                           "from node 1 to node 2\n",
                           "  fix: add the missing edge: hipGraphAddDependencies(graph, &<node 1>, &<node 2>, 1)\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  report::Document document;
  document.races = {race};
  document.summary.races = 1;
  std::string error;
  const auto read = report::parseDocument(report::jsonText(document), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(textOf(read->races[0]), text);
  race.commands->current.function = "hipMemcpyAsync";
  EXPECT_NE(
      textOf(race).find("fix: while capturing, let the stream of node 2 wait before hipMemcpyAsync (app.hip:40) for an "
                        "event recorded behind kernel k (app.hip:30) (node 1)"),
      std::string::npos)
      << textOf(race);
}

TEST(CommandsText, TheDefaultStreamAndTheHost) {
  report::Race race = commandRace();
  race.commands->previous.streamKind = "legacy_default";
  race.commands->current.blocking = false;
  EXPECT_NE(
      textOf(race).find("stream 2 was created with hipStreamNonBlocking: it does not wait for the default stream"),
      std::string::npos);
  EXPECT_NE(textOf(race).find("hipEventRecord(event, 0)"), std::string::npos);
  race = commandRace();
  race.raceClass = abi::RaceClass::HostRace;
  race.commands->current = {};
  race.commands->current.kind = report::CommandSide::Kind::Host;
  race.commands->current.call = {at(50, 9, "main")};
  EXPECT_NE(textOf(race).find("  read by the host at app.hip:50:9 in main\n"), std::string::npos) << textOf(race);
  EXPECT_NE(textOf(race).find("fix: call hipStreamSynchronize(<stream 1>), or"), std::string::npos);
}

TEST(CommandsText, SurvivesTheJsonFormat) {
  report::Document document;
  document.races = {commandRace()};
  document.races[0].commands->lateEvent = 2;
  document.races[0].commands->lateRecord = {at(33, 3, "main")};
  document.summary.races = 1;
  document.summary.commands = 9;
  document.summary.streams = 2;
  document.summary.atomicsOrder = 4;
  std::string error;
  const auto read = report::parseDocument(report::jsonText(document), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(report::jsonText(*read), report::jsonText(document));
  EXPECT_EQ(textOf(read->races[0]), textOf(document.races[0]));
}

TEST(CommandsText, MergesByTheLinesOfTheCalls) {
  report::Document one, other;
  one.races = other.races = {commandRace()};
  other.races[0].commands->current.call = {at(41, 3, "main")};
  EXPECT_EQ(report::mergeDocuments({one, one}).races.size(), 1u);
  EXPECT_EQ(report::mergeDocuments({one, other}).races.size(), 2u);
}

TEST(CommandsText, SuppressionsLookAtTheCallsToo) {
  std::vector<std::string> errors;
  auto matches = [&](const char *rule) {
    return report::Suppressions::parse(rule, "f", errors).match(commandRace()) != nullptr;
  };
  EXPECT_TRUE(matches("race:hipMemcpyAsync"));
  EXPECT_TRUE(matches("race:k(int*)"));
  EXPECT_TRUE(matches("called_from:main"));
  EXPECT_FALSE(matches("race:other"));
  EXPECT_TRUE(errors.empty());
}

} // namespace wavesan::test
