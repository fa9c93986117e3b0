// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations in front of those that write global memory, in kernels that are decoded for somebody who asks what they
// write (write_notes.h). They look at no address before the write does: what lies in no region is passed over, and the
// write itself says what is wrong with it.
#include "handlers.h"
#include "lanes.h"
#include "memory_ranges.h"
#include "workgroup.h"

#include "../order/write_notes.h"

namespace wavesan::cpu::engine {

void noteLanes(Wave &w, Register address, uint64_t offset, uint64_t bytes) {
  const WriteNotes &notes = *w.group->launch->launch->notes;
  const uint64_t *begin = w.at<uint64_t>(address);
  WriteNotes::Known known;
  forEachLane(w.exec, [&](uint32_t i) {
    if (!known.holds(begin[i] + offset, bytes)) [[unlikely]]
      known = notes.note(begin[i] + offset, bytes);
  });
}

namespace {

void noteStoreRun(Wave &w, const Op &o) { noteLanes(w, o.a, o.imm, o.sub); }

template <class L> void noteRangeRun(Wave &w, const Op &o) {
  const WriteNotes &notes = *w.group->launch->launch->notes;
  WriteNotes::Known known;
  forEachLane(w.exec, [&](uint32_t i) {
    const uint64_t begin = w.at<uint64_t>(o.a)[i], length = lengthOf<L>(w, o.c, i);
    if (length && !known.holds(begin, length))
      known = notes.note(begin, length);
  });
}

} // namespace

Handler noteStore() { return noteStoreRun; }
Handler noteRange(Width length) {
  return length == Width::B64 ? noteRangeRun<uint64_t> : length == Width::B32 ? noteRangeRun<uint32_t> : nullptr;
}

} // namespace wavesan::cpu::engine
