// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_interface.h"

#include "../order/shadow_window.h"
#include "../order/write_notes.h"

#include <mutex>

namespace wavesan::agent {

namespace {

std::mutex Mutex;
std::optional<abi::Schedule> Current;
bool OrderMade = false;

void setSchedule(const abi::Schedule *schedule) {
  std::lock_guard lock(Mutex);
  Current = schedule ? std::optional(*schedule) : std::nullopt;
  OrderMade = false;
}

bool orderMade() {
  std::lock_guard lock(Mutex);
  return OrderMade;
}

} // namespace

std::optional<abi::Schedule> currentSchedule() {
  std::lock_guard lock(Mutex);
  return Current;
}

void noteOrderMade() {
  std::lock_guard lock(Mutex);
  OrderMade = true;
}

} // namespace wavesan::agent

extern "C" __attribute__((visibility("default"))) const wavesan::abi::CpuAgent *wavesan_cpu_agent() {
  static const wavesan::abi::CpuAgent agent{
      wavesan::abi::kAbiVersion,     wavesan::agent::setSchedule,      wavesan::cpu::CurrentShadowWindow::set,
      wavesan::cpu::WriteNotes::add, wavesan::cpu::WriteNotes::remove, wavesan::agent::orderMade};
  return &agent;
}
