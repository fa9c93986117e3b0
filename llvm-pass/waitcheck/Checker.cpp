// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Checker.h"

#include "Explain.h"

#include "llvm/Support/GlobPattern.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <thread>

namespace wavesan::waitcheck {

void CheckCounts::add(const CheckCounts &o) {
  kernels += o.kernels;
  functions += o.functions;
  instructions += o.instructions;
  memoryOperations += o.memoryOperations;
  waits += o.waits;
  steps += o.steps;
  infeasible += o.infeasible;
  dropped += o.dropped;
  belowConfidence += o.belowConfidence;
  incompleteFunctions += o.incompleteFunctions;
  gaps.undecodable += o.gaps.undecodable;
  gaps.unsupported += o.gaps.unsupported;
  gaps.indirectBranches += o.gaps.indirectBranches;
  gaps.unknownWaits += o.gaps.unknownWaits;
  gaps.externalCalls += o.gaps.externalCalls;
  gaps.wideRegisters += o.gaps.wideRegisters;
}

llvm::Expected<IsaContext *> Decoders::get(const TargetEntry &target, bool wave64) {
  auto &slot = contexts[{&target, wave64 || target.generation->wavesOf64Only}];
  if (!slot) {
    auto created = IsaContext::create(target, wave64 || target.generation->wavesOf64Only);
    if (!created)
      return created.takeError();
    slot = std::move(*created);
  }
  return slot.get();
}

FunctionResult analyseFunction(const IsaContext &isa, const Function &f, CalleeFacts callee) {
  FunctionResult r;
  r.solution = solve(isa, f, callee);
  r.hazards = findHazards(isa, f, r.solution);
  return r;
}

namespace {

/// The functions of one object and what calls to them prove.
class ObjectCheck {
public:
  ObjectCheck(CodeObject &object, const CheckOptions &options, Decoders &decoders)
      : object(object), options(options), decoders(decoders), lines(object) {}

  llvm::Expected<CheckResult> run() {
    llvm::Expected<llvm::GlobPattern> pattern =
        llvm::GlobPattern::create(options.kernelPattern.empty() ? "*" : llvm::StringRef(options.kernelPattern));
    if (!pattern)
      return pattern.takeError();
    for (;;) {
      result = {};
      result.target = object.target().name;
      // Functions first: kernels rely on what their callees prove.
      if (llvm::Error e = buildFunctions())
        return std::move(e);
      solveSummaries();
      for (Entry &e : functions)
        report(e, lines, result);
      std::vector<FunctionEntry> kernels;
      for (const FunctionEntry &entry : object.functions())
        if (entry.isKernel && pattern->match(entry.name))
          kernels.push_back(entry);
      if (llvm::Error e = checkKernels(kernels))
        return std::move(e);
      // A stripped object names no functions; those that calls lead to are found on the way, and then all is done again.
      bool added = false;
      for (const auto &[address, wave64] : missingCallees)
        added |= object.addFunction(address, wave64);
      missingCallees.clear();
      if (!added)
        return std::move(result);
      functions.clear();
      byAddress.clear();
    }
  }

private:
  struct Entry {
    Function function;
    IsaContext *isa;
    CounterSet proves = allCounters;
  };

  /// All functions that are not kernels, and those that they call.
  llvm::Error buildFunctions() {
    std::deque<FunctionEntry> todo;
    for (const FunctionEntry &f : object.functions())
      if (!f.isKernel)
        todo.push_back(f);
    while (!todo.empty()) {
      const FunctionEntry entry = todo.front();
      todo.pop_front();
      auto isa = decoders.get(object.target(), entry.wave64);
      if (!isa)
        return isa.takeError();
      Function f = buildFunction(**isa, entry, object.sections()[entry.section]);
      if (llvm::Error e = spend(f))
        return e;
      for (const Block &b : f.blocks)
        if (b.call == CallKind::Known && object.addFunction(b.callee, entry.wave64))
          for (const FunctionEntry &added : object.functions())
            if (added.address == b.callee)
              todo.push_back(added);
      byAddress[entry.address] = functions.size();
      functions.push_back({std::move(f), *isa});
    }
    return llvm::Error::success();
  }

  /// One kernel at a time per thread: only so many are in memory. Results are kept in the kernels' order.
  llvm::Error checkKernels(llvm::ArrayRef<FunctionEntry> kernels) {
    std::vector<CheckResult> results(kernels.size());
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    llvm::Error failure = llvm::Error::success();
    auto work = [&](Decoders &own) {
      LineTable ownLines(object);
      for (size_t k = next++; k < kernels.size(); k = next++) {
        auto isa = own.get(object.target(), kernels[k].wave64);
        if (!isa) {
          std::lock_guard lock(mutex);
          failure = llvm::joinErrors(std::move(failure), isa.takeError());
          return;
        }
        Entry e{buildFunction(**isa, kernels[k], object.sections()[kernels[k].section]), *isa};
        if (llvm::Error tooMuch = spend(e.function)) {
          std::lock_guard lock(mutex);
          failure = llvm::joinErrors(std::move(failure), std::move(tooMuch));
          return;
        }
        for (const Block &b : e.function.blocks)
          if (b.call == CallKind::Known && !byAddress.count(b.callee)) {
            std::lock_guard lock(mutex);
            missingCallees.insert({b.callee, kernels[k].wave64});
          }
        report(e, ownLines, results[k]);
      }
    };
    const size_t jobs = std::min<size_t>(options.jobs, kernels.size());
    if (jobs <= 1) {
      work(decoders);
    } else {
      std::vector<std::thread> threads;
      for (size_t j = 0; j < jobs; ++j)
        threads.emplace_back([&] {
          Decoders own; // decoders are not shared between threads
          work(own);
        });
      for (std::thread &t : threads)
        t.join();
    }
    if (failure)
      return failure;
    for (CheckResult &r : results) {
      result.counts.add(r.counts);
      std::move(r.diagnostics.begin(), r.diagnostics.end(), std::back_inserter(result.diagnostics));
      std::move(r.audit.begin(), r.audit.end(), std::back_inserter(result.audit));
      std::move(r.notAnalysed.begin(), r.notAnalysed.end(), std::back_inserter(result.notAnalysed));
    }
    return llvm::Error::success();
  }

