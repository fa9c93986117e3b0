// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The site table: what a device code object says about its kernels, twins and access sites.
//
// The pass writes one blob per module into section kSiteTableSection; host tools read it. Little endian, no
// pointers; every string is (offset, length) into one string area, so that a reader needs no allocation to validate.
// Read it only through parseSiteTable: the input is a file and may be truncated or hostile.
//
// Layout: SiteTableHeader, KernelEntry[kernelCount], SiteEntry[siteCount], FrameEntry[frameCount],
// SkipEntry[skipCount], LoopEntry[loopCount], StoreEntry[storeCount], BranchEntry[branchCount], strings. Host only
// (C++20 standard library).
#ifndef WAVESAN_ABI_SITE_TABLE_H
#define WAVESAN_ABI_SITE_TABLE_H

#include "wavesan/abi/hooks.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::abi {

inline constexpr char kSiteTableMagic[8] = {'W', 'S', 'S', 'I', 'T', 'E', 'S', '1'};

struct StringRef32 {
  uint32_t offset; ///< into the string area
  uint32_t length;
  bool operator==(const StringRef32 &) const = default;
};

struct SiteTableHeader {
  char magic[8];
  uint32_t abiVersion; ///< kAbiVersion of the pass
  uint32_t kernelCount, siteCount, frameCount, skipCount, loopCount, storeCount, branchCount, stringBytes;
};
static_assert(sizeof(SiteTableHeader) == 44);

/// Kernel flags.
enum KernelFlags : uint32_t {
  kKernelUsesDynamicLds = 1,
  kKernelCopiesAsync = 2,    ///< asynchronous copies to or from LDS, or waits for a count above zero that concern them
  kKernelCountsLdsWaits = 4, ///< waits for a count of LDS instructions above zero
  kKernelNamedBarriers = 8,  ///< operations on named barriers
  kKernelStoresKnown = 16,   ///< its StoreEntries are all that it may write outside of its workgroups
  kKernelWaitsForHost = 32,  ///< while it runs it may wait for something that the host does
  kKernelOrdersThroughLds = 64, ///< atomics on LDS may order its waves
  /// Of each of its writes outside of its workgroups a hook knows the bytes, so the twin notes them (touch_map.h).
  kKernelNotesWrites = 128,
};

struct KernelEntry {
  StringRef32 original; ///< linkage name of the untouched kernel
  StringRef32 twin;     ///< linkage name of its twin; empty: it has none, and its skip entry says why; without one the
                        ///< user left it out when compiling
  StringRef32 file;     ///< of the kernel's definition; empty without debug info
  uint32_t line;
  uint32_t granuleLog2; ///< log2 of the bytes that one LDS cell must cover: smallest access and alignment of the twin
  uint32_t flags;       ///< KernelFlags
  uint32_t skipFirst, skipCount;   ///< range of SkipEntry
  uint32_t siteTotal;              ///< access sites instrumented in this twin
  uint32_t storeFirst, storeCount; ///< range of StoreEntry
};
static_assert(sizeof(KernelEntry) == 56);

inline constexpr uint32_t kNoFrame = 0xffffffffu;

/// One source position. `inlinedAt` is the frame of the call this code was inlined through, or kNoFrame.
struct FrameEntry {
  StringRef32 function; ///< display name (demangled or linkage name)
  StringRef32 file;     ///< as the compiler names it: directory joined with file name
  uint32_t line, column;
  uint32_t inlinedAt;
};
static_assert(sizeof(FrameEntry) == 28);

/// Kind of a site.
enum class SiteKind : uint32_t { Access = 1, Range = 2, Barrier = 3 };

