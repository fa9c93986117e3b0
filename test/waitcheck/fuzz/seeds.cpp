// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the fuzzers start: fuzz_seeds IMAGES CODE DIRECTORY-OF-ASSEMBLY FILE...
// The files go into IMAGES as they are (objects, compressed bundles); the code of the assembled texts into CODE.
#include "CodeObject.h"
#include "InputReader.h"

#include "llvm/Support/Endian.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace wavesan::waitcheck;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write(const fs::path &path, llvm::StringRef bytes) { std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size())); }

std::string number(uint64_t n) {
  char bytes[8];
  llvm::support::endian::write64le(bytes, n);
  return {bytes, 8};
}

std::string bundle(llvm::StringRef image, const std::string &target) {
  const std::string id = "hipv4-amdgcn-amd-amdhsa--" + target;
  const uint64_t start = 4096;
  std::string b = "__CLANG_OFFLOAD_BUNDLE__" + number(1) + number(start) + number(image.size()) + number(id.size()) + id;
  b.resize(start);
  return b + image.str();
}

std::string archive(llvm::StringRef member) {
  char header[64];
  std::snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "k.o/", "0", "0", "0", "644", member.size());
  return "!<arch>\n" + std::string(header) + member.str();
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  const fs::path images = argv[1], code = argv[2];
  fs::create_directories(images);
  fs::create_directories(code);
  unsigned written = 0;
  for (const fs::directory_entry &e : fs::directory_iterator(argv[3])) {
    if (e.path().extension() != ".s")
      continue;
    auto object = assemble(e.path().string(), contents(e.path()), "");
    if (!object) {
      std::fprintf(stderr, "%s\n", llvm::toString(object.takeError()).c_str());
      return 1;
    }
    const std::string name = e.path().stem().string();
    const llvm::StringRef image = (*object)->getBuffer();
    write(images / (name + ".o"), image);
    write(images / (name + ".bundle"), bundle(image, "gfx942"));
    write(images / (name + ".a"), archive(image));
    auto parsed = CodeObject::parse((*object)->getMemBufferRef());
    if (!parsed) {
      std::fprintf(stderr, "%s\n", llvm::toString(parsed.takeError()).c_str());
      return 1;
    }
    for (const CodeSection &s : (*parsed)->sections())
      for (char target = 0; target < 7; ++target)
        write(code / (name + std::to_string(int(target))),
              std::string{target, '\x05'} + std::string(reinterpret_cast<const char *>(s.bytes.data()), s.bytes.size()));
    ++written;
  }
  for (int i = 4; i < argc; ++i)
    write(images / fs::path(argv[i]).filename(), contents(argv[i]));
  return written ? 0 : 1;
}