  /// Functions that overlap, or jump into each other, are decoded once for each. Damaged files could make that go on for ever.
  llvm::Error spend(const Function &f) {
    uint64_t code = 0;
    for (const CodeSection &s : object.sections())
      code += s.bytes.size() / 4;
    if (spent.fetch_add(f.code.size()) + f.code.size() > 64 * code + (1u << 20))
      return llvm::createStringError("its functions overlap more than the wait checker will follow");
    return llvm::Error::success();
  }

  CounterSet proves(const Block &b) const {
    if (b.call == CallKind::Known) {
      auto known = byAddress.find(b.callee);
      // In a relocatable file addresses are not final: the callee may be any function.
      if (known != byAddress.end() && !object.isRelocatable())
        return functions[known->second].proves;
    }
    return provedByAll;
  }

  /// Greatest set of proven counters per function that is consistent with all calls: start from "everything" and take away.
  void solveSummaries() {
    provedByAll = allCounters;
    bool first = true;
    for (bool changed = true; changed; first = false) {
      changed = false;
      for (Entry &e : functions) {
        // Without a call the first answer stays.
        if (!first && std::none_of(e.function.blocks.begin(), e.function.blocks.end(), [](const Block &b) { return b.call != CallKind::None; }))
          continue;
        const Solution s = solve(*e.isa, e.function, [&](const Block &b) { return proves(b); });
        if ((e.proves & s.provedAtReturn) != e.proves) {
          e.proves &= s.provedAtReturn;
          provedByAll &= e.proves;
          changed = true;
        }
      }
    }
  }

  void countGaps(Function &f, CheckResult &to) const {
    for (uint32_t b : f.order) {
      const Block &block = f.blocks[b];
      const bool unknown = block.call == CallKind::Unknown || (block.call == CallKind::Known && !byAddress.count(block.callee));
      if (unknown && (functions.empty() || object.hasUndefinedSymbols()))
        ++f.gaps.externalCalls;
    }
    if (!f.gaps.any())
      return;
    const Gaps &g = f.gaps;
    ++to.counts.incompleteFunctions;
    CheckCounts only;
    only.gaps = g;
    to.counts.add(only);
    std::string line = f.entry.name + ":";
    auto say = [&](unsigned n, const char *what) {
      if (n)
        line += " " + std::to_string(n) + " " + what + ";";
    };
    say(g.undecodable, "places that are no instruction of the target");
    say(g.unsupported, "instructions that are not modelled");
    say(g.indirectBranches, "indirect branches (taken to go anywhere in the function)");
    say(g.unknownWaits, "waits with a number in a register (taken to wait for nothing)");
    say(g.externalCalls, "calls out of the object (taken to keep to the calling convention)");
    say(g.wideRegisters, "uses of registers beyond v255 (not followed)");
    line.pop_back();
    if (!g.firstName.empty())
      line += " (first: " + g.firstName + ")";
    to.notAnalysed.push_back(std::move(line));
  }

  void report(Entry &e, LineTable &table, CheckResult &to) const {
    Function &f = e.function;
    countGaps(f, to);
    const FunctionResult found = analyseFunction(*e.isa, f, [&](const Block &b) { return proves(b); });
    (f.entry.isKernel ? to.counts.kernels : to.counts.functions) += 1;
    to.counts.steps += found.solution.steps;
    for (uint32_t b : f.order)
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
        ++to.counts.instructions;
        if (f.code[i].decoded < 0)
          continue;
        const OpcodeFacts &facts = e.isa->decoded(f.code[i].decoded).facts;
        to.counts.memoryOperations += facts.family != Family::None;
        to.counts.waits += facts.control == Control::Wait;
      }
    if (!found.hazards.empty())
      explainHazards(*e.isa, f, found, table, options, to);
    if (options.audit)
      auditWaits(*e.isa, f, found.solution, table, to);
  }

  CodeObject &object;
  const CheckOptions &options;
  Decoders &decoders;
  LineTable lines;
  std::vector<Entry> functions;
  CounterSet provedByAll = allCounters; ///< what every function proves: stands for an unknown one
  std::map<uint64_t, size_t> byAddress;
  std::set<std::pair<uint64_t, bool>> missingCallees;
  std::atomic<uint64_t> spent = 0; ///< instructions decoded
  CheckResult result;
};

} // namespace

llvm::Expected<CheckResult> checkObject(llvm::MemoryBufferRef image, const CheckOptions &options, Decoders &decoders) {
  auto object = CodeObject::parse(image);
  if (!object)
    return object.takeError();
  return ObjectCheck(**object, options, decoders).run();
}

} // namespace wavesan::waitcheck
