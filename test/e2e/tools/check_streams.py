#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Judges a twin of commands: one source, racy as it is and clean with -DFIXED.

The source marks the two lines of the host's code that the report must name, where it calls HIP, with "// RACE-A" and "// RACE-B".

  racy build   exit status 66; one report of the class asked for, which names both marked lines as the places of its two sides;
               its fix matches --fix, in which {A}, {B} and {NAME} stand for the numbers of marked lines
  fixed build  exit status 0; no report; the last line counts at least two streams compared; the program's own result check
"""
import argparse
import os
import re
import sys

from judging import Failure, expected_fix, marked_line, run

HEAD = re.compile(r"^wavesan: ([a-z]+(?:-[a-z]+)*): (.*)$")
PLACE = re.compile(r"^ +.* at (.+?):(\d+)(?::\d+)?(?: in .*)?$")
SUMMARY = re.compile(r"^wavesan: checked (\d+) accesses in (\d+) kernels?: (\d+) races?"
                     r"(?:, (\d+) commands? in (\d+) streams? compared(?: with (\d+) access(?:es)? of the host)?)?$", re.M)


def reports_of(text):
    """Class, places (file, line) outside of excerpts, and the text of each report."""
    reports = []
    for line in text.splitlines():
        if (match := HEAD.match(line)) and not line.startswith("wavesan: checked"):
            if match[1] in ("stream-race", "host-race", "race", "missing-fence", "scope-too-small", "missing-wait"):
                reports.append({"kind": match[1], "places": [], "fix": "", "lines": [line]})
                continue
        if not reports or line.startswith("wavesan: "):
            continue
        reports[-1]["lines"].append(line)
        if line.startswith("  fix: "):
            reports[-1]["fix"] = line[len("  fix: "):]
        elif "was created at" not in line and not line.startswith(("    inlined", "    called from")) and (match := PLACE.match(line)):
            reports[-1]["places"].append((os.path.basename(match[1]), int(match[2])))
    return reports


def summary_of(done):
    found = SUMMARY.findall(done.stderr)
    if len(found) != 1:
        raise Failure(f"{len(found)} last lines instead of one")
    return [int(n or 0) for n in found[0]]


def expect_race(done, args):
    name = os.path.basename(args.source)
    wanted = {(name, marked_line(args.source, mark)) for mark in ("RACE-A", "RACE-B")}
    reports, races = reports_of(done.stderr), summary_of(done)[2]
    if done.returncode != 66:
        raise Failure(f"exit status {done.returncode} instead of 66")
    if len(reports) != args.reports or races != args.reports:
        raise Failure(f"{len(reports)} reports, {races} races in the last line, expected {args.reports}")
    for report in reports:
        if report["kind"] != args.kind:
            raise Failure(f"class {report['kind']} instead of {args.kind}")
    if not any(wanted <= set(r["places"]) for r in reports):
        raise Failure(f"no report names the marked lines {sorted(wanted)}: {[r['places'] for r in reports]}")
    if args.fix:
        expected = expected_fix(args.fix, lambda mark: marked_line(args.source, "RACE-" + mark if mark in ("A", "B") else mark))
        if not any(re.search(expected, r["fix"]) for r in reports):
            raise Failure(f"no fix matches \"{expected}\": {[r['fix'] for r in reports]}")


def expect_clean(done, args):
    reports, (_, _, races, _, streams, host) = reports_of(done.stderr), summary_of(done)
    if done.returncode != 0 or reports or races:
        raise Failure(f"should be clean: exit status {done.returncode}, {len(reports)} reports, {races} races in the last line")
    if streams < args.streams:
        raise Failure(f"{streams} streams were compared, expected at least {args.streams}")
    if args.kind == "host-race" and host == 0:
        raise Failure("no access of the host was compared")
    if "result: ok" not in done.stdout.splitlines():
        raise Failure('the program did not say "result: ok"')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--temporary", required=True)
    parser.add_argument("--targets", default="gfx90a")
    parser.add_argument("--kind", default="stream-race")
    parser.add_argument("--reports", type=int, default=1, help="of the racy build")
    parser.add_argument("--streams", type=int, default=2, help="at least so many must have been compared")
    parser.add_argument("--fix", help="regular expression for the fix line of a report")
    parser.add_argument("--cc", default="", help="options of wavesan cc")
    parser.add_argument("--only-clean", action="store_true")
    parser.add_argument("source")
    args = parser.parse_args()
    targets = args.targets.split(",")
    where = ""
    try:
        for build in ("fixed",) if args.only_clean else ("racy", "fixed"):
            where = build + " build: "
            program = f"{args.temporary}.{build}"
            flags = [f"--offload-arch={t}" for t in targets] + ["-O2", "-I" + args.include]
            done = run([args.wavesan, "cc", *args.cc.split(), *flags, *(["-DFIXED"] if build == "fixed" else []), args.source, "-o", program])
            if done.returncode != 0:
                raise Failure("does not compile")
            for target in targets:
                where = f"{build} build on {target}: "
                done = run([args.wavesan, "run", "--device=cpu", "--gpu=" + target, "--", program])
                (expect_race if build == "racy" else expect_clean)(done, args)
    except Failure as failure:
        print(f"{os.path.basename(args.source)}: {where}{failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
