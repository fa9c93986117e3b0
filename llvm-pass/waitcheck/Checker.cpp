// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Checker.h"

#include "Explain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

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
  gaps.indices += o.gaps.indices;
}

FunctionResult analyseFunction(const IsaContext &isa, const Function &f, CalleeFacts callee) {
  FunctionResult r;
  r.solution = solve(isa, f, callee);
  r.hazards = findHazards(isa, f, r.solution);
  for (const Hazard &h : r.hazards)
    if (h.unknownIndex && (r.unknownIndices.empty() || r.unknownIndices.back() != h.consumer))
      r.unknownIndices.push_back(h.consumer);
  llvm::erase_if(r.hazards, [](const Hazard &h) { return h.unknownIndex; });
  return r;
}

namespace {

/// The functions of one object and what calls to them prove.
///
/// Every piece of work decodes one function, analyses it and lets it go: a thread shares neither its decoder nor a
/// function, and only so many are in memory. Functions that call others are decoded again whenever their callees prove
/// less than was believed.
class ObjectCheck {
public:
  ObjectCheck(CodeObject &object, const CheckOptions &options, Decoders &decoders, Crew &crew)
      : object(object), options(options), decoders(decoders), crew(crew) {}

  llvm::Expected<CheckResult> run() {
    llvm::Expected<llvm::GlobPattern> pattern =
        llvm::GlobPattern::create(options.kernelPattern.empty() ? "*" : llvm::StringRef(options.kernelPattern));
    if (!pattern)
      return pattern.takeError();
    for (;;) {
      result = {};
      stray = object.outsideFunctions();
      result.target = object.target().name;
      // Functions first: kernels rely on what their callees prove.
      findFunctions();
      solveSummaries();
      findCallers();
      reportFunctions();
      std::vector<FunctionEntry> kernels;
      for (const FunctionEntry &entry : object.functions())
        if (entry.isKernel && pattern->match(entry.name))
          kernels.push_back(entry);
      checkKernels(kernels);
      if (failure)
        return std::move(failure);
      countStrayCode();
      // A stripped object names no functions; those that calls lead to are found on the way, and then all is done
      // again.
      bool added = false;
      for (const auto &[address, wave64] : missingCallees)
        added |= object.addFunction(address, wave64);
      missingCallees.clear();
      if (!added)
        return std::move(result);
      callees.clear();
      byAddress.clear();
    }
  }

  ~ObjectCheck() { llvm::consumeError(std::move(failure)); }

private:
  /// A function that is no kernel.
  struct Callee {
    explicit Callee(FunctionEntry e) : entry(std::move(e)) {}
    FunctionEntry entry;
    CallFacts facts; ///< proves only ever shrinks, leaves only ever grows
    bool calls = false, callsAnyone = false;
    std::vector<uint64_t> calledAddresses;
    // What its callers have pending.
    EntryFacts callers;
    bool called = false;
  };

  /// A call or tail call in a function or kernel.
  struct CallSite {
    size_t callee; ///< index; `anyone` if it is not known
    AtCall at;
    size_t caller; ///< index; `anyone` for a kernel
  };
  static constexpr size_t anyone = ~size_t(0);

  /// Decodes the function on this thread; null, with an error noted, if that cannot be done.
  std::optional<Function> build(const FunctionEntry &entry, Decoders &own, IsaContext *&isa) {
    auto context = own.get(object.target(), entry.wave64);
    if (!context) {
      fail(context.takeError());
      return std::nullopt;
    }
    isa = *context;
    Function f = buildFunction(*isa, entry, object.sections()[entry.section]);
    claim(*isa, f);
    if (llvm::Error tooMuch = spend(f)) {
      fail(std::move(tooMuch));
      return std::nullopt;
    }
    return f;
  }

  /// Hand-written code jumps to what lies outside of its symbol.
  void claim(const IsaContext &isa, const Function &f) {
    if (stray[f.entry.section].empty())
      return;
    std::lock_guard lock(mutex);
    std::vector<bool> &dwords = stray[f.entry.section];
    for (const Instruction &i : f.code) {
      const unsigned size = i.decoded < 0 ? 1 : isa.decoded(i.decoded).size / 4;
      for (size_t d = i.offset / 4; d < std::min<size_t>(i.offset / 4 + size, dwords.size()); ++d)
        dwords[d] = false;
    }
  }

