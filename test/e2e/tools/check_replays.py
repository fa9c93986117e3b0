#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the suite's programs without and with kernel replay: every dispatch and graph three times, with a hash of memory after each pass
(examples/replay_tools/digests.c). Each must leave the same memory (final_memory.cpp), output and exit status, and no pass may differ.

Which programs: every .hip file of the suite outside of Inputs that a RUN line compiles, the way its first such line says (the one with -DFIXED
where there is one; `%twin`, `%clean` and `%streams` build that one, too), with the arguments of its first run as gfx90a. Of these the clean ones: those
that without a replay exit with 0 and report nothing. The others, and those whose arguments name files of their test, are counted with the reason.

A difference is a failure, unless two runs without a replay differ in the same (exit status, output, memory): such programs are named. With --other-seed the second of the two has
another order of waves: where the checks of a replayed dispatch take more instructions (hooks=device), a replay has, too. Passes must agree with one another in any case. So is each reason for which
dispatches were not replayed, which must be one of docs/replay.md.

    check_replays.py --wavesan=WAVESAN --work=DIRECTORY [--share=K/N] SUITE...     (programs K, K + N, ... in the order of names)
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
INCLUDE = os.path.join(os.path.dirname(HERE), "include")
PASSES = 3
SECONDS = int(os.environ.get("WAVESAN_TEST_LIMIT_SECONDS", "120"))  # for one command
PASS = re.compile(r"digests: dispatch \d+, (.*) pass (\d+) of \d+: (?:[0-9a-f]+|no digest)( differs)?\n")
ONCE = re.compile(r"digests: dispatch \d+, (.*) runs once \((\w+)\)\n")
SAVED = re.compile(r"digests: (?:saved|restored) \d+ bytes.*\n")
SUMMARY = re.compile(r"^wavesan: checked (\d+) accesses in (\d+) kernels?: 0 races(?:, \d+ commands? in .*)?$", re.M)
KINDS = {"twin": [], "clean": [], "streams": []}  # judges of the suite, which compile with -DFIXED


class Program:
    def __init__(self, path, flags, arguments):
        self.path, self.flags, self.arguments = path, flags, arguments
        self.name = os.path.relpath(path, ROOT) if path.startswith(ROOT) else path


class Skipped(Exception):
    pass


class Problem(Exception):
    pass


def run_lines(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r"^// RUN: *(.*)$", f.read(), re.M)


def compile_flags(lines):
    """Of the clean build; None: nothing compiles the file for HIP."""
    found = []
    for line in lines:
        if match := re.search(r"%(?:twin|clean|streams)\b(.*)%s", line):
            extra = re.search(r"--cc=('[^']*'|\S+)", match[1])
            found.append(["-DFIXED", *(extra[1].strip("'").split() if extra else [])])
        for match in re.finditer(r"(?:%cc|%wavesan cc) ([^&|>;]*?)%s ([^&|>;]*)", line):
            flags = (match[1] + match[2]).split()
            if "--cuda-device-only" not in flags:
                found.append([f for f in flags if not f.startswith(("-o", "%t", "--offload-arch", "-O", "-I"))])
    fixed = [flags for flags in found if "-DFIXED" in flags]
    return (fixed or found or [None])[0]


def arguments_of(lines):
    for line in lines:
        if match := re.search(r"%run90a [^|>;&]*-- %t(?:\.\w+)?(?=\s|$)([^|;&]*)", line):
            return re.split(r"\s\d?>", match[1])[0].split()
    return []


def programs_in(suite):
    skipped = []
    programs = []
    for directory, inner, files in os.walk(suite):
        inner[:] = sorted(d for d in inner if d not in ("Inputs", "include", "tools"))
        for name in sorted(files):
            if not name.endswith(".hip"):
                continue
            path = os.path.join(directory, name)
            lines = run_lines(path)
            flags = compile_flags(lines) if lines else ["-DFIXED"]  # a directory without tests: twins that others have made
            arguments = arguments_of(lines)
            if flags is None:
                skipped.append((path, "no RUN line compiles it for HIP"))
            elif any("%" in a for a in arguments):
                skipped.append((path, "its arguments name files of its test"))
            else:
                programs.append(Program(path, flags, arguments))
    return programs, skipped


def lines_of(text):
    return collections.Counter(text.splitlines())


class Run:
    """What a run leaves."""

    def __init__(self, args, program, binary, tool, tag, seed=None):
        log = f"{binary}.{tag}.memory"
        if os.path.exists(log):
            os.remove(log)
        options = "incomplete_exitcode=0" + (f":{args.options}" if args.options else "") + (f":replay_drain_seconds=10:tool={tool}" if tool else "")
        command = [args.wavesan, "run", "--device=cpu", "--gpu=gfx90a", *([f"--seed={seed}"] if seed else []), "-o", options, "--", binary, *program.arguments]
        environment = {**os.environ, "FINAL_MEMORY": log, "DIGEST_PASSES": str(PASSES), "DIGEST_GRAPHS": "1"}
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=SECONDS, env=environment)
        except subprocess.TimeoutExpired:
            raise Problem(f"not finished after {SECONDS} s: {' '.join(command)}")
        self.status, self.errors = done.returncode, done.stderr
        self.passes, self.once = PASS.findall(done.stdout), ONCE.findall(done.stdout)
        self.output = lines_of(SAVED.sub("", ONCE.sub("", PASS.sub("", done.stdout))))
        self.memory = collections.Counter()
        if os.path.exists(log):
            with open(log, encoding="utf-8") as f:
                self.memory = lines_of(f.read())

    def clean(self):
        return self.status == 0 and SUMMARY.search(self.errors) is not None


