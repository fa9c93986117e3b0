// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several reports as one, and parts of a report.
#ifndef WAVESAN_REPORT_MERGE_H
#define WAVESAN_REPORT_MERGE_H

#include "wavesan/report/document.h"
#include "wavesan/report/suppressions.h"

#include <functional>
#include <string>
#include <vector>

namespace wavesan::report {

/// Equal for two reports of one race: same kernel, class, memory, accesses and source positions, in either order.
/// Positions without debug info are told apart by place and operation only.
std::string raceKey(const Race &race);

/// One document of all processes: the same race becomes one that says how often and in how many processes it was seen,
/// and every number of the summaries is added up (distinct kernels and races count once). The first document's text
/// speaks; order of first appearance.
Document mergeDocuments(std::vector<Document> documents);

/// Takes out the races that `keep` refuses. Returns how many; the summary no longer counts them.
size_t filterRaces(Document &document, const std::function<bool(const Race &)> &keep);

/// Takes out the races that a suppression matches and counts them in the summary, as if it had been given to the run.
void suppressRaces(Document &document, const Suppressions &suppressions);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_MERGE_H
