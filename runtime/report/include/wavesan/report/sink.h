// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where findings go: one interface, one implementation per format.
#ifndef WAVESAN_REPORT_SINK_H
#define WAVESAN_REPORT_SINK_H

#include "wavesan/report/race.h"
#include "wavesan/report/summary.h"
#include "wavesan/report/wait_hazard.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace wavesan::report {

/// Implementations need not be thread-safe: the caller serialises all calls.
class Sink {
public:
  virtual ~Sink() = default;
  /// A distinct race, once, as soon as it is known.
  virtual void onRace(const Race &race) = 0;
  /// What became of a race when its dispatch ran again. `race`: the number of its onRace(), from 0.
  virtual void onConfirmation(size_t race, const Confirmation &confirmation) = 0;
  /// A missing wait in the machine code of a loaded code object (option check_waits), once, as soon as it is known.
  virtual void onWaitHazard(const WaitHazard &hazard) = 0;
  /// Something about the tool itself: a warning, an error, an option. One line without the "wavesan: " prefix.
  virtual void onMessage(std::string_view line) = 0;
  /// At the end, once per load of the tool. Returns one line when the output could not be written, else nothing.
  virtual std::string onSummary(const Summary &summary) = 0;
};

} // namespace wavesan::report

#endif // WAVESAN_REPORT_SINK_H
