// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libFuzzer where a build has none: every file of a corpus, then mutations of them, always the same ones.
//   TARGET RUNS SECONDS DIRECTORY
// Blind, so it finds less; it keeps the targets alive in every build, and under the sanitizers of that build.
#include "fuzz_target.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace {

using Bytes = std::vector<uint8_t>;

void mutate(Bytes &bytes, const std::vector<Bytes> &corpus, std::mt19937 &random) {
  auto at = [&](size_t size) { return size ? size_t(random() % size) : 0; };
  constexpr uint8_t kInteresting[] = {0, 1, 0x7f, 0x80, 0xff, '"', '[', ':', '\n', '*'};
  for (unsigned n = 1 + random() % 4; n != 0; --n) {
    const size_t where = at(bytes.size());
    switch (random() % 6) {
    case 0:
      if (!bytes.empty())
        bytes[where] = uint8_t(random());
      break;
    case 1:
      if (!bytes.empty())
        bytes[where] = kInteresting[random() % std::size(kInteresting)];
      break;
    case 2:
      bytes.resize(where);
      break;
    case 3:
      bytes.insert(bytes.begin() + ptrdiff_t(where), kInteresting[random() % std::size(kInteresting)]);
      break;
    case 4: { // repeat a part
      const size_t length = std::min<size_t>(1 + random() % 64, bytes.size() - where);
      const Bytes part(bytes.begin() + ptrdiff_t(where), bytes.begin() + ptrdiff_t(where + length));
      bytes.insert(bytes.begin() + ptrdiff_t(where), part.begin(), part.end());
      break;
    }
    case 5: { // the end of another file
      const Bytes &other = corpus[random() % corpus.size()];
      bytes.resize(where);
      bytes.insert(bytes.end(), other.begin() + ptrdiff_t(at(other.size())), other.end());
      break;
    }
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  const uint64_t runs = std::stoull(argv[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::stoull(argv[2]));
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(argv[3]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const auto &file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", argv[3]);
    return 2;
  }
  std::mt19937 random(1);
  uint64_t done = 0;
  for (; done < runs && std::chrono::steady_clock::now() < end; ++done) {
    Bytes bytes = corpus[random() % corpus.size()];
    mutate(bytes, corpus, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu seeds, %llu mutations\n", corpus.size(), static_cast<unsigned long long>(done));
  return 0;
}
