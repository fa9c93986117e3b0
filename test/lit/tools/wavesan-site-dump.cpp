// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wavesan-site-dump FILE: prints the site table of a device code object (ELF), through parseSiteTable.
// wavesan-site-dump --ir FILE: writes the embedded bitcode to standard output.
#include "wavesan/abi/site_table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
namespace abi = wavesan::abi;

static int fail(const Twine &Why) {
  errs() << "wavesan-site-dump: " << Why << "\n";
  return 1;
}

static std::string accessText(uint32_t Info) {
  std::string Text;
  for (auto [Bit, Name] : {std::pair(abi::kAccessRead, "read"), std::pair(abi::kAccessWrite, "write"),
                           std::pair(abi::kAccessAtomic, "atomic")})
    if (abi::accessBits(Info) & Bit)
      Text += (Text.empty() ? "" : "|") + std::string(Name);
  return Text;
}

static void printFrames(const abi::SiteTableView &Table, uint32_t Frame) {
  for (const char *Separator = " at "; Frame != abi::kNoFrame; Separator = " <- ") {
    abi::FrameEntry F = Table.frame(Frame);
    outs() << Separator << Table.string(F.function) << " (" << Table.string(F.file) << ":" << F.line << ":" << F.column
           << ")";
    Frame = F.inlinedAt;
  }
}

static void printStores(const abi::SiteTableView &Table, const abi::KernelEntry &K) {
  if (K.twin.length && !(K.flags & abi::kKernelStoresKnown))
    outs() << "  stores anywhere\n";
  if (K.flags & abi::kKernelOrdersThroughLds)
    outs() << "  orders waves through LDS\n";
  if (K.flags & abi::kKernelWaitsForHost)
    outs() << "  may wait for the host\n";
  for (uint32_t S = K.storeFirst; S < K.storeFirst + K.storeCount; ++S) {
    abi::StoreEntry E = Table.store(S);
    if (E.argument == abi::kNoArgument)
      outs() << "  stores to variable " << Table.string(E.variable) << "\n";
    else
      outs() << "  stores through argument " << E.argument << " + " << E.offset << "\n";
  }
}

static void print(const abi::SiteTableView &Table, bool Stores, bool Notes) {
  for (uint32_t I = 0; I < Table.kernelCount(); ++I) {
    abi::KernelEntry K = Table.kernel(I);
    outs() << "kernel " << Table.string(K.original) << " twin " << Table.string(K.twin) << " granule " << K.granuleLog2
           << " sites " << K.siteTotal << (K.flags & abi::kKernelUsesDynamicLds ? " dynamic-lds" : "") << " at "
           << Table.string(K.file) << ":" << K.line << "\n";
    for (uint32_t S = K.skipFirst; S < K.skipFirst + K.skipCount; ++S)
      outs() << "  skip " << Table.skip(S).count << ": " << Table.string(Table.skip(S).reason) << "\n";
    if (Stores)
      printStores(Table, K);
    if (Notes && K.twin.length)
      outs() << (K.flags & abi::kKernelNotesWrites ? "  notes its writes\n" : "  does not note all writes\n");
  }
  for (uint32_t I = 0; I < Table.siteCount(); ++I) {
    abi::SiteEntry S = Table.site(I);
    static const char *Kinds[] = {"?", "access", "range", "barrier"};
    outs() << "site " << I << ": " << Kinds[S.kind <= 3 ? S.kind : 0];
    if (abi::SiteKind(S.kind) != abi::SiteKind::Barrier)
      outs() << " " << accessText(S.info) << " size " << abi::accessSize(S.info);
    outs() << " '" << Table.string(S.opcode) << "'";
    if (S.variable.length)
      outs() << " of " << Table.string(S.variable);
    if (S.stored.length)
      outs() << " stores " << toHex(StringRef(Table.string(S.stored).data(), S.stored.length), /*LowerCase=*/true);
    printFrames(Table, S.frame);
    outs() << "\n";
  }
  for (uint32_t I = 0; I < Table.branchCount(); ++I) {
    abi::BranchEntry B = Table.branch(I);
    auto Barrier = [&](uint32_t Frame) {
      if (Frame >= abi::kAnyFrame)
        outs() << (Frame == abi::kAnyFrame ? " anywhere" : " nowhere");
      else
        printFrames(Table, Frame);
    };
    outs() << "branch " << B.line << ":" << B.column << " depth " << B.depth << " from";
    Barrier(B.from);
    outs() << " to";
    Barrier(B.barrier);
    outs() << " or";
    Barrier(B.other);
    outs() << "\n";
  }
  for (uint32_t I = 0; I < Table.loopCount(); ++I) {
    abi::LoopEntry L = Table.loop(I);
    outs() << "loop " << Table.string(L.function) << " (" << Table.string(L.file) << ":" << L.first << "-" << L.last
           << ")\n";
  }
}

int main(int argc, char **argv) {
  bool Ir = argc == 3 && StringRef(argv[1]) == "--ir";
  bool Notes = argc == 3 && StringRef(argv[1]) == "--notes";
  bool Stores = Notes || (argc == 3 && StringRef(argv[1]) == "--stores");
  if (argc != 2 && !Ir && !Stores)
    return fail("usage: wavesan-site-dump [--ir | --stores | --notes] FILE");
  auto Buffer = MemoryBuffer::getFile(argv[argc - 1]);
  if (!Buffer)
    return fail(Twine(argv[argc - 1]) + ": " + Buffer.getError().message());
  auto File = object::ObjectFile::createObjectFile((*Buffer)->getMemBufferRef());
  if (!File)
    return fail(toString(File.takeError()));
  StringRef Wanted = Ir ? abi::kIrSection : abi::kSiteTableSection;
  for (const object::SectionRef &Section : (*File)->sections()) {
    Expected<StringRef> Name = Section.getName(), Contents = Section.getContents();
    if (!Name || !Contents)
      return fail("unreadable section");
    if (*Name != Wanted)
      continue;
    if (Ir) {
      outs() << *Contents;
      return 0;
    }
    std::string Why;
    auto Table = abi::parseSiteTable(*Contents, Why);
    if (!Table)
      return fail(Why);
    print(*Table, Stores, Notes);
    return 0;
  }
  return fail("no section " + Wanted);
}
