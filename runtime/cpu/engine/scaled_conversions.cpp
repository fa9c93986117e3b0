// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_cvt_scalef32_* as in the CDNA4 instruction set document: the exponent of a float is the scale, by which narrow
// elements are multiplied when they become wide, and wide ones divided before they are rounded to narrow ones. To
// nearest even, once; denormals are kept.
#include "scaled_conversions.h"
#include "lanes.h"
#include "small_float.h"

namespace wavesan::cpu::engine {

namespace {

uint32_t registerBits(const Wave &w, const ScaledConversion &o, size_t index, uint32_t lane) {
  return o.narrowBits == 16 ? w.at<uint16_t>(o.narrows[index])[lane] : w.at<uint32_t>(o.narrows[index])[lane];
}

uint32_t narrowElement(const Wave &w, const ScaledConversion &o, uint32_t first, uint32_t bits, uint32_t lane) {
  const size_t index = first / o.narrowBits;
  uint64_t value = registerBits(w, o, index, lane);
  if (first % o.narrowBits + bits > o.narrowBits)
    value |= uint64_t(registerBits(w, o, index + 1, lane)) << o.narrowBits;
  return uint32_t(value >> (first % o.narrowBits)) & ((1u << bits) - 1);
}

template <class T> void replaceBits(T &value, int32_t first, uint32_t bits, uint32_t by) {
  const uint64_t mask = (1ull << bits) - 1;
  const auto shifted = [&](uint64_t v) { return first < 0 ? v >> -first : v << first; };
  value = T((value & ~shifted(mask)) | shifted(by));
}

void putNarrowElement(const Wave &w, const ScaledConversion &o, uint32_t first, uint32_t bits, uint32_t lane,
                      uint32_t element) {
  // An element may begin in one register and end in the next.
  for (size_t index = first / o.narrowBits; index <= (first + bits - 1) / o.narrowBits; ++index) {
    const int32_t at = int32_t(first) - int32_t(index * o.narrowBits);
    if (o.narrowBits == 16)
      replaceBits(w.at<uint16_t>(o.narrows[index])[lane], at, bits, element);
    else
      replaceBits(w.at<uint32_t>(o.narrows[index])[lane], at, bits, element);
  }
}

double wideElement(const Wave &w, WideFormat format, Register r, uint32_t lane) {
  switch (format) {
  case WideFormat::Single:
    return w.at<float>(r)[lane];
  case WideFormat::Half:
    return halfToFloat(w.at<uint16_t>(r)[lane]);
  default:
    return bfloatToFloat(w.at<uint16_t>(r)[lane]);
  }
}

void putWideElement(const Wave &w, WideFormat format, Register r, uint32_t lane, double value) {
  switch (format) {
  case WideFormat::Single:
    w.at<float>(r)[lane] = float(value);
    break;
  case WideFormat::Half:
    w.at<uint16_t>(r)[lane] = HalfFormat::storeDouble(value);
    break;
  default:
    w.at<uint16_t>(r)[lane] = BFloatFormat::storeDouble(value);
    break;
  }
}

void keepOld(const Wave &w, const ScaledConversion &o, uint32_t lane) {
  for (size_t k = 0; k < o.whole.size(); ++k)
    if (o.toWide || o.narrowBits == 16)
      w.at<uint16_t>(o.whole[k])[lane] = o.old.empty() ? 0 : w.at<uint16_t>(o.old[k])[lane];
    else
      w.at<uint32_t>(o.whole[k])[lane] = o.old.empty() ? 0 : w.at<uint32_t>(o.old[k])[lane];
}

void convert(Wave &w, const Op &op) {
  const auto &o = *static_cast<const ScaledConversion *>(op.extra);
  const uint32_t bits = MxLayout(o.narrow).bits();
  forEachLane(w.exec, [&](uint32_t lane) {
    keepOld(w, o, lane);
    const double scale = o.scale == kNoRegister ? 1 : mxScale(w.at<uint32_t>(o.scale)[lane] >> 23 & 0xff);
    for (uint32_t k = 0; k < o.count; ++k) {
      const uint32_t first = o.firstBit + k * bits;
      if (o.toWide)
        putWideElement(w, o.wide, o.wides[k], lane,
                       mxToFloat(narrowElement(w, o, first, bits, lane), o.narrow) * scale);
      else
        putNarrowElement(w, o, first, bits, lane, toMx(wideElement(w, o.wide, o.wides[k], lane) / scale, o.narrow));
    }
  });
}

} // namespace

Handler scaledConversion() { return convert; }

} // namespace wavesan::cpu::engine