  /// Code that belongs to no function and that none leads to is not looked at, and that is said.
  void countStrayCode() {
    for (size_t section = 0; section < stray.size(); ++section) {
      const std::vector<bool> &dwords = stray[section];
      const auto first = std::find(dwords.begin(), dwords.end(), true);
      if (first == dwords.end())
        continue;
      ++result.counts.incompleteFunctions;
      result.notAnalysed.push_back(
          std::to_string(4 * std::count(first, dwords.end(), true)) +
          " bytes of code that no symbol of a kernel or function covers (first at 0x" +
          llvm::utohexstr(object.sections()[section].address + 4 * uint64_t(first - dwords.begin()), true) + ")");
    }
  }

  void fail(llvm::Error e) {
    std::lock_guard lock(mutex);
    if (failure)
      llvm::consumeError(std::move(e));
    else
      failure = std::move(e);
    failed = true;
  }

  /// All functions that are not kernels, and those that they call.
  void findFunctions() {
    for (const FunctionEntry &f : object.functions())
      if (!f.isKernel)
        callees.emplace_back(f);
    for (size_t first = 0; first < callees.size() && !failed;) {
      const size_t last = callees.size();
      crew.forEach(last - first, decoders, [&](size_t i, Decoders &own) {
        Callee &c = callees[first + i];
        IsaContext *isa = nullptr;
        const std::optional<Function> f = failed ? std::nullopt : build(c.entry, own, isa);
        if (!f)
          return;
        for (const Block &b : f->blocks) {
          c.calls |= b.call != CallKind::None;
          if (b.call == CallKind::Known && !object.isRelocatable())
            c.calledAddresses.push_back(b.callee);
          else if (b.call != CallKind::None)
            c.callsAnyone = true;
        }
        // Without a call the first answer stays. With one, everything is believed of the others until they say
        // otherwise.
        c.facts = solve(*isa, *f, [](const Block &) { return CallFacts(); }).atReturn;
      });
      for (size_t i = first; i < last; ++i)
        byAddress[callees[i].entry.address] = i;
      for (size_t i = first; i < last; ++i)
        for (uint64_t address : callees[i].calledAddresses)
          if (object.addFunction(address, callees[i].entry.wave64))
            for (const FunctionEntry &added : object.functions())
              if (added.address == address)
                callees.emplace_back(added);
      first = last;
    }
    factsOfAll = CallFacts();
    for (const Callee &c : callees)
      factsOfAll.add(c.facts);
  }

  /// Greatest set of proven counters and least set of operations left pending, per function, that are consistent with
  /// all calls: start from "everything" and "nothing". In what order makes no difference to where that ends.
  void solveSummaries() {
    std::vector<size_t> todo;
    for (size_t i = 0; i < callees.size(); ++i)
      if (callees[i].calls)
        todo.push_back(i);
    while (!todo.empty() && !failed) {
      std::vector<CallFacts> found(todo.size());
      crew.forEach(todo.size(), decoders, [&](size_t k, Decoders &own) {
        IsaContext *isa = nullptr;
        const std::optional<Function> f = failed ? std::nullopt : build(callees[todo[k]].entry, own, isa);
        if (f)
          found[k] = solve(*isa, *f, [&](const Block &b) { return factsOf(b); }).atReturn;
      });
      std::vector<uint8_t> changed(callees.size(), 0);
      const CallFacts before = factsOfAll;
      for (size_t k = 0; k < todo.size(); ++k) {
        CallFacts facts = callees[todo[k]].facts;
        facts.add(found[k]);
        changed[todo[k]] = !(facts == callees[todo[k]].facts);
        callees[todo[k]].facts = facts;
        factsOfAll.add(facts);
      }
      todo.clear();
      for (size_t i = 0; i < callees.size(); ++i) {
        const Callee &c = callees[i];
        bool again = c.callsAnyone && !(before == factsOfAll);
        for (uint64_t address : c.calledAddresses)
          if (auto at = byAddress.find(address); at != byAddress.end() && changed[at->second])
            again = true;
        if (again)
          todo.push_back(i);
      }
    }
  }

