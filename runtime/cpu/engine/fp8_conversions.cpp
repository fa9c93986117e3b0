// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_cvt_f32_fp8 and its like (ISA documents of MI300 and RDNA4): conversions between float and floats of eight bits, to
// nearest even.
#include "fp8_conversions.h"

#include "lanes.h"

namespace wavesan::cpu::engine {

namespace {

void fromByte(Wave &w, const Op &o) {
  const auto &c = *static_cast<const Fp8Conversion *>(o.extra);
  const uint32_t *a = w.at<uint32_t>(o.a);
  float *d = w.at<float>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = fp8ToFloat(uint8_t(a[i] >> (8 * c.select)), c.format); });
}

/// o.d holds two registers.
void fromPair(Wave &w, const Op &o) {
  const auto &c = *static_cast<const Fp8Conversion *>(o.extra);
  const uint32_t *a = w.at<uint32_t>(o.a);
  float *d = w.at<float>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    const uint32_t pair = a[i] >> (16 * c.select);
    d[i] = fp8ToFloat(uint8_t(pair), c.format);
    d[w.lanes + i] = fp8ToFloat(uint8_t(pair >> 8), c.format);
  });
}

/// The other half of the result is that of c.
void toPair(Wave &w, const Op &o) {
  const auto &c = *static_cast<const Fp8Conversion *>(o.extra);
  const float *a = w.at<float>(o.a), *b = w.at<float>(o.b);
  const uint32_t *old = w.at<uint32_t>(o.c);
  uint32_t *d = w.at<uint32_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    const uint32_t pair = floatToFp8(a[i], c.format) | uint32_t(floatToFp8(b[i], c.format)) << 8;
    d[i] = c.select ? (old[i] & 0xffff) | pair << 16 : (old[i] & 0xffff0000) | pair;
  });
}

} // namespace

Handler fp8FromByte() { return fromByte; }
Handler fp8FromPair() { return fromPair; }
Handler fp8ToPair() { return toPair; }

} // namespace wavesan::cpu::engine
