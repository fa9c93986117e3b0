#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares three lists of intrinsics: those that the engine's decoder accepts, those of docs/intrinsics.md, and those that
the engine's tests have executed (executed_intrinsics.h). Prints every difference; fails if there is one.

check_intrinsics.py ENGINE-SOURCES LLVM-INCLUDES DOCUMENT EXECUTED
"""
import re
import sys
from pathlib import Path

# What decode_copies.cpp and decode_buffer.cpp accept by the beginning of a name rather than by enumerator: patterns of
# enumerators, and the text of the source that each comes from.
BY_NAME = [
    ("decode_copies.cpp", '"global.load.lds"', r"amdgcn_global_load_lds"),
    ("decode_copies.cpp", '"load.to.lds"', r"amdgcn_load_to_lds"),
    ("decode_copies.cpp", '"global.load.async.to.lds"', r"amdgcn_global_load_async_to_lds_\w+"),
    ("decode_copies.cpp", '"global.store.async.from.lds"', r"amdgcn_global_store_async_from_lds_\w+"),
    ("decode_buffer.cpp", '"make.buffer.rsrc"', r"amdgcn_make_buffer_rsrc"),
    ("decode_buffer.cpp", '"buffer.load.lds"', r"amdgcn_(raw|struct)_(ptr_)?buffer_load_lds"),
    ("decode_buffer.cpp", '"buffer.load"', r"amdgcn_(raw|struct)_(ptr_)?buffer_load"),
    ("decode_buffer.cpp", '"atomic.buffer.load"', r"amdgcn_(raw|struct)_(ptr_)?atomic_buffer_load"),
    ("decode_buffer.cpp", '"buffer.store"', r"amdgcn_(raw|struct)_(ptr_)?buffer_store"),
    ("decode_buffer.cpp", '"cond.sub.u32"', r"amdgcn_(raw|struct)_(ptr_)?buffer_atomic_cond_sub_u32"),
    ("decode_buffer.cpp", '"sub.clamp.u32"', r"amdgcn_(raw|struct)_(ptr_)?buffer_atomic_sub_clamp_u32"),
    ("decode_buffer.cpp", '"cmpswap"', r"amdgcn_(raw|struct)_(ptr_)?buffer_atomic_cmpswap"),
]


def accepted(sources, includes):
    """Names as enumerators, and problems with how they were found."""
    names, problems = set(), []
    for source in sorted(sources.glob("*.cpp")):
        names |= set(re.findall(r"case Intrinsic::(\w+)", source.read_text()))
    header = (includes / "llvm/IR/IntrinsicsAMDGPU.h").read_text()
    enumerators = set(re.findall(r"^\s+(amdgcn_\w+)", header, re.MULTILINE))
    buffers = (sources / "decode_buffer.cpp").read_text()
    patterns = list(BY_NAME)
    for operation in re.findall(r'\.Case\("(\w+)", RmwOp', buffers):
        patterns.append(("decode_buffer.cpp", f'.Case("{operation}"', rf"amdgcn_(raw|struct)_(ptr_)?buffer_atomic_{operation}"))
    for file, text, pattern in patterns:
        if text not in (sources / file).read_text():
            problems.append(f"{file} no longer has {text}: {Path(__file__).name} is out of date")
        found = {name for name in enumerators if re.fullmatch(pattern, name)}
        if not found:
            problems.append(f"LLVM has no intrinsic like {pattern}")
        names |= found
    return names, problems


def documented(document):
    """Of the first column of every table; several intrinsics may share a row."""
    names = []
    for line in document.read_text().splitlines():
        if line.startswith("| `llvm."):
            names += re.findall(r"`llvm\.([\w.]+)`", line.split("|")[1])
    return [name.replace(".", "_") for name in names]


def main(sources, includes, document, executed):
    names, problems = accepted(Path(sources), Path(includes))
    listed = documented(Path(document))
    ran = set(Path(executed).read_text().split())
    if len(names) < 100 or not ran:
        problems.append(f"{len(names)} intrinsics in the sources, {len(ran)} executed: something is not read")
    problems += [f"{document} lists {name} twice" for name in sorted(set(n for n in listed if listed.count(n) > 1))]
    problems += [f"{document} lacks {name}, which the engine executes" for name in sorted(names - set(listed))]
    problems += [f"{document} lists {name}, which the engine does not know" for name in sorted(set(listed) - names)]
    problems += [f"no engine test executes {name}" for name in sorted(names - ran)]
    for problem in problems:
        print(problem)
    print(f"{len(names)} intrinsics, {len(names & ran)} of them executed by tests, {len(listed)} documented")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
