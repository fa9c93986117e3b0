// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one IR function into operations.
//
// Every scalar of every value has a register, assigned when the value is defined. Instructions that only rename
// scalars (extracts, inserts, shuffles, freezes, casts that keep the bits) define their result as the registers of their
// operands and cost nothing. That is safe although loops write registers again: in SSA form every path from a new
// definition of the operand to a use of the result passes through the result's own definition.
//
// What cannot be decoded becomes an operation that faults, by name, when lanes reach it.
#ifndef WAVESAN_CPU_ENGINE_DECODER_H
#define WAVESAN_CPU_ENGINE_DECODER_H

#include "barrier_flow.h"
#include "buffer_resource.h"
#include "divergent_arms.h"
#include "function.h"
#include "gfx1250_matrix.h"
#include "handlers.h"
#include "lds_layout.h"
#include "matrix.h"
#include "module_state.h"
#include "sparse_matrix.h"
#include "types.h"
#include "wave_matrix.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/Support/Allocator.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace wavesan::cpu::engine {

struct WriteHook;

/// What decoding depends on besides the function: the kernel it is reached from.
struct KernelContext {
  const llvm::Function *kernel = nullptr;
  uint32_t waveSize = 64;
  std::string processor;      ///< of the target: "gfx90a"
  bool copiesAsync = false; ///< the module has asynchronous copies
  bool isTwin = false;      ///< the kernel calls hooks
  bool notesWrites = false; ///< Launch::notes hears of what it writes
  uint32_t gfxMajor = 9;      ///< generation of the target: some cross-lane operations differ
  uint32_t fixedLdsBytes = 0; ///< group_segment_fixed_size
  LdsLayout lds;
  /// Where the kernel's arguments lie in the kernarg segment, and their registers in Bank::Launch.
  struct Argument {
    uint64_t offset;
    bool byRef; ///< the argument is the address kernarg + offset
    Register reg;
    Width width;
    uint64_t bytes;
  };
  std::vector<Argument> arguments;                                  ///< one entry for each leaf
  std::vector<std::string> argumentErrors;                          ///< arguments the engine cannot hold
  llvm::DenseMap<const llvm::Argument *, std::vector<Register>> argumentRegisters;
  uint64_t explicitBytes = 0; ///< the hidden arguments follow, 8-byte aligned
  uint32_t launchBankBytes = 0;
  std::unique_ptr<const BarrierFlow> barriers; ///< null if the kernel has none
};

/// Lays out the kernel's arguments.
void layOutArguments(KernelContext &context, const llvm::DataLayout &layout);

/// A source or destination of a lane loop: n registers of one width, or one register used for all n.
struct LaneOperand {
  llvm::ArrayRef<Register> regs;
  Width width = Width::B8;
  bool present() const { return !regs.empty(); }
};

/// Does a module use copies that complete after the operation that issues them?
bool usesAsynchronousCopies(const llvm::Module &module);
/// The count of vector memory in the immediate of s_waitcnt.
uint32_t packedVmcnt(uint32_t immediate, uint32_t gfxMajor);

/// Does an instruction need the other lanes of its wave: a cross-lane operation, a wave barrier?
bool joinsLanes(const llvm::Instruction &i);

class Decoder : public llvm::InstVisitor<Decoder> {
public:
  using Registers = llvm::ArrayRef<Register>;

  Decoder(const ModuleState &module, const KernelContext &context, const llvm::Function &function);
  std::unique_ptr<Function> decode();

