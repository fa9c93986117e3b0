// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/waitcheck.h"

#include "Checker.h"
#include "InputReader.h"

using namespace wavesan::waitcheck;

namespace {

wavesan_waitcheck_place placeFor(const Place &p) { return {p.offset, p.text.c_str(), p.file.c_str(), p.line, p.column}; }

/// Collects the first reason for which the result is not complete.
struct Reasons {
  char *text;
  size_t size;
  bool any = false;
  void add(const std::string &why) {
    if (!any && text && size)
      snprintf(text, size, "%s", why.c_str());
    any = true;
  }
};

int checkInputs(const Inputs &inputs, const wavesan_waitcheck_options &options, wavesan_waitcheck_callback callback, void *user,
                wavesan_waitcheck_summary *summary, Reasons &reasons) {
  CheckOptions check;
  if (options.kernel_pattern)
    check.kernelPattern = options.kernel_pattern;
  check.provenOnly = options.proven_only != 0;
  check.maxPerKernel = options.max_per_kernel;
  check.jobs = options.threads ? options.threads : 1;
  wavesan_waitcheck_summary total{};
  Decoders decoders;
  for (const InputProblem &p : inputs.problems) {
    reasons.add(p.name + ": " + p.message);
    ++total.not_analysed;
  }
  for (const InputObject &o : inputs.objects) {
    auto result = checkObject(o.buffer(), check, decoders);
    if (!result) {
      reasons.add(o.name + ": " + llvm::toString(result.takeError()));
      ++total.not_analysed;
      continue;
    }
    ++total.objects;
    total.kernels += result->counts.kernels;
    total.functions += result->counts.functions;
    total.instructions += result->counts.instructions;
    total.hazards += result->diagnostics.size() + result->counts.dropped;
    total.not_analysed += result->counts.incompleteFunctions;
    for (const std::string &n : result->notAnalysed)
      reasons.add(o.name + ": " + n);
    if (callback)
      for (const Diagnostic &d : result->diagnostics) {
        const wavesan_waitcheck_hazard h{static_cast<int>(d.code),
                                         static_cast<int>(d.confidence),
                                         codeTitle(d.code),
                                         d.function.c_str(),
                                         result->target.c_str(),
                                         d.registers.c_str(),
                                         d.counter.c_str(),
                                         d.emittedWait,
                                         d.sufficientWait,
                                         placeFor(d.producer),
                                         placeFor(d.consumer)};
        callback(&h, user);
      }
  }
  if (!check.kernelPattern.empty() && total.objects != 0 && total.kernels == 0) {
    reasons.add("no kernel matches " + check.kernelPattern);
    ++total.not_analysed;
  }
  if (summary)
    *summary = total;
  if (inputs.objects.empty() && inputs.problems.empty())
    reasons.add("no GPU code was found");
  return total.hazards ? WAVESAN_WAITCHECK_HAZARDS : reasons.any ? WAVESAN_WAITCHECK_INCOMPLETE : WAVESAN_WAITCHECK_CLEAN;
}

wavesan_waitcheck_options optionsOr(const wavesan_waitcheck_options *given) {
  wavesan_waitcheck_options o;
  wavesan_waitcheck_default_options(&o);
  // A caller built against an older, shorter struct keeps the defaults of what it does not know.
  if (given)
    memcpy(&o, given, std::min(given->size, sizeof o));
  return o;
}

} // namespace

void wavesan_waitcheck_default_options(wavesan_waitcheck_options *options) {
  *options = {sizeof *options, nullptr, 0, 50, 1};
}

int wavesan_waitcheck_image(const void *image, size_t size, const wavesan_waitcheck_options *options, wavesan_waitcheck_callback callback,
                            void *user, wavesan_waitcheck_summary *summary, char *error, size_t error_size) {
  Reasons reasons{error, error_size};
  if (error && error_size)
    error[0] = 0;
  Inputs inputs;
  const llvm::StringRef bytes(static_cast<const char *>(image), size);
  readImage("image", llvm::MemoryBuffer::getMemBuffer(bytes, "image", /*RequiresNullTerminator=*/false), {}, inputs);
  return checkInputs(inputs, optionsOr(options), callback, user, summary, reasons);
}

int wavesan_waitcheck_assembly(const char *text, size_t size, const char *target, const wavesan_waitcheck_options *options,
                               wavesan_waitcheck_callback callback, void *user, wavesan_waitcheck_summary *summary, char *error,
                               size_t error_size) {
  Reasons reasons{error, error_size};
  if (error && error_size)
    error[0] = 0;
  Inputs inputs;
  auto object = assemble("assembly", {text, size}, target ? target : "");
  if (!object)
    inputs.problems.push_back({"assembly", llvm::toString(object.takeError())});
  else
    readImage("assembly", std::move(*object), {}, inputs);
  return checkInputs(inputs, optionsOr(options), callback, user, summary, reasons);
}
