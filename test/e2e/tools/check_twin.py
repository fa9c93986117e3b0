#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Judges a twin: one source, racy as it is and clean with -DFIXED.

The source marks the two lines that the report must name with "// RACE-A" and "// RACE-B" (one line may carry both). Both builds
are run for gfx90a (waves of 64) and gfx1030 (waves of 32), each with the agent's own detector and with the device runtime's
bitcode, which must come to the same verdict.

With --fix=REGEX each report's fix must match; {A} and {B} stand for the
numbers of the marked lines, {NAME} for that of the line whose comment says NAME.
With --options=TEXT every run has these options (WAVESAN_OPTIONS). With --one-wave both sides must be one wave.
With --seeds=N each build is run N times, with another order of the waves each time.

  racy build   exit status 66; one report names both marked lines; no report names any other line; the class is as asked for
  fixed build  exit status 0; no report; "checked N accesses in 1 kernels: 0 races" with N > 0; the program's own result check
"""
import argparse
import os
import re
import sys

from judging import Failure, expected_fix, marked_line, run

BETWEEN_WAVES = ("race", "missing-fence", "scope-too-small")
TARGETS = ("gfx90a", "gfx1030")
# With --direct: a code object for each of these and a host program that loads it through HSA (include/direct.h). HIP's packaged
# runtime and device libraries know few of them.
DIRECT_TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx1250")
HEAD = re.compile(r"^wavesan: (?:(?:warning|note): )?([a-z]+(?:-[a-z]+)*): (?:LDS|global memory|work-items|lanes) ")
SIDE = re.compile(r"^  \S.* by ((?:workgroup \S+ )?wave \d+) lane (\d+|\?) +at (.+?):(\d+)(?::\d+)?(?: in .*)?$")
# Of a divergence: who waits at a barrier, who ends, and where.
GROUP = re.compile(r"^  waves? (\d+).* (?:waits?|ends?)\b.* at (.+?):(\d+)(?::\d+)?(?: in .*)?$")
CALLER = re.compile(r"^    inlined into .* at (.+?):(\d+)(?::\d+)?$")
WAVE_SIZE = re.compile(r"^  kernel .*wave size (\d+)$")
SUMMARY = re.compile(r"^wavesan: checked (\d+) accesses in (\d+) kernels?: (\d+) races?(?:, (\d+) warnings)?(?:, (\d+) notes)?$", re.M)


class Report:
    def __init__(self, kind):
        self.kind = kind
        self.frames = []  # of each side, innermost first: (file, line)
        self.waves = []
        self.wave_size = None
        self.fix = ""

    def sides(self, file):
        """Where each side lies in `file`: the innermost frame there (atomicAdd and its like live in HIP's headers)."""
        return [next((f for f in frames if f[0] == file), frames[0]) for frames in self.frames]


def parse_reports(text):
    reports = []
    for line in text.splitlines():
        if match := HEAD.match(line):
            reports.append(Report(match[1]))
        elif reports and (match := WAVE_SIZE.match(line)):
            reports[-1].wave_size = int(match[1])
        elif reports and (match := SIDE.match(line)):
            reports[-1].frames.append([(os.path.basename(match[3]), int(match[4]))])
            reports[-1].waves.append(match[1])
        elif reports and (match := GROUP.match(line)):
            reports[-1].frames.append([(os.path.basename(match[2]), int(match[3]))])
            reports[-1].waves.append("wave " + match[1])
        elif reports and line.startswith("  fix: "):
            reports[-1].fix = line[len("  fix: "):]
        elif reports and reports[-1].frames and (match := CALLER.match(line)):
            reports[-1].frames[-1].append((os.path.basename(match[1]), int(match[2])))
    return reports


def marked_lines(source):
    marks = {"A": None, "B": None}
    with open(source, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            for mark in marks:
                if "RACE-" + mark in line.partition("//")[2]:
                    if marks[mark] is not None:
                        raise Failure(f"two lines are marked RACE-{mark}")
                    marks[mark] = number
    return marks["A"], marks["B"]


def expected(args):
    ends = dict(zip("AB", marked_lines(args.source)))
    return expected_fix(args.fix, lambda mark: ends[mark] if mark in ends else marked_line(args.source, mark))


def compile_program(args, output, extra):
    if args.direct:
        for target in args.targets:
            done = run([args.wavesan, "cc", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
                        "--offload-arch=" + target, args.optimize, "-I" + args.include, *extra, args.source, "-o",
                        f"{output}.{target}"])
            if done.returncode != 0:
                raise Failure("does not compile for " + target)
        done = run(["clang++", "-x", "c++", "-std=c++20", "-O1", "-Wno-unused-command-line-argument", "-I" + args.include, *extra,
                    args.source, "-lhsa-runtime64", "-o", output])
        if done.returncode != 0:
            raise Failure("the host program does not compile")
        return
    done = run([args.wavesan, "cc", *(f"--offload-arch={t}" for t in TARGETS), args.optimize, "-I" + args.include, *extra,
                args.source, "-o", output])
    if done.returncode != 0:
        raise Failure("does not compile")


def summary_of(done, args):
    found = SUMMARY.findall(done.stderr)
    if len(found) != 1:
        raise Failure(f"{len(found)} last lines instead of one")
    checked, kernels, races, warnings, notes = (int(n or 0) for n in found[0])
    if checked == 0 or kernels != args.kernels:
        raise Failure(f"checked {checked} accesses in {kernels} kernels, expected more than 0 in {args.kernels}")
    return races, warnings, notes


def expect_clean(done, args):
    reports, counts = parse_reports(done.stderr), summary_of(done, args)
    if done.returncode != 0 or reports or any(counts):
        raise Failure(f"should be clean: exit status {done.returncode}, {len(reports)} reports, and the last line says {counts[0]} "
                      f"races, {counts[1]} warnings, {counts[2]} notes")


def expect_race(done, args, target):
    name = os.path.basename(args.source)
    marks = marked_lines(args.source)
    if None in marks:
        raise Failure("the source marks no RACE-A and RACE-B")
    wanted = {(name, line) for line in marks}
    reports, counts = parse_reports(done.stderr), summary_of(done, args)
    status = 0 if args.warning or args.note else 66
    if done.returncode != status:
        raise Failure(f"exit status {done.returncode} instead of {status}")
    if not reports or counts != tuple(len(reports) * wanted for wanted in (status == 66, args.warning, args.note)):
        raise Failure(f"{len(reports)} reports, but the last line says {counts[0]} races, {counts[1]} warnings, {counts[2]} notes")
    for report in reports:
        if report.kind != args.kind:
            raise Failure(f"class {report.kind} instead of {args.kind}")
        if args.fix and not re.search(expected(args), report.fix):
            raise Failure(f"the fix is \"{report.fix}\", expected \"{expected(args)}\"")
        sides = report.sides(name)
        if len(sides) != 2 or not set(sides) <= wanted:
            raise Failure(f"a report names {sides}, marked are {sorted(wanted)}")
        if (args.one_wave or report.kind == "lane-conflict") and report.waves[0] != report.waves[1]:
            raise Failure("lanes of different waves")
        if not args.one_wave and report.kind in BETWEEN_WAVES and report.waves[0] == report.waves[1]:
            raise Failure("both sides are the same wave")
        if report.wave_size != (64 if target.startswith("gfx9") else 32):
            raise Failure(f"wave size {report.wave_size} on {target}")
    if not any(set(r.sides(name)) == wanted for r in reports):
        raise Failure(f"no report names both marked lines {sorted(wanted)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--temporary", required=True)
    parser.add_argument("--only-clean", action="store_true", help="there is no racy build")
    parser.add_argument("--racy-on", help="targets where the racy build is racy; clean on the others")
    parser.add_argument("--direct", action="store_true", help="without HIP's runtime, on more targets")
    parser.add_argument("--targets", help="instead of all")
    parser.add_argument("--kind", default="race")
    parser.add_argument("--warning", action="store_true", help="the findings of the racy build are warnings")
    parser.add_argument("--hooks", help="who checks: native (the agent's own detector), device (the GPU's bitcode); default: "
                                        "both for races of LDS, native for what only the agent finds")
    parser.add_argument("--options", default="", help="of every run")
    parser.add_argument("--one-wave", action="store_true", help="both sides of every race are lanes of one wave")
    parser.add_argument("--fix", help="regular expression for the fix line of every report of the racy build")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--note", action="store_true", help="the findings of the racy build are notes")
    parser.add_argument("--kernels", type=int, default=1)
    parser.add_argument("--optimize", default="-O2")
    parser.add_argument("source")
    args = parser.parse_args()
    args.targets = args.targets.split(",") if args.targets else DIRECT_TARGETS if args.direct else TARGETS
    args.racy_on = args.racy_on.split(",") if args.racy_on else args.targets
    args.hooks = args.hooks or ("native,device" if args.kind in ("race", "missing-fence") else "native")

    where = ""
    try:
        for build in ("fixed",) if args.only_clean else ("racy", "fixed"):
            where = build + " build: "
            program = f"{args.temporary}.{build}"
            compile_program(args, program, ["-DFIXED"] if build == "fixed" else [])
            for target, hooks in ((t, h) for t in args.targets for h in args.hooks.split(",")):
                for seed in range(1, (args.seeds if hooks == "native" else 1) + 1):
                    where = f"{build} build on {target}, {hooks} hooks, seed {seed}: "
                    done = run([args.wavesan, "run", "--device=cpu", "--gpu=" + target, f"--seed={seed}", "--", program]
                               + ([f"{program}.{target}"] if args.direct else []),
                               "hooks=" + hooks + (":" + args.options if args.options else ""))
                    if build == "racy" and target in args.racy_on:
                        expect_race(done, args, target)
                        continue
                    expect_clean(done, args)
                    if "result: ok" not in done.stdout.splitlines():
                        raise Failure('the program did not say "result: ok"')
    except Failure as failure:
        print(f"{os.path.basename(args.source)}: {where}{failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
