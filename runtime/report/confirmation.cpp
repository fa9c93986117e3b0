// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/race.h"

#include <utility>

namespace wavesan::report {

namespace {

std::string lineOf(const Access &access) {
  if (access.frames.empty())
    return "an unknown line";
  const Frame &frame = access.frames[userFrame(access.frames)];
  return frame.file + ":" + std::to_string(frame.line) + (frame.column ? ":" + std::to_string(frame.column) : "");
}

std::string placeText(const MemoryPlace &place) {
  const std::string at = " + " + std::to_string(place.offset);
  switch (place.kind) {
  case MemoryPlace::Kind::Allocation:
    return "allocation " + std::to_string(place.number) + at;
  case MemoryPlace::Kind::RegisteredHost:
    return "registered host memory " + std::to_string(place.number) + at;
  case MemoryPlace::Kind::DeviceVariable:
    return "variable " + place.name + at;
  case MemoryPlace::Kind::KernelArguments:
  case MemoryPlace::Kind::Unknown:
    break;
  }
  return "memory that WaveSan does not follow";
}

std::string ordersText(const Confirmation &confirmation) {
  const auto count = [](uint64_t passes) { return passes ? std::to_string(passes) : std::string("none"); };
  std::string text =
      count(confirmation.asReported) + " in the order reported, " + count(confirmation.reversed) + " in the other";
  if (!confirmation.asReported || !confirmation.reversed)
    text += "; an order that did not come about is not tested";
  return text;
}

} // namespace

std::string shortName(const Race &race) {
  std::string a = lineOf(race.previous), b = lineOf(race.current);
  if (b < a)
    std::swap(a, b);
  return className(race.raceClass) + " at " + a + (a == b ? "" : " and " + b) + ", dispatch " +
         std::to_string(race.dispatch);
}

std::string confirmationText(const Confirmation &confirmation) {
  switch (confirmation.verdict) {
  case Confirmation::Verdict::Confirmed:
    return "confirmed: output differs at " + placeText(confirmation.place) + " with seed " +
           std::to_string(confirmation.seed);
  case Confirmation::Verdict::OutputDiffers:
    return "output differs, not attributed";
  case Confirmation::Verdict::NotObserved:
    return "not observed in " + std::to_string(confirmation.passes) + " passes (" + ordersText(confirmation) + ")";
  case Confirmation::Verdict::NotTried:
    break;
  }
  return "not tried (" + confirmation.reason + ")";
}

} // namespace wavesan::report
