#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a directory of cases: asm/NAME_racy.s must have a hazard and asm/NAME_fixed.s none; hip/FILE.hip (the files named on the
command line) must have one as it is and none with -DFIXED.

    check_cases.py --wavesan=build/bin/wavesan DIRECTORY [HIP_FILE...]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def status_of(wavesan, path):
    run = subprocess.run([wavesan, "check", "--format=json", "-q", path], capture_output=True, text=True)
    codes = sorted({line.split('"code":"')[1][:3] for line in run.stdout.splitlines() if '"type":"hazard"' in line})
    return run.returncode, " ".join(codes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--arch", default="gfx90a")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("hip", nargs="*")
    args = parser.parse_args()
    failed = checked = 0

    def expect(name, path, wanted):
        nonlocal failed, checked
        status, codes = status_of(args.wavesan, path)
        checked += 1
        failed += status != wanted
        print(f"{'ok  ' if status == wanted else 'FAIL'} {name}: exit status {status} {codes}")

    for path in sorted((args.directory / "asm").glob("*.s")):
        expect(path.name, path, 1 if path.stem.endswith("_racy") else 0)
    with tempfile.TemporaryDirectory() as directory:
        for name in args.hip:
            for define, wanted in (("-DRACY", 1), ("-DFIXED", 0)):
                out = pathlib.Path(directory) / f"{pathlib.Path(name).stem}{define}.o"
                subprocess.run([args.wavesan, "cc", "--wait-check=off", f"--offload-arch={args.arch}", "-O2", "-g", define, "-c",
                                args.directory / "hip" / name, "-o", out], check=True)
                expect(f"{name} {define}", out, wanted)
    print(f"{checked} cases, {failed} failed")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