/// Sites are dense: the id is the index. Id 0 is a valid site.
struct SiteEntry {
  uint32_t kind;        ///< SiteKind
  uint32_t info;        ///< accessInfo() of accesses and ranges
  uint32_t frame;       ///< innermost FrameEntry, or kNoFrame without debug info
  StringRef32 variable; ///< source name of the accessed variable; empty when unknown
  StringRef32 opcode;   ///< what the source does, for people: "load", "store", "atomicrmw add", "memcpy", "barrier"
  /// Of a write whose bytes are the same in every execution: one byte if all of them are the same, else all of them
  /// (the address is then a multiple of their number). So two such sites with equal `stored` write the same to every
  /// byte that both write. Their waves write nothing else there before their next barrier. Empty: not known to be so.
  StringRef32 stored;
};
static_assert(sizeof(SiteEntry) == 36);
/// Sites per module that the packed cells can name (core/cell.h); the pass fails above it.
inline constexpr uint32_t kMaxSites = 1u << 22;

/// A reason of a SkipEntry that is no gap: reads whose bytes the same lane has just accessed, with nothing in between
/// that orders it with others. A race of theirs is one of the earlier access, which is checked.
inline constexpr const char *kSkipCovered = "covered by an earlier check";

/// Accesses that a twin does not check, by reason.
struct SkipEntry {
  StringRef32 reason; ///< e.g. "inline asm", "indirect call", "global memory"
  uint32_t count;     ///< sites
};
static_assert(sizeof(SkipEntry) == 12);

/// A loop of the source, as it was before optimisation: lines `first` to `last` of `function`, in that function's file.
struct LoopEntry {
  StringRef32 function; ///< as in FrameEntry
  StringRef32 file;
  uint32_t first, last;
};
static_assert(sizeof(LoopEntry) == 24);

inline constexpr uint32_t kNoArgument = 0xffffffffu;

/// Memory that a kernel may write: what a pointer among its arguments points into, or a variable.
struct StoreEntry {
  uint32_t argument;    ///< its number among the explicit ones; kNoArgument: a variable
  uint32_t offset;      ///< of the pointer in the argument, in bytes
  StringRef32 variable; ///< linkage name
};
static_assert(sizeof(StoreEntry) == 16);

/// In place of a frame: any.
inline constexpr uint32_t kAnyFrame = 0xfffffffeu;

/// Work-items that come from one barrier and reach different ones, or one and the end: the branch where they part.
/// Barriers are named by the innermost frames of their sites. No entry where it can be one of several.
struct BranchEntry {
  uint32_t from;    ///< the barrier before; kNoFrame: none; kAnyFrame: whichever
  uint32_t barrier; ///< that some reach
  uint32_t other;   ///< that others reach; kNoFrame: the end
  uint32_t line, column;
  uint32_t depth; ///< of the branch's frame in the chain of `barrier`, counted from the kernel, which is 0
};
static_assert(sizeof(BranchEntry) == 24);

/// A validated view into a blob that the caller keeps alive and unchanged. Entries are copied out: the blob may be
/// unaligned. Every index the accessors return has been checked by parseSiteTable. Immutable, so thread-safe.
class SiteTableView {
public:
  uint32_t kernelCount() const { return Head.kernelCount; }
  uint32_t siteCount() const { return Head.siteCount; }
  uint32_t frameCount() const { return Head.frameCount; }
  uint32_t skipCount() const { return Head.skipCount; }
  uint32_t loopCount() const { return Head.loopCount; }
  uint32_t storeCount() const { return Head.storeCount; }
  uint32_t branchCount() const { return Head.branchCount; }
  KernelEntry kernel(uint32_t i) const { return at<KernelEntry>(Kernels, i); }
  SiteEntry site(uint32_t i) const { return at<SiteEntry>(Sites, i); }
  FrameEntry frame(uint32_t i) const { return at<FrameEntry>(Frames, i); }
  SkipEntry skip(uint32_t i) const { return at<SkipEntry>(Skips, i); }
  LoopEntry loop(uint32_t i) const { return at<LoopEntry>(Loops, i); }
  StoreEntry store(uint32_t i) const { return at<StoreEntry>(Stores, i); }
  BranchEntry branch(uint32_t i) const { return at<BranchEntry>(Branches, i); }
  std::string_view string(StringRef32 s) const { return {Strings + s.offset, s.length}; }

private:
  friend std::optional<SiteTableView> parseSiteTable(std::string_view, std::string &);
  template <class T> static T at(const char *base, uint32_t i) {
    T value;
    std::memcpy(&value, base + size_t(i) * sizeof(T), sizeof(T));
    return value;
  }
  SiteTableHeader Head{};
  const char *Kernels = nullptr, *Sites = nullptr, *Frames = nullptr, *Skips = nullptr, *Loops = nullptr,
             *Stores = nullptr, *Branches = nullptr, *Strings = nullptr;
};

