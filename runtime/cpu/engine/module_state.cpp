// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "module_state.h"

#include "lds_layout.h"
#include "types.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

constexpr uint32_t kSegmentNull = 0xffffffffu; // null in LDS and private memory

// The process belongs to the user: nothing is printed and nothing exits.
struct QuietDiagnostics : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &) override { return true; }
};

std::string printed(const Value &v) {
  std::string text;
  raw_string_ostream(text) << v;
  return text.size() > 200 ? text.substr(0, 200) + "..." : text;
}

u128 maskTo(u128 value, uint64_t bits) { return bits >= 128 ? value : value & ((u128(1) << bits) - 1); }

u128 valueOf(const APInt &i) {
  const APInt wide = i.zextOrTrunc(128);
  return u128(wide.extractBitsAsZExtValue(64, 64)) << 64 | wide.extractBitsAsZExtValue(64, 0);
}

uint64_t bitsOf(Type *type, const DataLayout &layout) { return layout.getTypeSizeInBits(type).getFixedValue(); }

} // namespace

void ModuleState::Free::operator()(std::byte *p) const { ::operator delete[](p, std::align_val_t(256)); }

std::unique_ptr<ModuleState> ModuleState::parse(std::string_view bitcode, std::string_view hookBodies,
                                                std::string &error) {
  auto state = std::make_unique<ModuleState>();
  state->context = std::make_unique<LLVMContext>();
  state->context->setDiagnosticHandler(std::make_unique<QuietDiagnostics>());
  const auto read = [&](std::string_view bytes, const char *what) -> std::unique_ptr<Module> {
    auto buffer = MemoryBuffer::getMemBufferCopy(StringRef(bytes.data(), bytes.size()), what);
    Expected<std::unique_ptr<Module>> module = parseBitcodeFile(buffer->getMemBufferRef(), *state->context);
    if (module)
      return std::move(*module);
    error = std::string("cannot read the ") + what + ": " + toString(module.takeError());
    return nullptr;
  };
  state->parsed = read(bitcode, "device module");
  if (!state->parsed)
    return nullptr;
  if (!hookBodies.empty()) {
    std::unique_ptr<Module> bodies = read(hookBodies, "device runtime");
    if (!bodies)
      return nullptr;
    // Compiled for no target in particular; its code is executed as part of the module's kernels.
    bodies->setTargetTriple(state->parsed->getTargetTriple());
    bodies->setDataLayout(state->parsed->getDataLayout());
    if (NamedMDNode *flags = bodies->getModuleFlagsMetadata()) // the module's own hold, its code object version above all
      flags->eraseFromParent();
    if (Linker::linkModules(*state->parsed, std::move(bodies), Linker::Flags::LinkOnlyNeeded)) {
      error = "cannot link the device runtime to the device module";
      return nullptr;
    }
  }
  std::string why;
  raw_string_ostream os(why);
  bool brokenDebugInfo = false;
  if (verifyModule(*state->parsed, &os, &brokenDebugInfo)) {
    error = "invalid device module: " + why.substr(0, why.find('\n'));
    return nullptr;
  }
  return state;
}

bool ModuleState::placeGlobals(const std::function<uint64_t(std::string_view)> &resolve, std::string &error) {
  for (const llvm::Function &f : *parsed)
    functions.push_back(&f);
  functionTokens = std::make_unique<std::byte[]>(functions.size() + 1);
  for (size_t i = 0; i < functions.size(); ++i)
    addresses[functions[i]] = reinterpret_cast<uint64_t>(&functionTokens[i]);

  std::vector<std::pair<const GlobalVariable *, std::byte *>> own;
  for (const GlobalVariable &g : parsed->globals()) {
    if (!g.getName().starts_with("llvm.") && spaceOf(g.getAddressSpace()) == Space::Flat) {
      const uint64_t known = resolve ? resolve(std::string_view(g.getName().data(), g.getName().size())) : 0;
      if (known) {
        addresses[&g] = known;
      } else if (g.hasInitializer()) {
        const uint64_t size = layout().getTypeAllocSize(g.getValueType());
        auto *memory = new (std::align_val_t(256)) std::byte[size + 16]{};
        storage.emplace_back(memory);
        addresses[&g] = reinterpret_cast<uint64_t>(memory);
        own.emplace_back(&g, memory);
      }
    }
  }
  for (const auto &[global, memory] : own)
    if (!initialise(*global->getInitializer(), memory, error)) {
      error = "cannot initialise " + global->getName().str() + ": " + error;
      return false;
    }
  return true;
}

std::optional<uint64_t> ModuleState::addressOf(const GlobalValue &global) const {
  const auto it = addresses.find(&global);
  return it == addresses.end() ? std::nullopt : std::optional<uint64_t>(it->second);
}

const llvm::Function *ModuleState::functionAt(uint64_t address) const {
  const uint64_t index = address - reinterpret_cast<uint64_t>(functionTokens.get());
  return index < functions.size() ? functions[index] : nullptr;
}

