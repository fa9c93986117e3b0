// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: operations that compare what the lanes of one store write (store_check.cpp, range_check.cpp). Only stores
// with an access hook are compared.
#include "decoder.h"
#include "write_hooks.h"

#include "llvm/IR/Instructions.h"

namespace wavesan::cpu::engine {

using namespace llvm;

WrittenSite Decoder::writtenSite(const WriteHook &hook, Space space) {
  return {hook.info, hook.site, space == Space::Lds && hook.variable ? use1(hook.variable) : kNoRegister};
}

void Decoder::checkRange(CallBase &i, Space to, std::optional<Space> from, std::array<Register, 3> operands) {
  const auto hook = writeHookOf(i);
  if (!hook || to == Space::Private || failed())
    return;
  const auto *site = extra<WrittenSite>(writtenSite(*hook, to));
  Op &op = emit(rangeCheck(to, from, widthOf(i.getArgOperand(2))));
  op.a = operands[0], op.b = operands[1], op.c = operands[2];
  op.extra = site;
}

void Decoder::checkStore(const WriteHook &hook, Space space, Register address, std::vector<StoredLeaf> leaves,
                         Register written) {
  auto *check = extra<StoreCheck>();
  check->leaves = std::move(leaves);
  for (const StoredLeaf &leaf : check->leaves)
    check->bytes = std::max(check->bytes, leaf.offset + leaf.bytes);
  check->site = writtenSite(hook, space);
  check->written = written;
  Op &op = emit(storeCheck(space));
  op.a = address;
  op.extra = check;
}

void Decoder::checkStore(StoreInst &i, Registers regs) {
  const auto space = spaceOf(i.getPointerAddressSpace());
  const auto hook = writeHookOf(i);
  if (!hook || !space || space == Space::Private)
    return;
  const ArrayRef<Leaf> leaves = leavesOf(i.getValueOperand()->getType());
  if (leaves.size() != regs.size() || leaves.empty())
    return;
  std::vector<StoredLeaf> stored;
  for (size_t k = 0; k < leaves.size(); ++k)
    stored.push_back({regs[k], leaves[k].width, uint32_t(leaves[k].offset), (leaves[k].bits + 7) / 8});
  checkStore(*hook, *space, use1(i.getPointerOperand()), std::move(stored));
}

void Decoder::checkBufferStore(CallBase &i, const BufferTarget &target, ArrayRef<RepackLeaf> pieces) {
  const auto hook = bufferWriteHookOf(i);
  if (!hook || failed())
    return;
  std::vector<StoredLeaf> stored;
  uint32_t offset = 0;
  for (const RepackLeaf &piece : pieces) {
    stored.push_back({piece.reg, piece.width, offset, piece.bits / 8});
    offset += piece.bits / 8;
  }
  checkStore(*hook, Space::Flat, target.address, std::move(stored), target.inRange);
}

} // namespace wavesan::cpu::engine
