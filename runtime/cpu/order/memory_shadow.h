// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact shadow of global memory for one dispatch: which accesses of which waves touched each byte.
//
// A line covers 64 bytes. Its records each carry a byte mask, so that a wave's coalesced access is one record per line.
// A record stays until a later access covers it: one that it happens before, and that conflicts with everything it
// conflicts with. What remains are accesses that are concurrent with one another. Until somebody writes to a page, the
// reads of its lines wait in a log (read_log.h).
//
// On trial (trial.h) the workgroups' accesses come in any order, each workgroup's in its own. What is left of them is
// the same in any order, as long as nothing conflicts: records of different workgroups have nothing to do with one
// another until one does not fit into its line. That matters where the line was written, and fails the trial; of lines
// that are only read it matters which sites read them (ReadSites).
#ifndef WAVESAN_CPU_ORDER_MEMORY_SHADOW_H
#define WAVESAN_CPU_ORDER_MEMORY_SHADOW_H

#include "read_log.h"
#include "saved_bytes.h"
#include "shadow_window.h"
#include "trial.h"
#include "wave_order.h"

#include <algorithm>
#include <span>
#include <unordered_map>

namespace wavesan::cpu {

/// Do two accesses of different waves conflict when nothing orders them? Atomics exclude one another only if the scope
/// of each includes the other's wave.
inline bool conflicting(const AccessRecord &a, const AccessRecord &b) {
  if (!a.write && !b.write)
    return false;
  if (!a.atomic || !b.atomic)
    return true;
  const abi::Scope s = narrower(a.scope, b.scope);
  return a.workgroup == b.workgroup ? !reachesOtherWaves(s) : !reachesOtherWorkgroups(s);
}

/// True if every wave for which `old` could be one side of a race also races with `fresh`, given that `old` happens
/// before `fresh`.
inline bool covers(const AccessRecord &fresh, const AccessRecord &old) {
  if (old.write && !fresh.write)
    return false;
  return !fresh.atomic || (old.atomic && old.scope >= fresh.scope);
}

/// A race on some bytes of a line.
struct LineConflict {
  AccessRecord previous;
  uint64_t mask;      ///< bytes
  bool scopeTooSmall; ///< wider scopes would have ordered the two
};

/// Reads of a line by one site that no record tells of.
struct ReadSite {
  uint32_t site;
  uint64_t mask; ///< bytes
};

/// Not thread-safe. Its memory comes out of the budget: accesses for which there is none are not recorded, and counted.
class MemoryShadow {
public:
  struct Mode {
    bool keepsSites = false; ///< whether somebody will ask for readSites()
    Trial *trial = nullptr;  ///< null: the accesses come in the one order
    unsigned partsLog2 = 0;  ///< this is one of so many shadows, of which each has every so manyth page
  };
  explicit MemoryShadow(MemoryBudget &budget) : MemoryShadow(budget, Mode()) {}
  MemoryShadow(MemoryBudget &budget, const Mode &mode)
      : OnTrial(mode.trial), KeepsSites(mode.keepsSites), PartsLog2(mode.partsLog2),
        RecentPages(kRecentPages >> mode.partsLog2), Memory(budget, RecordMemory::kPieceBytes >> mode.partsLog2),
        Budget(budget) {}
  ~MemoryShadow() { Budget.give(Taken); }
  MemoryShadow(const MemoryShadow &) = delete;
  MemoryShadow &operator=(const MemoryShadow &) = delete;

