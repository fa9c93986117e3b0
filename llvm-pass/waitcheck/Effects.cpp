// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a family to counter events, per generation.
#include "IsaContext.h"

#include "llvm/MC/MCInst.h"

namespace wavesan::waitcheck {
namespace {

struct Plan {
  Decoded &d;
  const Generation &g;

  Effect &add(OrderClass cls) {
    Effect &e = d.effects[d.numEffects++];
    e = {.cls = cls, .ages = d.facts.counted, .registers = false, .locksSources = false, .hasItem = false,
         .item = ItemKind::Register};
    return e;
  }
  void results(OrderClass cls) { add(cls).registers = d.facts.result; }
  void item(OrderClass cls, ItemKind kind) {
    Effect &e = add(cls);
    e.hasItem = true;
    e.item = kind;
  }

  void vector(OrderClass loads) {
    // A result comes back through the load counter even if memory is written as well (returning atomics).
    if (d.facts.toLds) {
      item(d.facts.async ? OrderClass::AsyncLoad : loads, ItemKind::LdsCopy);
    } else if (d.facts.async) {
      item(OrderClass::AsyncStore, ItemKind::MemoryWrite);
    } else if (d.facts.result) {
      results(loads);
    } else if (g.has(OrderClass::VStore)) {
      item(OrderClass::VStore, ItemKind::MemoryWrite);
    } else {
      item(OrderClass::VMem, ItemKind::MemoryWrite);
    }
  }

  void flat() {
    const OrderClass lds = g.flatInOrder ? OrderClass::Lds : OrderClass::FlatLds;
    const OrderClass mem = g.flatInOrder ? OrderClass::VMem : OrderClass::FlatVMem;
    if (d.facts.result)
      results(mem);
    else if (g.has(OrderClass::VStore))
      item(OrderClass::VStore, ItemKind::MemoryWrite);
    else
      item(mem, ItemKind::MemoryWrite);
    Effect &e = add(lds);
    e.registers = d.facts.result;
    if (d.facts.write) {
      e.hasItem = true;
      e.item = ItemKind::FlatLdsWrite;
    }
  }

  void ds(bool gds) {
    if (gds && g.has(OrderClass::Gds)) {
      results(OrderClass::Gds);
      add(OrderClass::GdsSource).locksSources = true;
      return;
    }
    Effect &e = add(OrderClass::Lds);
    e.registers = d.facts.result;
    if (d.facts.write) {
      e.hasItem = true;
      e.item = ItemKind::LdsWrite;
    }
  }

  void exports(int64_t target) {
    const OrderClass cls = target >= 32 ? OrderClass::ExportPar : target >= 12 ? OrderClass::ExportPos : OrderClass::ExportMrt;
    add(cls).locksSources = true;
  }
};

} // namespace

void IsaContext::planEffects(const llvm::MCInst &inst, Decoded &d) const {
  const Generation &g = *target.generation;
  Plan plan{d, g};
  switch (d.facts.family) {
  case Family::None:
    break;
  case Family::Scalar:
  case Family::BarrierScc:
    if (d.facts.family == Family::BarrierScc)
      d.facts.result = true;
    plan.results(OrderClass::Scalar);
    break;
  case Family::Ds: {
    bool gds = d.facts.alwaysGds;
    if (d.facts.mayBeGds && inst.getNumOperands() != 0) {
      const llvm::MCOperand &last = inst.getOperand(inst.getNumOperands() - 1);
      gds |= g.has(OrderClass::Gds) && last.isImm() && last.getImm() == 1;
    }
    plan.ds(gds);
    break;
  }
  case Family::Flat:
    plan.flat();
    break;
  case Family::Vector:
  case Family::Image:
    plan.vector(OrderClass::VMem);
    break;
  case Family::Sample:
    plan.vector(g.has(OrderClass::Sample) ? OrderClass::Sample : OrderClass::VMem);
    break;
  case Family::Bvh:
    plan.vector(g.has(OrderClass::Bvh) ? OrderClass::Bvh : OrderClass::VMem);
    break;
  case Family::Export:
    plan.exports(d.immediate);
    break;
  case Family::LdsDirect:
    plan.results(OrderClass::LdsDirect);
    break;
  case Family::AsyncArrive:
    plan.add(OrderClass::AsyncMisc);
    break;
  case Family::Tensor:
    plan.item(OrderClass::Tensor, d.facts.toLds ? ItemKind::LdsCopy : ItemKind::MemoryWrite);
    break;
  }
  // gfx1250: sources of memory instructions stay locked until their addresses are translated.
  if (g.sourceTranslation && (d.facts.family == Family::Vector || d.facts.family == Family::Flat || d.facts.family == Family::Image))
    plan.add(OrderClass::XVMem).locksSources = true;
  if (g.sourceTranslation && d.facts.translated)
    plan.add(OrderClass::XScalar).locksSources = true;
  for (unsigned i = 0; i < d.numEffects; ++i)
    d.unsupported |= !g.has(d.effects[i].cls);
}

} // namespace wavesan::waitcheck
