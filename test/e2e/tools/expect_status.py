#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and insists on how it ends.

    expect_status.py 66 COMMAND ARGS...         exit status 66
    expect_status.py signal:ABRT COMMAND...     ended by SIGABRT
"""
import os
import signal
import subprocess
import sys

LIMIT_SECONDS = int(os.environ.get("WAVESAN_TEST_LIMIT_SECONDS", "120"))  # for one command

def main():
    expected, command = sys.argv[1], sys.argv[2:]
    try:
        code = subprocess.run(command, timeout=LIMIT_SECONDS).returncode
    except subprocess.TimeoutExpired:
        print(f"not finished after {LIMIT_SECONDS} s: {' '.join(command)}", file=sys.stderr)
        return 1
    wanted = -getattr(signal, "SIG" + expected[7:]) if expected.startswith("signal:") else int(expected)
    if code == wanted:
        return 0
    print(f"ended with {code} instead of {wanted} (negative: by a signal): {' '.join(command)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
