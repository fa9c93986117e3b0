#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs under many seeds: is a verdict that should not depend on the schedule the same under each of them?

Each source builds two ways, racy as it is and clean with -DFIXED; "// RACE-A" and "// RACE-B" mark the lines that a report must name.

  racy build   under every seed: exit status 66, and one report that names both marked lines
  clean build  under every seed: exit status 0 and no report
  both         the text is the same when a seed is repeated (the first one is)

--clean-racy=FILE:TARGET and --racy-fixed=FILE:TARGET name builds whose verdict is the other one on a target (code for one wave size).
Prints a row for each source, build and target; exit status 0 if all are right.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

HEAD = re.compile(r"^wavesan: (?:warning: )?(?:race|missing-fence|missing-wait|scope-too-small|barrier-divergence|early-exit|lane-conflict|"
                  r"wave-order-dependent): ")


def marked_lines(source):
    lines = {}
    with open(source, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            for mark in "AB":
                if f"RACE-{mark}" in line.partition("//")[2]:
                    lines[mark] = number
    return set(lines.values())


def run(command, seconds):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stderr


def names_both(text, source, wanted):
    name = re.escape(os.path.basename(source))
    for report in re.split(r"(?m)^(?=wavesan: )", text):
        if HEAD.match(report) and wanted <= {int(n) for n in re.findall(name + r":(\d+)", report)}:
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--work", required=True, help="directory for the programs")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120, help="limit of one run")
    parser.add_argument("--targets", default="gfx90a,gfx1030")
    parser.add_argument("--flags", default="", help="of the compiler, separated by blanks")
    parser.add_argument("--clean-racy", action="append", default=[])
    parser.add_argument("--racy-fixed", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    targets, wrong = args.targets.split(","), 0
    for source in args.sources:
        name = os.path.basename(source)
        wanted = marked_lines(source)
        for build in ("racy", "fixed"):
            program = os.path.join(args.work, f"{name}.{build}")
            command = [args.wavesan, "cc", *(f"--offload-arch={t}" for t in targets), "-O2", *args.flags.split(),
                       *(["-DFIXED"] if build == "fixed" else []), source, "-o", program]
            status, text = run(command, 600)
            if status != 0:
                print(f"{name:36} {build:6} does not compile\n{text}")
                wrong += 1
                continue
            for target in targets:
                key = f"{name}:{target}"
                racy = (build == "racy") != (key in (args.clean_racy if build == "racy" else args.racy_fixed))

                def judge(seed):
                    line = [args.wavesan, "run", "--device=cpu", f"--gpu={target}", f"--seed={seed}", "--", program]
                    status, text = run(line, args.seconds)
                    if status is None:
                        return seed, "not finished", text
                    if racy:
                        good = status == 66 and names_both(text, source, wanted) if build == "racy" else status == 66
                    else:
                        good = status == 0 and not any(HEAD.match(l) for l in text.splitlines())
                    return seed, "" if good else f"exit status {status}", text

                with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                    results = list(pool.map(judge, range(1, args.seeds + 1)))
                bad = [(seed, why) for seed, why, _ in results if why]
                same = judge(1)[2] == results[0][2]
                right = args.seeds - len(bad)
                print(f"{name:36} {build:6} {target:8} {'racy ' if racy else 'clean'} {right:4} of {args.seeds}"
                      f"{'' if same else '  the text of seed 1 differs when repeated'}"
                      f"{''.join(f'  seed {s}: {w}' for s, w in bad[:3])}", flush=True)
                wrong += len(bad) + (not same)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