  /// Checks and records one access. `onConflict(const LineConflict &)`.
  template <class F> void access(const WaveOrder &wave, uint64_t line, const AccessRecord &fresh, F &&onConflict) {
    Page *page = pageAt(line / kPageLines);
    if (!page) {
      Unrecorded += isInWindow(line / kPageLines);
      return giveUp();
    }
    if (OnTrial && (page->barred >> (line % kPageLines * kLineBytes / kBarredUnit) & 1))
      return giveUp();
    if (!page->lines) {
      if (!fresh.write && !fresh.atomic && page->reads.add(unsigned(line % kPageLines), fresh, Memory))
        return;
      if (!sort(*page, line / kPageLines)) {
        ++Unrecorded;
        return giveUp();
      }
    }
    Line *l = &page->lines[line % kPageLines];
    if (!fresh.write && !(l->writes & fresh.mask)) {
      read(*l, line, fresh);
      return;
    }
    RecordList &records = l->records;
    bool conflict = false;
    for (size_t i = 0; i < records.size();) {
      AccessRecord &r = records[i];
      const uint64_t common = r.mask & fresh.mask;
      if (common == 0) {
        ++i;
        continue;
      }
      const bool ordered = wave.knows(r.who(), kGlobal, r.generation);
      if (!ordered && conflicting(r, fresh)) {
        conflict = true;
        onConflict(LineConflict{r, common, wave.wouldKnow(r.who(), kGlobal, r.generation)});
      }
      if (ordered && covers(fresh, r)) {
        r.mask &= ~common;
        if (r.mask == 0) {
          records.remove(i);
          continue;
        }
      }
      ++i;
    }
    if (OnTrial && conflict)
      return; // it will not be executed
    // An access that was not recorded stood behind others that were concurrent with it. If one of those conflicts, the
    // bytes are reported; if all of them happen before this access, the lost one may not.
    const uint64_t lost = (fresh.write ? l->lostReads : 0) | (fresh.atomic ? 0 : l->lostAtomics);
    if (!conflict && (lost & fresh.mask))
      ++Lost;
    if (fresh.write) {
      if (OnTrial && !save(*page, line, fresh.mask & ~l->writes))
        return;
      l->writes |= fresh.mask;
      if (OnTrial)
        checkFits(*l);
    }
    for (size_t i = records.of(fresh.who()); i < records.size(); i = records.of(fresh.who(), i))
      if (extend(records[i], fresh))
        return;
    note(*l, fresh);
    if (records.size() < kMaxRecords) {
      add(*l, fresh);
      return;
    }
    // Full. Reads and atomics stand back; a plain write takes the place of one.
    if (!fresh.write || fresh.atomic) {
      (fresh.write ? l->lostAtomics : l->lostReads) |= fresh.mask;
      return;
    }
    for (bool write : {false, true})
      for (size_t i = 0; i < records.size(); ++i)
        if (const AccessRecord &r = records[i]; r.write == write && (!write || r.atomic)) {
          (write ? l->lostAtomics : l->lostReads) |= r.mask;
          records.replace(i, fresh);
          return;
        }
    ++Lost;
  }

  /// This line will be accessed soon.
  void prefetch(uint64_t line) const {
    const Recent &recent = RecentPages[recentOf(line / kPageLines)];
    if (recent.number != line / kPageLines || !recent.page)
      return;
    if (recent.page->lines)
      __builtin_prefetch(&recent.page->lines[line % kPageLines]);
    else
      recent.page->reads.prefetch();
  }

  /// `visit(line, RecordList &, bytes with lost reads, bytes with lost atomics)` for each line that was accessed, in the
  /// order of addresses.
  template <class F> void forEachLine(F &&visit) {
    std::vector<uint64_t> numbers = pages();
    std::sort(numbers.begin(), numbers.end());
    for (uint64_t number : numbers)
      forEachLineOf(number, visit);
  }
  /// The numbers of the pages that were accessed, in any order, and the lines of one of them.
  std::vector<uint64_t> pages() const {
    std::vector<uint64_t> numbers;
    for (const auto &[number, _] : Pages)
      numbers.push_back(number);
    return numbers;
  }
  template <class F> void forEachLineOf(uint64_t number, F &&visit) {
    Page &page = Pages.at(number);
    if (!page.lines)
      sort(page, number, true);
    for (uint64_t i = 0; i < kPageLines; ++i)
      if (Line &l = page.lines[i]; l.records.size() || l.lostReads || l.lostAtomics)
        visit(number * kPageLines + i, l.records, l.lostReads, l.lostAtomics);
  }
  /// What the records of a line do not say of the sites that read it.
  std::span<const ReadSite> readSites(uint64_t line) const {
    const auto it = Sites.find(line);
    return it == Sites.end() ? std::span<const ReadSite>() : it->second;
  }
  static constexpr uint64_t pageOf(uint64_t line) { return line / kPageLines; }

