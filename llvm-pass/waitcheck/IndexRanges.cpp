// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IndexRanges.h"

#include "EncodingForms.h"
#include "ValueRanges.h"

namespace wavesan::waitcheck {
namespace {

class IndexFinder {
public:
  IndexFinder(IsaContext &isa, Function &f, llvm::DenseSet<uint32_t> &notFollowed)
      : isa(isa), f(f), notFollowed(notFollowed) {}

  void run() {
    for (uint32_t b : f.order)
      followModes(f.blocks[b]);
    if (!any)
      return;
    visitValues(isa, f, [&](uint32_t i, const ValueRanges &values) {
      const Decoded &d = *at(i);
      if (d.facts.indexMode) {
        PlainInstruction p;
        ValueRange index;
        if (isa.plain(f.bytesAt(i), p) && !p.operands.empty())
          index = values.of(p.operands[0]);
        modeIndex[i] = index.high <= 255 ? index : ValueRange{0, 255, std::nullopt}; // the hardware takes eight bits
      } else if ((d.facts.relativeUses || d.facts.relativeDefs) && !begins.count(i)) {
        // Two indices in one register, for source and result, are not told apart.
        const llvm::StringRef stem = isa.opcodeStem(d.opcode);
        const ValueRange index = values.ofM0();
        if (!stem.contains("SD_2") && !stem.contains("SWAPREL") && index.high <= mostRegisters)
          f.indices[i] = {index.low, index.high};
      }
    });
    for (auto [i, mode] : begins)
      if (auto index = modeIndex.find(mode); index != modeIndex.end() && index->second.high < 255)
        f.indices[i] = {index->second.low, index->second.high};
  }

private:
  static constexpr uint32_t mostRegisters = 1024;

  const Decoded *at(uint32_t i) const { return f.code[i].decoded < 0 ? nullptr : &isa.decoded(f.code[i].decoded); }

  void followModes(const Block &block) {
    int64_t began = -1;
    unsigned which = 0;
    for (uint32_t i = block.first; i < block.last; ++i) {
      const Decoded *d = at(i);
      if (!d)
        continue;
      any |= d->facts.relativeUses || d->facts.relativeDefs;
      if (d->facts.indexMode) {
        const llvm::StringRef stem = isa.opcodeStem(d->opcode);
        const bool on = stem.starts_with("S_SET_GPR_IDX_ON");
        if (!on && !stem.starts_with("S_SET_GPR_IDX_OFF"))
          notFollowed.insert(i);
        const uint32_t bits = EncodingWord::read(f.bytesAt(i).data(), d->size / 4).field(8, 4);
        which = (bits & 7 ? 1 : 0) | (bits & 8 ? 2 : 0); // three sources, the result
        began = on ? int64_t(i) : -1;
        any = true;
      } else if (began >= 0 && d->facts.valu && which != 0) {
        begins[i] = static_cast<uint32_t>(began);
        int32_t &variant = variants[which].try_emplace(f.code[i].decoded, -1).first->second;
        if (variant < 0) {
          Decoded changed = *d;
          changed.facts.relativeUses |= (which & 1) != 0;
          changed.facts.relativeDefs |= (which & 2) != 0;
          variant = static_cast<int32_t>(isa.addVariant(changed));
        }
        f.code[i].decoded = variant;
      }
    }
    if (began >= 0)
      notFollowed.insert(static_cast<uint32_t>(began));
  }

  IsaContext &isa;
  Function &f;
  llvm::DenseSet<uint32_t> &notFollowed;
  llvm::DenseMap<int32_t, int32_t> variants[4]; ///< by the bits of sources and result
  std::map<uint32_t, uint32_t> begins;          ///< of instructions in a mode: where it begins
  std::map<uint32_t, ValueRange> modeIndex;
  bool any = false;
};

} // namespace

void resolveIndices(IsaContext &isa, Function &f, llvm::DenseSet<uint32_t> &notFollowed) {
  IndexFinder(isa, f, notFollowed).run();
}

} // namespace wavesan::waitcheck
