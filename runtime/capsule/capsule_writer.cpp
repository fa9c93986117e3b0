// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "format.h"

#include "wavesan/report/quiet_write.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

namespace wavesan::capsule {

namespace {

/// Memory is mostly zeros or numbers: more effort gains little.
constexpr int kLevel = 1;
constexpr size_t kBuffer = 256 << 10;
/// zlib counts in 32 bits.
constexpr size_t kPiece = 64 << 20;
constexpr int kNames = 100;

class Writer {
public:
  explicit Writer(const std::string &path) : Path(path) {
    // Not mkstemp: that makes files that only their owner may read.
    for (int i = 0; File < 0 && i < kNames; ++i) {
      Temporary = path + ".part" + std::to_string(getpid()) + "-" + std::to_string(i);
      File = open(Temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (File < 0 && errno != EEXIST)
        break;
    }
    if (File < 0) {
      fail(errno);
      Temporary.clear();
    }
  }
  ~Writer() {
    if (File >= 0)
      close(File);
    if (!Temporary.empty())
      unlink(Temporary.c_str());
  }
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  /// Makes room for header and entries.
  void begin(size_t sections) {
    Entries.reserve(sections);
    At = sizeof(FileHeader) + sections * sizeof(SectionEntry);
    if (Error.empty() && lseek(File, off_t(At), SEEK_SET) < 0)
      fail(errno);
  }

  void add(SectionKind kind, std::string_view bytes, const Region *region = nullptr) {
    SectionEntry entry{};
    entry.kind = kind;
    entry.offset = At;
    entry.bytes = bytes.size();
    if (region) {
      entry.place = uint32_t(region->place) | region->kind << 8;
      entry.address = region->address;
      entry.number = region->number;
    }
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    compress(bytes, [&](const uint8_t *data, size_t count) {
      XXH64_update(&hash, data, count);
      put(data, count);
    });
    entry.storedBytes = At - entry.offset;
    entry.hash = XXH64_digest(&hash);
    Entries.push_back(entry);
  }

  std::string finish() {
    FileHeader header{};
    std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
    header.version = kFormatVersion;
    header.sections = uint32_t(Entries.size());
    header.fileBytes = At;
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    XXH64_update(&hash, &header, sizeof(header));
    XXH64_update(&hash, Entries.data(), Entries.size() * sizeof(SectionEntry));
    header.hash = XXH64_digest(&hash);
    if (Error.empty() && lseek(File, 0, SEEK_SET) < 0)
      fail(errno);
    put(&header, sizeof(header));
    put(Entries.data(), Entries.size() * sizeof(SectionEntry));
    if (Error.empty() && (fsync(File) != 0 || rename(Temporary.c_str(), Path.c_str()) != 0))
      fail(errno);
    if (Error.empty())
      Temporary.clear();
    return Error;
  }

private:
  void fail(int number) {
    if (Error.empty())
      Error = "cannot write " + Path + ": " + std::strerror(number);
  }

  void put(const void *data, size_t count) {
    if (!Error.empty())
      return;
    if (int number = report::writeQuietly(File, {static_cast<const char *>(data), count}))
      return fail(number);
    At += count;
  }

  template <class Take> void compress(std::string_view bytes, Take take) {
    z_stream stream{};
    if (deflateInit(&stream, kLevel) != Z_OK)
      return fail(ENOMEM);
    std::vector<uint8_t> out(kBuffer);
    int status = Z_OK;
    for (size_t at = 0; status == Z_OK && Error.empty();) {
      const size_t piece = std::min(kPiece, bytes.size() - at);
      const bool last = at + piece == bytes.size();
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data() + at));
      stream.avail_in = uInt(piece);
      do {
        stream.next_out = out.data();
        stream.avail_out = uInt(out.size());
        status = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        take(out.data(), out.size() - stream.avail_out);
      } while (status == Z_OK && Error.empty() && (last || stream.avail_in || stream.avail_out == 0));
      if (status == Z_BUF_ERROR && !last) // the piece before filled the buffer exactly
        status = Z_OK;
      at += piece;
    }
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
      fail(EIO);
  }

  const std::string Path;
  std::string Temporary, Error;
  int File = -1;
  uint64_t At = 0;
  std::vector<SectionEntry> Entries;
};

} // namespace

std::string writeCapsule(const std::string &path, const Capsule &capsule) {
  Writer writer(path);
  writer.begin(4 + capsule.regions.size());
  writer.add(SectionKind::Manifest, manifestText(capsule));
  writer.add(SectionKind::CodeObject, capsule.codeObject);
  writer.add(SectionKind::Arguments, capsule.arguments);
  writer.add(SectionKind::Signature, capsule.signature);
  for (const Region &region : capsule.regions)
    writer.add(SectionKind::Memory, region.bytes, &region);
  return writer.finish();
}

} // namespace wavesan::capsule
