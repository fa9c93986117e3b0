// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the project's JSON reports back. The input may be truncated, hostile or of another version.
#ifndef WAVESAN_REPORT_DOCUMENT_READER_H
#define WAVESAN_REPORT_DOCUMENT_READER_H

#include "wavesan/report/document.h"

#include <optional>
#include <string>
#include <string_view>

namespace wavesan::report {

/// The document in `json`, as jsonText() wrote it; members that this version does not know are ignored. On failure
/// nothing and one line in `error`. Control characters in strings become '?': the strings end up on terminals. Never
/// throws.
std::optional<Document> parseDocument(std::string_view json, std::string &error);

/// Reads and parses a file ("-": standard input). `error` names the file.
std::optional<Document> readDocument(const std::string &path, std::string &error);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_DOCUMENT_READER_H
