// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/text_sink.h"

#include "wavesan/report/source_excerpt.h"
#include "wavesan/report/suggestion.h"

#include <algorithm>
#include <utility>

namespace wavesan::report {

namespace {

std::string classText(abi::RaceClass c) {
  switch (c) {
  case abi::RaceClass::Race:
    return "race";
  case abi::RaceClass::MissingFence:
    return "missing-fence";
  }
  return "unknown class";
}

/// "write-read (read after write)": the earlier side first.
std::string orderText(const Race &race) {
  if (race.atomicAgainstPlain()) {
    auto side = [](const Access &a) {
      return a.bits & abi::kAccessAtomic ? std::string("atomic") : "plain " + accessText(a.bits);
    };
    return side(race.previous) + " against " + side(race.current);
  }
  switch (race.order) {
  case Order::ReadAfterWrite:
    return "write-read (read after write)";
  case Order::WriteAfterRead:
    return "read-write (write after read)";
  case Order::WriteAfterWrite:
    return "write-write (write after write)";
  }
  return "accesses";
}

std::string bytesText(uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

std::string placeText(const Race &race) {
  std::string text;
  if (!race.variable.empty())
    text += " on `" + race.variable + "`";
  text += ", " + bytesText(race.ldsSize);
  uint64_t last = uint64_t(race.ldsFirst) + std::max(race.ldsSize, 1u) - 1;
  std::string range = race.ldsSize <= 1 ? "LDS byte " + std::to_string(race.ldsFirst)
                                        : "LDS bytes " + std::to_string(race.ldsFirst) + ".." + std::to_string(last);
  if (race.variableOffset && !race.variable.empty())
    return text + " at " + race.variable + "+" + std::to_string(*race.variableOffset) + " (" + range + ")";
  return text + " at " + range;
}

std::string pathText(const std::string &file, const TextOptions &options) {
  const std::string &dir = options.directory;
  if (dir.size() > 1 && file.size() > dir.size() + 1 && file.compare(0, dir.size(), dir) == 0 &&
      file[dir.size()] == '/')
    return file.substr(dir.size() + 1);
  return file;
}

std::string positionText(const Frame &frame, const TextOptions &options) {
  std::string text = pathText(frame.file, options);
  if (frame.line != 0)
    text += ":" + std::to_string(frame.line);
  if (frame.line != 0 && frame.column != 0)
    text += ":" + std::to_string(frame.column);
  return text;
}

/// "read  of 4 bytes by wave 0 lane 0 ", without padding.
struct SideHead {
  std::string access, who;
};

SideHead sideHead(const Access &access) {
  SideHead head;
  head.access = accessText(access.bits);
  head.who = "of " + (access.sizeBytes ? bytesText(access.sizeBytes)
                                       : "a range" + (access.opcode.empty() ? "" : " (" + access.opcode + ")"));
  head.who += " by wave " + std::to_string(access.wave) + " lane " + std::to_string(access.lane);
  return head;
}

/// Header files of HIP and of the compiler: the user cannot put a barrier there.
bool isSystemFile(const std::string &file) {
  for (const char *part : {"/hip/", "/lib/clang/", "/hip-clang/"})
    if (file.find(part) != std::string::npos && file.find("include") != std::string::npos)
      return true;
  return file.rfind("/usr/include/", 0) == 0 || file.rfind("/opt/rocm", 0) == 0;
}

/// The frame to show: the innermost one in the user's own code.
size_t userFrame(const std::vector<Frame> &frames) {
  for (size_t i = 0; i < frames.size(); ++i)
    if (!isSystemFile(frames[i].file))
      return i;
  return 0;
}

std::string sideText(const Access &access, const SideHead &head, size_t accessWidth, size_t whoWidth,
                     const TextOptions &options) {
  auto padded = [](std::string text, size_t width) { return text.append(width - std::min(width, text.size()), ' '); };
  std::string text = "  " + padded(head.access, accessWidth) + " " + padded(head.who, whoWidth);
  if (access.frames.empty())
    return text + " at an unknown line\n";
  const size_t shown = userFrame(access.frames);
  const Frame &leaf = access.frames[shown];
  text += " at " + positionText(leaf, options) + (leaf.function.empty() ? "" : " in " + leaf.function) + "\n";
  if (options.sourceExcerpt)
    text += sourceExcerpt(leaf.file, leaf.line, leaf.column, 4);
  for (size_t i = shown; i-- > 0;) {
    const Frame &callee = access.frames[i];
    text += "    which calls " + (callee.function.empty() ? "?" : callee.function) + ": " +
            positionText(callee, options) + "\n";
  }
  for (size_t i = shown + 1; i < access.frames.size(); ++i) {
    const Frame &caller = access.frames[i];
    text += "    inlined into " + (caller.function.empty() ? "?" : caller.function) + " at " +
            positionText(caller, options) + "\n";
  }
  return text;
}

} // namespace

std::string raceText(const Race &race, const TextOptions &options) {
  const std::string kernel = race.kernel.empty() ? "unknown" : race.kernel;
  std::string text = "wavesan: " + classText(race.raceClass) + ": LDS " + orderText(race) + placeText(race) + "\n";
  text += "  kernel " + kernel + ", dispatch " + std::to_string(race.dispatch) + ", workgroup (" +
          std::to_string(race.workgroup[0]) + "," + std::to_string(race.workgroup[1]) + "," +
          std::to_string(race.workgroup[2]) + "), wave size " + std::to_string(race.waveSize) + "\n";
  SideHead current = sideHead(race.current), previous = sideHead(race.previous);
  size_t accessWidth = std::max(current.access.size(), previous.access.size());
  size_t whoWidth = std::max(current.who.size(), previous.who.size());
  text += sideText(race.current, current, accessWidth, whoWidth, options);
  text += sideText(race.previous, previous, accessWidth, whoWidth, options);
  text += "  " + reasonText(race) + "\n";
  if (std::string note = waveSizeNote(race); !note.empty())
    text += "  " + note + "\n";
  text += "  fix: " + fixText(race) + "\n";
  text += "  seen " + std::to_string(race.occurrences) + (race.occurrences == 1 ? " time" : " times") +
          (race.bothOrders ? ", in both orders" : "") + "\n";
  return text;
}

TextSink::TextSink(TextWriter writer, TextOptions options) : Write(std::move(writer)), Options(std::move(options)) {}

void TextSink::onRace(const Race &race) { Write(raceText(race, Options)); }

void TextSink::onMessage(std::string_view line) { Write("wavesan: " + std::string(line) + "\n"); }

void TextSink::onSummary(const Summary &summary) { Write(summaryText(summary, Options)); }

} // namespace wavesan::report
