// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reader of .debug_line (DWARF 2 to 5) that survives damaged input. LLVM's own readers end or crash the process on some of it, and a
// checker of files from anywhere must not.
#ifndef WAVESAN_WAITCHECK_LINEPROGRAM_H
#define WAVESAN_WAITCHECK_LINEPROGRAM_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wavesan::waitcheck {

struct LineSections {
  llvm::StringRef line;      ///< .debug_line
  llvm::StringRef lineStr;   ///< .debug_line_str
  llvm::StringRef str;       ///< .debug_str
};

class LinePrograms {
public:
  /// Reads all units. A damaged unit is left out from the damage on; the next one is read if its start is known.
  explicit LinePrograms(const LineSections &sections);

  struct Found {
    std::string file;
    unsigned line = 0, column = 0;
  };
  /// False if no unit covers the address.
  bool lookup(uint64_t address, Found &found) const;

private:
  struct Row {
    uint64_t address;
    uint32_t file, line, column;
  };
  struct Sequence {
    uint64_t begin, end;
    size_t firstRow, lastRow; ///< [firstRow, lastRow)
    size_t unit;
  };
  struct Unit {
    std::vector<std::string> files; ///< by file number; numbers below DWARF 5 start at 1, and entry 0 is empty
  };
  class Reader;

  std::vector<Row> rows;
  std::vector<Sequence> sequences; ///< by begin
  std::vector<Unit> units;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_LINEPROGRAM_H
