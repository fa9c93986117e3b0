// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace wavesan::capsule {

namespace {

/// More than zlib can get out of a byte.
constexpr uint64_t kMaxExpansion = 1040;
constexpr size_t kPiece = 64 << 20; // zlib counts in 32 bits

struct File {
  FileHeader header;
  std::vector<SectionEntry> entries;
  std::string_view bytes;
};

/// Empty, or what is wrong.
std::string readTable(std::string_view bytes, File &file) {
  file.bytes = bytes;
  FileHeader &header = file.header;
  if (bytes.size() < sizeof(header) || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    return "not a capsule of WaveSan";
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != kFormatVersion)
    return "a capsule of format " + std::to_string(header.version) + "; this WaveSan reads format " +
           std::to_string(kFormatVersion);
  if (header.fileBytes != bytes.size())
    return "cut short, or longer than it should be";
  if (header.sections > kMaxSections || header.sections > (bytes.size() - sizeof(header)) / sizeof(SectionEntry))
    return "its table of sections is damaged";
  file.entries.resize(header.sections);
  const size_t tableBytes = header.sections * sizeof(SectionEntry);
  if (tableBytes)
    std::memcpy(file.entries.data(), bytes.data() + sizeof(header), tableBytes);
  FileHeader zeroed = header;
  zeroed.hash = 0;
  XXH64_state_t hash;
  XXH64_reset(&hash, 0);
  XXH64_update(&hash, &zeroed, sizeof(zeroed));
  XXH64_update(&hash, file.entries.data(), tableBytes);
  if (XXH64_digest(&hash) != header.hash)
    return "wrong checksum of its table of sections";
  uint64_t at = sizeof(header) + tableBytes;
  for (const SectionEntry &entry : file.entries) {
    if (entry.offset != at || entry.storedBytes > bytes.size() - at)
      return "a section lies outside of the file";
    at += entry.storedBytes;
  }
  return at == bytes.size() ? std::string() : "bytes that belong to no section";
}

/// Empty, or what is wrong. `to` has room for entry.bytes.
std::string decompress(const File &file, const SectionEntry &entry, char *to) {
  const std::string_view stored = file.bytes.substr(entry.offset, entry.storedBytes);
  if (XXH64(stored.data(), stored.size(), 0) != entry.hash)
    return "wrong checksum of a section";
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK)
    return "no memory to decompress it";
  char spare = 0; // of an empty section: zlib wants some room
  uint64_t in = 0, out = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t piece = size_t(std::min<uint64_t>(kPiece, stored.size() - in)),
                 room = size_t(std::min<uint64_t>(kPiece, entry.bytes - out));
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(stored.data() + in));
    stream.avail_in = uInt(piece);
    stream.next_out = reinterpret_cast<Bytef *>(room ? to + out : &spare);
    stream.avail_out = uInt(room ? room : 1);
    status = inflate(&stream, Z_NO_FLUSH);
    const size_t used = piece - stream.avail_in, made = (room ? room : 1) - stream.avail_out;
    in += used, out += made;
    if (out > entry.bytes || (used == 0 && made == 0 && status == Z_OK))
      status = Z_DATA_ERROR;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || in != stored.size() || out != entry.bytes)
    return "a section cannot be decompressed to its size";
  return {};
}

/// Empty, or what is wrong with sizes; nothing is allocated yet.
std::string checkSizes(const File &file, uint64_t maxBytes) {
  uint64_t total = 0;
  int counts[6] = {};
  for (const SectionEntry &entry : file.entries) {
    if (entry.kind < SectionKind::Manifest || entry.kind > SectionKind::Memory)
      return "a section of unknown kind";
    ++counts[int(entry.kind)];
    if (entry.bytes / kMaxExpansion > entry.storedBytes)
      return "a section claims more bytes than it can have";
    if ((entry.kind != SectionKind::Memory && entry.bytes > kMaxTextBytes) ||
        (entry.kind == SectionKind::Arguments && entry.bytes > kMaxArgumentBytes))
      return "a section is too large";
    total += entry.bytes; // no overflow: each is bounded by the file's size
    if (entry.kind == SectionKind::Memory &&
        ((entry.place & 0xff) > uint32_t(Region::Place::Variable) || entry.bytes == 0 || entry.address == 0 ||
         entry.address + entry.bytes < entry.address))
      return "a region of memory has no possible address";
  }
  for (SectionKind kind :
       {SectionKind::Manifest, SectionKind::CodeObject, SectionKind::Arguments, SectionKind::Signature})
    if (counts[int(kind)] != 1)
      return "a section is missing or there twice";
  if (total > maxBytes)
    return "its contents take " + std::to_string(total) + " bytes; " + std::to_string(maxBytes) + " are available";
  return {};
}

