# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_resources.py ASSEMBLY KERNEL...: each kernel has a twin that needs no scratch memory and a bounded number of
registers, the check is out of line once and a leaf, and twins call checks."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "bench", "device_cost"))
import machine_code

VGPR_LIMIT = 72  # of a small kernel's twin; 64 or less keep half of the largest occupancy on most targets


def main():
    path, *names = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    code, kernels = machine_code.functions(text), machine_code.kernels(text)
    problems = []
    check = code.get(machine_code.CHECK)
    if not check:
        sys.exit(f"{path}: no {machine_code.CHECK}")
    for name in check:
        if machine_code.is_call(name) or name.startswith("scratch_") or name in ("buffer_store_dword", "buffer_load_dword"):
            problems.append(f"{machine_code.CHECK} contains {name}")
    for name in names:
        original, twin = kernels[name], kernels[name + machine_code.TWIN]
        calls = sum(map(machine_code.is_call, twin.mnemonics))
        if twin.scratch > machine_code.allowed_scratch(text) or (twin.spills and not machine_code.allowed_scratch(text)):
            problems.append(f"{twin.name}: {twin.scratch} bytes of scratch, {twin.spills} spilled registers")
        if twin.vgprs > VGPR_LIMIT:
            problems.append(f"{twin.name}: {twin.vgprs} VGPRs, more than {VGPR_LIMIT}")
        if twin.lds != original.lds:
            problems.append(f"{twin.name}: {twin.lds} bytes of LDS, the original has {original.lds}")
        if calls == 0:
            problems.append(f"{twin.name}: {calls} calls of the check")
    if problems:
        sys.exit("\n".join([path] + problems))


main()
