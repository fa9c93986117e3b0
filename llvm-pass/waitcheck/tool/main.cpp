// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wavesan check: finds missing and insufficient waits in GPU machine code.
#include "CheckLine.h"
#include "Report.h"

#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
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
  // Many objects: one thread each. One object: its kernels are spread instead.
  CheckOptions options = line.check;
  const size_t jobs = std::max<size_t>(1, std::min<size_t>(line.check.jobs, outcomes.size()));
  options.jobs = std::max<unsigned>(1, line.check.jobs / static_cast<unsigned>(jobs));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    Decoders decoders;
    for (size_t i = next++; i < outcomes.size(); i = next++) {
      auto result = checkObject(inputs.objects[i].buffer(), options, decoders);
      if (result)
        outcomes[i].result = std::move(*result);
      else
        outcomes[i].error = llvm::toString(result.takeError());
      progress.step();
    }
  };
  if (jobs <= 1) {
    work();
  } else {
    std::vector<std::thread> threads;
    for (size_t j = 0; j < jobs; ++j)
      threads.emplace_back(work);
    for (std::thread &t : threads)
      t.join();
  }
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

} // namespace

int main(int argc, char **argv) {
  const CheckLine line = readCheckLine({argv + 1, argv + argc});
  if (line.done)
    return line.status;
  Inputs inputs;
  for (const std::string &path : line.paths)
    readInput(path, line.input, inputs);
  if (line.list)
    return list(inputs);

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
                                           : asCompiler                         ? makeCompilerSink(out, line.format == ReportFormat::Errors)
                                                                                : makeTextSink(out);
  const std::vector<Outcome> outcomes = checkAll(inputs, line);
  Summary summary;
  summary.inputs = &inputs;
  summary.objects = outcomes.size();
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].result) {
      sink->problem(inputs.objects[i].name, outcomes[i].error);
      ++summary.failedObjects;
      continue;
    }
    const CheckResult &r = *outcomes[i].result;
    sink->object(inputs.objects[i].name, r);
    summary.counts.add(r.counts);
    summary.hazards += r.diagnostics.size() + r.counts.dropped;
    summary.auditNotes += r.audit.size();
    for (const Diagnostic &d : r.diagnostics)
      summary.proven += d.confidence == Confidence::Proven;
  }
  for (const InputProblem &p : inputs.problems)
    sink->problem(p.name, p.message);
  if (inputs.objects.empty() && inputs.problems.empty()) {
    sink->problem("input", "no GPU code was found");
    ++summary.failedObjects;
  }
  sink->finish(summary);
  return summary.exitCode();
}