/// Validates `blob` completely (sizes, string ranges, frame and skip indices, acyclic inlining chains). On failure
/// returns nothing and puts one line into `error`. Never throws for bad input.
inline std::optional<SiteTableView> parseSiteTable(std::string_view blob, std::string &error) {
  auto fail = [&](std::string why) -> std::optional<SiteTableView> {
    error = "site table: " + std::move(why);
    return std::nullopt;
  };
  SiteTableView view;
  SiteTableHeader &h = view.Head;
  if (blob.size() < sizeof(h))
    return fail("truncated header");
  std::memcpy(&h, blob.data(), sizeof(h));
  if (std::memcmp(h.magic, kSiteTableMagic, sizeof(h.magic)) != 0)
    return fail("wrong magic");
  if (h.abiVersion != kAbiVersion)
    return fail("built by another version of WaveSan (ABI " + std::to_string(h.abiVersion) + ", this is " +
                std::to_string(kAbiVersion) + "); recompile the program");
  uint64_t need = sizeof(h) + uint64_t(h.kernelCount) * sizeof(KernelEntry) +
                  uint64_t(h.siteCount) * sizeof(SiteEntry) + uint64_t(h.frameCount) * sizeof(FrameEntry) +
                  uint64_t(h.skipCount) * sizeof(SkipEntry) + uint64_t(h.loopCount) * sizeof(LoopEntry) +
                  uint64_t(h.storeCount) * sizeof(StoreEntry) +

                  uint64_t(h.branchCount) * sizeof(BranchEntry) + h.stringBytes;
  if (blob.size() < need)
    return fail("truncated: " + std::to_string(blob.size()) + " of " + std::to_string(need) + " bytes");
  view.Kernels = blob.data() + sizeof(h);
  view.Sites = view.Kernels + size_t(h.kernelCount) * sizeof(KernelEntry);
  view.Frames = view.Sites + size_t(h.siteCount) * sizeof(SiteEntry);
  view.Skips = view.Frames + size_t(h.frameCount) * sizeof(FrameEntry);
  view.Loops = view.Skips + size_t(h.skipCount) * sizeof(SkipEntry);
  view.Stores = view.Loops + size_t(h.loopCount) * sizeof(LoopEntry);
  view.Branches = view.Stores + size_t(h.storeCount) * sizeof(StoreEntry);
  view.Strings = view.Branches + size_t(h.branchCount) * sizeof(BranchEntry);
  auto bad = [&](StringRef32 s) { return uint64_t(s.offset) + s.length > h.stringBytes; };
  for (uint32_t i = 0; i < h.kernelCount; ++i) {
    KernelEntry k = view.kernel(i);
    if (bad(k.original) || bad(k.twin) || bad(k.file))
      return fail("kernel " + std::to_string(i) + ": string out of range");
    if (uint64_t(k.skipFirst) + k.skipCount > h.skipCount)
      return fail("kernel " + std::to_string(i) + ": skip range out of range");
    if (uint64_t(k.storeFirst) + k.storeCount > h.storeCount)
      return fail("kernel " + std::to_string(i) + ": store range out of range");
    if (k.granuleLog2 > 2)
      return fail("kernel " + std::to_string(i) + ": granule out of range");
  }
  for (uint32_t i = 0; i < h.siteCount; ++i) {
    SiteEntry s = view.site(i);
    if (bad(s.variable) || bad(s.opcode) || bad(s.stored) || (s.frame != kNoFrame && s.frame >= h.frameCount))
      return fail("site " + std::to_string(i) + ": index out of range");
  }
  for (uint32_t i = 0; i < h.frameCount; ++i) {
    FrameEntry f = view.frame(i);
    // A caller's frame has a smaller index than its callee's: chains cannot be cyclic.
    if (bad(f.function) || bad(f.file) || (f.inlinedAt != kNoFrame && f.inlinedAt >= i))
      return fail("frame " + std::to_string(i) + ": index out of range");
  }
  for (uint32_t i = 0; i < h.skipCount; ++i)
    if (bad(view.skip(i).reason))
      return fail("skip entry " + std::to_string(i) + ": string out of range");
  for (uint32_t i = 0; i < h.storeCount; ++i)
    if (bad(view.store(i).variable))
      return fail("store entry " + std::to_string(i) + ": string out of range");
  for (uint32_t i = 0; i < h.loopCount; ++i)
    if (LoopEntry l = view.loop(i); bad(l.function) || bad(l.file) || l.first > l.last)
      return fail("loop " + std::to_string(i) + ": out of range");
  for (uint32_t i = 0; i < h.branchCount; ++i) {
    const BranchEntry b = view.branch(i);
    if ((b.from < kAnyFrame && b.from >= h.frameCount) || b.barrier >= h.frameCount ||
        (b.other != kNoFrame && b.other >= h.frameCount) || b.line == 0)
      return fail("branch " + std::to_string(i) + ": out of range");
  }
  return view;
}

