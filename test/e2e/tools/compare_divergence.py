#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two JSON reports of one program, as two kinds of hooks made them: they must name the same divergences, with the same lines, waves
and branches.

    compare_divergence.py A.json B.json LINE...     each LINE is that of a branch that both name
"""
import json
import os
import sys


def frames(chain):
    return [(os.path.basename(f["file"]), f["line"], f.get("column", 0)) for f in chain]


def divergences(path):
    with open(path, encoding="utf-8") as f:
        races = json.load(f)["races"]
    return sorted((r["class"], r["divergence"]["uneven"], frames(r["divergence"]["branch"] or []),
                   sorted(frames(side["frames"]) for side in r["sides"])) for r in races if "divergence" in r)


def main():
    first, second = divergences(sys.argv[1]), divergences(sys.argv[2])
    lines = sorted(branch[0][1] for _, _, branch, _ in first if branch)
    if not first or first != second:
        print(f"{sys.argv[1]} has {first}\n{sys.argv[2]} has {second}")
        return 1
    if lines != sorted(int(n) for n in sys.argv[3:]):
        print(f"{sys.argv[1]} names branches in lines {lines}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
