// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses through buffer resources: first where each lane's access lies, then one plain access for each component,
// executed by the lanes whose component is in range.
#include "buffer_resource.h"
#include "handlers.h"

namespace wavesan::cpu::engine {

namespace {

// a: resource (u128), b: offset (u32), c: scalar offset (u32), sub: index (u32) or kNoRegister, extra: BufferShape;
// d: address (u64), n: register of the bytes in range (u32).
void findInBufferRun(Wave &w, const Op &o) {
  const auto &shape = *static_cast<const BufferShape *>(o.extra);
  const u128 *resource = w.at<u128>(o.a);
  const uint32_t *offset = w.at<uint32_t>(o.b), *scalar = w.at<uint32_t>(o.c);
  const uint32_t *index = o.sub == kNoRegister ? nullptr : w.at<uint32_t>(o.sub);
  uint64_t *address = w.at<uint64_t>(o.d);
  uint32_t *inRange = w.at<uint32_t>(o.n);
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    const BufferResource r{resource[i]};
    if (const char *why = r.unsupported(shape.gfxMajor, shape.indexed))
      return w.raise(Outcome::UnsupportedInstruction, o, why);
    const BufferPlace place = placeInBuffer(r, shape, index ? index[i] : 0, offset[i], scalar[i]);
    address[i] = place.address;
    inRange[i] = place.inRange;
  }
}

void makeResourceRun(Wave &w, const Op &o) {
  const uint64_t *base = w.at<uint64_t>(o.a);
  const uint16_t *stride = w.at<uint16_t>(o.b);
  const uint32_t *records = w.at<uint32_t>(o.c), *flags = w.at<uint32_t>(o.sub);
  u128 *d = w.at<u128>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    const uint64_t low = (base[i] & ((uint64_t(1) << 48) - 1)) | uint64_t(stride[i]) << 48;
    d[i] = u128(uint64_t(flags[i]) << 32 | records[i]) << 64 | low;
  });
}

template <class T> void clearLanes(const Wave &w, Register r) {
  T *d = w.at<T>(r);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = 0; });
}

// a: bytes in range (u32), imm: how many the lanes must have, extra: InBuffer. Results of other lanes are zero.
void inBufferRun(Wave &w, const Op &o) {
  const auto &access = *static_cast<const InBuffer *>(o.extra);
  const uint32_t *inRange = w.at<uint32_t>(o.a);
  LaneMask lanes = 0;
  forEachLane(w.exec, [&](uint32_t i) { lanes |= LaneMask(inRange[i] >= o.imm) << i; });
  for (const auto &[reg, width] : access.results)
    switch (width) {
    case Width::B8:
      clearLanes<uint8_t>(w, reg);
      break;
    case Width::B16:
      clearLanes<uint16_t>(w, reg);
      break;
    case Width::B32:
      clearLanes<uint32_t>(w, reg);
      break;
    case Width::B64:
      clearLanes<uint64_t>(w, reg);
      break;
    case Width::B128:
      clearLanes<u128>(w, reg);
      break;
    }
  if (!lanes)
    return w.tick();
  const LaneMask all = w.exec;
  w.exec = lanes; // memory operations look at nothing else
  if (access.noted)
    noteLanes(w, access.op.a, access.op.imm, access.noted);
  access.op.run(w, access.op);
  w.exec = all;
  if (w.fault.op == &access.op)
    w.fault.op = &o;
}

} // namespace

Handler makeResource() { return makeResourceRun; }
Handler findInBuffer() { return findInBufferRun; }
Handler inBuffer() { return inBufferRun; }

} // namespace wavesan::cpu::engine
