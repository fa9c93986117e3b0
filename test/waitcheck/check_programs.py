#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles HIP programs, originals and checked copies, for many targets and levels; what the compiler makes must be clean.

    check_programs.py --wavesan=build/bin/wavesan [--targets=gfx90a,gfx1030] [--levels=-O0,-O2,-O3] [-j N] [-I DIRECTORY] FILE_OR_DIRECTORY...

Targets for which the machine's device libraries have no file cannot be compiled for; programs that do not compile are counted.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile


def check(args, source, target, level, directory):
    out = pathlib.Path(directory) / f"{abs(hash(str(source)))}{target}{level}.o"
    build = subprocess.run([args.wavesan, "cc", "--wait-check=off", f"--offload-arch={target}", level, "-g", "-std=c++20", "--cuda-device-only",
                            "--no-gpu-bundle-output", *[f"-I{i}" for i in args.include], "-c", source, "-o", out], capture_output=True, text=True)
    if build.returncode != 0:
        return None, []
    run = subprocess.run([args.wavesan, "check", "--format=json", "-q", out], capture_output=True, text=True)
    out.unlink()
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return lines[-1], [line for line in lines[:-1] if line["type"] != "audit"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--targets", default="gfx90a,gfx1030")
    parser.add_argument("--levels", default="-O0,-O2,-O3")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    sources = sorted({f for p in args.paths for f in (p.rglob("*.hip") if p.is_dir() else [p])})
    total = {"objects": 0, "kernels": 0, "instructions": 0, "waits": 0}
    findings = failed = 0
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        work = {pool.submit(check, args, s, t, l, directory): (s, t, l)
                for s in sources for t in args.targets.split(",") for l in args.levels.split(",")}
        for future in concurrent.futures.as_completed(work):
            summary, lines = future.result()
            if summary is None:
                failed += 1
                print("not compiled:", *work[future])
                continue
            for key in total:
                total[key] += summary[key]
            for line in lines:
                findings += 1
                print(*work[future], json.dumps(line))
    print(f"{len(sources)} programs, {', '.join(f'{n} {key}' for key, n in total.items())}: {findings} findings, {failed} not compiled")
    return 1 if findings or not total["objects"] else 0


if __name__ == "__main__":
    sys.exit(main())
