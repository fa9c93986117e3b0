// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a mistyped name may have meant. Host only.
#ifndef WAVESAN_ABI_NEAREST_NAME_H
#define WAVESAN_ABI_NEAREST_NAME_H

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::abi {

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to make `b` of `a`.
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    beforeLast.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// The one of `known` nearest to `word`, if at most a third of the longer one's letters are wrong: else empty, for a
/// guess from far off misleads. Dashes in front do not count.
inline std::string nearestName(std::string_view word, const std::vector<std::string> &known) {
  auto letters = [](std::string_view name) { return name.substr(std::min(name.find_first_not_of('-'), name.size())); };
  constexpr size_t kLongest = 64; // no name is that long; bounds the work
  word = letters(word).substr(0, kLongest);
  const std::string *best = nullptr;
  size_t bestDistance = 0;
  for (const std::string &name : known) {
    const std::string_view candidate = letters(name);
    const size_t distance = editDistance(word, candidate);
    if (distance <= std::max(word.size(), candidate.size()) / 3 && (!best || distance < bestDistance)) {
      best = &name;
      bestDistance = distance;
    }
  }
  return best ? *best : std::string();
}

/// The end of an error message: "; did you mean 'x'?", or nothing where nothing known is near.
inline std::string didYouMean(std::string_view word, const std::vector<std::string> &known) {
  const std::string nearest = nearestName(word, known);
  return nearest.empty() ? nearest : "; did you mean '" + nearest + "'?";
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_NEAREST_NAME_H
