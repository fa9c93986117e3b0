// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of patterns for names of kernels and files.
#ifndef WAVESAN_REPORT_NAME_FILTER_H
#define WAVESAN_REPORT_NAME_FILTER_H

#include <string>
#include <string_view>
#include <vector>

namespace wavesan::report {

/// True if `glob` is the whole of `name`; '*' stands for any text, '?' for one character.
bool matchesGlob(std::string_view glob, std::string_view name);

/// A glob against a kernel: its demangled name, the same without template arguments and parameters, that without
/// namespaces, or its linkage name. `void app::scale<int>(int*)` is matched by `scale`, `app::scale`, `*<int>*` and
/// `_Z*`.
bool matchesKernel(std::string_view glob, const std::string &display, const std::string &linkage);

/// A glob against a file: the whole path or what stands behind one of its slashes (`tile.h`, `src/*.hip`).
bool matchesFile(std::string_view glob, std::string_view path);

/// "a*;!ab*": globs between semicolons; those with '!' in front exclude. A name is in the list when no exclusion
/// matches and an inclusion does, or when there are only exclusions. Immutable, thread-safe.
class KernelFilter {
public:
  KernelFilter() = default;
  explicit KernelFilter(std::string_view list);
  bool empty() const { return Globs.empty(); }
  bool accepts(const std::string &display, const std::string &linkage) const;
  /// Indices of the globs that match this kernel, for remarks about globs that never do.
  std::vector<size_t> matching(const std::string &display, const std::string &linkage) const;
  size_t size() const { return Globs.size(); }
  /// As written, "!" included.
  std::string text(size_t glob) const { return (Globs[glob].exclude ? "!" : "") + Globs[glob].pattern; }

private:
  struct Glob {
    std::string pattern;
    bool exclude;
  };
  std::vector<Glob> Globs;
  bool Includes = false;
};

} // namespace wavesan::report

#endif // WAVESAN_REPORT_NAME_FILTER_H
