// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source lines of a code object, read when the first one is asked for.
#ifndef WAVESAN_WAITCHECK_LINETABLE_H
#define WAVESAN_WAITCHECK_LINETABLE_H

#include "CodeObject.h"
#include "Diagnostics.h"

#include <memory>

namespace wavesan::waitcheck {

class LineTable {
public:
  explicit LineTable(const CodeObject &object);
  ~LineTable();
  /// Fills file, line and column, if the table has them.
  void locate(uint64_t address, uint64_t section, Place &place);

private:
  const CodeObject &object;
  struct Tables;
  std::unique_ptr<Tables> tables;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_LINETABLE_H
