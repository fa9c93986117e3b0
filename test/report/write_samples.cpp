// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// write_samples DIRECTORY: reports of all formats, and some broken ones (bad-*), for check_formats.py.
#include "sample_documents.h"

#include "wavesan/report/merge.h"

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace wavesan::report;
namespace fs = std::filesystem;

namespace {

void put(const fs::path &path, const std::string &text) {
  if (!(std::ofstream(path, std::ios::binary) << text).flush()) {
    std::cerr << "cannot write " << path << "\n";
    std::exit(1);
  }
}

void putAll(const fs::path &directory, const std::string &name, const Document &document) {
  put(directory / (name + ".json"), jsonText(document));
  put(directory / (name + ".sarif"), sarifText(document));
  put(directory / (name + ".xml"), junitText(document));
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  const fs::path directory = argv[1];
  fs::remove_all(directory);
  fs::create_directories(directory);
  const Document full = wavesan::test::sampleDocument();
  Document clean;
  clean.summary.checkedAccesses = 5;
  Document places;
  for (MemoryPlace::Kind kind : {MemoryPlace::Kind::Unknown, MemoryPlace::Kind::RegisteredHost,
                                 MemoryPlace::Kind::KernelArguments, MemoryPlace::Kind::DeviceVariable}) {
    places.races.push_back(full.races[1]);
    places.races.back().place.kind = kind;
    places.races.back().place.name = "counter";
  }
  putAll(directory, "full", full);
  putAll(directory, "empty", Document{});
  putAll(directory, "clean", clean);
  putAll(directory, "places", places);
  putAll(directory, "divergence", wavesan::test::sampleDivergence());
  Document commands;
  commands.races = {wavesan::test::commandRace(), wavesan::test::commandRace()};
  commands.races[1].commands->lateEvent = commands.races[1].commands->earlyEvent = 2;
  commands.races[1].commands->current.kind = CommandSide::Kind::Free;
  putAll(directory, "commands", commands);
  putAll(directory, "merged", mergeDocuments({full, full, clean}));
  put(directory / "bad-version.json", replaced(jsonText(full), "\"schemaVersion\": 1", "\"schemaVersion\": 2"));
  put(directory / "bad-member.json", replaced(jsonText(full), "\"betweenWorkgroups\"", "\"between\""));
  put(directory / "bad-line.sarif", replaced(sarifText(full), "\"startLine\": 5", "\"startLine\": 0"));
  put(directory / "bad-member.sarif", replaced(sarifText(full), "\"ruleId\"", "\"rule\""));
  put(directory / "bad-count.xml", replaced(junitText(full), "failures=\"5\"", "failures=\"1\""));
  return 0;
}
