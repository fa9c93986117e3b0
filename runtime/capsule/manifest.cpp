// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "format.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace wavesan::capsule {

using nlohmann::json;

std::string manifestText(const Capsule &capsule) {
  const Dispatch &d = capsule.dispatch;
  const json manifest = {
      {"wavesan", capsule.version},
      {"target", capsule.target},
      {"options", capsule.options},
      {"kernel", d.kernel},
      {"dimensions", d.dimensions},
      {"grid", {d.grid[0], d.grid[1], d.grid[2]}},
      {"workgroup", {d.workgroup[0], d.workgroup[1], d.workgroup[2]}},
      {"group_segment_bytes", d.groupBytes},
      {"private_segment_bytes", d.privateBytes},
      {"dispatch", d.number},
      {"load_address", capsule.loadAddress},
      {"descriptor_offset", capsule.descriptorOffset},
      {"expected_digest", capsule.expectedDigest},
      {"queue_pointers", capsule.queuePointers},
  };
  return manifest.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {

/// Reads members; the first that is missing or of the wrong type is remembered.
class Members {
public:
  explicit Members(const json &object) : Object(object) {}

  void number(const char *name, uint64_t &to, uint64_t max) {
    const json *value = find(name);
    if (!value || !value->is_number_unsigned() || value->get<uint64_t>() > max)
      return bad(name);
    to = value->get<uint64_t>();
  }
  void number(const char *name, uint32_t &to, uint64_t max) {
    uint64_t wide = 0;
    number(name, wide, std::min<uint64_t>(max, UINT32_MAX));
    to = uint32_t(wide);
  }
  void text(const char *name, std::string &to) {
    const json *value = find(name);
    if (!value || !value->is_string())
      return bad(name);
    to = value->get<std::string>();
  }
  template <class Use> void list(const char *name, size_t least, size_t most, Use use) {
    const json *value = find(name);
    if (!value || !value->is_array() || value->size() < least || value->size() > most)
      return bad(name);
    for (size_t i = 0; i < value->size(); ++i) {
      const json &element = (*value)[i];
      if (!element.is_number_unsigned() || element.get<uint64_t>() > UINT32_MAX)
        return bad(name);
      use(i, element.get<uint32_t>());
    }
  }
  void options(const char *name, std::map<std::string, std::string> &to) {
    const json *value = find(name);
    if (!value || !value->is_object())
      return bad(name);
    for (const auto &[key, element] : value->items()) {
      if (!element.is_string())
        return bad(name);
      to[key] = element.get<std::string>();
    }
  }
  void bad(const char *name) {
    if (Wrong.empty())
      Wrong = name;
  }
  const std::string &wrong() const { return Wrong; }

private:
  const json *find(const char *name) const {
    auto it = Object.find(name);
    return it == Object.end() ? nullptr : &*it;
  }
  const json &Object;
  std::string Wrong;
};

} // namespace

bool readManifest(std::string_view text, Capsule &capsule, std::string &error) {
  const json manifest = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) {
    error = "its manifest is not JSON";
    return false;
  }
  Members members(manifest);
  Dispatch &d = capsule.dispatch;
  members.text("wavesan", capsule.version);
  members.text("target", capsule.target);
  members.options("options", capsule.options);
  members.text("kernel", d.kernel);
  members.number("dimensions", d.dimensions, 3);
  members.list("grid", 3, 3, [&](size_t i, uint32_t value) { d.grid[i] = value; });
  members.list("workgroup", 3, 3, [&](size_t i, uint32_t value) { d.workgroup[i] = value; });
  members.number("group_segment_bytes", d.groupBytes, UINT32_MAX);
  members.number("private_segment_bytes", d.privateBytes, UINT32_MAX);
  members.number("dispatch", d.number, UINT64_MAX);
  members.number("load_address", capsule.loadAddress, UINT64_MAX);
  members.number("descriptor_offset", capsule.descriptorOffset, UINT64_MAX);
  members.number("expected_digest", capsule.expectedDigest, UINT64_MAX);
  members.list("queue_pointers", 0, kMaxArgumentBytes, [&](size_t, uint32_t v) { capsule.queuePointers.push_back(v); });
  for (int i = 0; i < 3; ++i)
    if (d.grid[i] == 0 || d.workgroup[i] == 0 || d.workgroup[i] > UINT16_MAX)
      members.bad(d.grid[i] == 0 ? "grid" : "workgroup");
  if (d.kernel.empty() || d.kernel.find('\0') != std::string::npos)
    members.bad("kernel");
  if (d.dimensions == 0)
    members.bad("dimensions");
  if (members.wrong().empty())
    return true;
  error = "its manifest's \"" + members.wrong() + "\" is missing or impossible";
  return false;
}

} // namespace wavesan::capsule
