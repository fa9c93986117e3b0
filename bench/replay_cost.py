#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel replay costs: snapshot and restore against a memcpy of the bytes saved, by what is tracked, writable and written, and by tier;
and one more pass of a small kernel against a launch of it.

All sizes are run in turn, several rounds; medians and ratios are printed. docs/benchmarks.md has figures.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from overheads import ROOT, processor

# MiB tracked, writable, written; tier.
SIZES = [(64, 64, 64, "pageable"), (512, 64, 64, "pageable"), (2048, 64, 64, "pageable"), (512, 256, 256, "pageable"), (512, 256, 16, "pageable"),
         (64, 1, 1, "pageable"), (512, 64, 64, "device"), (512, 64, 64, "pinned"), (512, 64, 64, "file")]
TIERS = {"pageable": "", "device": ":replay_device_mb=4096", "pinned": ":replay_pinned_mb=4096", "file": ":replay_budget_mb=1:replay_file_mb=4096"}
SMALL_PASSES = 1000


def lines_of(command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env={**os.environ, **environment}, check=False)
    if done.returncode not in (0, 67):  # 67: the tool's passes are not checked
        sys.exit(f"replay_cost: error: status {done.returncode}\n{done.stdout}{done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


def numbers(lines, word, at=1):
    return [int(line[at]) for line in lines if line[0] == word]


def one_run(command):
    lines = lines_of(command)
    snapshots = [line for line in lines if line[0] == "snapshot"]
    if len(snapshots) != 1:
        sys.exit(f"replay_cost: error: {lines}")
    saved, tracked, taken, copied = (int(n) for n in snapshots[0][1:])
    return {"saved": saved, "tracked": tracked, "snapshot": taken, "memcpy": copied, "written": statistics.median(numbers(lines, "restore")),
            "restore": statistics.median(numbers(lines, "restore", 2)), "pass": statistics.median(numbers(lines, "pass"))}


def small_run(run, program, tool):
    """Nanoseconds of a launch with its wait, of a pass, and of the restore in front of it."""
    plain = lines_of([*run, "-o", "kernels=!*:incomplete_exitcode=0", "--", program, "small"])
    replayed = lines_of([*run, "-o", "tool=" + tool, "--", program, "small"], REPLAY_BENCH_PASSES=str(SMALL_PASSES))
    return {"launch": numbers(plain, "launch")[0], "pass": statistics.median(numbers(replayed, "pass")), "restore": statistics.median(numbers(replayed, "restore", 2))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wavesan", default=os.path.join(ROOT, "build", "bin", "wavesan"))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    run = [args.wavesan, "run", "--device=cpu"]
    with tempfile.TemporaryDirectory() as directory:
        program, tool = os.path.join(directory, "program"), os.path.join(directory, "tool.so")
        subprocess.run([args.wavesan, "cc", "--offload-arch=gfx90a", "-O2", os.path.join(here, "replay_bench.hip"), "-o", program], check=True)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I" + os.path.join(ROOT, "runtime", "include"),
                        os.path.join(here, "replay_bench_tool.c"), "-o", tool], check=True)
        results, smalls = {size: [] for size in SIZES}, []
        for _ in range(args.rounds):
            for *mebibytes, tier in SIZES:
                results[(*mebibytes, tier)].append(one_run([*run, "-o", f"tool={tool}{TIERS[tier]}:replay_directory={directory}", "--", program, *map(str, mebibytes)]))
            smalls.append(small_run(run, program, tool))
    print(f"{processor()}, medians of {args.rounds} rounds; MiB, milliseconds\n")
    print("| tracked | writable | written | tier | saved | written back | snapshot | restore | memcpy | snapshot / memcpy | restore / memcpy | pass |")
    print("| --- | --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size, runs in results.items():
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        ratio = [statistics.median(run[key] / run["memcpy"] for run in runs) for key in ("snapshot", "restore")]
        print(f"| {' | '.join(map(str, size))} | {median['saved'] / 2**20:.0f} | {median['written'] / 2**20:.0f} | {median['snapshot'] / 1e6:.1f} | "
              f"{median['restore'] / 1e6:.1f} | {median['memcpy'] / 1e6:.1f} | {ratio[0]:.2f} | {ratio[1]:.2f} | {median['pass'] / 1e6:.1f} |")
    median = {key: statistics.median(run[key] for run in smalls) / 1e3 for key in smalls[0]}
    ratio = statistics.median((run["pass"] + run["restore"]) / run["launch"] for run in smalls)
    print(f"\nOne wave that adds to 256 bytes, microseconds: a launch and the wait for it {median['launch']:.1f}; one of {SMALL_PASSES} passes {median['pass']:.1f}, "
          f"the restore in front of it {median['restore']:.1f}; pass and restore / launch {ratio:.2f}")


if __name__ == "__main__":
    main()
