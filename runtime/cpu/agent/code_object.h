// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code objects: AMD's ELF files with device code, loaded into memory.
//
// The bytes may come from anywhere; whatever is wrong with them is an error with one line that says what.
#ifndef WAVESAN_CPU_AGENT_CODE_OBJECT_H
#define WAVESAN_CPU_AGENT_CODE_OBJECT_H

#include "engine.h"
#include "hsa_headers.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::agent {

struct GpuTarget;

inline constexpr uint16_t kMachineAmdgpu = 224; ///< e_machine
inline constexpr uint32_t kNoteMetadata = 32;   ///< NT_AMDGPU_METADATA
inline constexpr char kNoteOwner[] = "AMDGPU";

/// The 64 bytes in front of a kernel, as LLVM's AMDGPU back end lays them out (code objects v3 and later).
struct KernelDescriptor {
  uint32_t groupSegmentFixedSize;
  uint32_t privateSegmentFixedSize;
  uint32_t kernargSize;
  uint32_t reserved0;
  int64_t entryByteOffset;
  uint8_t reserved1[20];
  uint32_t computePgmRsrc3;
  uint32_t computePgmRsrc1;
  uint32_t computePgmRsrc2;
  uint16_t kernelCodeProperties;
  uint16_t kernargPreload;
  uint8_t reserved2[4];

  bool isWave32() const { return kernelCodeProperties & (1u << 10); }
  bool usesDynamicStack() const { return kernelCodeProperties & (1u << 11); }
};
static_assert(sizeof(KernelDescriptor) == 64);

/// Byte offset and size of a kernel argument in the kernarg segment.
struct KernelArgument {
  uint32_t offset;
  uint32_t size;
};
using KernelArguments = std::map<std::string, KernelArgument, std::less<>>;
using ArgumentsByKernel = std::map<std::string, KernelArguments, std::less<>>;

/// A symbol that programs can ask for.
struct Symbol {
  enum Kind { Kernel, Variable };
  std::string name; ///< as in the ELF file; kernels end in ".kd"
  Kind kind;
  uint64_t address; ///< where it was loaded
  uint64_t size;
  bool isWeakOrGlobal;
  KernelDescriptor descriptor; ///< kernels only
  class LoadedCodeObject *owner;

  /// The kernel's name without ".kd".
  std::string_view kernelName() const { return std::string_view(name).substr(0, name.size() - 3); }
};

/// Contents of a code object, shared by the reader that brought it and everything loaded from it.
using CodeObjectBytes = std::shared_ptr<const std::string>;

/// Addresses of variables that the program defines for an executable.
using ExternalVariables = std::map<std::string, uint64_t, std::less<>>;

class LoadedCodeObject {
public:
  /// Null, with a status and one line in `error`, if the bytes cannot be loaded for `target`.
  static std::unique_ptr<LoadedCodeObject> load(CodeObjectBytes bytes, const GpuTarget &target,
                                                const ExternalVariables &externals, hsa_status_t &status,
                                                std::string &error);
  ~LoadedCodeObject();
  LoadedCodeObject(const LoadedCodeObject &) = delete;
  LoadedCodeObject &operator=(const LoadedCodeObject &) = delete;

  const std::vector<std::unique_ptr<Symbol>> &symbols() const { return Symbols; }
  const std::string &bytes() const { return *Bytes; }
  uint8_t *base() const { return Base; }
  size_t span() const { return Span; } ///< bytes of memory, from base()
  /// Loaded address minus ELF address.
  int64_t loadDelta() const { return reinterpret_cast<int64_t>(Base) - int64_t(FirstAddress); }

  /// Contents of the IR section; empty if there is none.
  std::string_view ir() const { return Ir; }

  /// The engine's program for this code object, decoded at the first call. Null with one line in `error` if it
  /// carries no IR or the IR cannot be decoded. Thread-safe.
  cpu::Program *program(std::string &error);

  /// The explicit arguments of a kernel by name, from the metadata note; empty if there are none. Thread-safe; the
  /// result lives as long as this object.
  const KernelArguments &argumentsOf(std::string_view kernelName);

private:
  LoadedCodeObject() = default;
  friend class CodeObjectLoader;

  CodeObjectBytes Bytes;
  std::string TargetName;
  std::string_view Ir, Metadata; // parts of *Bytes
  uint8_t *Base = nullptr;
  size_t Span = 0;
  uint64_t FirstAddress = 0; ///< ELF address of *Base
  std::vector<std::unique_ptr<Symbol>> Symbols;
  /// Variables of internal linkage, which are no symbols of the executable; 0: several of that name.
  std::map<std::string, uint64_t, std::less<>> LocalVariables;

  std::once_flag ArgumentsRead;
  ArgumentsByKernel Arguments;

  std::mutex ProgramMutex;
  bool ProgramTried = false;
  std::unique_ptr<cpu::Program> Program;
  std::string ProgramError;
};

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_CODE_OBJECT_H
