# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""measure.py --clang=CLANG --plugin=PLUGIN [--targets=A,B] [--limits]

What WaveSan adds to machine code, counted in what the compiler emits; no GPU is involved. Prints two tables in Markdown:
per kind of access and target, and per program and target. --limits fails where a twin needs more scratch memory than allowed_scratch() says."""
import argparse
import os
import subprocess
import sys

import machine_code
from machine_code import CHECK, TWIN

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MANY = 4, 12  # accesses in the two kernels of a kind


def assembly(options, target, source, defines=()):
    command = [options.clang, "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib"]
    command += [f"--offload-arch={target}", "-O3", "-gline-tables-only", f"-fpass-plugin={options.plugin}"]
    command += [*defines, "-S", os.path.join(HERE, source), "-o", "-"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def pairs(kernels):
    return {name: (kernel, kernels[name + TWIN]) for name, kernel in kernels.items() if name + TWIN in kernels}


def difference(pair):
    original, twin = pair
    return twin.instructions - original.instructions


def measure_kinds(options, target):
    texts = [assembly(options, target, "kinds.hip", [f"-DCOUNT={n}"]) for n in (FEW, MANY)]
    few, many = (pairs(machine_code.kernels(text)) for text in texts)
    check = len(machine_code.functions(texts[0])[CHECK])
    allowed = machine_code.allowed_scratch(texts[0])
    rows = []
    for kind, (original, twin) in many.items():
        each = (difference(many[kind]) - difference(few[kind])) / (MANY - FEW)
        rows.append((kind, each, twin.vgprs - original.vgprs, twin.sgprs - original.sgprs, twin.scratch, twin.spills))
    return check, allowed, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--targets", default=",".join(machine_code.TARGETS))
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    targets = options.targets.split(",")
    failures = []

    kinds, checks, allowed = {}, {}, {}
    for target in targets:
        checks[target], allowed[target], rows = measure_kinds(options, target)
        for kind, *values in rows:
            kinds.setdefault(kind, {})[target] = values
    print("### Per access kind\n\nInstructions that one more access adds to a twin / VGPRs that the twin has more than the "
          f"original\n(kernel with {MANY} accesses) / bytes of scratch.\n")
    print("| kind | " + " | ".join(targets) + " |\n|---|" + "---|" * len(targets))
    for kind, values in kinds.items():
        cells = [f"{v[0]:.0f} / {v[1]} / {v[3]}" for v in (values[t] for t in targets)]
        print(f"| {kind.replace('_', ' ')} | " + " | ".join(cells) + " |")
        failures += [f"{kind} on {t}: {values[t][3]} bytes of scratch, {values[t][4]} spills" for t in targets
                     if values[t][3] > allowed[t] or (values[t][4] and not allowed[t])]
    print("| the check itself, once per module | " + " | ".join(str(checks[t]) for t in targets) + " |\n")

    print("### Per program\n\nInstructions of original -> twin (without the check) / VGPRs original -> twin / bytes of "
          "scratch of the twin.\n")
    programs = {}
    for target in targets:
        for name, pair in pairs(machine_code.kernels(assembly(options, target, "programs.hip"))).items():
            programs.setdefault(name, {})[target] = pair
    print("| program | " + " | ".join(targets) + " |\n|---|" + "---|" * len(targets))
    for name, values in programs.items():
        cells = []
        for target in targets:
            o, t = values[target]
            cells.append(f"{o.instructions} -> {t.instructions} / {o.vgprs} -> {t.vgprs} / {t.scratch}")
            if t.scratch > allowed[target] or (t.spills and not allowed[target]):
                failures.append(f"{name} on {target}: {t.scratch} bytes of scratch, {t.spills} spilled registers")
        print(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |")
    if options.limits and failures:
        sys.exit("\n".join(["over the limit:"] + failures))


main()
