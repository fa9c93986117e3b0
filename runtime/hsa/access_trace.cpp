// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "access_trace.h"

#include "wavesan/abi/dispatch.h"

#include <algorithm>
#include <new>

namespace wavesan::hsa {

void AccessTrace::taken(abi::AccessSink *sink, const abi::DispatchAccesses *accesses) {
  auto &self = *static_cast<AccessTrace *>(sink);
  try {
    self.Runs.assign(accesses->runs, accesses->runs + accesses->runCount);
    self.Lost = accesses->lost;
    self.Complete = true;
  } catch (const std::bad_alloc &) { // then the pass has no trace
  }
  if (self.Next)
    self.Next->take(self.Next, accesses);
}

const std::vector<wavesan_access_t> &AccessTrace::accesses(const Kernel &kernel) {
  std::sort(Runs.begin(), Runs.end(),
            [](const abi::AccessRun &a, const abi::AccessRun &b) { return a.begin < b.begin; });
  const abi::SiteTableView &sites = kernel.object->sites();
  Accesses.clear();
  for (const abi::AccessRun &run : Runs) {
    wavesan_access_t access{};
    access.begin = run.begin, access.end = run.end;
    access.kind = (run.bits & abi::kAccessRead ? WAVESAN_ACCESS_READ : 0u) |
                  (run.bits & abi::kAccessWrite ? WAVESAN_ACCESS_WRITE : 0u) |
                  (run.bits & abi::kAccessAtomic ? WAVESAN_ACCESS_ATOMIC : 0u);
    if (run.site < sites.siteCount() && sites.site(run.site).frame != abi::kNoFrame) {
      const abi::FrameEntry frame = sites.frame(sites.site(run.site).frame);
      access.file = Files.emplace(sites.string(frame.file)).first->c_str();
      access.line = frame.line;
    }
    Accesses.push_back(access);
  }
  return Accesses;
}

} // namespace wavesan::hsa