  /// Who calls each function, and what is pending there: a function need not wait for what no caller has begun.
  void findCallers() {
    if (callees.empty() || failed)
      return;
    std::vector<FunctionEntry> from;
    std::vector<size_t> index;
    for (size_t i = 0; i < callees.size(); ++i)
      if (callees[i].calls) {
        from.push_back(callees[i].entry);
        index.push_back(i);
      }
    for (const FunctionEntry &entry : object.functions())
      if (entry.isKernel) {
        from.push_back(entry);
        index.push_back(anyone);
      }
    std::vector<std::vector<CallSite>> found(from.size());
    crew.forEach(from.size(), decoders, [&](size_t k, Decoders &own) {
      IsaContext *isa = nullptr;
      const std::optional<Function> f = failed ? std::nullopt : build(from[k], own, isa);
      if (!f || llvm::all_of(f->blocks, [](const Block &b) { return b.call == CallKind::None; }))
        return;
      const Solution s = solve(*isa, *f, [&](const Block &b) { return factsOf(b); });
      for (uint32_t b : f->order) {
        const Block &block = f->blocks[b];
        if (block.call == CallKind::None)
          continue;
        found[k].push_back({calleeOf(block), pendingAtCall(*isa, *f, s, b), index[k]});
      }
    });
    std::vector<CallSite> sites;
    for (std::vector<CallSite> &some : found)
      sites.insert(sites.end(), some.begin(), some.end());
    for (const CallSite &site : sites)
      if (site.callee != anyone)
        callees[site.callee].called = true;
      else
        for (Callee &any : callees)
          any.called = true;
    // What callers of callers left is handed on until nothing changes, from kernels and from functions that nobody here
    // calls. Functions that only call one another are left over then: strangers may call them.
    std::vector<uint8_t> reached(callees.size());
    for (size_t i = 0; i < callees.size(); ++i)
      reached[i] = !callees[i].called;
    auto handOn = [&] {
      for (bool grown = true; grown;) {
        grown = false;
        for (const CallSite &site : sites) {
          if (site.caller != anyone && !reached[site.caller])
            continue;
          EntryFacts facts = site.at.pending;
          if (site.caller != anyone)
            facts.add(entryFacts(callees[site.caller]), site.at.open);
          auto give = [&](size_t to) {
            EntryFacts sum = callees[to].callers;
            sum.add(facts);
            grown |= !(sum == callees[to].callers) || !reached[to];
            callees[to].callers = sum;
            reached[to] = 1;
          };
          if (site.callee != anyone)
            give(site.callee);
          else
            for (size_t any = 0; any < callees.size(); ++any)
              give(any);
        }
      }
    };
    handOn();
    for (size_t i = 0; i < callees.size(); ++i)
      if (!reached[i]) {
        callees[i].called = false;
        reached[i] = 1;
      }
    handOn();
  }

  /// Of a file that is not linked, callers elsewhere are not known.
  EntryFacts entryFacts(const Callee &c) const {
    return c.called && !object.isRelocatable() ? c.callers : EntryFacts::anything();
  }

  void reportFunctions() {
    std::vector<CheckResult> results(callees.size());
    crew.forEach(callees.size(), decoders, [&](size_t i, Decoders &own) {
      IsaContext *isa = nullptr;
      std::optional<Function> f = failed ? std::nullopt : build(callees[i].entry, own, isa);
      if (!f)
        return;
      f->callers = entryFacts(callees[i]);
      f->callersSeeReturn = callees[i].called;
      report(*f, *isa, results[i]);
    });
    collect(results);
  }

  void checkKernels(llvm::ArrayRef<FunctionEntry> kernels) {
    std::vector<CheckResult> results(kernels.size());
    // The largest first, so that no thread is left with it at the end.
    std::vector<size_t> order(kernels.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::pair(kernels[a].size, b) > std::pair(kernels[b].size, a); });
    crew.forEach(kernels.size(), decoders, [&](size_t n, Decoders &own) {
      const size_t k = order[n];
      IsaContext *isa = nullptr;
      std::optional<Function> f = failed ? std::nullopt : build(kernels[k], own, isa);
      if (!f)
        return;
      for (const Block &b : f->blocks)
        if (b.call == CallKind::Known && !byAddress.count(b.callee)) {
          std::lock_guard lock(mutex);
          missingCallees.insert({b.callee, kernels[k].wave64});
        }
      report(*f, *isa, results[k]);
    });
    collect(results);
  }

  /// In the order of the functions, whoever checked them.
  void collect(std::vector<CheckResult> &results) {
    for (CheckResult &r : results) {
      result.counts.add(r.counts);
      std::move(r.diagnostics.begin(), r.diagnostics.end(), std::back_inserter(result.diagnostics));
      std::move(r.audit.begin(), r.audit.end(), std::back_inserter(result.audit));
      std::move(r.notAnalysed.begin(), r.notAnalysed.end(), std::back_inserter(result.notAnalysed));
    }
  }

  /// Functions that overlap, or jump into each other, are decoded once for each. Damaged files could make that go on
  /// for ever.
  llvm::Error spend(const Function &f) {
    uint64_t code = 0;
    for (const CodeSection &s : object.sections())
      code += s.bytes.size() / 4;
    if (spent.fetch_add(f.code.size()) + f.code.size() > 64 * code + (1u << 20))
      return llvm::createStringError("its functions overlap more than the wait checker will follow");
    return llvm::Error::success();
  }

