// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/wait_hazard.h"

#include "wavesan/report/text_sink.h"

#include <cstdio>

namespace wavesan::report {

std::string waitNeedText(const WaitHazard &h) {
  const std::string number = std::to_string(h.sufficientWait);
  if (h.counter.empty())
    return number + (h.sufficientWait == 1 ? " wait state is" : " wait states are") + " needed in between";
  return h.counter +
         (h.emittedWait ? " is waited down to " + std::to_string(*h.emittedWait) : std::string(" is not waited for")) +
         " in between; " + number + (h.sufficientWait == 0 ? "" : " or less") + " is needed";
}

std::string waitHeadText(const WaitHazard &h) {
  return h.title + (h.registers.empty() ? "" : ": " + h.registers) + (h.proven ? " (proven)" : " (possible)");
}

namespace {

std::string placeLine(const char *role, const CodePlace &place, const TextOptions &options) {
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%04llx", static_cast<unsigned long long>(place.offset));
  std::string text = std::string("  ") + role + " " + offset + "  " + place.instruction;
  if (!place.file.empty()) {
    text += "  at " + relativePath(place.file, options.directory);
    if (place.line != 0)
      text += ":" + std::to_string(place.line);
    if (place.line != 0 && place.column != 0)
      text += ":" + std::to_string(place.column);
  }
  return text + "\n";
}

} // namespace

std::string waitHazardText(const WaitHazard &h, const TextOptions &options) {
  const std::string head = "wavesan: " + h.code + ":";
  std::string text = (options.color ? "\x1b[1;31m" + head + "\x1b[0m" : head) + " " + waitHeadText(h) + "\n";
  text += (h.isKernel ? "  kernel " : "  function ") + (h.kernel.empty() ? std::string("unknown") : h.kernel) +
          ", machine code for " + h.target + "\n";
  if (h.producer)
    text += placeLine("producer", *h.producer, options);
  text += placeLine("consumer", h.consumer, options);
  return text + "  " + waitNeedText(h) + "\n";
}

} // namespace wavesan::report
