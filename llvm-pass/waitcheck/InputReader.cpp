// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InputReader.h"

#include "Generations.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/OffloadBundle.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace wavesan::waitcheck {
namespace {

using llvm::StringRef;
namespace endian = llvm::support::endian;

constexpr StringRef elfMagic("\x7f"
                             "ELF",
                             4);
constexpr StringRef bundleMagic("__CLANG_OFFLOAD_BUNDLE__", 24);
constexpr StringRef compressedMagic("CCOB", 4);
constexpr StringRef archiveMagic("!<arch>\n", 8);
constexpr StringRef thinArchiveMagic("!<thin>\n", 8);
constexpr StringRef offloadMagic("\x10\xFF\x10\xAD", 4);
/// Bundles do not nest deeper than: archive, program, compressed bundle, bundle, object.
constexpr unsigned maxDepth = 6;
/// A compressed bundle that claims to grow beyond this is refused.
constexpr uint64_t maxDecompressed = uint64_t(4) << 30;
constexpr uint64_t maxRatio = 4096;

class Reader {
public:
  Reader(const InputOptions &options, Inputs &inputs) : options(options), inputs(inputs) {}

  /// `wanted`: the user named this file, so silence about it would be wrong.
  void read(const std::string &name, std::shared_ptr<llvm::MemoryBuffer> storage, StringRef bytes, bool wanted,
            unsigned depth) {
    if (depth > maxDepth)
      return problem(name, "nested too deeply");
    if (bytes.starts_with(elfMagic))
      return readElf(name, storage, bytes, wanted, depth);
    if (bytes.starts_with(bundleMagic) || bytes.starts_with(compressedMagic))
      return readBundles(name, storage, bytes, depth);
    if (bytes.starts_with(offloadMagic))
      return readOffloadBinaries(name, storage, bytes, depth);
    if (bytes.starts_with(archiveMagic) || bytes.starts_with(thinArchiveMagic))
      return readArchive(name, storage, bytes, wanted, depth);
    if (wanted)
      problem(name, "neither a code object, a program, a bundle, an archive nor assembly text");
    else
      ++inputs.withoutGpuCode;
  }

  void problem(const std::string &name, llvm::Twine message) { inputs.problems.push_back({name, message.str()}); }
  void problem(const std::string &name, llvm::Error e) { problem(name, llvm::toString(std::move(e))); }

private:
  void readElf(const std::string &name, std::shared_ptr<llvm::MemoryBuffer> storage, StringRef bytes, bool wanted,
               unsigned depth) {
    if (bytes.size() < sizeof(llvm::ELF::Elf64_Ehdr))
      return problem(name, "truncated ELF file");
    // Containers may hold an image at any offset; the ELF reader wants it aligned.
    if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0) {
      storage = llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
      bytes = storage->getBuffer();
    }
    if (endian::read16le(bytes.data() + 18) == llvm::ELF::EM_AMDGPU) {
      const TargetEntry *target = findMachine(endian::read32le(bytes.data() + 48) & llvm::ELF::EF_AMDGPU_MACH);
      if (!options.arch.empty() && target && options.arch != target->name) {
        ++inputs.skippedByArch;
        return;
      }
      inputs.objects.push_back({name, storage, bytes});
      return;
    }
    if (bytes[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 || bytes[llvm::ELF::EI_DATA] != llvm::ELF::ELFDATA2LSB)
      return wanted ? problem(name, "not a 64-bit little-endian ELF file") : void(++inputs.withoutGpuCode);
    // ELFFile, not ELFObjectFile: the latter ends the process on some damaged files.
    auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(bytes);
    if (!file)
      return problem(name, file.takeError());
    auto headers = file->sections();
    if (!headers)
      return problem(name, headers.takeError());
    bool found = false;
    for (const auto &h : *headers) {
      auto sectionName = file->getSectionName(h);
      if (!sectionName)
        return problem(name, sectionName.takeError());
      const bool fat = sectionName->starts_with(".hip_fatbin") && !sectionName->starts_with(".hip_fatbin_segment");
      const bool offload = sectionName->starts_with(".llvm.offloading");
      if ((!fat && !offload) || h.sh_type == llvm::ELF::SHT_NOBITS)
        continue;
      auto contents = file->getSectionContents(h);
      if (!contents)
        return problem(name, contents.takeError());
      if (contents->empty())
        continue;
      found = true;
      const StringRef image(reinterpret_cast<const char *>(contents->data()), contents->size());
      if (fat)
        readBundles(name, storage, image, depth + 1);
      else
        readOffloadBinaries(name, storage, image, depth + 1);
    }
    if (!found) {
      ++inputs.withoutGpuCode;
      if (wanted && depth == 0 && !options.hostFilesToo)
        problem(name, "holds no GPU code (no .hip_fatbin or .llvm.offloading section)");
    }
  }

