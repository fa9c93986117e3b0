// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tool knows of one device code object: kernels, twins and access sites.
#ifndef WAVESAN_HSA_CODE_OBJECT_H
#define WAVESAN_HSA_CODE_OBJECT_H

#include "kernarg_layout.h"
#include "kernel_metadata.h"
#include "store_set.h"

#include "wavesan/abi/site_table.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::hsa {

/// A kernel that the pass gave a twin.
struct TwinInfo {
  KernelMetadata original, twin;
  std::optional<KernargPlan> kernarg;
  std::string problem; ///< why its dispatches cannot be checked; empty when they can
  std::string file;    ///< of the definition; may be empty
  uint32_t line = 0;
  uint32_t granuleLog2 = 0;
  bool copiesAsync = false;                       ///< abi::kKernelCopiesAsync
  bool countsLdsWaits = false;                    ///< abi::kKernelCountsLdsWaits
  bool namedBarriers = false;                     ///< abi::kKernelNamedBarriers
  bool waitsForHost = false;                      ///< abi::kKernelWaitsForHost
  bool ordersThroughLds = false;                  ///< abi::kKernelOrdersThroughLds
  bool notesWrites = false;                       ///< abi::kKernelNotesWrites
  std::map<std::string, uint64_t> skippedSites;   ///< reason -> sites
  uint64_t coveredSites = 0;                      ///< reads that an earlier check covers (abi::kSkipCovered)
  std::optional<std::vector<KernelStore>> stores; ///< all that the original may write; nothing: not known
};

/// A variable or a kernel descriptor; `address` is relative to the load address.
struct DataSymbol {
  std::string name; ///< linkage name
  uint64_t address, bytes;
};

/// Immutable after parse(), so thread-safe. Owns copies of everything it needs of the file.
class CodeObject {
public:
  /// Never fails: what cannot be understood is left out and said in `errors`, one line each. A code object without a
  /// site table is not an error. `keepBytes`: for bytes().
  static std::shared_ptr<const CodeObject> parse(std::string_view bytes, std::vector<std::string> &errors,
                                                 bool keepBytes = false);

  bool instrumented() const { return Sites.has_value(); }
  /// Built with WaveSan, but its site table cannot be used: why. Empty otherwise.
  const std::string &siteTableProblem() const { return SiteProblem; }
  /// Kernels by linkage name, twins excluded.
  const std::vector<std::string> &kernels() const { return KernelNames; }
  /// Null when the kernel has no twin.
  const TwinInfo *twin(std::string_view kernel) const;
  /// The kernel gets the buffer through which it could call host services (printf, assert, device malloc of some
  /// versions).
  bool mayCallHost(std::string_view kernel) const { return HostCallers.count(kernel) != 0; }
  /// Data of the symbol table, variables of internal linkage included. Kernel descriptors are "KERNEL.kd".
  const std::vector<DataSymbol> &data() const { return Data; }
  /// The file itself, where parse() was asked to keep it; else empty.
  const std::string &bytes() const { return Bytes; }
  /// Only where instrumented().
  const abi::SiteTableView &sites() const { return *Sites; }

private:
  std::string Bytes;
  std::string SiteBytes; ///< Sites points into it
  std::optional<abi::SiteTableView> Sites;
  std::string SiteProblem;
  std::vector<std::string> KernelNames;
  std::vector<DataSymbol> Data;
  std::set<std::string, std::less<>> HostCallers;
  std::map<std::string, TwinInfo, std::less<>> Twins; ///< by original's linkage name
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_CODE_OBJECT_H
