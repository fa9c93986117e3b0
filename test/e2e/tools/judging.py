# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the judges of twins share: commands with a limit, marked lines, and the expected fix."""
import os
import re
import subprocess

LIMIT_SECONDS = int(os.environ.get("WAVESAN_TEST_LIMIT_SECONDS", "120"))  # for one command


class Failure(Exception):
    pass


def run(command, options=""):
    """Runs it, with WAVESAN_OPTIONS if there are any, and prints the command and what it said."""
    environment = {**os.environ, "WAVESAN_OPTIONS": options} if options else None
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise Failure(f"not finished after {LIMIT_SECONDS} s: {' '.join(command)}")
    print("$", " ".join(command), f"-> {done.returncode}")
    print(done.stdout + done.stderr)
    return done


def marked_line(source, name):
    """The number of the one line whose comment has this word."""
    with open(source, encoding="utf-8") as f:
        lines = [n for n, line in enumerate(f, 1) if name in re.split(r"[ ,]+", line.partition("//")[2].strip())]
    if len(lines) != 1:
        raise Failure(f"{len(lines)} lines are marked {name}")
    return lines[0]


def expected_fix(fix, line_of):
    """The expression with the line of each {NAME} in it."""
    return re.sub(r"\{([A-Z-]+)\}", lambda match: str(line_of(match[1])), fix)
