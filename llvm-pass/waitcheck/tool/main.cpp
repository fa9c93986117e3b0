// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wavesan check: finds missing and insufficient waits in GPU machine code.
#include "CheckLine.h"
#include "Report.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <unistd.h>

using namespace wavesan::waitcheck;

namespace {

/// One object's outcome; kept until it is its turn to be printed.
struct Outcome {
  std::optional<CheckResult> result;
  std::string error;
};

/// A line on the terminal, rewritten; nothing if standard error is none.
class Progress {
public:
  Progress(size_t total, bool wanted) : total(total), shown(wanted && isatty(STDERR_FILENO)) {}
  ~Progress() {
    if (shown)
      llvm::errs() << "\r\033[K";
  }
  void step() {
    const size_t n = ++done;
    if (!shown)
      return;
    std::lock_guard lock(mutex);
    llvm::errs() << "\rchecking " << n << "/" << total << " objects";
    llvm::errs().flush();
  }

private:
  const size_t total;
  const bool shown;
  std::atomic<size_t> done = 0;
  std::mutex mutex;
};

std::vector<Outcome> checkAll(const Inputs &inputs, const CheckLine &line) {
  std::vector<Outcome> outcomes(inputs.objects.size());
  Progress progress(outcomes.size(), !line.quiet && outcomes.size() > 1);
  Crew crew(line.check.jobs);
  Decoders own;
  // The largest first, so that no thread is left with it at the end.
  std::vector<size_t> order(outcomes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(inputs.objects[a].image.size(), b) > std::pair(inputs.objects[b].image.size(), a);
  });
  crew.forEach(outcomes.size(), own, [&](size_t n, Decoders &decoders) {
    const size_t i = order[n];
    auto result = checkObject(inputs.objects[i].buffer(), line.check, decoders, crew);
    if (result)
      outcomes[i].result = std::move(*result);
    else
      outcomes[i].error = llvm::toString(result.takeError());
    progress.step();
  });
  return outcomes;
}

int list(const Inputs &inputs) {
  int status = 0;
  for (const InputObject &o : inputs.objects) {
    auto object = CodeObject::parse(o.buffer());
    if (!object) {
      llvm::outs() << o.name << ": " << llvm::toString(object.takeError()) << "\n";
      status = 2;
      continue;
    }
    llvm::outs() << o.name << ": " << (*object)->target().name << ", " << (*object)->target().generation->name << "\n";
    for (const FunctionEntry &f : (*object)->functions())
      llvm::outs() << "  " << (f.isKernel ? "kernel   " : "function ") << f.name << "  " << f.size << " bytes, wave"
                   << (f.wave64 ? 64 : 32) << "\n";
  }
  for (const InputProblem &p : inputs.problems) {
    llvm::outs() << p.name << ": " << p.message << "\n";
    status = 2;
  }
  return status;
}

/// A report that could not be written is no report. Says so where that is the case.
bool written(llvm::raw_fd_ostream &out, const std::string &name) {
  out.flush();
  if (!out.has_error())
    return true;
  const std::string why = out.error().message();
  out.clear_error(); // or the stream's end would end the process
  llvm::errs() << "wavesan check: cannot write " << (name.empty() ? "the report" : name) << ": " << why << "\n";
  return false;
}

} // namespace

int main(int argc, char **argv) {
  const CheckLine line = readCheckLine({argv + 1, argv + argc});
  if (line.done)
    return line.status;
  Inputs inputs;
  for (const std::string &path : line.paths)
    readInput(path, line.input, inputs);
  if (line.list) {
    const int status = list(inputs);
    return written(llvm::outs(), "") ? status : 2;
  }

  std::unique_ptr<llvm::raw_fd_ostream> file;
  if (!line.output.empty()) {
    std::error_code error;
    file = std::make_unique<llvm::raw_fd_ostream>(line.output, error);
    if (error) {
      llvm::errs() << "wavesan check: " << line.output << ": " << error.message() << "\n";
      return 2;
    }
  }
  const bool asCompiler = line.format == ReportFormat::Warnings || line.format == ReportFormat::Errors;
  llvm::raw_ostream &out = file ? static_cast<llvm::raw_ostream &>(*file) : asCompiler ? llvm::errs() : llvm::outs();
  const std::unique_ptr<ReportSink> sink = line.format == ReportFormat::Json    ? makeJsonSink(out)
                                           : line.format == ReportFormat::Sarif ? makeSarifSink(out)
                                           : asCompiler ? makeCompilerSink(out, line.format == ReportFormat::Errors)
                                                        : makeTextSink(out);
  const std::vector<Outcome> outcomes = checkAll(inputs, line);
  Summary summary;
  summary.inputs = &inputs;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].result) {
      sink->problem(inputs.objects[i].name, outcomes[i].error);
      ++summary.failedObjects;
      continue;
    }
    const CheckResult &r = *outcomes[i].result;
    ++summary.objects;
    sink->object(inputs.objects[i].name, r);
    summary.counts.add(r.counts);
    summary.hazards += r.diagnostics.size() + r.counts.dropped;
    summary.auditNotes += r.audit.size();
    for (const Diagnostic &d : r.diagnostics)
      summary.proven += d.confidence == Confidence::Proven;
  }
  for (const InputProblem &p : inputs.problems)
    sink->problem(p.name, p.message);
  if (inputs.objects.empty() && inputs.problems.empty() && !line.input.hostFilesToo) {
    sink->problem("input", "no GPU code was found");
    ++summary.failedObjects;
  }
  if (!line.check.kernelPattern.empty() && summary.objects != 0 && summary.counts.kernels == 0) {
    sink->problem("--kernel=" + line.check.kernelPattern, "matches no kernel");
    ++summary.failedObjects;
  }
  sink->finish(summary);
  return written(file ? *file : asCompiler ? llvm::errs() : llvm::outs(), line.output) ? summary.exitCode() : 2;
}
