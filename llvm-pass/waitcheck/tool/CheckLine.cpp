// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckLine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <thread>

namespace wavesan::waitcheck {
namespace {

constexpr char help[] =
    "wavesan check [OPTIONS] FILE...   find missing and insufficient waits in GPU machine code\n\n"
    "Files: code objects (.hsaco, .co, .o), programs and shared libraries with GPU code in them, offload bundles (compressed or not),\n"
    "archives, assembly text (.s); - is standard input (not for assembly).\n\n"
    "  -r, --recursive        look into directories; files without GPU code are skipped and counted\n"
    "  --host-files-too       a named file without GPU code is no problem\n"
    "  --arch=TARGET          only objects of this target (gfx90a, ...); the target of assembly text that names none\n"
    "  --kernel=PATTERN       only kernels whose name matches the pattern (*, ?, [abc])\n"
    "  --entry=PATTERN        only bundle entries whose id matches the pattern\n"
    "  --confidence=proven    leave out what is only possible (default: possible)\n"
    "  --audit                also compare every wait with the weakest one that would do\n"
    "  --list                 show what is in the files, check nothing\n"
    "  --format=FORMAT        text, json (one object per line), sarif (2.1.0), warnings or errors (one line\n"
    "                         per hazard on standard error, worded as compilers do; nothing if there is none)\n"
    "  -o FILE                write the report to a file\n"
    "  --max-per-kernel=N     show at most N hazards per kernel (default 50); the rest is counted\n"
    "  -j N                   use N threads (0: as many as there are processors)\n"
    "  -q, --quiet            no progress line\n\n"
    "Exit status: 0 no hazard, 1 hazards, 2 no hazard, but not everything could be analysed (or a wrong command line).\n"
    "The hazard codes are explained in docs/waitcheck.md.\n";

CheckLine failed(const llvm::Twine &message) {
  llvm::errs() << "wavesan check: " << message << " (--help says more)\n";
  CheckLine line;
  line.done = true;
  line.status = 2;
  return line;
}

bool isGlob(const std::string &pattern) {
  auto glob = llvm::GlobPattern::create(pattern);
  if (glob)
    return true;
  llvm::consumeError(glob.takeError());
  return false;
}

} // namespace

CheckLine readCheckLine(const std::vector<std::string> &words) {
  CheckLine line;
  bool options = true;
  for (size_t i = 0; i < words.size(); ++i) {
    const llvm::StringRef word = words[i];
    if (!options || !word.starts_with("-") || word == "-") {
      line.paths.push_back(words[i]);
      continue;
    }
    if (word == "--") {
      options = false;
      continue;
    }
    // "--name=value", "--name value", "-jN"
    llvm::StringRef name = word, value;
    bool hasValue = false;
    if (word.starts_with("--") && word.contains('=')) {
      std::tie(name, value) = word.split('=');
      hasValue = true;
    } else if (word.starts_with("-j") && word.size() > 2) {
      name = "-j";
      value = word.drop_front(2);
      hasValue = true;
    }
    auto take = [&] {
      if (!hasValue && i + 1 < words.size()) {
        value = words[++i];
        hasValue = true;
      }
      return hasValue;
    };
    auto number = [&](unsigned &to) { return take() && !value.getAsInteger(10, to); };
    if (name == "--help" || name == "-h") {
      llvm::outs() << help;
      line.done = true;
      return line;
    } else if (name == "-r" || name == "--recursive")
      line.input.recursive = true;
    else if (name == "--host-files-too")
      line.input.hostFilesToo = true;
    else if (name == "--audit")
      line.check.audit = true;
    else if (name == "--list")
      line.list = true;
    else if (name == "-q" || name == "--quiet")
      line.quiet = true;
    else if (name == "--arch") {
      if (!take() || !findTarget(value))
        return failed("--arch: unknown target '" + value + "'");
      line.input.arch = value.str();
    } else if (name == "--kernel") {
      if (!take() || !isGlob(value.str()))
        return failed("--kernel needs a pattern");
      line.check.kernelPattern = value.str();
    } else if (name == "--entry") {
      if (!take() || !isGlob(value.str()))
        return failed("--entry needs a pattern");
      line.input.entryPattern = value.str();
    } else if (name == "--confidence") {
      if (!take() || (value != "proven" && value != "possible"))
        return failed("--confidence is proven or possible");
      line.check.provenOnly = value == "proven";
    } else if (name == "--format") {
      static constexpr std::pair<const char *, ReportFormat> formats[] = {{"text", ReportFormat::Text},
                                                                          {"json", ReportFormat::Json},
                                                                          {"sarif", ReportFormat::Sarif},
                                                                          {"warnings", ReportFormat::Warnings},
                                                                          {"errors", ReportFormat::Errors}};
      const auto *chosen = take() ? std::find_if(std::begin(formats), std::end(formats), [&](const auto &f) { return value == f.first; })
                                  : std::end(formats);
      if (chosen == std::end(formats))
        return failed("--format is text, json, sarif, warnings or errors");
      line.format = chosen->second;
    } else if (name == "-o") {
      if (!take())
        return failed("-o needs a file");
      line.output = value.str();
    } else if (name == "--max-per-kernel") {
      if (!number(line.check.maxPerKernel))
        return failed("--max-per-kernel needs a number");
    } else if (name == "-j") {
      if (!number(line.check.jobs) || line.check.jobs > 4096)
        return failed("-j needs a number");
      if (line.check.jobs == 0)
        line.check.jobs = std::max(1u, std::thread::hardware_concurrency());
    } else {
      return failed("unknown option " + name);
    }
  }
  if (line.paths.empty())
    return failed("no file");
  return line;
}

} // namespace wavesan::waitcheck