  // InstVisitor.
  void visitBinaryOperator(llvm::BinaryOperator &i);
  void visitFNeg(llvm::UnaryOperator &i);
  void visitICmpInst(llvm::ICmpInst &i);
  void visitFCmpInst(llvm::FCmpInst &i);
  void visitSelectInst(llvm::SelectInst &i);
  void visitCastInst(llvm::CastInst &i);
  void visitGetElementPtrInst(llvm::GetElementPtrInst &i);
  void visitLoadInst(llvm::LoadInst &i);
  void visitStoreInst(llvm::StoreInst &i);
  void visitAtomicRMWInst(llvm::AtomicRMWInst &i);
  void visitAtomicCmpXchgInst(llvm::AtomicCmpXchgInst &i);
  void visitFenceInst(llvm::FenceInst &i);
  void visitAllocaInst(llvm::AllocaInst &i);
  void visitPHINode(llvm::PHINode &i);
  void visitFreezeInst(llvm::FreezeInst &i);
  void visitExtractElementInst(llvm::ExtractElementInst &i);
  void visitInsertElementInst(llvm::InsertElementInst &i);
  void visitShuffleVectorInst(llvm::ShuffleVectorInst &i);
  void visitExtractValueInst(llvm::ExtractValueInst &i);
  void visitInsertValueInst(llvm::InsertValueInst &i);
  void visitCallBase(llvm::CallBase &i);
  void visitReturnInst(llvm::ReturnInst &i);
  void visitBranchInst(llvm::BranchInst &i);
  void visitSwitchInst(llvm::SwitchInst &i);
  void visitUnreachableInst(llvm::UnreachableInst &i);
  void visitInstruction(llvm::Instruction &i);

private:
  const ModuleState &module;
  const KernelContext &context;
  const llvm::Function &source;
  const HandlerSet &handler;
  const llvm::DataLayout &layout;
  std::unique_ptr<Function> out;
  const llvm::Instruction *current = nullptr;
  std::string failure; ///< of the current instruction
  llvm::BumpPtrAllocator allocator;
  llvm::DenseMap<const llvm::Value *, Registers> values;
  llvm::DenseMap<llvm::Type *, llvm::ArrayRef<Leaf>> leafCache;
  BlockSet contested;
  llvm::DenseMap<const llvm::BasicBlock *, uint32_t> blockIndex;
  llvm::DenseMap<const llvm::BasicBlock *, uint32_t> joinIndex; ///< by loop header
  llvm::DenseMap<uint64_t, Register> maskConstants;
  friend class AsmDecoder;

  using Operand = LaneOperand;

  // Values.
  void fail(const llvm::Twine &what);
  bool failed() const { return !failure.empty(); }
  llvm::ArrayRef<Leaf> leavesOf(llvm::Type *type);
  Width widthOf(const llvm::Value *v) { return leavesOf(v->getType()).empty() ? Width::B8 : leavesOf(v->getType())[0].width; }
  uint32_t bitsOf(llvm::Type *type) { return leavesOf(type).empty() ? 0 : leavesOf(type)[0].bits; }
  bool passesLike(llvm::FunctionType &a, llvm::FunctionType &b);
  bool isOdd(llvm::Type *type);
  uint32_t stride(Width w) const { return context.waveSize * bytesOf(w); }
  Register newRegister(Width w, uint32_t n = 1);
  Registers newRegisters(llvm::ArrayRef<Leaf> leaves);
  Registers temporary(Width w, uint32_t n);
  Registers copyOf(llvm::ArrayRef<Register> regs);
  /// Registers of a value; assigns them if the definition has not been decoded yet.
  Registers use(const llvm::Value *v);
  Register use1(const llvm::Value *v);
  Registers useConstant(const llvm::Constant &c);
  /// Fresh (or already assigned) registers for the result of the current instruction.
  Registers define(const llvm::Value *v);
  /// The result is these registers.
  void alias(const llvm::Value *v, llvm::ArrayRef<Register> regs);
  Register constant(Width w, u128 value);
  Operand operand(const llvm::Value *v) { return {use(v), widthOf(v)}; }
  Operand result(const llvm::Value *v) { return {define(v), widthOf(v)}; }
  /// The operand with integers of odd widths sign-extended to their containers.
  Operand signedOperand(const llvm::Value *v);
  /// An i32 register with the (zero- or sign-extended, or truncated) integer.
  Register asI32(const llvm::Value *v, bool isSigned);

  // Emission.
  Op &emit(Handler h);
  /// Before an operation that writes `bytes` bytes at register `address` plus `offset`.
  void noteWrite(Space space, Register address, uint64_t offset, uint64_t bytes);
  void noteRangeWrite(Space space, Register address, Register length, Width lengthWidth);
  /// Emits a lane loop over all registers of `d`, split into runs in which all operands are contiguous.
  void emitLanes(Handler h, Operand d, Operand a, Operand b = {}, Operand c = {}, uint32_t sub = 0, uint64_t imm = 0);
  void maskOdd(const Operand &d, llvm::Type *type);
  void emitMoves(llvm::ArrayRef<Leaf> leaves, Registers to, Registers from);
  template <class T, class... A> T *extra(A &&...args) {
    auto p = std::make_shared<T>(std::forward<A>(args)...);
    T *raw = p.get();
    out->extras.push_back(std::move(p));
    return raw;
  }
  const void *text(const std::string &s) { return extra<std::string>(s)->c_str(); }