std::optional<u128> ModuleState::evaluate(const Constant &constant, const LdsLayout *lds, std::string &error) const {
  const auto fail = [&]() -> std::optional<u128> {
    error = "constant " + printed(constant);
    return std::nullopt;
  };
  if (auto *i = dyn_cast<ConstantInt>(&constant))
    return valueOf(i->getValue());
  if (auto *f = dyn_cast<ConstantFP>(&constant))
    return valueOf(f->getValueAPF().bitcastToAPInt());
  if (isa<ConstantPointerNull, UndefValue, ConstantAggregateZero>(constant))
    return 0;
  if (auto *a = dyn_cast<GlobalAlias>(&constant))
    return evaluate(*a->getAliasee(), lds, error);
  if (auto *g = dyn_cast<GlobalVariable>(&constant); g && spaceOf(g->getAddressSpace()) == Space::Lds) {
    if (!lds)
      return fail();
    const auto it = lds->offsets.find(g);
    return it == lds->offsets.end() ? fail() : std::optional<u128>(it->second);
  }
  if (auto *g = dyn_cast<GlobalValue>(&constant)) {
    const auto address = addressOf(*g);
    if (address)
      return *address;
    error = "undefined symbol " + g->getName().str();
    return std::nullopt;
  }
  const auto *e = dyn_cast<ConstantExpr>(&constant);
  if (!e)
    return fail();
  const uint64_t bits = bitsOf(e->getType(), layout());
  if (auto *gep = dyn_cast<GEPOperator>(e)) {
    APInt offset(layout().getIndexTypeSizeInBits(gep->getType()), 0);
    if (!gep->accumulateConstantOffset(layout(), offset))
      return fail();
    const auto base = evaluate(*cast<Constant>(gep->getPointerOperand()), lds, error);
    return base ? std::optional<u128>(maskTo(*base + u128(s128(offset.getSExtValue())), bits)) : std::nullopt;
  }
  const auto operand = evaluate(*e->getOperand(0), lds, error);
  if (!operand)
    return std::nullopt;
  switch (e->getOpcode()) {
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr:
  case Instruction::IntToPtr:
  case Instruction::BitCast:
  case Instruction::Trunc:
    return maskTo(*operand, bits);
  case Instruction::AddrSpaceCast: {
    const auto from = spaceOf(e->getOperand(0)->getType()->getPointerAddressSpace());
    const auto to = spaceOf(e->getType()->getPointerAddressSpace());
    if (from == Space::Flat && to == Space::Flat)
      return *operand;
    if (from == Space::Flat && *operand == 0)
      return kSegmentNull;
    if (to == Space::Flat && *operand == kSegmentNull)
      return 0;
    return fail();
  }
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Xor: {
    const auto right = evaluate(*e->getOperand(1), lds, error);
    if (!right)
      return std::nullopt;
    const u128 value = e->getOpcode() == Instruction::Add   ? *operand + *right
                       : e->getOpcode() == Instruction::Sub ? *operand - *right
                                                            : *operand ^ *right;
    return maskTo(value, bits);
  }
  default: return fail();
  }
}

bool ModuleState::initialise(const Constant &value, std::byte *to, std::string &error) const {
  if (isa<ConstantAggregateZero, UndefValue, ConstantPointerNull>(value))
    return true; // the storage is zero
  if (auto *data = dyn_cast<ConstantDataSequential>(&value)) {
    const StringRef raw = data->getRawDataValues();
    std::memcpy(to, raw.data(), raw.size());
    return true;
  }
  Type *type = value.getType();
  if (auto *s = dyn_cast<StructType>(type)) {
    const StructLayout *l = layout().getStructLayout(s);
    for (unsigned i = 0; i < s->getNumElements(); ++i)
      if (!initialise(*value.getAggregateElement(i), to + uint64_t(l->getElementOffset(i)), error))
        return false;
    return true;
  }
  if (auto *a = dyn_cast<ArrayType>(type)) {
    const uint64_t stride = layout().getTypeAllocSize(a->getElementType());
    for (uint64_t i = 0; i < a->getNumElements(); ++i)
      if (!initialise(*value.getAggregateElement(unsigned(i)), to + i * stride, error))
        return false;
    return true;
  }
  if (auto *v = dyn_cast<FixedVectorType>(type)) {
    const uint64_t bits = bitsOf(v->getElementType(), layout());
    if (bits % 8) {
      error = "constant " + printed(value);
      return false;
    }
    for (unsigned i = 0; i < v->getNumElements(); ++i)
      if (!initialise(*value.getAggregateElement(i), to + i * bits / 8, error))
        return false;
    return true;
  }
  const auto scalar = evaluate(value, nullptr, error);
  if (!scalar)
    return false;
  const uint64_t bytes = (bitsOf(type, layout()) + 7) / 8;
  if (bytes > 16) {
    error = "constant " + printed(value);
    return false;
  }
  std::memcpy(to, &*scalar, bytes);
  return true;
}

bool needsCode(const Constant &constant) {
  if (isa<GlobalValue>(constant))
    return false;
  if (isa<ConstantExpr>(constant) && constant.getType()->isVectorTy())
    return true;
  if (auto *e = dyn_cast<ConstantExpr>(&constant); e && e->getOpcode() == Instruction::AddrSpaceCast) {
    const auto from = spaceOf(e->getOperand(0)->getType()->getPointerAddressSpace());
    if (from != Space::Flat && spaceOf(e->getType()->getPointerAddressSpace()) == Space::Flat)
      return true;
  }
  for (const Use &u : constant.operands())
    if (auto *c = dyn_cast<Constant>(u.get()); c && needsCode(*c))
      return true;
  return false;
}

} // namespace wavesan::cpu::engine
