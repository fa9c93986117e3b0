#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What WaveSan adds around kernels: start-up of `wavesan run`, and compile time of the twelve result programs.

Both sides are run alternately in one go; medians and ratios are printed. docs/benchmarks.md has figures.
"""
import argparse
import glob
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def seconds(command, environment=None):
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, **(environment or {})})
    taken = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"overheads: error: status {done.returncode} from {shlex.join(command)}\n{done.stdout}")
    return taken


def plain_command(wavesan, words):
    """The compiler call of `wavesan cc` without WaveSan's own part."""
    shown = subprocess.run([wavesan, "cc", "--show", *words], stdout=subprocess.PIPE, text=True, check=True).stdout
    command = []
    for word in shlex.split(shown.splitlines()[-1]):
        if not word.startswith("-fpass-plugin"):
            command.append(word)
        elif command[-1].startswith("-Xarch"):
            command.pop()
    return command


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wavesan", default=os.path.join(ROOT, "build", "bin", "wavesan"))
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    agent = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(args.wavesan))), "lib", "wavesan", "cpu-agent")
    sources = sorted(glob.glob(os.path.join(ROOT, "test", "e2e", "results", "*.hip")))
    if len(sources) != 12:
        sys.exit(f"overheads: error: {len(sources)} result programs instead of twelve")
    include = "-I" + os.path.join(ROOT, "test", "e2e", "include")
    print(f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "program")
        print(f"{'compile time, -O2, gfx90a':28} {'plain s':>8} {'checked s':>9} {'ratio':>6}")
        ratios = []
        for source in sources:
            words = ["-O2", "--offload-arch=gfx90a", include, "-DFIXED", source, "-o", output]
            plain, checked = plain_command(args.wavesan, words), [args.wavesan, "cc", *words]
            times = ([], [])
            for _ in range(args.repeat):
                times[0].append(seconds(plain))
                times[1].append(seconds(checked))
            a, b = statistics.median(times[0]), statistics.median(times[1])
            ratios.append(b / a)
            print(f"{os.path.basename(source):28} {a:8.2f} {b:9.2f} {b / a:6.2f}", flush=True)
        print(f"{'geometric mean':28} {'':8} {'':9} {statistics.geometric_mean(ratios):6.2f}")

        source = os.path.join(ROOT, "test", "e2e", "results", "transpose.hip")
        seconds([args.wavesan, "cc", "-O2", "--offload-arch=gfx90a", include, "-DFIXED", source, "-o", output])
        bare, run = [], []
        for _ in range(4 * args.repeat):
            bare.append(seconds([output], {"LD_LIBRARY_PATH": agent, "WAVESAN_OPTIONS": "gpu=gfx90a"}))
            run.append(seconds([args.wavesan, "run", "--device=cpu", "--gpu=gfx90a", "--", output]))
        a, b = statistics.median(bare), statistics.median(run)
        print(f"start-up, small transpose: {a:.3f} s unchecked on the CPU agent, {b:.3f} s under wavesan run: {b - a:+.3f} s")


if __name__ == "__main__":
    main()
