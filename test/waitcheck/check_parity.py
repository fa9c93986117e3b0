#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every row of the parity table of docs/waitcheck.md names tests that exist.

    check_parity.py docs/waitcheck.md TEST_PROGRAM asm_pairs_test.cpp
"""
import re
import subprocess
import sys


def main():
    document, program, pairs_source = sys.argv[1:]
    known, suite = set(), ""
    for line in subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("  "):
            known.add(suite + line.split("/")[0].split("#")[0].strip())
        else:
            suite = line.split("#")[0].strip().split("/")[-1]
    pairs = set(re.findall(r'^    \{"(\w+)",', open(pairs_source, encoding="utf-8").read(), re.MULTILINE))
    rows = problems = 0
    table = open(document, encoding="utf-8").read().split("| reference scenario | here |")[1].split("\n\n")[0]
    for row in table.splitlines()[2:]:
        scenario, here = [cell.strip() for cell in row.strip("|").split("|")]
        rows += 1
        names = re.findall(r"\b([A-Z]\w+\.(?:\w+|\*))", here)
        in_pairs = [n for group in re.findall(r"AsmPairs ((?:\w+(?:, )?)+)", here) for n in group.split(", ")]
        missing = [n for n in names if not (any(k.startswith(n[:-1]) for k in known) if n.endswith("*") else n in known)]
        missing += [n for n in in_pairs if n and n not in pairs and "." not in n and not any(k.startswith(n + ".") for k in known)]
        if missing or not (names or in_pairs):
            problems += 1
            print(f"{scenario}: " + (f"no test {', '.join(missing)}" if missing else "no test named"))
    print(f"{rows} rows, {problems} without their tests")
    return 1 if problems or rows < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
