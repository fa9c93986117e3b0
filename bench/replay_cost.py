#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel replay costs: snapshot (with the copies that the first pass makes) and restore against a memcpy of the bytes copied, by what is tracked, writable and written, and by tier;
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
SIZES = [(1024, 1024, 1, "pageable"), (1024, 1024, 4, "pageable"), (1024, 1024, 16, "pageable"), (1024, 1024, 64, "pageable"), (1024, 1024, 256, "pageable"),
         (2048, 64, 64, "pageable"), (512, 64, 64, "device"), (512, 64, 64, "pinned"), (512, 64, 64, "file"), (512, 256, 16, "file")]
TIERS = {"pageable": "", "device": ":replay_device_mb=4096", "pinned": ":replay_pinned_mb=4096", "file": ":replay_budget_mb=1:replay_file_mb=4096"}
SMALL_PASSES = 1000
SMALL_BUFFERS = (0, 256)  # MiB that the small kernel might write; 0: 4 KiB


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
    if len(snapshots) != 2:
        sys.exit(f"replay_cost: error: {lines}")
    lines = lines[lines.index(snapshots[1]):]  # the first one only decodes
    kept, tracked, taken = (int(n) for n in snapshots[1][1:])
    first, *later = numbers(lines, "pass")
    usual = statistics.median(later)
    return {"kept": kept, "tracked": tracked, "snapshot": taken + max(first - usual, 0), "memcpy": statistics.median(numbers(lines, "restore", 4)),
            "copied": numbers(lines, "restore", 3)[-1], "written": statistics.median(numbers(lines, "restore")),
            "restore": statistics.median(numbers(lines, "restore", 2)), "pass": usual}


def small_run(run, program, tool, mebibytes=0):
    """Nanoseconds of a launch with its wait, of a pass, and of the restore in front of it."""
    size = {"REPLAY_BENCH_MIB": str(mebibytes)} if mebibytes else {}
    plain = lines_of([*run, "-o", "kernels=!*:incomplete_exitcode=0", "--", program, "small"], **size)
    replayed = lines_of([*run, "-o", "tool=" + tool, "--", program, "small"], REPLAY_BENCH_PASSES=str(SMALL_PASSES), **size)
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
        results, smalls = {size: [] for size in SIZES}, {mebibytes: [] for mebibytes in SMALL_BUFFERS}
        for _ in range(args.rounds):
            for *mebibytes, tier in SIZES:
                results[(*mebibytes, tier)].append(one_run([*run, "-o", f"tool={tool}{TIERS[tier]}:replay_directory={directory}", "--", program, *map(str, mebibytes)]))
            for mebibytes, runs in smalls.items():
                runs.append(small_run(run, program, tool, mebibytes))
    print(f"{processor()}, medians of {args.rounds} rounds; MiB, milliseconds\n")
    print("| tracked | writable | written | tier | copied | written back | snapshot | restore | memcpy | snapshot / memcpy | restore / memcpy | pass |")
    print("| --- | --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size, runs in results.items():
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        ratio = [statistics.median(run[key] / run["memcpy"] for run in runs) for key in ("snapshot", "restore")]
        print(f"| {' | '.join(map(str, size))} | {median['copied'] / 2**20:.0f} | {median['written'] / 2**20:.0f} | {median['snapshot'] / 1e6:.1f} | "
              f"{median['restore'] / 1e6:.1f} | {median['memcpy'] / 1e6:.1f} | {ratio[0]:.2f} | {ratio[1]:.2f} | {median['pass'] / 1e6:.1f} |")
    for mebibytes, runs in smalls.items():
        median = {key: statistics.median(run[key] for run in runs) / 1e3 for key in runs[0]}
        ratio = statistics.median((run["pass"] + run["restore"]) / run["launch"] for run in runs)
        print(f"\nOne wave that adds to 256 bytes of {f'{mebibytes} MiB' if mebibytes else '4 KiB'}, microseconds: a launch and the wait for it {median['launch']:.1f}; "
              f"one of {SMALL_PASSES} passes {median['pass']:.1f}, the restore in front of it {median['restore']:.1f}; pass and restore / launch {ratio:.2f}")


if __name__ == "__main__":
    main()