  /// One or several bundles, one behind the other, with padding between.
  void readBundles(const std::string &name, std::shared_ptr<llvm::MemoryBuffer> storage, StringRef bytes,
                   unsigned depth) {
    bool found = false;
    while (!bytes.empty()) {
      const size_t at = std::min(bytes.find(bundleMagic), bytes.find(compressedMagic));
      if (at == StringRef::npos)
        break;
      bytes = bytes.drop_front(at);
      found = true;
      uint64_t used = 0;
      if (bytes.starts_with(bundleMagic))
        used = readBundle(name, storage, bytes, depth);
      else
        used = readCompressed(name, bytes, depth);
      if (used == 0) // damaged: its extent is unknown, and a problem has been noted
        return;
      bytes = bytes.drop_front(std::min<uint64_t>(used, bytes.size()));
    }
    if (!found)
      problem(name, "section for GPU code without a bundle in it");
  }

  /// Returns the size of the bundle, 0 if it is damaged.
  uint64_t readBundle(const std::string &name, std::shared_ptr<llvm::MemoryBuffer> storage, StringRef bytes,
                      unsigned depth) {
    size_t at = bundleMagic.size();
    auto number = [&](uint64_t &value) {
      if (bytes.size() - at < 8)
        return false;
      value = endian::read64le(bytes.data() + at);
      at += 8;
      return true;
    };
    uint64_t count = 0, end = 0;
    if (!number(count) || count > bytes.size() / 24) {
      problem(name, "damaged bundle: header");
      return 0;
    }
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t offset = 0, size = 0, length = 0;
      if (!number(offset) || !number(size) || !number(length) || length > bytes.size() - at) {
        problem(name, "damaged bundle: entry table");
        return 0;
      }
      const StringRef id = bytes.substr(at, length);
      at += length;
      if (offset > bytes.size() || size > bytes.size() - offset) {
        problem(name, "damaged bundle: entry " + id + " lies outside of it");
        return 0;
      }
      end = std::max(end, offset + size);
      if (id.starts_with("host") || size == 0 || !matches(id))
        continue;
      read(name + ":" + id.str(), storage, bytes.substr(offset, size), true, depth + 1);
    }
    return std::max<uint64_t>(end, at);
  }

  uint64_t readCompressed(const std::string &name, StringRef bytes, unsigned depth) {
    auto header = llvm::object::CompressedOffloadBundle::CompressedBundleHeader::tryParse(bytes);
    if (!header) {
      problem(name, header.takeError());
      return 0;
    }
    const uint64_t plainSize = header->UncompressedFileSize;
    if (plainSize > std::min(maxDecompressed, (uint64_t(1) << 20) + maxRatio * bytes.size())) {
      problem(name, "compressed bundle claims to be " + llvm::Twine(plainSize) + " bytes");
      return 0;
    }
    const uint64_t size = header->FileSize.value_or(bytes.size());
    if (size > bytes.size() || size < 24) {
      problem(name, "damaged compressed bundle: size");
      return 0;
    }
    const auto input = llvm::MemoryBuffer::getMemBuffer(bytes.take_front(size), name, /*RequiresNullTerminator=*/false);
    auto plain = llvm::object::CompressedOffloadBundle::decompress(*input);
    if (!plain) {
      problem(name, plain.takeError());
      return size;
    }
    std::shared_ptr<llvm::MemoryBuffer> storage(std::move(*plain));
    readBundles(name, storage, storage->getBuffer(), depth + 1);
    return size;
  }

  /// clang's offload binaries, one behind the other. Parsed here: LLVM's reader trusts the offsets in the file.
  void readOffloadBinaries(const std::string &name, std::shared_ptr<llvm::MemoryBuffer> storage, StringRef bytes,
                           unsigned depth) {
    for (;;) {
      const size_t at = bytes.find(offloadMagic);
      if (at == StringRef::npos)
        return;
      bytes = bytes.drop_front(at);
      constexpr size_t headerSize = 32, entrySize = 48;
      auto u64 = [](StringRef from, uint64_t offset) { return endian::read64le(from.data() + offset); };
      if (bytes.size() < headerSize + entrySize)
        return problem(name, "damaged offload binary: header");
      const uint64_t size = u64(bytes, 8), entryOffset = u64(bytes, 16);
      if (size < headerSize + entrySize || size > bytes.size() || entryOffset > size - entrySize)
        return problem(name, "damaged offload binary: header");
      const StringRef binary = bytes.take_front(size);
      const StringRef entry = binary.substr(entryOffset, entrySize);
      // kind, producer and flags take eight bytes; then the strings and the image
      const uint64_t strings = u64(entry, 8), numStrings = u64(entry, 16), imageOffset = u64(entry, 24),
                     imageSize = u64(entry, 32);
      if (imageOffset > size || imageSize > size - imageOffset || strings > size || numStrings > (size - strings) / 16)
        return problem(name, "damaged offload binary: entry");
      StringRef triple, arch;
      for (uint64_t i = 0; i < numStrings; ++i) {
        const uint64_t key = u64(binary, strings + 16 * i), value = u64(binary, strings + 16 * i + 8);
        if (key >= size || value >= size)
          return problem(name, "damaged offload binary: strings");
        auto text = [&](uint64_t from) { return binary.drop_front(from).take_until([](char c) { return c == 0; }); };
        if (text(key) == "triple")
          triple = text(value);
        else if (text(key) == "arch")
          arch = text(value);
      }
      if (triple.starts_with("amdgcn") && matches(arch))
        read(name + ":" + triple.str() + "-" + arch.str(), storage, binary.substr(imageOffset, imageSize), true,
             depth + 1);
      bytes = bytes.drop_front(size);
    }
  }

