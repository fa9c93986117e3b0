#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with damaged GPU code and judges what is said of it.

    damaged_run.py OPTIONS (WHAT STATUS LINE)...

For each WHAT of damage_code.py: ends with STATUS (signal:NAME for a signal), prints one line that the regular expression LINE
matches (another target's code object may get one like it), claims no races and no clean result, and leaves a whole JSON
report or none.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys

LIMIT_SECONDS = int(os.environ.get("WAVESAN_TEST_LIMIT_SECONDS", "120"))  # for one command


def problems_of(args, what, status, line):
    program = f"{args.program}.{what}"
    subprocess.run([sys.executable, "-B", args.damage, what, args.program, program], check=True)
    if os.path.exists(args.json):
        os.remove(args.json)
    command = [*args.run.split(), "-o", "json_path=" + args.json, "--", program, "race"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS)
    print("$", " ".join(command), f"-> {done.returncode}\n{done.stdout}{done.stderr}")
    wanted = -getattr(signal, "SIG" + status[7:]) if status.startswith("signal:") else int(status)
    if done.returncode != wanted:
        yield f"ended with {done.returncode} instead of {wanted}"
    said = done.stderr.splitlines()
    found = sum(bool(re.fullmatch(line, text)) for text in said)
    if found != 1:
        yield f"{found} lines instead of one match {line}"
    if [text for text in said if re.search("AddressSanitizer|runtime error|ThreadSanitizer", text)]:
        yield "a sanitizer's finding"
    if "wavesan: race:" in done.stderr or re.search(r"checked [1-9]\d* accesses .* 0 races", done.stderr):
        yield "a verdict on code that is damaged"
    if os.path.exists(args.json):
        with open(args.json, encoding="utf-8") as f:
            report = json.load(f)
        if report["races"]:
            yield "races in the report"
    if left := [name for name in os.listdir(os.path.dirname(args.json)) if name != os.path.basename(args.json)]:
        yield f"left behind: {left}"


def main():
    parser = argparse.ArgumentParser()
    for name in ("damage", "json", "program", "run"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    bad = 0
    for case in zip(args.cases[::3], args.cases[1::3], args.cases[2::3], strict=True):
        for problem in problems_of(args, *case):
            print(f"{case[0]}: {problem}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
