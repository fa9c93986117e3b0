// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_metadata.h"

#include <nlohmann/json.hpp>

namespace wavesan::agent {
namespace {

using nlohmann::json;

/// Follows the document without building it and refuses to go deep: the parser recurses, and the bytes may be hostile.
class DepthCheck : public nlohmann::json_sax<json> {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool key(string_t &) override { return true; }
  bool start_object(std::size_t) override {
    IsMap |= Depth == 0;
    return enter();
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string &, const json::exception &) override { return false; }

  bool IsMap = false; ///< the document as a whole; a single byte of noise may be some other one

private:
  bool enter() { return ++Depth <= 32; }
  bool leave() {
    --Depth;
    return true;
  }
  unsigned Depth = 0;
};

const json *member(const json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

bool readUnsigned(const json *value, uint32_t &out) {
  if (!value || !value->is_number_unsigned() || value->get<uint64_t>() > UINT32_MAX)
    return false;
  out = value->get<uint32_t>();
  return true;
}

} // namespace

bool isReadableMetadata(std::string_view messagePack) {
  DepthCheck check;
  return json::sax_parse(messagePack, &check, json::input_format_t::msgpack, /*strict=*/false) && check.IsMap;
}

ArgumentsByKernel readKernelArguments(std::string_view messagePack) {
  ArgumentsByKernel result;
  if (!isReadableMetadata(messagePack))
    return result;
  const json document = json::from_msgpack(messagePack, /*strict=*/false, /*allow_exceptions=*/false);
  const json *kernels = member(document, "amdhsa.kernels");
  if (!kernels || !kernels->is_array())
    return result;
  for (const json &kernel : *kernels) {
    const json *name = member(kernel, ".name"), *args = member(kernel, ".args");
    if (!name || !name->is_string() || !args || !args->is_array())
      continue;
    KernelArguments &own = result[name->get_ref<const std::string &>()];
    for (const json &arg : *args) {
      const json *argName = member(arg, ".name");
      KernelArgument a;
      if (argName && argName->is_string() && readUnsigned(member(arg, ".offset"), a.offset) &&
          readUnsigned(member(arg, ".size"), a.size))
        own.emplace(argName->get_ref<const std::string &>(), a);
    }
  }
  return result;
}

} // namespace wavesan::agent