/// Builds a blob. Strings are shared. Not thread-safe.
class SiteTableBuilder {
public:
  std::vector<KernelEntry> kernels;
  std::vector<SiteEntry> sites;
  std::vector<FrameEntry> frames; ///< callers before callees
  std::vector<SkipEntry> skips;
  std::vector<LoopEntry> loops;
  std::vector<StoreEntry> stores;
  std::vector<BranchEntry> branches;

  StringRef32 intern(std::string_view s) {
    size_t pos = s.empty() ? 0 : Strings.find(s);
    if (pos == std::string::npos) {
      pos = Strings.size();
      Strings.append(s);
    }
    return {uint32_t(pos), uint32_t(s.size())};
  }

  std::string finish() const {
    SiteTableHeader h{};
    std::memcpy(h.magic, kSiteTableMagic, sizeof(h.magic));
    h.abiVersion = kAbiVersion;
    h.kernelCount = uint32_t(kernels.size());
    h.siteCount = uint32_t(sites.size());
    h.frameCount = uint32_t(frames.size());
    h.skipCount = uint32_t(skips.size());
    h.loopCount = uint32_t(loops.size());
    h.storeCount = uint32_t(stores.size());
    h.branchCount = uint32_t(branches.size());
    h.stringBytes = uint32_t(Strings.size());
    std::string out;
    auto put = [&](const void *p, size_t n) { out.append(static_cast<const char *>(p), n); };
    put(&h, sizeof(h));
    put(kernels.data(), kernels.size() * sizeof(KernelEntry));
    put(sites.data(), sites.size() * sizeof(SiteEntry));
    put(frames.data(), frames.size() * sizeof(FrameEntry));
    put(skips.data(), skips.size() * sizeof(SkipEntry));
    put(loops.data(), loops.size() * sizeof(LoopEntry));
    put(stores.data(), stores.size() * sizeof(StoreEntry));
    put(branches.data(), branches.size() * sizeof(BranchEntry));
    put(Strings.data(), Strings.size());
    return out;
  }

private:
  std::string Strings;
};

} // namespace wavesan::abi

#endif // WAVESAN_ABI_SITE_TABLE_H
