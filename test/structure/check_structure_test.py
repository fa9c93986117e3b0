#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each rule of check_structure.py on a made-up tree that breaks it, and a clean tree that breaks none."""
import os
import tempfile
import unittest

import check_structure

ARROWS = check_structure.parse_arrows(
    """
    runtime/abi ->           # the bottom
    runtime/core -> runtime/abi
    runtime/report -> runtime/abi
    driver -> runtime/report runtime/abi
    """
)
HEADER = "// " + check_structure.LICENCE + "\n"
CMAKE_HEADER = "# " + check_structure.LICENCE + "\n"
CLEAN = {
    "runtime/abi/include/wavesan/abi/a.h": HEADER,
    "runtime/core/include/wavesan/core/c.h": HEADER + '#include "wavesan/abi/a.h"\n#include <vector>\n',
    "runtime/report/r.h": HEADER + '#include "wavesan/abi/a.h"\n',
    "runtime/report/CMakeLists.txt": CMAKE_HEADER + "add_library(report r.cpp)\n",
    "runtime/core/CMakeLists.txt": CMAKE_HEADER + "add_library(core INTERFACE)\n",
    "driver/d.cpp": HEADER + '#include "d.h"\n#include "r.h"\n#include "info.h"\n#include "llvm/X.h"\n',
    "driver/d.h": HEADER,
    "driver/info.h.in": HEADER,
    "driver/CMakeLists.txt": CMAKE_HEADER + "add_executable(d d.cpp)\ntarget_link_libraries(d PRIVATE report)\n",
    "test/t.cpp": HEADER + '#include "wavesan/core/c.h"\n#include "d.h"\n',
    "scripts/run": "#!/bin/sh\n" + CMAKE_HEADER,
    "build/junk.cpp": "no header, and nobody looks\n",
}


class Rules(unittest.TestCase):
    def problems(self, changes):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **changes}.items():
                file = os.path.join(root, path)
                os.makedirs(os.path.dirname(file), exist_ok=True)
                with open(file, "w", encoding="utf-8") as f:
                    f.write(text)
            return check_structure.check(root, ARROWS).problems

    def expect(self, changes, *parts):
        found = self.problems(changes)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_clean_tree(self):
        self.assertEqual(self.problems({}), [])

    def test_include_against_the_arrows(self):
        self.expect({"runtime/abi/include/wavesan/abi/a.h": HEADER + '#include "wavesan/core/c.h"\n'}, "runtime/abi must not use runtime/core")
        self.expect({"runtime/report/r.cpp": HEADER + '#  include "../../driver/d.h"\n'}, "runtime/report must not use driver")
        self.expect({"driver/e.cpp": HEADER + "#include <wavesan/core/c.h>\n"}, "driver must not use runtime/core")

    def test_include_of_a_test_header(self):
        self.expect({"test/fake.h": HEADER, "driver/e.cpp": HEADER + '#include "fake.h"\n'}, "must not use test/fake.h")

    def test_unknown_header(self):
        self.expect({"driver/e.cpp": HEADER + '#include "nowhere.h"\n'}, "no such header")

    def test_link_against_the_arrows(self):
        self.expect(
            {"driver/CMakeLists.txt": CMAKE_HEADER + "add_executable(d d.cpp)\ntarget_link_libraries(d PRIVATE report\n  core)\n"},
            "target_link_libraries(d core)", "driver must not use runtime/core")

    def test_link_from_another_directory(self):
        self.expect({"cmake/more.cmake": CMAKE_HEADER + "target_link_libraries(report PRIVATE d)\n"}, "runtime/report must not use driver")

    def test_code_outside_of_the_parts(self):
        self.expect({"stray/s.cpp": HEADER}, "outside of every part")

    def test_licence(self):
        self.expect({"driver/e.cpp": "int x;\n"}, "driver/e.cpp", "licence")
        self.expect({"scripts/run": "#!/bin/sh\necho\n"}, "scripts/run", "licence")

    def test_length(self):
        self.expect({"driver/e.cpp": HEADER + "\n" * check_structure.MAX_LINES}, "801 lines")

    def test_machine_path(self):
        self.expect({"driver/e.cpp": HEADER + 'auto p = "/ho' + 'me/somebody/x";\n'}, "line 2", "machine")

    def test_utils(self):
        self.expect({"driver/string_utils.h": HEADER}, "utils")
        self.expect({"driver/Util/a.h": HEADER}, "utils")
        self.assertEqual(self.problems({"driver/utility_functions.h": HEADER}), [])

    def test_glob(self):
        self.expect({"driver/CMakeLists.txt": CMAKE_HEADER + "file(GLOB sources *.cpp)\n"}, "GLOB")


if __name__ == "__main__":
    unittest.main()
