// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target_comparison.h"

#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

std::string lineOf(const report::Access &access) {
  if (access.frames.empty())
    return "an unknown line";
  const report::Frame &frame = access.frames[report::userFrame(access.frames)];
  return frame.file + ":" + std::to_string(frame.line);
}

/// "race in mirror(int*) at a.hip:16 and a.hip:20"
std::string verdictText(const report::Race &race) {
  std::string a = lineOf(race.previous), b = lineOf(race.current);
  if (b < a)
    std::swap(a, b);
  return report::className(race.raceClass) + " in " + race.kernel + " at " + a + (a == b ? "" : " and " + b);
}

std::string nameOf(const TargetVerdict &v) { return v.target + " (waves of " + std::to_string(v.waveSize) + ")"; }

} // namespace

std::string comparisonLine(const std::vector<TargetVerdict> &verdicts) {
  std::string all, unknown;
  std::map<std::string, std::set<std::string>> seenOn; // verdict -> targets
  for (const TargetVerdict &v : verdicts) {
    all += (all.empty() ? "" : ", ") + nameOf(v);
    if (!v.known || v.incomplete)
      unknown += (unknown.empty() ? "" : ", ") + nameOf(v);
    for (const report::Race &race : v.document.races)
      seenOn[verdictText(race)].insert(v.target);
  }
  if (!unknown.empty())
    return "verdicts cannot be compared: the result of " + unknown + " is missing or incomplete";
  std::string differences;
  size_t equal = 0;
  for (const auto &[verdict, targets] : seenOn) {
    if (targets.size() == verdicts.size()) {
      ++equal;
      continue;
    }
    std::string where;
    for (const TargetVerdict &v : verdicts)
      if (targets.contains(v.target))
        where += (where.empty() ? "" : ", ") + nameOf(v);
    differences += (differences.empty() ? "" : "; ") + std::string("only on ") + where + ": " + verdict;
  }
  if (differences.empty())
    return "the same verdicts on " + all + ": " + std::to_string(equal) + (equal == 1 ? " race" : " races");
  return "verdicts that differ between " + all + ": " + differences;
}

std::string pathOfTarget(const std::string &path, const std::string &target) {
  if (path.empty() || path == "stderr" || path == "stdout" || path.starts_with("/dev/"))
    return path;
  const fs::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + "." + target + whole.extension().string())).string();
}

report::Document reportsIn(const std::string &directory, bool &known) {
  std::vector<std::string> files;
  std::error_code ec;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ec))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  known = !files.empty();
  std::vector<report::Document> documents;
  for (const std::string &file : files) {
    std::string error;
    std::optional<report::Document> document = report::readDocument(file, error);
    known = known && document;
    if (document)
      documents.push_back(std::move(*document));
  }
  return report::mergeDocuments(std::move(documents));
}

} // namespace wavesan::driver
