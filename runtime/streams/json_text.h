// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text in documents that are written as they come, without a tree in memory: graphs and traces.
#ifndef WAVESAN_STREAMS_JSON_TEXT_H
#define WAVESAN_STREAMS_JSON_TEXT_H

#include <string>
#include <string_view>

namespace wavesan::streams {

/// In double quotes, for JSON and for DOT: valid whatever the text is (what is no UTF-8 becomes U+FFFD), and different
/// for different texts of UTF-8. Thread-safe.
std::string quoted(std::string_view text);

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_JSON_TEXT_H