  /// All bytes that were written get back what they held before.
  void restore() {
    for (auto &[number, page] : Pages)
      if (page.saved)
        for (uint64_t i = 0; i < kPageLines; ++i)
          page.saved->restore(number * kPageBytes, i, page.lines[i].writes);
  }

  /// Accesses not recorded because the budget is used up.
  uint64_t unrecorded() const { return Unrecorded; }
  /// Accesses whose verdict may rest on a record that was lost.
  uint64_t lost() const { return Lost; }

private:
  /// More concurrent accesses to one line than this are not told apart.
  static constexpr size_t kMaxRecords = RecordList::kMost;
  struct alignas(64) Line {
    RecordList records;
    uint64_t writes = 0;                     ///< bytes that were ever written; a read of others conflicts with nothing
    uint64_t lostReads = 0, lostAtomics = 0; ///< bytes with reads, with atomic writes that were not recorded
  };
  static_assert(sizeof(Line) == 64, "a line of the host's cache");
  /// One instruction's record takes over another access by it.
  static bool extend(AccessRecord &r, const AccessRecord &fresh) {
    if (r.who() != fresh.who() || r.generation != fresh.generation || r.site != fresh.site || r.write != fresh.write ||
        r.atomic != fresh.atomic || r.scope != fresh.scope || r.epoch != fresh.epoch)
      return false;
    // Scattered lanes of one instruction share a record; which lane touched which byte is not kept then.
    if ((r.mask & fresh.mask) != fresh.mask)
      r.lane = abi::kUnknownLane;
    r.mask |= fresh.mask;
    return true;
  }
  /// The trial cannot go on: this access is not recorded.
  void giveUp() {
    if (OnTrial)
      OnTrial->fail();
  }
  /// An access has come that is no part of another one's record.
  void note(Line &l, const AccessRecord &fresh) {
    l.records.noteAttempt(fresh.workgroup);
    if (OnTrial)
      checkFits(l);
  }
  /// Less than this fits, whatever the order.
  void checkFits(const Line &l) {
    if (l.writes && l.records.mixed() && l.records.attempts() > kMaxReads)
      OnTrial->fail();
  }
  void add(Line &l, const AccessRecord &fresh) {
    if (!l.records.add(fresh, Memory)) {
      ++Unrecorded;
      giveUp();
    }
  }
  /// A site has read bytes of which no record will tell.
  void keepSite(Line &l, uint64_t line, uint32_t site, uint64_t mask) {
    if (!KeepsSites)
      return;
    for (size_t i = 0; i < l.records.size(); ++i)
      if (const AccessRecord &r = l.records[i]; r.site == site && !r.write && !r.atomic && !(mask & ~r.mask))
        return;
    std::vector<ReadSite> &sites = Sites[line];
    for (ReadSite &s : sites)
      if (s.site == site) {
        s.mask |= mask;
        return;
      }
    if (!Budget.take(kSiteCost))
      return giveUp();
    Taken += kSiteCost;
    sites.push_back({site, mask});
  }
  /// Records a read of bytes that nobody has written, by far the most frequent access: input that many workgroups
  /// share.
  void read(Line &l, uint64_t line, const AccessRecord &fresh) {
    RecordList &records = l.records;
    for (size_t i = records.of(fresh.who()); i < records.size(); i = records.of(fresh.who(), i)) {
      AccessRecord &r = records[i];
      if (extend(r, fresh))
        return;
      if ((r.mask & ~fresh.mask) == 0 && covers(fresh, r)) { // its own older read
        const AccessRecord older = r;
        records.replace(i, fresh);
        if (older.site < fresh.site && !older.atomic)
          keepSite(l, line, older.site, older.mask);
        return;
      }
    }
    note(l, fresh);
    if (records.size() < kMaxReads) {
      add(l, fresh);
    } else {
      l.lostReads |= fresh.mask;
      if (!fresh.atomic)
        keepSite(l, line, fresh.site, fresh.mask);
    }
  }
  /// Reads of bytes that nobody has written: two of different workgroups would do until something orders workgroups
  /// by atomics; from there on `lost` says what this costs.
  static constexpr size_t kMaxReads = 24;
  static constexpr uint64_t kPageLines = ReadLog::kLines;
  struct Page {
    ReadLog reads;                 ///< while there are no lines
    std::unique_ptr<Line[]> lines; ///< of a page that was written, or whose log was full
    std::unique_ptr<SavedBytes> saved; ///< on trial, of a page that was written
    uint8_t barred = 0;                ///< on trial: a bit for each unit that must not be touched
  };
  static constexpr uint64_t kPageBytes = kPageLines * kLineBytes;
  static constexpr uint64_t kBarredUnit = 4096; ///< memory is mapped in multiples of this
  static_assert(kPageBytes / kBarredUnit <= 8 && sizeof(SavedBytes) == kPageBytes);
  static_assert(abi::kShadowWindowUnit % kPageBytes == 0);
  bool isInWindow(uint64_t number) const {
    return number * kPageBytes >= Window.begin && number * kPageBytes < Window.end;
  }
  static constexpr uint64_t kPageCost = sizeof(Page) + 64; ///< with its entry in the table
  static constexpr uint64_t kLinesCost = kPageLines * sizeof(Line);
  static constexpr uint64_t kSiteCost = 64; ///< with a share of the line's entry in the table
  /// From the log into lines. False, and nothing done, if the budget does not allow for them; `always` takes them all the
  /// same.
  bool sort(Page &page, uint64_t number, bool always = false) {
    if (Budget.take(kLinesCost))
      Taken += kLinesCost;
    else if (!always)
      return false;
    page.lines = std::make_unique<Line[]>(kPageLines);
    page.reads.drain(
        Memory, [&](unsigned line, const AccessRecord &r) { read(page.lines[line], number * kPageLines + line, r); });
    return true;
  }
  /// Keeps what the bytes hold. False if there is no memory for it: they must not be written then.
  bool save(Page &page, uint64_t line, uint64_t mask) {
    if (!page.saved) {
      if (!Budget.take(kPageBytes)) {
        OnTrial->fail();
        return false;
      }
      Taken += kPageBytes;
      page.saved = std::make_unique_for_overwrite<SavedBytes>();
    }
    page.saved->save(line / kPageLines * kPageBytes, line % kPageLines, mask);
    return true;
  }
  Page *pageAt(uint64_t number) {
    Recent &recent = RecentPages[recentOf(number)];
    if (recent.number != number || !recent.page) {
      auto it = Pages.find(number);
      if (it == Pages.end()) {
        if (!isInWindow(number) || !Budget.take(kPageCost))
          return nullptr;
        Taken += kPageCost;
        it = Pages.try_emplace(number).first;
        if (OnTrial)
          lookAt(it->second, number);
      }
      recent = {number, &it->second};
    }
    return recent.page;
  }
  /// A trial touches a page for the first time.
  void lookAt(Page &page, uint64_t number) {
    for (uint64_t unit = 0; unit < kPageBytes / kBarredUnit; ++unit)
      if (!OnTrial->allows(number * kPageBytes + unit * kBarredUnit, kBarredUnit))
        page.barred |= uint8_t(1u << unit);
    if (Budget.isShort())
      OnTrial->fail();
  }
  Trial *const OnTrial;
  const bool KeepsSites;
  const unsigned PartsLog2;
  std::unordered_map<uint64_t, Page> Pages; ///< they stay where they are
  std::unordered_map<uint64_t, std::vector<ReadSite>> Sites; ///< by line
  /// The pages that were looked up last, by the low bits of their numbers: the rows of a matrix are pages apart.
  struct Recent {
    uint64_t number = 0;
    Page *page = nullptr;
  };
  static constexpr size_t kRecentPages = 256;
  size_t recentOf(uint64_t number) const { return number >> PartsLog2 & (RecentPages.size() - 1); }
  std::vector<Recent> RecentPages;
  RecordMemory Memory;
  MemoryBudget &Budget;
  const abi::ShadowWindow Window = CurrentShadowWindow::get(); ///< pages outside are left out
  uint64_t Taken = 0; ///< bytes of the budget
  uint64_t Unrecorded = 0, Lost = 0;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_MEMORY_SHADOW_H