  /// The index of the function that a block calls; `anyone` if it is not known.
  size_t calleeOf(const Block &b) const {
    // In a relocatable file addresses are not final: the callee may be any function.
    if (b.call != CallKind::Known || object.isRelocatable())
      return anyone;
    const auto known = byAddress.find(b.callee);
    return known == byAddress.end() ? anyone : known->second;
  }

  CallFacts factsOf(const Block &b) const {
    const size_t callee = calleeOf(b);
    return callee == anyone ? factsOfAll : callees[callee].facts;
  }

  void countGaps(Function &f, CheckResult &to) const {
    for (uint32_t b : f.order) {
      const Block &block = f.blocks[b];
      const bool unknown =
          block.call == CallKind::Unknown || (block.call == CallKind::Known && !byAddress.count(block.callee));
      if (unknown && (callees.empty() || object.hasUndefinedSymbols()))
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
    say(g.wideRegisters, "vector instructions whose registers are not known (s_set_vgpr_msb)");
    say(g.indices, "instructions that choose a register by an index without known bounds while operations are pending "
                   "on registers");
    line.pop_back();
    if (!g.firstName.empty())
      line += " (first: " + g.firstName + ")";
    to.notAnalysed.push_back(std::move(line));
  }

  void report(Function &f, IsaContext &isa, CheckResult &to) {
    const FunctionResult found = analyseFunction(isa, f, [&](const Block &b) { return factsOf(b); });
    f.gaps.indices += static_cast<unsigned>(found.unknownIndices.size());
    if (!found.unknownIndices.empty() && f.gaps.firstName.empty())
      f.gaps.firstName = isa.disassemble(f.bytesAt(found.unknownIndices[0]), f.addressOf(found.unknownIndices[0]));
    countGaps(f, to);
    (f.entry.isKernel ? to.counts.kernels : to.counts.functions) += 1;
    to.counts.steps += found.solution.steps;
    for (uint32_t b : f.order)
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
        ++to.counts.instructions;
        if (f.code[i].decoded < 0)
          continue;
        const OpcodeFacts &facts = isa.decoded(f.code[i].decoded).facts;
        to.counts.memoryOperations += facts.family != Family::None;
        to.counts.waits += facts.control == Control::Wait;
      }
    if (found.hazards.empty() && !options.audit)
      return;
    std::unique_ptr<LineTable> table = takeLines();
    if (!found.hazards.empty())
      explainHazards(isa, f, found, *table, options, to);
    if (options.audit)
      auditWaits(isa, f, found.solution, *table, to);
    std::lock_guard lock(mutex);
    lineTables.push_back(std::move(table));
  }

  /// Line tables are read when they are first asked: one that nobody uses now, or a new one.
  std::unique_ptr<LineTable> takeLines() {
    std::lock_guard lock(mutex);
    if (lineTables.empty())
      return std::make_unique<LineTable>(object);
    std::unique_ptr<LineTable> table = std::move(lineTables.back());
    lineTables.pop_back();
    return table;
  }

  CodeObject &object;
  const CheckOptions &options;
  Decoders &decoders;
  Crew &crew;
  std::deque<Callee> callees;
  CallFacts factsOfAll; ///< of every function: stands for an unknown one
  std::map<uint64_t, size_t> byAddress;
  std::atomic<uint64_t> spent = 0; ///< instructions decoded
  std::mutex mutex;                ///< guards what follows
  std::set<std::pair<uint64_t, bool>> missingCallees;
  std::vector<std::vector<bool>> stray; ///< CodeObject::outsideFunctions(), less what was found to belong to one
  std::vector<std::unique_ptr<LineTable>> lineTables;
  llvm::Error failure = llvm::Error::success();
  std::atomic<bool> failed = false;
  CheckResult result;
};

} // namespace

llvm::Expected<CheckResult> checkObject(llvm::MemoryBufferRef image, const CheckOptions &options, Decoders &decoders,
                                        Crew &crew) {
  auto object = CodeObject::parse(image);
  if (!object)
    return object.takeError();
  return ObjectCheck(**object, options, decoders, crew).run();
}

llvm::Expected<CheckResult> checkObject(llvm::MemoryBufferRef image, const CheckOptions &options, Decoders &decoders) {
  Crew crew(options.jobs);
  return checkObject(image, options, decoders, crew);
}

} // namespace wavesan::waitcheck
