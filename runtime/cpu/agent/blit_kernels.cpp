// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blit_kernels.h"

#include "host_lock.h"
#include "signals.h"

#include "../order/write_notes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace wavesan::agent {
namespace {

/// The arguments of one dispatch. get() of an argument that is not there, or too small, marks the blit as failed.
class BlitArguments {
  // Blits read all their arguments before they do anything.
public:
  BlitArguments(const void *kernarg, uint32_t kernargBytes, const KernelArguments &arguments)
      : Kernarg(static_cast<const uint8_t *>(kernarg)), KernargBytes(kernargBytes), Arguments(arguments) {}

  template <class T> T get(std::string_view name) {
    T value{};
    auto it = Arguments.find(name);
    if (it == Arguments.end() || it->second.size < sizeof(T) || it->second.offset > KernargBytes ||
        KernargBytes - it->second.offset < sizeof(T))
      Missing = name;
    else
      std::memcpy(&value, Kernarg + it->second.offset, sizeof(T));
    return value;
  }
  /// A buffer argument; null if the program passed null.
  uint8_t *buffer(std::string_view name) { return static_cast<uint8_t *>(hostView(get<void *>(name))); }

  /// Name of an argument that was asked for and is not there; empty if all were.
  std::string Missing;

private:
  const uint8_t *Kernarg;
  uint32_t KernargBytes;
  const KernelArguments &Arguments;
};

using Vector4 = std::array<uint64_t, 4>;

/// What a blit needs beyond its arguments.
struct BlitContext {
  const hsa_kernel_dispatch_packet_t &packet;
  const std::atomic<bool> &cancel;
  const cpu::WriteNotes &notes; ///< to hear of all that is written
};

/// A buffer that is passed as one of four pointers, according to its element type.
struct TypedBuffer {
  uint8_t *base = nullptr;
  uint64_t elementBytes = 1;
};

TypedBuffer typedBuffer(BlitArguments &args) {
  TypedBuffer result;
  uint64_t bytes = 1;
  for (const char *name : {"bufUChar", "bufUShort", "bufUInt", "bufULong"}) {
    if (uint8_t *p = args.buffer(name))
      result = {p, bytes};
    bytes *= 2;
  }
  return result;
}

/// The kernels run one work-item per element and ignore work-items beyond the size they are told.
uint64_t elements(uint64_t size, uint32_t grid) { return std::min<uint64_t>(size, grid); }

void fillBufferAligned(BlitArguments &args, const BlitContext &context) {
  const TypedBuffer buffer = typedBuffer(args);
  const uint8_t *pattern = args.buffer("pattern");
  const uint64_t patternBytes = args.get<uint32_t>("patternSize") * buffer.elementBytes;
  const uint64_t offset = args.get<uint64_t>("offset");
  const uint64_t count = elements(args.get<uint64_t>("size"), context.packet.grid_size_x);
  if (!args.Missing.empty() || !buffer.base)
    return;
  uint8_t *out = buffer.base + offset * buffer.elementBytes;
  const bool uniform =
      patternBytes != 0 && std::all_of(pattern, pattern + patternBytes, [&](uint8_t b) { return b == pattern[0]; });
  context.notes.note(out, count * patternBytes);
  if (uniform) {
    std::memset(out, pattern[0], count * patternBytes);
    return;
  }
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(out + i * patternBytes, pattern, patternBytes);
}

void fillBufferAligned2D(BlitArguments &args, const BlitContext &context) {
  const TypedBuffer buffer = typedBuffer(args);
  const uint8_t *pattern = args.buffer("pattern");
  const uint64_t patternBytes = args.get<uint32_t>("patternSize") * buffer.elementBytes;
  // HIP's source calls the first element "offset"; width, height and pitch count elements.
  const uint64_t origin = args.get<uint64_t>("offset"), pitch = args.get<uint64_t>("pitch");
  const uint64_t width = elements(args.get<uint64_t>("width"), context.packet.grid_size_x);
  const uint64_t height = elements(args.get<uint64_t>("height"), context.packet.grid_size_y);
  if (!args.Missing.empty() || !buffer.base)
    return;
  for (uint64_t y = 0; y < height; ++y) {
    if (width)
      context.notes.note(buffer.base + (origin + y * pitch) * buffer.elementBytes,
                         (width - 1) * buffer.elementBytes + patternBytes);
    for (uint64_t x = 0; x < width; ++x)
      std::memcpy(buffer.base + (origin + y * pitch + x) * buffer.elementBytes, pattern, patternBytes);
  }
}

void copyBuffer(BlitArguments &args, const BlitContext &context) {
  const uint8_t *src = args.buffer("srcI");
  uint8_t *dst = args.buffer("dstI");
  const uint64_t srcOrigin = args.get<uint64_t>("srcOrigin"), dstOrigin = args.get<uint64_t>("dstOrigin");
  const uint64_t size = args.get<uint64_t>("size");
  const uint32_t remain = args.get<uint32_t>("remain");
  if (!args.Missing.empty() || size == 0)
    return;
  // remain 8: bytes. Otherwise all work-items but the last copy a dword, the last one `remain` bytes.
  const uint64_t count = elements(size, context.packet.grid_size_x);
  const uint64_t bytes = remain == 8 ? count : count < size ? count * 4 : (size - 1) * 4 + remain;
  context.notes.note(dst + dstOrigin, bytes);
  std::memmove(dst + dstOrigin, src + srcOrigin, bytes);
}

void copyBufferAligned(BlitArguments &args, const BlitContext &context) {
  const uint8_t *src = args.buffer("src");
  uint8_t *dst = args.buffer("dst");
  const uint64_t srcOrigin = args.get<uint64_t>("srcOrigin"), dstOrigin = args.get<uint64_t>("dstOrigin");
  const uint64_t size = elements(args.get<uint64_t>("size"), context.packet.grid_size_x);
  const uint64_t element = args.get<uint32_t>("alignment") == 16 ? 16 : 4;
  if (!args.Missing.empty())
    return;
  context.notes.note(dst + dstOrigin * element, size * element);
  std::memmove(dst + dstOrigin * element, src + srcOrigin * element, size * element);
}

/// Rectangles: {row pitch, slice pitch, start, 0}; sizes: {width, height, depth, element}, all in elements.
void copyRect(BlitArguments &args, const BlitContext &context, bool aligned) {
  const uint8_t *src = args.buffer("src");
  uint8_t *dst = args.buffer("dst");
  const auto from = args.get<Vector4>("srcRect"), to = args.get<Vector4>("dstRect"), size = args.get<Vector4>("size");
  if (!args.Missing.empty())
    return;
  const uint64_t element = !aligned ? 1 : size[3] == 16 ? 16 : 4;
  const uint64_t width = elements(size[0], context.packet.grid_size_x);
  const uint64_t height = elements(size[1], context.packet.grid_size_y);
  const uint64_t depth = elements(size[2], context.packet.grid_size_z);
  for (uint64_t z = 0; z < depth; ++z)
    for (uint64_t y = 0; y < height; ++y) {
      uint8_t *row = dst + (to[2] + y * to[0] + z * to[1]) * element;
      context.notes.note(row, width * element);
      std::memmove(row, src + (from[2] + y * from[0] + z * from[1]) * element, width * element);
    }
}
void copyBufferRect(BlitArguments &args, const BlitContext &context) { copyRect(args, context, false); }
void copyBufferRectAligned(BlitArguments &args, const BlitContext &context) { copyRect(args, context, true); }

void streamOpsWrite(BlitArguments &args, const BlitContext &context) {
  auto *word32 = reinterpret_cast<uint32_t *>(args.buffer("ptrInt"));
  auto *word64 = reinterpret_cast<uint64_t *>(args.buffer("ptrUlong"));
  const uint64_t value = args.get<uint64_t>("value");
  if (!args.Missing.empty() || (!word32 && !word64))
    return;
  context.notes.note(word32 ? static_cast<void *>(word32) : word64, word32 ? sizeof(*word32) : sizeof(*word64));
  if (word32)
    __atomic_store_n(word32, uint32_t(value), __ATOMIC_SEQ_CST);
  else
    __atomic_store_n(word64, value, __ATOMIC_SEQ_CST);
  signalEvents().notify();
}

/// Comparisons of hipStreamWaitValue: 0 at least, 1 equal, 2 any common bit, 3 any bit that is in neither.
template <class Word> bool waitIsOver(Word now, Word value, Word mask, uint64_t comparison) {
  switch (comparison) {
  case 0:
    return (now & mask) >= value;
  case 1:
    return (now & mask) == value;
  case 2:
    return ((now & mask) & value) != 0;
  default:
    return ((now | value) & mask) != mask;
  }
}

void streamOpsWait(BlitArguments &args, const BlitContext &context) {
  auto *word32 = reinterpret_cast<uint32_t *>(args.buffer("ptrInt"));
  auto *word64 = reinterpret_cast<uint64_t *>(args.buffer("ptrUlong"));
  const uint64_t value = args.get<uint64_t>("value"), comparison = args.get<uint64_t>("flags"),
                 mask = args.get<uint64_t>("mask");
  if (!args.Missing.empty() || (!word32 && !word64))
    return;
  signalEvents().wait(
      [&] {
        if (context.cancel)
          return true;
        if (word32)
          return waitIsOver<uint32_t>(__atomic_load_n(word32, __ATOMIC_ACQUIRE), uint32_t(value), uint32_t(mask),
                                      comparison);
        return waitIsOver<uint64_t>(__atomic_load_n(word64, __ATOMIC_ACQUIRE), value, mask, comparison);
      },
      kForever, kSignalPollNs);
}

/// Sets up the hardware counter of cooperative grid barriers; the engine has no use for it.
void gwsInit(BlitArguments &, const BlitContext &) {}

struct Blit {
  std::string_view name;
  void (*run)(BlitArguments &, const BlitContext &);
  std::vector<std::string_view> arguments; ///< all of them, sorted
};
constexpr std::string_view kPrefix = "__amd_rocclr_";

const std::vector<Blit> &blits() {
  static const auto &list = *new std::vector<Blit>{
      {"fillBufferAligned",
       fillBufferAligned,
       {"bufUChar", "bufUInt", "bufULong", "bufUShort", "offset", "pattern", "patternSize", "size"}},
      {"fillBufferAligned2D",
       fillBufferAligned2D,
       {"bufUChar", "bufUInt", "bufULong", "bufUShort", "height", "offset", "pattern", "patternSize", "pitch",
        "width"}},
      {"copyBuffer", copyBuffer, {"dstI", "dstOrigin", "remain", "size", "srcI", "srcOrigin"}},
      {"copyBufferAligned", copyBufferAligned, {"alignment", "dst", "dstOrigin", "size", "src", "srcOrigin"}},
      {"copyBufferRect", copyBufferRect, {"dst", "dstRect", "size", "src", "srcRect"}},
      {"copyBufferRectAligned", copyBufferRectAligned, {"dst", "dstRect", "size", "src", "srcRect"}},
      {"streamOpsWrite", streamOpsWrite, {"ptrInt", "ptrUlong", "sizeBytes", "value"}},
      {"streamOpsWait", streamOpsWait, {"flags", "mask", "ptrInt", "ptrUlong", "value"}},
      {"gwsInit", gwsInit, {"value"}},
  };
  return list;
}

const Blit *findBlit(std::string_view kernelName) {
  if (!kernelName.starts_with(kPrefix))
    return nullptr;
  for (const Blit &b : blits())
    if (b.name == kernelName.substr(kPrefix.size()))
      return &b;
  return nullptr;
}

} // namespace

