// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a kernel body and checks it.
#ifndef WAVESAN_TEST_WAITCHECK_ASM_CHECK_H
#define WAVESAN_TEST_WAITCHECK_ASM_CHECK_H

#include "Checker.h"
#include "InputReader.h"

#include "gtest/gtest.h"

#include <string>

namespace wavesan::waitcheck::test {

/// A whole assembly file around the body of kernel "k", plus text behind it (more functions).
inline std::string kernelText(const std::string &target, const std::string &body, const std::string &more = "", bool wave32 = false) {
  const TargetEntry *entry = findTarget(target);
  std::string text = ".amdgcn_target \"amdgcn-amd-amdhsa--" + target + "\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n" + body +
                     "\n  s_endpgm\n.Lend:\n.size k, .Lend-k\n" + more +
                     "\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 64\n";
  if (entry && entry->generation->encoding == WaitEncoding::Gfx9 && (target == "gfx90a" || target == "gfx942" || target == "gfx950"))
    text += ".amdhsa_accum_offset 64\n";
  if (wave32)
    text += ".amdhsa_wavefront_size32 1\n";
  return text + ".end_amdhsa_kernel\n";
}

inline CheckResult checkText(const std::string &text, CheckOptions options = {}) {
  auto object = assemble("test.s", text, "");
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError()) << "\n" << text;
    return {};
  }
  static thread_local Decoders decoders; // decoders start slowly
  auto result = checkObject((*object)->getMemBufferRef(), options, decoders);
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  return std::move(*result);
}

inline CheckResult checkBody(const std::string &target, const std::string &body, const std::string &more = "") {
  const TargetEntry *entry = findTarget(target);
  return checkText(kernelText(target, body, more, entry && entry->generation->encoding == WaitEncoding::Gfx12));
}

/// "W01 v2" per diagnostic, sorted, joined by "; ". Empty: clean, and completely analysed.
inline std::string findings(const CheckResult &r) {
  std::vector<std::string> all;
  for (const Diagnostic &d : r.diagnostics)
    all.push_back(codeName(d.code) + (d.registers.empty() ? "" : " " + d.registers));
  for (const std::string &n : r.notAnalysed)
    all.push_back("gap " + n);
  std::sort(all.begin(), all.end());
  std::string text;
  for (const std::string &s : all)
    text += (text.empty() ? "" : "; ") + s;
  return text;
}

} // namespace wavesan::waitcheck::test

#endif // WAVESAN_TEST_WAITCHECK_ASM_CHECK_H
