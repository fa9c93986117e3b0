// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/name_filter.h"

namespace wavesan::report {

namespace {

std::string_view trimmed(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \t\n");
  return begin == std::string_view::npos ? std::string_view()
                                         : s.substr(begin, s.find_last_not_of(" \t\n") + 1 - begin);
}

/// "void app::scale<float>(float*, int)" -> "app::scale": without return type, template arguments and parameters. The
/// name as it is where it is not of that form (operators, lambdas).
std::string_view plainName(std::string_view name) {
  int depth = 0;
  size_t begin = 0, end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if ((c == '<' || c == '(') && depth++ == 0 && end == name.size()) {
      if (name.substr(i).starts_with("(anonymous namespace)")) {
        i += sizeof("(anonymous namespace)") - 2;
        --depth;
        continue;
      }
      end = i;
    } else if (c == '>' || c == ')') {
      --depth;
    } else if (c == ' ' && depth == 0 && end == name.size()) {
      begin = i + 1; // what stood before was the return type
    }
  }
  return depth == 0 && end > begin ? name.substr(begin, end - begin) : name;
}

} // namespace

bool matchesGlob(std::string_view glob, std::string_view name) {
  // Where the last star stood, and what it has swallowed so far: linear in memory, at worst quadratic in time.
  size_t g = 0, n = 0, star = std::string_view::npos, swallowed = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      swallowed = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++swallowed;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*')
    ++g;
  return g == glob.size();
}

bool matchesKernel(std::string_view glob, const std::string &display, const std::string &linkage) {
  const std::string_view plain = plainName(display);
  const size_t colons = plain.rfind("::");
  return matchesGlob(glob, display) || matchesGlob(glob, linkage) || matchesGlob(glob, plain) ||
         (colons != std::string_view::npos && matchesGlob(glob, plain.substr(colons + 2)));
}

bool matchesFile(std::string_view glob, std::string_view path) {
  if (path.empty())
    return false;
  if (matchesGlob(glob, path))
    return true;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    if (matchesGlob(glob, path.substr(slash + 1)))
      return true;
  return false;
}

KernelFilter::KernelFilter(std::string_view list) {
  while (!list.empty()) {
    const size_t end = list.find(';');
    std::string_view glob = trimmed(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    const bool exclude = glob.starts_with('!');
    if (exclude)
      glob = trimmed(glob.substr(1));
    if (glob.empty())
      continue;
    Globs.push_back({std::string(glob), exclude});
    Includes = Includes || !exclude;
  }
}

bool KernelFilter::accepts(const std::string &display, const std::string &linkage) const {
  bool included = !Includes;
  for (const Glob &glob : Globs) {
    if (!matchesKernel(glob.pattern, display, linkage))
      continue;
    if (glob.exclude)
      return false;
    included = true;
  }
  return included;
}

std::vector<size_t> KernelFilter::matching(const std::string &display, const std::string &linkage) const {
  std::vector<size_t> out;
  for (size_t i = 0; i < Globs.size(); ++i)
    if (matchesKernel(Globs[i].pattern, display, linkage))
      out.push_back(i);
  return out;
}

} // namespace wavesan::report