def differences(a, b):
    """By what differs, in words."""
    found = {}
    if a.status != b.status:
        found["exit status"] = f"{a.status}, {b.status}"
    for what, x, y in (("output", a.output, b.output), ("memory", a.memory, b.memory)):
        if x != y:
            found[what] = f"without replay {list((x - y).elements())[:5]}, with it {list((y - x).elements())[:5]}"
    return found


def check(args, program, tool, shim, graph_flags):
    binary = os.path.join(args.work, re.sub(r"\W", "_", program.name))
    with open(program.path, encoding="utf-8") as f:
        text = f.read()
    extra = [f for f in program.flags if f != "%graph"]
    if "%graph" in program.flags:
        extra += graph_flags
    compiled = subprocess.run([args.wavesan, "cc", "--offload-arch=gfx90a", "-O2", "-I" + INCLUDE, program.path, shim, *extra, "-ldl", "-lpthread", "-o", binary],
                              capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    if compiled.returncode:
        if "include \"direct.h\"" in text:
            raise Skipped("no RUN line compiles it for HIP")
        raise Problem("does not compile: " + compiled.stderr)
    plain = Run(args, program, binary, None, "plain")
    if not plain.clean():
        raise Skipped(f"not clean without a replay: status {plain.status}")
    replayed = Run(args, program, binary, tool, "replayed")
    found = differences(plain, replayed)
    differing = [f"pass {number} of {kernel}" for kernel, number, differs in replayed.passes if differs]
    if differing:
        found["passes"] = ", ".join(differing)
    if found:
        repeated = differences(plain, Run(args, program, binary, None, "again"))
        if args.other_seed and not repeated:
            repeated = differences(plain, Run(args, program, binary, None, "seed", args.other_seed))
        for what in list(repeated):
            found.pop(what, None)
        if found:
            raise Problem("; ".join(f"{what}: {how}" for what, how in found.items()) + "\n" + replayed.errors)
        raise Skipped("differs from run to run, or by the order of waves, without a replay: " + ", ".join(repeated))
    if not SUMMARY.search(replayed.errors):
        raise Problem("reports something with a replay\n" + replayed.errors)
    return replayed, sum(plain.memory.values())


def known_reasons():
    with open(os.path.join(ROOT, "docs", "replay.md"), encoding="utf-8") as f:
        return set(re.findall(r"`([a-z]+(?:_[a-z]+)+|cooperative_launch)`", f.read()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--options", default="", help="of WaveSan, for all runs")
    parser.add_argument("--other-seed", type=int, help="a difference that this seed makes without a replay is explained")
    parser.add_argument("--only", help="regular expression for names")
    parser.add_argument("suites", nargs="+")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    library = os.path.join(os.path.dirname(os.path.dirname(args.wavesan)), "lib", "wavesan")
    graph_flags = [f"-I{ROOT}/runtime/include", "-L" + library, "-lwavesan-graph", "-lwavesan-hip", f"-Wl,-rpath,{library}"]
    tool, shim = os.path.join(args.work, "digests.so"), os.path.join(args.work, "final_memory.o")
    subprocess.run(["clang", "-shared", "-fPIC", f"-I{ROOT}/runtime/include", os.path.join(ROOT, "examples", "replay_tools", "digests.c"), "-o", tool], check=True)
    subprocess.run([args.wavesan, "cc", "-O2", "-std=c++20", "-D__HIP_PLATFORM_AMD__", "-c", os.path.join(HERE, "final_memory.cpp"), "-o", shim], check=True)

    programs, skipped = [], []
    for suite in args.suites:
        found, left = programs_in(os.path.abspath(suite))
        programs += found
        skipped += left
    first, step = (int(n) for n in args.share.split("/"))
    programs = [p for p in programs if not args.only or re.search(args.only, p.name)][first::step]
    left_out = collections.defaultdict(list)
    for path, why in skipped:
        left_out[why].append(os.path.basename(path))
    replayed = graphs = memories = 0
    reasons, problems, done = collections.Counter(), [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for program, future in [(p, pool.submit(check, args, p, tool, shim, graph_flags)) for p in programs]:
            try:
                run, hashes = future.result()
            except Skipped as why:
                left_out[str(why)].append(program.name)
                continue
            except (Problem, subprocess.TimeoutExpired) as problem:
                problems.append(f"{program.name}: {problem}")
                continue
            done += 1
            memories += hashes
            first_passes = [kernel for kernel, number, _ in run.passes if number == "0"]
            graphs += first_passes.count("(graph)")
            replayed += len(first_passes) - first_passes.count("(graph)")
            reasons.update(why for _, why in run.once)
            if not run.passes and not run.once and " in 0 kernels" not in run.errors:
                problems.append(f"{program.name}: no dispatch was offered")
    unknown = set(reasons) - known_reasons()
    if unknown:
        problems.append(f"reasons that docs/replay.md does not have: {sorted(unknown)}")
    for problem in problems:
        print("problem:", problem)
    for why, names in sorted(left_out.items()):
        print(f"left out, {why}: {len(names)}: {' '.join(names)}")
    print(f"{done} of {len(programs)} programs: {replayed} dispatches and {graphs} launches of graphs replayed {PASSES} times, {memories} hashes of final memory the "
          f"same; run once: {', '.join(f'{n} {why}' for why, n in sorted(reasons.items())) or 'none'}; {len(problems)} problems")
    return bool(problems) or done == 0 or replayed == 0 or memories == 0


if __name__ == "__main__":
    sys.exit(main())
