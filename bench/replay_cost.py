#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel replay costs: snapshot and restore against a memcpy of the bytes saved, by what is tracked, writable and written.

All sizes are run in turn, several rounds; medians and ratios are printed. docs/benchmarks.md has figures.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from overheads import ROOT, processor

# MiB tracked, writable, written.
SIZES = [(64, 64, 64), (512, 64, 64), (2048, 64, 64), (512, 256, 256), (512, 256, 16), (64, 1, 1)]


def one_run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    lines = [line.split() for line in done.stdout.splitlines()]
    snapshots = [line for line in lines if line[0] == "snapshot"]
    if done.returncode not in (0, 67) or len(snapshots) != 1:  # 67: the tool's passes are not checked
        sys.exit(f"replay_cost: error: status {done.returncode}\n{done.stdout}{done.stderr}")
    saved, tracked, taken, copied = (int(n) for n in snapshots[0][1:])
    restores = [(int(line[1]), int(line[2])) for line in lines if line[0] == "restore"]
    passes = [int(line[1]) for line in lines if line[0] == "pass"]
    return {"saved": saved, "tracked": tracked, "snapshot": taken, "memcpy": copied, "written": statistics.median(b for b, _ in restores),
            "restore": statistics.median(n for _, n in restores), "pass": statistics.median(passes)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wavesan", default=os.path.join(ROOT, "build", "bin", "wavesan"))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as directory:
        program, tool = os.path.join(directory, "program"), os.path.join(directory, "tool.so")
        subprocess.run([args.wavesan, "cc", "--offload-arch=gfx90a", "-O2", os.path.join(here, "replay_bench.hip"), "-o", program], check=True)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I" + os.path.join(ROOT, "runtime", "include"),
                        os.path.join(here, "replay_bench_tool.c"), "-o", tool], check=True)
        results = {size: [] for size in SIZES}
        for _ in range(args.rounds):
            for size in SIZES:
                results[size].append(one_run([args.wavesan, "run", "--device=cpu", "-o", "tool=" + tool, "--", program, *map(str, size)]))
    print(f"{processor()}, medians of {args.rounds} rounds; MiB, milliseconds\n")
    print("| tracked | writable | written | saved | written back | snapshot | restore | memcpy | snapshot / memcpy | restore / memcpy | pass |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for size, runs in results.items():
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        ratio = [statistics.median(run[key] / run["memcpy"] for run in runs) for key in ("snapshot", "restore")]
        print(f"| {' | '.join(map(str, size))} | {median['saved'] / 2**20:.0f} | {median['written'] / 2**20:.0f} | {median['snapshot'] / 1e6:.1f} | "
              f"{median['restore'] / 1e6:.1f} | {median['memcpy'] / 1e6:.1f} | {ratio[0]:.2f} | {ratio[1]:.2f} | {median['pass'] / 1e6:.1f} |")


if __name__ == "__main__":
    main()