  void readArchive(const std::string &name, std::shared_ptr<llvm::MemoryBuffer> storage, StringRef bytes, bool wanted,
                   unsigned depth) {
    if (bytes.starts_with(thinArchiveMagic))
      return problem(name, "thin archives are not supported; name their members");
    auto archive = llvm::object::Archive::create({bytes, name});
    if (!archive)
      return problem(name, archive.takeError());
    llvm::Error e = llvm::Error::success();
    for (const llvm::object::Archive::Child &child : (*archive)->children(e)) {
      auto childName = child.getName();
      if (!childName) {
        problem(name, childName.takeError());
        continue;
      }
      auto contents = child.getBuffer();
      if (!contents) {
        problem(name, contents.takeError());
        continue;
      }
      // LLVM's reader believes a member's size.
      if (contents->begin() < bytes.begin() || contents->end() > bytes.end()) {
        problem(name, "damaged archive: a member lies outside of it");
        return llvm::consumeError(std::move(e));
      }
      read(name + "(" + childName->str() + ")", storage, *contents, false, depth + 1);
    }
    if (e)
      problem(name, std::move(e));
    (void)wanted;
  }

  bool matches(StringRef id) const {
    if (options.entryPattern.empty())
      return true;
    auto glob = llvm::GlobPattern::create(options.entryPattern);
    if (!glob) {
      llvm::consumeError(glob.takeError()); // the command line was checked when it was read
      return false;
    }
    return glob->match(id);
  }

  const InputOptions &options;
  Inputs &inputs;
};

void readFile(StringRef path, const InputOptions &options, Inputs &inputs, bool wanted) {
  Reader reader(options, inputs);
  // A pipe has an end; a device may have none.
  llvm::sys::fs::file_status status;
  if (path != "-" && !llvm::sys::fs::status(path, status) &&
      (status.type() == llvm::sys::fs::file_type::character_file || status.type() == llvm::sys::fs::file_type::block_file))
    return reader.problem(path.str(), "is a device, not a file");
  auto file = path == "-" ? llvm::MemoryBuffer::getSTDIN()
                          : llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return reader.problem(path.str(), file.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> storage(std::move(*file));
  if (path.ends_with(".s") || path.ends_with(".S")) {
    if (!wanted && !storage->getBuffer().contains(".amdgcn_target")) {
      ++inputs.withoutGpuCode;
      return;
    }
    auto object = assemble(path, storage->getBuffer(), options.arch);
    if (!object)
      return reader.problem(path.str(), object.takeError());
    std::shared_ptr<llvm::MemoryBuffer> image(std::move(*object));
    return reader.read(path.str(), image, image->getBuffer(), wanted, 0);
  }
  reader.read(path.str(), storage, storage->getBuffer(), wanted, 0);
}

} // namespace

void readInput(StringRef path, const InputOptions &options, Inputs &inputs) {
  if (!llvm::sys::fs::is_directory(path))
    return readFile(path, options, inputs, true);
  if (!options.recursive) {
    inputs.problems.push_back({path.str(), "is a directory (-r looks into directories)"});
    return;
  }
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(path, error, /*follow_symlinks=*/false), end; it != end && !error;
       it.increment(error))
    if (it->type() == llvm::sys::fs::file_type::regular_file)
      files.push_back(it->path());
  if (error)
    inputs.problems.push_back({path.str(), error.message()});
  std::sort(files.begin(), files.end());
  for (const std::string &f : files)
    readFile(f, options, inputs, false);
}

void readImage(StringRef name, std::shared_ptr<llvm::MemoryBuffer> image, const InputOptions &options, Inputs &inputs) {
  Reader(options, inputs).read(name.str(), image, image->getBuffer(), true, 0);
}

} // namespace wavesan::waitcheck
