// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "SourceLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace wavesan;

/// Operands: nodes {DISubprogram, first line, last line}. An empty one says that the module was looked at.
static constexpr StringLiteral kLoops = "wavesan.source.loops";

/// The lines of `L` that are written in `Code` itself, in its own file: not those of inlined calls and macros of
/// headers.
static std::pair<uint32_t, uint32_t> linesOf(const Loop &L, const DISubprogram &Code) {
  uint32_t First = UINT32_MAX, Last = 0;
  auto Add = [&](const DILocation *Location) {
    while (Location && Location->getInlinedAt())
      Location = Location->getInlinedAt();
    if (!Location || Location->getLine() == 0 || Location->getScope()->getSubprogram() != &Code ||
        Location->getFile() != Code.getFile())
      return;
    First = std::min(First, Location->getLine());
    Last = std::max(Last, Location->getLine());
  };
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      Add(I.getDebugLoc());
  return {First, Last};
}

PreservedAnalyses RememberLoopsPass::run(Module &M, ModuleAnalysisManager &Analyses) {
  if (!Triple(M.getTargetTriple()).isAMDGCN())
    return PreservedAnalyses::all();
  NamedMDNode *Node = M.getOrInsertNamedMetadata(kLoops);
  auto &FunctionAnalyses = Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  Type *Line = Type::getInt32Ty(M.getContext());
  auto Number = [&](uint32_t Value) { return ConstantAsMetadata::get(ConstantInt::get(Line, Value)); };
  for (Function &F : M) {
    DISubprogram *Code = F.getSubprogram();
    if (F.isDeclaration() || !Code)
      continue;
    for (const Loop *L : FunctionAnalyses.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (auto [First, Last] = linesOf(*L, *Code); First <= Last)
        Node->addOperand(MDNode::get(M.getContext(), {Code, Number(First), Number(Last)}));
  }
  return PreservedAnalyses::all();
}

void wavesan::forEachSourceLoop(Module &M, ModuleAnalysisManager &Analyses,
                                function_ref<void(const DISubprogram &, uint32_t, uint32_t)> Visit) {
  if (!M.getNamedMetadata(kLoops))
    RememberLoopsPass().run(M, Analyses);
  NamedMDNode *Node = M.getNamedMetadata(kLoops);
  if (!Node)
    return;
  for (const MDNode *Entry : Node->operands())
    Visit(*cast<DISubprogram>(Entry->getOperand(0)),
          uint32_t(mdconst::extract<ConstantInt>(Entry->getOperand(1))->getZExtValue()),
          uint32_t(mdconst::extract<ConstantInt>(Entry->getOperand(2))->getZExtValue()));
  Node->eraseFromParent(); // the code object says it from here on
}
