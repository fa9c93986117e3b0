// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a capsule file. Numbers are little-endian.
//
//   FileHeader, SectionEntry[sections], then the contents of the sections in the order of their entries, without gaps.
//
// Every byte is covered: FileHeader::hash by the header and the entries, SectionEntry::hash by the contents.
#ifndef WAVESAN_CAPSULE_FORMAT_H
#define WAVESAN_CAPSULE_FORMAT_H

#include "wavesan/capsule/capsule.h"

#include <bit>

namespace wavesan::capsule {

static_assert(std::endian::native == std::endian::little, "capsules are read and written as they lie in memory");

inline constexpr char kMagic[8] = {'W', 'S', 'C', 'A', 'P', 'S', 'U', 'L'};
inline constexpr uint32_t kMaxSections = 1 << 20;
/// Of everything but memory: code object, arguments, manifest, report.
inline constexpr uint64_t kMaxTextBytes = uint64_t(1) << 30;
inline constexpr uint64_t kMaxArgumentBytes = 1 << 16;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t sections;
  uint64_t fileBytes;
  uint64_t hash; ///< XXH64, seed 0, of this header with 0 in place of the hash, and the entries
};
static_assert(sizeof(FileHeader) == 32);

enum class SectionKind : uint32_t { Manifest = 1, CodeObject = 2, Arguments = 3, Signature = 4, Memory = 5 };

struct SectionEntry {
  SectionKind kind;
  uint32_t place;  ///< Memory: Region::Place, Region::kind << 8
  uint64_t offset; ///< in the file
  uint64_t storedBytes;
  uint64_t bytes;   ///< decompressed (zlib, RFC 1950)
  uint64_t hash;    ///< XXH64 of the stored bytes
  uint64_t address; ///< Memory
  uint64_t number;  ///< Memory: Region::number
};
static_assert(sizeof(SectionEntry) == 56);

/// The manifest, JSON: all members that are neither bytes nor regions.
std::string manifestText(const Capsule &capsule);
/// False and one line in `error`.
bool readManifest(std::string_view text, Capsule &capsule, std::string &error);

} // namespace wavesan::capsule

#endif // WAVESAN_CAPSULE_FORMAT_H
