// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_metadata.h"

#include <nlohmann/json.hpp>

namespace wavesan::hsa {

namespace {

using nlohmann::json;

/// Deeper than any metadata that a compiler writes (5 levels).
constexpr size_t kMaxDepth = 32;
/// A kernel's arguments; the hardware's kernarg segment has no such limit, compilers stay far below it.
constexpr uint32_t kMaxKernargBytes = 1u << 20;

/// Walks MessagePack without recursion. The JSON library's reader recurses once per nesting level, so a few
/// megabytes of nested arrays would overflow the stack; this refuses them first. Also refuses truncated input.
bool isShallow(std::string_view bytes) {
  std::vector<uint64_t> open; // items still missing in each open container
  size_t at = 0;
  auto length = [&](size_t width, uint64_t &value) {
    if (bytes.size() - at < width)
      return false;
    value = 0;
    for (size_t i = 0; i < width; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    at += width;
    return true;
  };
  do {
    if (at >= bytes.size())
      return false;
    unsigned char tag = static_cast<unsigned char>(bytes[at++]);
    uint64_t payload = 0, items = 0, n = 0;
    auto sized = [&](size_t width, uint64_t extra) { // a length field, then that many bytes and `extra`
      if (!length(width, n))
        return false;
      payload = n + extra;
      return true;
    };
    bool good = true;
    if (tag <= 0x7f || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3)
      ;
    else if (tag <= 0x8f)
      items = uint64_t(tag & 0xf) * 2;
    else if (tag <= 0x9f)
      items = tag & 0xf;
    else if (tag <= 0xbf)
      payload = tag & 0x1f;
    else if (tag >= 0xc4 && tag <= 0xc6)
      good = sized(size_t(1) << (tag - 0xc4), 0);
    else if (tag >= 0xc7 && tag <= 0xc9)
      good = sized(size_t(1) << (tag - 0xc7), 1);
    else if (tag == 0xca)
      payload = 4;
    else if (tag == 0xcb)
      payload = 8;
    else if (tag >= 0xcc && tag <= 0xcf)
      payload = uint64_t(1) << (tag - 0xcc);
    else if (tag >= 0xd0 && tag <= 0xd3)
      payload = uint64_t(1) << (tag - 0xd0);
    else if (tag >= 0xd4 && tag <= 0xd8)
      payload = (uint64_t(1) << (tag - 0xd4)) + 1;
    else if (tag >= 0xd9 && tag <= 0xdb)
      good = sized(size_t(1) << (tag - 0xd9), 0);
    else if (tag == 0xdc || tag == 0xdd)
      good = length(tag == 0xdc ? 2 : 4, items);
    else if (tag == 0xde || tag == 0xdf) {
      good = length(tag == 0xde ? 2 : 4, items);
      items *= 2;
    } else
      good = false;
    if (!good || payload > bytes.size() - at)
      return false;
    at += payload;
    if (!open.empty())
      --open.back();
    if (items != 0)
      open.push_back(items);
    if (open.size() > kMaxDepth)
      return false;
    while (!open.empty() && open.back() == 0)
      open.pop_back();
  } while (!open.empty());
  return at == bytes.size();
}

const json *member(const json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

std::string textMember(const json &object, const char *key) {
  const json *value = member(object, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

/// False when the member is missing, not a number or does not fit.
bool numberMember(const json &object, const char *key, uint32_t &out) {
  const json *value = member(object, key);
  if (!value || !value->is_number_integer())
    return false;
  uint64_t number = value->is_number_unsigned() ? value->get<uint64_t>() : uint64_t(value->get<int64_t>());
  if (number > UINT32_MAX)
    return false;
  out = uint32_t(number);
  return true;
}

bool parseKernel(const json &entry, KernelMetadata &kernel, std::string &error) {
  kernel.name = textMember(entry, ".name");
  kernel.symbol = textMember(entry, ".symbol");
  if (kernel.name.empty() || kernel.symbol.empty()) {
    error = "a kernel without .name or .symbol";
    return false;
  }
  if (!numberMember(entry, ".kernarg_segment_size", kernel.kernargBytes) ||
      !numberMember(entry, ".group_segment_fixed_size", kernel.groupBytes) ||
      !numberMember(entry, ".private_segment_fixed_size", kernel.privateBytes) ||
      !numberMember(entry, ".wavefront_size", kernel.waveSize) || (kernel.waveSize != 32 && kernel.waveSize != 64) ||
      kernel.kernargBytes > kMaxKernargBytes) {
    error = "kernel " + kernel.name + ": a segment size is missing or out of range";
    return false;
  }
  const json *args = member(entry, ".args");
  if (!args)
    return true; // no arguments
  if (!args->is_array()) {
    error = "kernel " + kernel.name + ": .args is not an array";
    return false;
  }
  for (const json &item : *args) {
    KernelArg arg;
    arg.kind = textMember(item, ".value_kind");
    arg.name = textMember(item, ".name");
    if (arg.kind.empty() || !numberMember(item, ".offset", arg.offset) || !numberMember(item, ".size", arg.size) ||
        arg.offset > kernel.kernargBytes || arg.size > kernel.kernargBytes - arg.offset) {
      error = "kernel " + kernel.name + ": argument " + std::to_string(kernel.args.size()) + " out of range";
      return false;
    }
    kernel.args.push_back(std::move(arg));
  }
  return true;
}

} // namespace

std::optional<MetadataMap> parseMetadata(std::string_view messagePack, std::string &error) {
  auto fail = [&](const std::string &why) -> std::optional<MetadataMap> {
    error = "code object metadata: " + why;
    return std::nullopt;
  };
  try {
    if (!isShallow(messagePack))
      return fail("not valid MessagePack");
    json root = json::from_msgpack(messagePack.begin(), messagePack.end(), /*strict=*/true, /*allow_exceptions=*/false);
    const json *kernels = member(root, "amdhsa.kernels");
    MetadataMap map;
    if (!root.is_object())
      return fail("not a map");
    if (!kernels)
      return map;
    if (!kernels->is_array())
      return fail("amdhsa.kernels is not an array");
    for (const json &entry : *kernels) {
      KernelMetadata kernel;
      std::string why;
      if (!parseKernel(entry, kernel, why))
        return fail(why);
      std::string name = kernel.name;
      map.insert_or_assign(std::move(name), std::move(kernel));
    }
    return map;
  } catch (const std::exception &e) { // the library's exceptions and bad_alloc
    return fail(e.what());
  }
}

} // namespace wavesan::hsa
