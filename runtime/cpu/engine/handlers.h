// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations, as the decoder picks them. Every function returns null for a combination that does not exist.
//
// HandlerSet: operations whose cost depends on the instruction set; the same source is compiled for several
// (CMakeLists.txt) and handlers() picks one once per process. All of them compute the same results.
#ifndef WAVESAN_CPU_ENGINE_HANDLERS_H
#define WAVESAN_CPU_ENGINE_HANDLERS_H

#include "wave.h"

#include "wavesan/abi/hooks.h"

#include <optional>
#include <utility>
#include <vector>

namespace wavesan::cpu::engine {

enum class IntBinary {
  Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor, UMin, UMax, SMin, SMax,
  UAddSat, USubSat, SAddSat, SSubSat, UShlSat, MulHiU, MulHiS,
};
/// Mask: & imm. SignExtend: from the low (container - sub) bits. CtLz, BSwap, BitReverse: sub = container bits - bits.
/// CtTz: sub = bits (the result for zero). AddImm: + imm. FindMsbU/S: v_ffbh semantics (-1 for none).
enum class IntUnary { Mask, SignExtend, CtPop, CtLz, CtTz, BSwap, BitReverse, Abs, AddImm, FindMsbU, FindMsbS };
enum class IntTernary { FShl, FShr, UMed3, SMed3 };
enum class Overflow { UAdd, SAdd, USub, SSub, UMul, SMul };
enum class IntCompare { Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle };

enum class FloatKind : uint8_t { Half, BFloat, Single, Double };
enum class FloatUnary {
  Neg, Abs, Sqrt, Floor, Ceil, Trunc, Rint, Round, RoundEven, Canonicalize, Exp, Exp2, Exp10, Log, Log2, Log10, Sin,
  Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Rcp, Rsq, Fract, FrexpMant, SinTurns, CosTurns,
};
enum class FloatBinary {
  Add, Sub, Mul, Div, Rem, MinNum, MaxNum, Minimum, Maximum, CopySign, Pow, Atan2, MulLegacy,
};
enum class FloatTernary { Fma, Med3, FmaLegacy };

/// Memory behind a pointer. Flat: a host address in 64 bits (global, constant, generic). Lds, Private: 32-bit
/// offsets into the group segment and into the lane's private memory.
enum class Space : uint8_t { Flat, Lds, Private };

struct HandlerSet {
  Handler (*intBinary)(IntBinary, Width);
  Handler (*intUnary)(IntUnary, Width);
  Handler (*intTernary)(IntTernary, Width);
  Handler (*overflow)(Overflow, Width);   ///< d: value, c: flag (destination)
  Handler (*intCompare)(IntCompare, Width);
  Handler (*zeroExtendOrTruncate)(Width from, Width to);
  Handler (*signExtend)(Width from, Width to); ///< from the low (container - sub) bits
  Handler (*select)(Width);                    ///< c ? a : b, c one register for all n
  Handler (*selectVector)(Width);              ///< c: n registers
  Handler (*move)(Width);
  Handler (*scaledAdd)(Width pointer, Width index); ///< a + sext(b) * imm + int32_t(sub)
  Handler (*split)(Width wide, Width narrow); ///< d: n * ratio registers from a: n registers, low part first
  Handler (*join)(Width narrow, Width wide);  ///< the inverse
  Handler (*floatUnary)(FloatUnary, FloatKind);
  Handler (*floatBinary)(FloatBinary, FloatKind);
  Handler (*floatTernary)(FloatTernary, FloatKind);
  Handler (*floatCompare)(FloatKind); ///< sub: bits 0-3 true when equal, greater, less, unordered
  Handler (*floatClass)(FloatKind);   ///< sub: llvm::FPClassTest mask, or kNoClassMask with the mask in b (i32)
  Handler (*ldexp)(FloatKind);        ///< exponent in b (i32)
  Handler (*frexpExponent)(FloatKind); ///< to i32
  Handler (*floatCast)(FloatKind from, FloatKind to);
  Handler (*floatToInt)(FloatKind, bool isSigned, Width to); ///< saturating to `sub` bits; NaN gives 0
  Handler (*intToFloat)(Width, bool isSigned, FloatKind);
  Handler (*load)(Space, Width);  ///< n consecutive registers from a + imm
  Handler (*store)(Space, Width); ///< n consecutive registers b to a + imm
};
inline constexpr uint32_t kNoClassMask = 0xffffffffu;
const HandlerSet &handlers();
enum class InstructionSet { Portable, Avx2, Avx512 };
/// For tests: what handlers() returns from now on. False if this machine cannot execute the set.
bool useInstructionSet(InstructionSet);

// Memory. Addresses: register a (of the space's width), plus imm.
enum class RmwOp {
  Xchg, Add, Sub, And, Nand, Or, Xor, Max, Min, UMax, UMin, FAdd, FSub, FMax, FMin, FMaximum, FMinimum, UIncWrap,
  UDecWrap, USubCond, USubSat,
};
Handler atomicRmw(Space, RmwOp, Width);                     ///< d (may be kNoRegister) = old; b: operand
Handler atomicRmwFloat(Space, RmwOp, FloatKind, uint32_t elements); ///< elements: 1, or 2 halves in one dword
Handler atomicCompareExchange(Space, Width);                ///< b: expected, c: desired; d: old, Op::extra: success
Handler atomicLoad(Space, Width);
Handler atomicStore(Space, Width);
Handler oddLoad(Space, Width);  ///< one register of `sub` bytes, zero-extended
Handler oddStore(Space, Width); ///< one register, low `sub` bytes
Handler copyMemory(Space to, Space from, Width length); ///< memcpy, memmove: a: to, b: from, c: length
Handler setMemory(Space to, Width length);              ///< a: to, b: i8 value, c: length
// Before what writes (write_notes.h), where somebody asks. No time passes.
Handler noteStore();              ///< a: address (u64), imm: offset, sub: bytes
Handler noteRange(Width length);  ///< a: address (u64), c: length
void noteLanes(Wave &, Register address, uint64_t offset, uint64_t bytes);
// Through buffer resources (buffer_resource.h).
Handler makeResource(); ///< a: base (u64), b: stride and swizzling (u16), c: records (u32), sub: flags (u32); d: u128
Handler findInBuffer(); ///< a: resource (u128), b: offset, c: scalar offset, sub: index or kNoRegister, extra: BufferShape;
                        ///< d: address (u64), n: register of the bytes in range (u32)
Handler inBuffer();     ///< a: bytes in range, imm: how many of them a lane must have to take part, extra: InBuffer
struct InBuffer {
  Op op; ///< a plain memory operation
  std::vector<std::pair<Register, Width>> results; ///< zero in lanes that take no part
  uint32_t noted = 0; ///< bytes that it writes and that are noted before
};
// Asynchronous copies (copies.h).
Handler issueCopy();   ///< a: global addresses, b: LDS addresses, imm: offset of both, extra: CopyShape; c: bytes in range
                       ///< of a buffer, or kNoRegister
Handler waitCopies();  ///< sub: how many of vector memory may remain, n: of asynchronous copies, or kNoWaitCount
inline constexpr uint32_t kNoWaitCount = 0xffffffffu;
Handler fenceCopies(); ///< where memory order asks for copies that the compiler knows of
Handler setM0();       ///< a: u32, of the first active lane
Handler getM0();       ///< d: u32
Handler countVmem();   ///< imm: vector memory instructions that are issued at most
Handler kernargCheck(); ///< imm: end of a kernarg read, in bytes

// Address spaces.
Handler castToFlat(Space from);
Handler castFromFlat(Space to);
Handler isSpace(Space);
Handler allocaOp(); ///< d = frame's private base + imm

// Cross-lane operations.
Handler mbcnt(bool high);
Handler ballot(Width result);    ///< a: i1
Handler execMask(Width result);  ///< exec >> sub
Handler inverseBallot(Width mask);
Handler readFirstLane(Width);
Handler readLane(Width); ///< b: lane (i32)
Handler writeLane(Width); ///< a: value, b: lane, c: old
Handler bpermute(bool halves); ///< a: byte address, b: value; halves: within 32 lanes
Handler permute(bool halves);
Handler swizzle(); ///< sub: pattern
struct DppControl {
  uint32_t control, rowMask, bankMask;
  bool boundControl;
};
Handler dpp(Width); ///< a: old, b: source, extra: DppControl
Handler permlane16(bool crossRows); ///< a: old, b: source; extra: PermlaneSelect
struct PermlaneSelect {
  Register low, high;
  bool fetchInactive, boundControl;
};
Handler permlane64();
enum class WaveReduce { Add, Sub, UMin, UMax, SMin, SMax, And, Or, Xor };
Handler waveReduce(WaveReduce, Width);

// Synchronisation and the rest.
Handler barrier();
Handler barrierSignal();
Handler barrierWait();
Handler namedBarrier(abi::NamedBarrierOperation); ///< a: address (u32), b: member count (u32), where the operation has them
Handler sleepOp();
Handler gridBarrier(); ///< a: waves less one (u32), b: number of the barrier (u32)
Handler fenceOp(bool beyondWorkgroup);
Handler nop();
Handler clockOp(); ///< d: u64
Handler trap();
Handler endProgram();
Handler unsupported(); ///< extra: const char*, the message
Handler bitRepack();   ///< extra: Repack
struct RepackLeaf {
  Register reg;
  Width width;
  uint32_t bits;
};
struct Repack {
  const RepackLeaf *from, *to;
  uint32_t fromCount, toCount;
};
Handler dynamicExtract(Width); ///< d = a[c], n elements, index width in sub (Width)
Handler dynamicInsert(Width);  ///< d[n] = a[n] with [c] = b
enum class Misc { Perm, AlignByte, AlignBit, Sad8, Ubfe, Sbfe, MulU24, MulI24, MulHiU24, MulHiI24, CvtPkRtz, CvtPkU16, CvtPkI16,
  CvtPkNormI16, CvtPkNormU16, Lerp, DivFixupF32, DivFixupF64, SDot4, UDot4, TrigPreop };
Handler misc(Misc);
Handler divScale(FloatKind); ///< a: numerator, b: denominator, sub: 1 to scale the numerator; d: value, c: flag
Handler divFmas(FloatKind);  ///< a, b, c and flag in extra's register (const Register*)

// Hooks (abi/hooks.h).
Handler hook(uint32_t hookIndex); ///< extra: HookOperands; sub: 1 in contested blocks (divergent_arms.h)
Handler lanesMeet();              ///< tells the hooks' handler of a cross-lane operation
/// 32 bits that are the same in all lanes, mostly a constant.
struct UniformOperand {
  Register reg = kNoRegister;
  uint32_t value = 0; ///< if there is no register
};
struct HookOperands {
  Register address = kNoRegister, length = kNoRegister, wrote = kNoRegister;
  UniformOperand info, site, variable; ///< of a named barrier: info is the operation, variable the barrier
};

Handler storeCheck(Space); ///< a: address; extra: StoreCheck. Space: Flat or Lds.
/// Of memcpy and memset: a: to (Flat or Lds), b: from, or the value where there is none, c: length; extra: WrittenSite.
Handler rangeCheck(Space to, std::optional<Space> from, Width length);
/// What the access hook of a write says of it.
struct WrittenSite {
  uint32_t info = 0, site = 0;
  Register variable = kNoRegister; ///< operand of the LDS hook
};
void reportLaneClash(Wave &, const LaneClash &, bool lds, const WrittenSite &);
struct StoredLeaf {
  Register reg;
  Width width;
  uint32_t offset, bytes; ///< in memory
};
/// A plain store of one lane, for the comparison of its lanes.
struct StoreCheck {
  std::vector<StoredLeaf> leaves;
  uint32_t bytes = 0;             ///< from the first to behind the last that is written
  Register written = kNoRegister; ///< how many of them a lane writes, whole leaves (u32); kNoRegister: all
  WrittenSite site;
};

// Control.
Handler branch();            ///< extra: Edge
Handler conditionalBranch(); ///< a: i1; extra: Edge[2] (true, false)
Handler turningBranch();     ///< the same, and imm: turns of the edges (barrier_flow.h), the first in the low half
Handler switchOp();          ///< a: value; extra: SwitchTable
Handler call();              ///< a: target (u64) for indirect calls; d: first result; extra: CallSite
Handler returnOp();          ///< extra: ReturnValues
Handler unreachable();

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_HANDLERS_H
