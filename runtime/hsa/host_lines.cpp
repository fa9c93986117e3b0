// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "host_lines.h"

#include "side_process.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

/// Where an instruction lies in its file.
struct Place {
  std::string file; ///< empty: in no file
  uint64_t address = 0;
  std::string function; ///< by the dynamic symbols
  uint64_t offset = 0;
};

Place placeOf(uint64_t returnAddress) {
  const uint64_t address = returnAddress - 1; // of the call, not of what follows it
  Dl_info info;
  link_map *map = nullptr;
  Place place;
  if (!dladdr1(reinterpret_cast<const void *>(address), &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP))
    return place;
  place.file = map && map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
  place.address = address - (map ? map->l_addr : 0);
  if (info.dli_sname) {
    place.function = info.dli_sname;
    place.offset = returnAddress - reinterpret_cast<uint64_t>(info.dli_saddr);
  }
  return place;
}

/// The child's own executable is another one.
std::string realFile(const std::string &file) {
  if (file != "/proc/self/exe")
    return file;
  std::string name(4096, '\0');
  const ssize_t n = readlink(file.c_str(), name.data(), name.size());
  return n > 0 ? name.substr(0, size_t(n)) : file;
}

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(n));
  return text;
}

/// Takes a word off the front.
std::string_view next(std::string_view &text, char end) {
  const size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

report::Frame frameOf(std::string_view line) {
  report::Frame frame;
  frame.function = report::demangle(std::string(next(line, '\t')));
  frame.file = next(line, '\t');
  const std::string_view row = next(line, '\t'), column = line;
  std::from_chars(row.data(), row.data() + row.size(), frame.line);
  std::from_chars(column.data(), column.data() + column.size(), frame.column);
  return frame;
}

report::Frame withoutLine(const Place &place) {
  report::Frame frame;
  if (!place.function.empty())
    frame.function = report::demangle(place.function) + "+0x" + hex(place.offset);
  frame.file = place.file.empty() ? std::string() : realFile(place.file);
  if (frame.function.empty())
    frame.function = "+0x" + hex(place.address + 1);
  return frame;
}

/// What clang makes of `kernel<<<...>>>(...)`.
bool isStub(const report::Frame &frame) { return frame.function.starts_with("__device_stub__"); }

/// Not of the program itself.
bool isForeign(const report::Frame &frame) {
  return frame.line == 0 || report::isSystemFile(frame.file) || frame.file.starts_with("/usr/lib/");
}

/// The program's main function, or where a thread starts: what comes behind it is not the program.
bool isOutermost(const std::vector<report::Frame> &frames) {
  if (frames.empty())
    return false;
  const std::string &name = frames.back().function;
  return name == "main" || name.starts_with("main+") || name.starts_with("start_thread");
}

} // namespace

void HostLines::lookUp(const std::vector<uint64_t> &addresses) {
  std::string questions;
  std::vector<Place> places;
  for (uint64_t a : addresses) {
    places.push_back(placeOf(a));
    questions += hex(places.back().address) + " " + realFile(places.back().file) + "\n";
  }
  const std::string program = Program.empty() ? besideThisLibrary("wavesan-symbolize") : Program;
  const SideProcess process = runBeside({program}, questions);
  std::string_view answers = process.output;
  for (size_t i = 0; i < addresses.size(); ++i) {
    Frames frames;
    while (!answers.empty()) {
      const std::string_view line = next(answers, '\n');
      if (line.empty())
        break;
      frames.push_back(frameOf(line));
    }
    if (frames.empty() || frames.front().line == 0) {
      report::Frame frame = withoutLine(places[i]);
      if (!frames.empty() && !frames.front().function.empty() && places[i].function.empty())
        frame.function = frames.front().function + " (" + frame.function + ")";
      frames = {frame};
    }
    Known[addresses[i]] = std::move(frames);
  }
}

std::vector<report::Frame> HostLines::framesOf(const uint64_t *addresses, size_t count) {
  std::lock_guard lock(Mutex);
  std::vector<uint64_t> fresh;
  for (size_t i = 0; i < count; ++i)
    if (!Known.contains(addresses[i]))
      fresh.push_back(addresses[i]);
  if (!fresh.empty())
    lookUp(fresh);
  Frames all;
  for (size_t i = 0; i < count && !isOutermost(all); ++i)
    for (const report::Frame &frame : Known[addresses[i]])
      if (!isStub(frame))
        all.push_back(frame);
  // What starts threads and calls main says nothing.
  if (all.size() > 1 && all.back().function.starts_with("start_thread"))
    all.pop_back();
  while (all.size() > 1 && isForeign(all.back()) && !std::all_of(all.begin(), all.end(), isForeign))
    all.pop_back();
  return all;
}

} // namespace wavesan::hsa
