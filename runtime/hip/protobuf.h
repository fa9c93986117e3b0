// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Protocol Buffers' wire format, the part that writing a trace needs. libprotobuf and Perfetto's generated classes
// would be two large dependencies of a library that is preloaded into other people's programs.
#ifndef WAVESAN_HIP_PROTOBUF_H
#define WAVESAN_HIP_PROTOBUF_H

#include <cstdint>
#include <string>
#include <string_view>

namespace wavesan::hip {

class Message {
public:
  void number(uint32_t field, uint64_t value) {
    tag(field, 0);
    varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    tag(field, 1);
    for (int i = 0; i < 8; ++i)
      Bytes += char(value >> (8 * i));
  }
  void bytes(uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    Bytes += value;
  }
  void message(uint32_t field, const Message &inner) { bytes(field, inner.Bytes); }
  const std::string &encoded() const { return Bytes; }

private:
  void tag(uint32_t field, uint32_t wireType) { varint(uint64_t(field) << 3 | wireType); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      Bytes += char(value | 0x80);
    Bytes += char(value);
  }

  std::string Bytes;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_PROTOBUF_H
