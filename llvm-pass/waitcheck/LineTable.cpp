// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LineTable.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"

namespace wavesan::waitcheck {

LineTable::LineTable(const llvm::object::ELFObjectFileBase &object) : object(object) {}
LineTable::~LineTable() = default;

void LineTable::locate(uint64_t address, uint64_t section, Place &place) {
  // A damaged line table costs source lines, never the check: its errors are dropped.
  auto ignore = [](llvm::Error e) { llvm::consumeError(std::move(e)); };
  if (!context)
    context = llvm::DWARFContext::create(object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
  const auto line = context->getLineInfoForAddress({address, section}, {llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath});
  if (!line || line->Line == 0 || line->FileName == llvm::DILineInfo::BadString)
    return;
  place.file = line->FileName;
  place.line = line->Line;
  place.column = line->Column;
}

} // namespace wavesan::waitcheck
