// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output_compare.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace wavesan::hsa {

namespace {

using Chunk = std::pair<size_t, uint64_t>;
constexpr uint64_t kPiece = Snapshot::kChunk; ///< read at once
static_assert(kPiece % PassOutput::kChunk == 0);

uint64_t bytesOf(const Snapshot &before, const Chunk &chunk) {
  const uint64_t begin = chunk.second * PassOutput::kChunk;
  return std::min(PassOutput::kChunk, before.saved()[chunk.first].range.bytes - begin);
}

/// The bytes of a chunk in an output: in place, or in `scratch`. Null and a line in `error` if they cannot be read.
const uint8_t *find(const Snapshot &before, const PassOutput::Chunks &chunks, const Chunk &chunk,
                    std::vector<uint8_t> &scratch, std::string &error) {
  auto it = chunks.find(chunk);
  if (it != chunks.end())
    return it->second.data();
  scratch.resize(PassOutput::kChunk);
  return before.savedBytes(before.saved()[chunk.first], chunk.second * PassOutput::kChunk, bytesOf(before, chunk),
                           scratch.data(), error);
}

std::set<Chunk> unionOf(const PassOutput::Chunks &a, const PassOutput::Chunks &b) {
  std::set<Chunk> keys;
  for (const PassOutput::Chunks *chunks : {&a, &b})
    for (const auto &[chunk, bytes] : *chunks)
      keys.insert(chunk);
  return keys;
}

} // namespace

bool PassOutput::read(const Snapshot &before, uint64_t limit, std::string &error) {
  Differing.clear();
  std::vector<uint8_t> now(kPiece), scratch(kPiece);
  for (size_t region = 0; region < before.saved().size(); ++region) {
    const Snapshot::Saved &saved = before.saved()[region];
    for (uint64_t at = 0; at < saved.range.bytes; at += kPiece) {
      const uint64_t bytes = std::min(kPiece, saved.range.bytes - at);
      if (!Snapshot::isTouched(saved, at))
        continue;
      if (!before.read(now.data(), saved.range.begin + at, bytes, error))
        return false;
      const uint8_t *was = before.savedBytes(saved, at, bytes, scratch.data(), error);
      if (!was)
        return false;
      if (std::memcmp(now.data(), was, bytes) == 0)
        continue;
      for (uint64_t part = 0; part < bytes; part += kChunk) {
        const uint64_t size = std::min(kChunk, bytes - part);
        if (std::memcmp(now.data() + part, was + part, size) == 0)
          continue;
        Differing.emplace(Chunk(region, (at + part) / kChunk),
                          std::vector<uint8_t>(now.data() + part, now.data() + part + size));
        if (Differing.size() * kChunk > limit) {
          error = "the dispatch writes too much to compare";
          return false;
        }
      }
    }
  }
  return true;
}

void OutputGroup::add(PassOutput output) {
  if (!First) {
    First = std::move(output);
    return;
  }
  std::vector<uint8_t> scratch[2];
  for (const Chunk &chunk : unionOf(First->chunks(), output.chunks())) {
    const uint8_t *a = find(Before, First->chunks(), chunk, scratch[0], Error),
                  *b = find(Before, output.chunks(), chunk, scratch[1], Error);
    if (!a || !b)
      return;
    const uint64_t bytes = bytesOf(Before, chunk);
    if (std::memcmp(a, b, bytes) == 0)
      continue;
    std::vector<bool> &varying = Varying[chunk];
    varying.resize(bytes);
    for (uint64_t i = 0; i < bytes; ++i)
      if (a[i] != b[i])
        varying[i] = true;
  }
}

bool OutputGroup::isVarying(const Chunk &chunk, uint64_t at) const {
  auto it = Varying.find(chunk);
  return it != Varying.end() && it->second[at];
}

/// `visit(chunk, byte)` returns false to end it.
template <class Visit> void OutputGroup::visitDifferences(const OutputGroup &a, const OutputGroup &b, Visit visit) {
  std::vector<uint8_t> scratch[2];
  for (const Chunk &chunk : unionOf(a.First->chunks(), b.First->chunks())) {
    const uint8_t *x = find(a.Before, a.First->chunks(), chunk, scratch[0], a.Error),
                  *y = find(b.Before, b.First->chunks(), chunk, scratch[1], a.Error);
    if (!x || !y)
      return;
    for (uint64_t i = 0, bytes = bytesOf(a.Before, chunk); i < bytes; ++i)
      if (x[i] != y[i] && !visit(chunk, i))
        return;
  }
}

bool OutputGroup::differ(const OutputGroup &a, const OutputGroup &b) {
  bool found = false;
  visitDifferences(a, b, [&](const Chunk &, uint64_t) { return !(found = true); });
  return found;
}

std::optional<OutputGroup::Place> OutputGroup::firstDifference(const OutputGroup &a, const OutputGroup &b) {
  std::optional<Place> place;
  visitDifferences(a, b, [&](const Chunk &chunk, uint64_t at) {
    if (!a.isVarying(chunk, at) && !b.isVarying(chunk, at))
      place = {chunk.first, chunk.second * PassOutput::kChunk + at};
    return !place;
  });
  return place;
}

} // namespace wavesan::hsa
