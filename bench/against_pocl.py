#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same five programs on the CPU agent (HIP, without checks) and on PoCL (OpenCL), side by side on the same cores.

Each round runs both sides one after the other; ratios are taken within a round, then the median over the rounds, then the
geometric mean over the programs. Both sides' results must agree. docs/benchmarks.md has figures.
"""
import argparse
import math
import os
import shlex
import statistics
import subprocess
import sys

from overheads import processor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command, environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"against_pocl: error: status {done.returncode} from {shlex.join(command)}")
    lines = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
    notes = [line[2:] for line in done.stdout.splitlines() if line.startswith("#")]
    return {name: (float(seconds), float(total)) for name, seconds, total in lines}, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="of both sides; 0: all processors")
    parser.add_argument("--program", help="only this one")
    args = parser.parse_args()
    hip, opencl = (os.path.join(args.build, "bin", f"wavesan_pocl_bench{side}") for side in ("_hip", ""))
    for binary in (hip, opencl):
        if not os.path.exists(binary):
            sys.exit(f"against_pocl: error: {binary} is missing: configure with -DWAVESAN_BENCHMARKS=ON, PoCL and the OpenCL "
                     "headers and loader installed, and build it")
    only = [args.program] if args.program else []
    agent = {"LD_LIBRARY_PATH": os.path.join(args.build, "lib", "wavesan", "cpu-agent"),
             "WAVESAN_OPTIONS": f"threads={args.threads}"}
    pocl = {"POCL_MAX_PTHREAD_COUNT": str(args.threads or os.cpu_count())}
    rounds, versions = [], []
    for _ in range(args.rounds):
        ours, _ = run([hip, *only], agent)
        theirs, versions = run([opencl, os.path.join(ROOT, "bench", "pocl"), *only], pocl)
        for name, (_, total) in ours.items():
            if not math.isclose(total, theirs[name][1], rel_tol=1e-4):
                sys.exit(f"against_pocl: error: {name}: the results differ: {total} and {theirs[name][1]}")
        rounds.append((ours, theirs))
    print(f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {', '.join(versions)}; "
          f"threads: {args.threads or os.cpu_count()}; {args.rounds} rounds\n")
    print("| | CPU agent | PoCL | ratio | of the rounds |\n| --- | ---: | ---: | ---: | --- |")
    medians = []
    for name in rounds[0][0]:
        ratios = sorted(ours[name][0] / theirs[name][0] for ours, theirs in rounds)
        medians.append(statistics.median(ratios))
        times = [statistics.median(side[name][0] for side in sides) * 1000 for sides in zip(*rounds)]
        print(f"| {name} | {times[0]:.1f} ms | {times[1]:.1f} ms | {medians[-1]:.2f} | "
              f"{', '.join(f'{r:.2f}' for r in ratios)} |")
    print(f"| geometric mean | | | {math.exp(statistics.fmean(map(math.log, medians))):.2f} | |")


if __name__ == "__main__":
    main()
