// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpcodeRules.h"

#include "llvm/MC/MCInstrInfo.h"

namespace wavesan::waitcheck {
namespace {

using llvm::StringRef;

bool any(StringRef name, std::initializer_list<const char *> prefixes) {
  for (const char *p : prefixes)
    if (name.starts_with(p))
      return true;
  return false;
}

// ---- vector memory --------------------------------------------------------------------------------------------------------------------

Half d16ResultHalf(StringRef stem) {
  // FORMAT_D16_XY.. pack two components into each register: whole registers. FORMAT_D16_X and the plain 8/16-bit forms fill one half.
  if (stem.contains("_D16_HI"))
    return Half::High;
  if (stem.contains("_FORMAT_D16_X"))
    return stem.contains("_D16_XY") ? Half::Whole : Half::Low;
  return stem.contains("_D16") ? Half::Low : Half::Whole;
}

Half storeDataHalf(StringRef stem) {
  if (stem.contains("_D16_HI"))
    return Half::High;
  if (stem.contains("_STORE_SHORT") || stem.contains("_STORE_BYTE") || stem.contains("DS_WRITE_B16") || stem.contains("DS_WRITE_B8"))
    return Half::Low;
  return Half::Whole;
}

/// GLOBAL, SCRATCH, FLAT, BUFFER, TBUFFER, CLUSTER. False if the name fits no rule.
bool vectorMemory(StringRef stem, unsigned numDefs, OpcodeFacts &f) {
  const bool flat = stem.starts_with("FLAT_");
  f.family = flat ? Family::Flat : Family::Vector;
  // Cache maintenance. GLOBAL_INV counts on loadcnt, the write-backs on storecnt, the older ones on nothing that matters here: nobody's
  // age may rest on them.
  if (any(stem, {"GLOBAL_INV", "GLOBAL_WB", "BUFFER_INV", "BUFFER_WB", "BUFFER_GL0_INV", "BUFFER_GL1_INV"})) {
    f.family = Family::None;
    return true;
  }
  if (stem.contains("_PREFETCH_")) {
    f.family = Family::None; // no result; not relied on for ages
    return true;
  }
  const bool load = stem.contains("_LOAD_");
  const bool store = stem.contains("_STORE_");
  const bool atomic = stem.contains("_ATOMIC_");
  if (load + store + atomic != 1)
    return false;
  f.async = stem.contains("_ASYNC_");
  if (load && (stem.contains("_LDS") || stem.contains("_TO_LDS"))) {
    if (numDefs != 0)
      return false;
    f.toLds = true;
    f.read = true;
    return true;
  }
  if (load) {
    if (numDefs == 0)
      return false;
    f.result = true;
    f.read = true;
    f.resultHalf = d16ResultHalf(stem);
    return true;
  }
  if (store) {
    f.write = true;
    f.dataHalf = storeDataHalf(stem);
    f.wideStoreCandidate = !f.async && !stem.contains("_LDS");
    return true;
  }
  f.write = true;
  f.read = true;
  f.result = numDefs != 0;
  // The name and the definitions must agree on whether the old value comes back.
  return stem.contains("_RTN") == f.result;
}

bool image(StringRef stem, unsigned numDefs, OpcodeFacts &f) {
  f.family = Family::Image;
  f.result = numDefs != 0;
  f.read = true;
  if (stem.starts_with("IMAGE_BVH")) {
    f.family = Family::Bvh;
    return f.result;
  }
  if (any(stem, {"IMAGE_SAMPLE", "IMAGE_GATHER4", "IMAGE_GET_LOD", "IMAGE_MSAA_LOAD"})) {
    f.family = Family::Sample;
    if (!f.result)
      f.counted = false; // samples without result: not relied on for ages
    return true;
  }
  if (any(stem, {"IMAGE_LOAD", "IMAGE_GET_RESINFO"}))
    return f.result;
  if (stem.starts_with("IMAGE_STORE")) {
    f.read = false;
    f.write = true;
    f.wideStoreCandidate = false; // 256-bit resource descriptors: no hazard
    return !f.result;
  }
  if (stem.starts_with("IMAGE_ATOMIC_")) {
    f.write = true;
    return true;
  }
  return false;
}

// ---- LDS ------------------------------------------------------------------------------------------------------------------------------

bool dataShare(StringRef stem, bool mayLoad, bool mayStore, unsigned numDefs, OpcodeFacts &f) {
  if (stem.starts_with("DS_NOP")) {
    f.family = Family::None;
    return true;
  }
  if (any(stem, {"DS_PARAM_LOAD", "DS_DIRECT_LOAD"})) {
    f.family = Family::LdsDirect;
    f.result = true;
    return numDefs == 1;
  }
  if (stem.starts_with("DS_ATOMIC_ASYNC_BARRIER_ARRIVE")) {
    f.family = Family::AsyncArrive;
    f.async = true;
    return true;
  }
  f.family = Family::Ds;
  f.result = numDefs != 0;
  f.mayBeGds = true;
  if (any(stem, {"DS_GWS_", "DS_ORDERED_COUNT", "DS_ADD_GS_REG_RTN", "DS_SUB_GS_REG_RTN"})) {
    f.alwaysGds = true;
    f.read = mayLoad;
    f.write = mayStore;
    return true;
  }
  // Lane exchanges go through the LDS hardware and its counter, but touch no LDS memory.
  if (any(stem, {"DS_SWIZZLE_", "DS_PERMUTE_", "DS_BPERMUTE_"})) {
    f.mayBeGds = false;
    return f.result && !mayLoad && !mayStore;
  }
  if (any(stem, {"DS_READ", "DS_LOAD"})) {
    f.read = true;
    f.resultHalf = d16ResultHalf(stem);
    return f.result && mayLoad && !mayStore;
  }
  if (any(stem, {"DS_WRITE", "DS_STORE"})) {
    f.write = true;
    f.read = stem.contains("_SRC2_");
    f.dataHalf = storeDataHalf(stem);
    return !f.result && mayStore;
  }
  if (any(stem, {"DS_ADD_", "DS_SUB_", "DS_RSUB_", "DS_INC_", "DS_DEC_", "DS_MIN_", "DS_MAX_", "DS_AND_", "DS_OR_", "DS_XOR_", "DS_MSKOR_",
                 "DS_CMPST_", "DS_CMPSTORE_", "DS_WRXCHG", "DS_WRAP_", "DS_CONDXCHG32_", "DS_COND_SUB_", "DS_SUB_CLAMP_", "DS_PK_ADD_",
                 "DS_APPEND", "DS_CONSUME", "DS_BVH_STACK_", "DS_ATOMIC_BARRIER_ARRIVE_RTN"})) {
    f.read = true;
    f.write = true;
    f.mayBeGds = !stem.starts_with("DS_BVH_STACK_");
    return mayLoad && mayStore;
  }
  return false;
}

// ---- scalar ---------------------------------------------------------------------------------------------------------------------------

bool scalarMemory(StringRef stem, unsigned numDefs, OpcodeFacts &f) {
  f.family = Family::Scalar;
  f.result = numDefs != 0;
  f.read = true;
  if (any(stem, {"S_LOAD_", "S_BUFFER_LOAD_", "S_SCRATCH_LOAD_"})) {
    f.translated = true;
    return f.result;
  }
  if (any(stem, {"S_STORE_", "S_BUFFER_STORE_", "S_SCRATCH_STORE_"})) {
    f.read = false;
    f.write = true;
    return !f.result;
  }
  if (any(stem, {"S_ATOMIC_", "S_BUFFER_ATOMIC_"})) {
    f.write = true;
    return true;
  }
  if (any(stem, {"S_DCACHE_", "S_ATC_PROBE", "S_GL1_INV", "S_PREFETCH_", "S_BUFFER_PREFETCH_"})) {
    f.counted = false;
    return !f.result;
  }
  if (any(stem, {"S_MEMTIME", "S_MEMREALTIME", "S_GET_WAVEID_IN_WORKGROUP"}))
    return f.result;
  if (any(stem, {"S_SENDMSG_RTN_"}))
    return f.result;
  if (any(stem, {"S_SENDMSG"})) {
    f.counted = false;
    return !f.result;
  }
  if (any(stem, {"S_GET_BARRIER_STATE"}))
    return f.result;
  return false;
}

bool isScalarMemoryName(StringRef stem) {
  return any(stem, {"S_LOAD_", "S_BUFFER_LOAD_", "S_SCRATCH_LOAD_", "S_STORE_", "S_BUFFER_STORE_", "S_SCRATCH_STORE_", "S_ATOMIC_",
                    "S_BUFFER_ATOMIC_", "S_DCACHE_", "S_ATC_PROBE", "S_GL1_INV", "S_PREFETCH_", "S_BUFFER_PREFETCH_", "S_MEMTIME",
                    "S_MEMREALTIME", "S_GET_WAVEID_IN_WORKGROUP", "S_SENDMSG", "S_GET_BARRIER_STATE"});
}

WaitForm waitForm(StringRef stem) {
  struct Row {
    const char *name;
    WaitForm form;
  };
  static constexpr Row rows[] = {
      {"S_WAITCNT", WaitForm::Combined},        {"S_WAIT_IDLE", WaitForm::Idle},
      {"S_WAITCNT_VMCNT", WaitForm::Load},      {"S_WAITCNT_LGKMCNT", WaitForm::Ds},
      {"S_WAITCNT_EXPCNT", WaitForm::Exp},      {"S_WAITCNT_VSCNT", WaitForm::Store},
      {"S_WAIT_LOADCNT", WaitForm::Load},       {"S_WAIT_DSCNT", WaitForm::Ds},
      {"S_WAIT_EXPCNT", WaitForm::Exp},         {"S_WAIT_STORECNT", WaitForm::Store},
      {"S_WAIT_SAMPLECNT", WaitForm::Sample},   {"S_WAIT_BVHCNT", WaitForm::Bvh},
      {"S_WAIT_KMCNT", WaitForm::Km},           {"S_WAIT_ASYNCCNT", WaitForm::Async},
      {"S_WAIT_TENSORCNT", WaitForm::Tensor},   {"S_WAIT_XCNT", WaitForm::X},
      {"S_WAIT_LOADCNT_DSCNT", WaitForm::LoadDs}, {"S_WAIT_STORECNT_DSCNT", WaitForm::StoreDs},
  };
  for (const Row &r : rows)
    if (stem == r.name)
      return r.form;
  return WaitForm::None;
}

/// MOVRELS: the source; MOVRELD: the result; MOVRELSD and SWAPREL: both.
void chosenByIndex(StringRef stem, OpcodeFacts &f) {
  f.relativeUses = stem.contains("RELS") || stem.contains("SWAPREL");
  f.relativeDefs = stem.contains("RELD") || stem.contains("RELSD") || stem.contains("SWAPREL");
}

/// Scalar control and arithmetic. True if the name is one of them.
bool scalarControl(StringRef stem, OpcodeFacts &f) {
  f.wait = waitForm(stem);
  if (f.wait != WaitForm::None) {
    f.control = Control::Wait;
    return true;
  }
  if (any(stem, {"S_CBRANCH_G_FORK", "S_CBRANCH_I_FORK", "S_CBRANCH_JOIN", "S_RFE", "S_SUBVECTOR_LOOP", "S_ADD_PC_I64"})) {
    f.control = Control::Unsupported;
    return true;
  }
  if (stem.starts_with("S_CBRANCH_"))
    f.control = Control::CondBranch;
  else if (stem.starts_with("S_BRANCH"))
    f.control = Control::Branch;
  else if (any(stem, {"S_SWAPPC_B64", "S_CALL_B64"}))
    f.control = Control::Call;
  else if (stem.starts_with("S_SETPC_B64"))
    f.control = Control::SetPc;
  else if (any(stem, {"S_ENDPGM", "S_CODE_END"})) {
    f.control = Control::End;
    f.padding = stem.starts_with("S_CODE_END");
  } else if (stem == "S_BARRIER" || stem.starts_with("S_BARRIER_SIGNAL")) {
    f.control = Control::Barrier;
    f.wholeBarrier = stem == "S_BARRIER";
    if (stem.contains("_ISFIRST"))
      f.family = Family::BarrierScc;
  } else if (stem == "S_BARRIER_WAIT")
    f.control = Control::BarrierWait;
  else if (stem == "S_BARRIER_LEAVE")
    f.family = Family::BarrierScc;
  else if (stem == "S_NOP") {
    f.nop = true;
    f.padding = true;
  } else if (stem == "S_SET_VGPR_MSB")
    f.vgprMsb = true;
  else if (stem == "S_MOV_B32" || stem == "S_MOVK_I32")
    f.scalar = ScalarForm::Move;
  else if (stem == "S_MOV_B64")
    f.scalar = ScalarForm::Move64;
  else if (stem == "S_ADD_U32" || stem == "S_ADD_I32")
    f.scalar = ScalarForm::Add;
  else if (stem == "S_ADDC_U32")
    f.scalar = ScalarForm::AddCarry;
  else if (stem == "S_ADD_U64")
    f.scalar = ScalarForm::Add64;
  else if (stem == "S_GETPC_B64")
    f.scalar = ScalarForm::GetPc;
  else if (stem.starts_with("S_MOVREL"))
    chosenByIndex(stem, f);
  else if (any(stem, {"S_SET_GPR_IDX_ON", "S_SET_GPR_IDX_OFF", "S_SET_GPR_IDX_MODE"}))
    f.indexMode = true;
  else if (stem.starts_with("S_CMP_") || stem.starts_with("S_CMPK_"))
    f.scalar = ScalarForm::Compare;
  else
    return false;
  return true;
}

} // namespace

StringRef stemOf(StringRef name) {
  for (size_t i = name.find('_'); i != StringRef::npos; i = name.find('_', i + 1)) {
    const StringRef rest = name.substr(i + 1);
    for (const char *suffix : {"vi", "ci", "si"})
      if (rest == suffix || (rest.starts_with(suffix) && rest.size() > 2 && rest[2] == '_'))
        return name.take_front(i);
    if (rest.starts_with("gfx") && rest.size() > 3 && rest[3] >= '0' && rest[3] <= '9')
      return name.take_front(i);
  }
  return name;
}

OpcodeFacts classify(StringRef name, bool mayLoad, bool mayStore, unsigned numDefs, bool &known) {
  OpcodeFacts f;
  const StringRef stem = stemOf(name);
  known = true;
  if (any(stem, {"GLOBAL_", "SCRATCH_", "FLAT_", "BUFFER_", "TBUFFER_", "CLUSTER_"}))
    known = vectorMemory(stem, numDefs, f);
  else if (stem.starts_with("IMAGE_"))
    known = image(stem, numDefs, f);
  else if (any(stem, {"LDS_DIRECT_LOAD", "LDS_PARAM_LOAD"})) {
    f.family = Family::LdsDirect;
    f.result = true;
  } else if (stem.starts_with("DS_"))
    known = dataShare(stem, mayLoad, mayStore, numDefs, f);
  else if (isScalarMemoryName(stem))
    known = scalarMemory(stem, numDefs, f);
  else if (stem.starts_with("TENSOR_")) {
    f.family = Family::Tensor;
    if (stem.starts_with("TENSOR_LOAD_TO_LDS"))
      f.toLds = true;
    else if (stem.starts_with("TENSOR_STORE_FROM_LDS"))
      f.write = true;
    else if (any(stem, {"TENSOR_SAVE", "TENSOR_STOP"}))
      f.counted = false;
    else
      known = false;
  } else if (stem == "EXP" || any(stem, {"EXP_DONE", "EXP_ROW"})) {
    f.family = Family::Export;
    f.write = true;
  } else if (stem.starts_with("S_") && scalarControl(stem, f)) {
    // classified
  } else if (stem.starts_with("S_WAKEUP")) {
    // wakes a sleeping wave; LLVM marks it as memory only to keep its place
  } else {
    f.valu = stem.starts_with("V_");
    if (any(stem, {"V_MOVREL", "V_SWAPREL"}))
      chosenByIndex(stem, f);
    f.sdwa = f.valu && stem.contains("_sdwa");
    f.waitsExp = stem.starts_with("V_INTERP_") && stem.contains("_inreg");
    known = !mayLoad && !mayStore;
  }
  return f;
}

OpcodeTable classifyAll(const llvm::MCInstrInfo &info) {
  OpcodeTable table;
  table.facts.resize(info.getNumOpcodes());
  for (unsigned op = 0; op < info.getNumOpcodes(); ++op) {
    const llvm::MCInstrDesc &desc = info.get(op);
    bool known = true;
    const OpcodeFacts f = classify(info.getName(op), desc.mayLoad(), desc.mayStore(), desc.getNumDefs(), known);
    table.facts[op] = f;
    if (desc.isPseudo()) // never comes out of the disassembler
      continue;
    if (!known)
      table.unclassified.push_back(info.getName(op).str());
    if (f.family != Family::None)
      ++table.memoryOpcodes;
  }
  return table;
}

} // namespace wavesan::waitcheck
