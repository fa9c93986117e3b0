// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/printable.h"

#include <utility>

namespace wavesan::report {

namespace {
void clean(std::string &text) { text = printable(std::move(text)); }

void clean(std::vector<Frame> &frames) {
  for (Frame &frame : frames) {
    clean(frame.function);
    clean(frame.file);
  }
}
} // namespace

std::string printable(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text;
}

void makePrintable(Race &race) {
  for (std::string *name : {&race.kernel, &race.kernelMangled, &race.variable, &race.place.name})
    clean(*name);
  for (Access *side : {&race.current, &race.previous}) {
    clean(side->opcode);
    clean(side->frames);
  }
  if (race.confirmation) {
    clean(race.confirmation->reason);
    clean(race.confirmation->place.name);
  }
  if (race.divergence)
    clean(race.divergence->branch);
  if (race.commands) {
    for (CommandSide *side : {&race.commands->current, &race.commands->previous}) {
      clean(side->function);
      clean(side->kernel);
      clean(side->call);
      clean(side->streamMade);
    }
    clean(race.commands->lateRecord);
    clean(race.commands->earlyRecord);
    clean(race.commands->graphLaunch);
  }
}

} // namespace wavesan::report