/// Regions at fixed addresses must not overlap; nor may variables lie in front of the code object.
std::string checkRegions(const Capsule &capsule) {
  std::vector<const Region *> fixed;
  for (const Region &region : capsule.regions)
    if (region.place == Region::Place::Address)
      fixed.push_back(&region);
    else if (region.address < capsule.loadAddress)
      return "a variable lies outside of the code object";
  std::sort(fixed.begin(), fixed.end(), [](const Region *a, const Region *b) { return a->address < b->address; });
  for (size_t i = 1; i < fixed.size(); ++i)
    if (fixed[i - 1]->address + fixed[i - 1]->bytes.size() > fixed[i]->address)
      return "regions of memory overlap";
  for (uint32_t offset : capsule.queuePointers)
    if (offset > capsule.arguments.size() || capsule.arguments.size() - offset < 8)
      return "an argument lies outside of the arguments";
  return {};
}

std::string fill(const File &file, Capsule &capsule) {
  std::string manifest;
  for (const SectionEntry &entry : file.entries) {
    std::string *text = entry.kind == SectionKind::Manifest     ? &manifest
                        : entry.kind == SectionKind::CodeObject ? &capsule.codeObject
                        : entry.kind == SectionKind::Arguments  ? &capsule.arguments
                        : entry.kind == SectionKind::Signature  ? &capsule.signature
                                                                : nullptr;
    std::string why;
    if (text) {
      text->resize(entry.bytes);
      why = decompress(file, entry, text->data());
    } else {
      std::unique_ptr<char[]> bytes(new (std::nothrow) char[entry.bytes]);
      why = bytes ? decompress(file, entry, bytes.get()) : "no memory for its contents";
      capsule.regions.push_back({Region::Place(entry.place & 0xff), entry.address, entry.place >> 8, entry.number,
                                 std::string_view(bytes.get(), entry.bytes)});
      capsule.storage.push_back(std::move(bytes));
    }
    if (!why.empty())
      return why;
  }
  std::string error;
  if (!readManifest(manifest, capsule, error))
    return error;
  return checkRegions(capsule);
}

} // namespace

std::optional<Capsule> parseCapsule(std::string_view bytes, uint64_t maxBytes, std::string &error) {
  File file;
  Capsule capsule;
  error = readTable(bytes, file);
  if (error.empty())
    error = checkSizes(file, maxBytes);
  if (error.empty())
    error = fill(file, capsule);
  if (!error.empty())
    return std::nullopt;
  return capsule;
}

std::optional<Capsule> readCapsule(const std::string &path, uint64_t maxBytes, std::string &error) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    error = path + ": " + (fd < 0 ? std::strerror(errno) : "not a file");
    if (fd >= 0)
      close(fd);
    return std::nullopt;
  }
  std::string bytes;
  if (uint64_t(info.st_size) <= maxBytes)
    bytes.resize(size_t(info.st_size));
  size_t at = 0;
  while (at < bytes.size()) { // read, not mapped: a file that is cut short meanwhile must not end the process
    const ssize_t n = ::read(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    at += size_t(n);
  }
  close(fd);
  bytes.resize(at);
  if (uint64_t(info.st_size) > maxBytes)
    error = "larger than the memory that is available";
  std::optional<Capsule> capsule;
  if (error.empty())
    capsule = parseCapsule(bytes, maxBytes, error);
  if (!capsule)
    error = path + ": " + error;
  return capsule;
}

} // namespace wavesan::capsule
