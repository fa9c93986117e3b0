// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searching for commands and libraries.
#include "library_search.h"

#include <algorithm>
#include <vector>

namespace fs = std::filesystem;

namespace wavesan::driver {

static std::vector<std::string> splitPath(const std::string &list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin)
      parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

static bool isFile(const fs::path &p) {
  std::error_code ec;
  return fs::is_regular_file(p, ec);
}

std::string findInPath(const Machine &machine, const std::string &name) {
  for (const std::string &directory : splitPath(machine.environment("PATH").value_or("")))
    if (fs::path file = fs::path(directory) / name; isFile(machine.at(file)))
      return file.string();
  return {};
}

std::string findLibrary(const Machine &machine, const std::string &name, const std::string &prefix) {
  std::vector<fs::path> places;
  if (!prefix.empty())
    places = {fs::path(prefix) / "lib", fs::path(prefix) / "lib64"};
  for (const std::string &directory : splitPath(machine.environment("LD_LIBRARY_PATH").value_or("")))
    places.emplace_back(directory);
  for (const char *directory : {"/opt/rocm/lib", "/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/lib64"})
    places.emplace_back(directory);
  for (const char *parent : {"/usr/lib", "/lib"}) { // Debian's directory of the architecture
    std::error_code ec;
    for (const fs::directory_entry &e : fs::directory_iterator(machine.at(parent), ec))
      if (e.path().filename().string().find("-linux-gnu") != std::string::npos)
        places.push_back(fs::path(parent) / e.path().filename());
  }
  for (const fs::path &place : places)
    if (isFile(machine.at(fs::absolute(place)) / name))
      return (place / name).string();
  return {};
}

} // namespace wavesan::driver