bool isHipRuntimeKernel(std::string_view kernelName) { return kernelName.starts_with(kPrefix); }

DispatchResult runBlit(const hsa_kernel_dispatch_packet_t &packet, const KernelReference &kernel,
                       const std::atomic<bool> &cancel) {
  const std::string_view name = kernel.symbol->kernelName();
  auto refuse = [&](const std::string &why) {
    return DispatchResult{HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                          "kernel " + std::string(name) + " of the HIP runtime " + why};
  };
  const Blit *blit = findBlit(name);
  if (!blit)
    return refuse("is not supported by the CPU agent");
  // An argument more or less means another HIP version, whose kernel may do something else.
  const KernelArguments &arguments = kernel.object->argumentsOf(name);
  if (!std::equal(arguments.begin(), arguments.end(), blit->arguments.begin(), blit->arguments.end(),
                  [](const auto &entry, std::string_view expected) { return entry.first == expected; }))
    return refuse("has other arguments than the CPU agent knows");
  BlitArguments args(packet.kernarg_address, kernel.symbol->descriptor.kernargSize, arguments);
  const cpu::WriteNotes notes;
  blit->run(args, {packet, cancel, notes});
  if (!args.Missing.empty())
    return refuse("has an argument " + args.Missing + " of another size than the CPU agent knows");
  if (cancel)
    return {HSA_STATUS_ERROR_EXCEPTION, "kernel " + std::string(name) + " was cancelled"};
  return {};
}

} // namespace wavesan::agent