  // Parts of instructions.
  void decodeInstruction(llvm::Instruction &i);
  Edge makeEdge(const llvm::BasicBlock *from, const llvm::BasicBlock *to);
  uint32_t turnOf(const llvm::Instruction &branch, unsigned successor) const;
  std::vector<Move> parallelCopy(std::vector<Move> moves);
  void bitCast(const llvm::Value &to, const llvm::Value &from);
  void spaceCast(const llvm::Value &to, const llvm::Value &from);
  void checkKernargRead(const llvm::Value *pointer, uint64_t bytes);
  /// `operands`: to, from or value, length.
  void checkRange(llvm::CallBase &i, Space to, std::optional<Space> from, std::array<Register, 3> operands);
  void checkStore(llvm::StoreInst &i, Registers values);
  /// `written`: of StoreCheck.
  void checkStore(const WriteHook &hook, Space space, Register address, std::vector<StoredLeaf> leaves,
                  Register written = kNoRegister);
  WrittenSite writtenSite(const WriteHook &hook, Space space);
  void accessLeaves(bool isLoad, const llvm::Value *pointer, llvm::Type *type, Registers regs);

  // Asynchronous copies.
  bool decodeCopy(llvm::CallBase &i);
  bool decodeWait(llvm::CallBase &i, unsigned id);
  void emitWait(uint32_t vmem, uint32_t async);
  void orderCopies(const llvm::Instruction &i);

  // Buffers.
  struct BufferTarget {
    Register address, inRange;
  };
  bool decodeBuffer(llvm::CallBase &i);
  void makeBufferResource(llvm::CallBase &i);
  Register resourceOf(const llvm::Value *resource);
  /// `at`: operand of the resource, `offsetAt`: of what follows it.
  BufferTarget findBuffer(llvm::CallBase &i, unsigned at, bool indexed, unsigned offsetAt, const BufferShape &shape);
  /// A plain operation for the lanes that have `needed` bytes in range, and that writes so many.
  Op &emitInBuffer(const BufferTarget &target, uint64_t needed, Handler run,
                   std::vector<std::pair<Register, Width>> results, uint32_t written = 0);
  void repack(llvm::ArrayRef<RepackLeaf> from, llvm::ArrayRef<RepackLeaf> to);
  void checkBufferStore(llvm::CallBase &i, const BufferTarget &target, llvm::ArrayRef<RepackLeaf> pieces);

  // Calls.
  void decodeCall(llvm::CallBase &i);
  bool decodeHook(llvm::CallBase &i, llvm::StringRef name);
  void decodeInlineAsm(llvm::CallBase &i);
  void decodeIntrinsic(llvm::CallBase &i, unsigned id);
  bool decodeGenericIntrinsic(llvm::CallBase &i, unsigned id);
  bool decodeFloatIntrinsic(llvm::CallBase &i, unsigned id);
  bool decodeAmdgcnIntrinsic(llvm::CallBase &i, unsigned id);
  bool decodeCrossLaneIntrinsic(llvm::CallBase &i, unsigned id);
  bool decodeMatrix(llvm::CallBase &i, unsigned id);
  bool decodeConversion(llvm::CallBase &i, unsigned id);
  void matrixCall(llvm::CallBase &i, const MatrixShape &shape);
  void sparseCall(llvm::CallBase &i, const SparseShape &shape);
  void gfx1250MatrixCall(llvm::CallBase &i, Gfx1250Shape shape);
  void scaledMatrixCall(llvm::CallBase &i, uint32_t rows);
  void waveMatrixCall(llvm::CallBase &i, const WaveMatrixShape &shape);
  void sparseWaveMatrixCall(llvm::CallBase &i, const WaveMatrixShape &shape);
  void intBinaryCall(llvm::CallBase &i, IntBinary op, bool isSigned);
  void intUnaryCall(llvm::CallBase &i, IntUnary op, uint32_t sub);
  void floatUnaryCall(llvm::CallBase &i, FloatUnary op);
  void floatBinaryCall(llvm::CallBase &i, FloatBinary op);
  void floatTernaryCall(llvm::CallBase &i, FloatTernary op);
  void overflowCall(llvm::CallBase &i, Overflow op);
  void reduceCall(llvm::CallBase &i, Handler combine, bool hasStart);
  void eachLeaf(llvm::CallBase &i, Handler (*pick)(Width), const llvm::Value *lane);
  void fp8Call(llvm::CallBase &i, Handler handler, bool fiveBits);
  /// Floats of eight bits are OCP's (gfx950, gfx12), not gfx942's own.
  bool hasOcpFloats() const { return context.processor != "gfx942"; }
  void miscCall(llvm::CallBase &i, Misc which);
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_DECODER_H
