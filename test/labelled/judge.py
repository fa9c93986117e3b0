#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs the labelled kernels (patterns.py) on the CPU agent and counts how many verdicts are right.

  racy kernel    at least one report of the class that its label says; no report of another class; every report names only lines of the
                 kernel's marked accesses
  clean kernel   no report

--share=I/N takes every N-th kernel. The table has a row for each pattern and bug. Exit status 0 if every verdict is right.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys

import generate

TARGETS = ("gfx90a", "gfx1030")
LIMIT_SECONDS = 600


class Failure(Exception):
    pass


def run(command, **keywords):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS, **keywords)
    except subprocess.TimeoutExpired:
        raise Failure(f"not finished after {LIMIT_SECONDS} s: {' '.join(command)}")


def verdict(kernel, target, races, source):
    """None if it is right, else what is wrong."""
    if not kernel.racy_on(target):
        return f"reported as {races[0]['class']}" if races else None
    if not races:
        return "not reported"
    classes = {race["class"] for race in races}
    if kernel.variant.kind not in classes or not classes <= {kernel.variant.kind, *kernel.variant.also}:
        return f"class {', '.join(sorted(classes))} instead of {kernel.variant.kind}"
    for race in races:
        for side in race["sides"]:
            # The user's own line: atomics lie in HIP's headers.
            own = [f["line"] for f in side["frames"] if os.path.basename(f["file"]) == os.path.basename(source)]
            if not own or own[0] not in kernel.lines:
                return f"a report names line {own[0] if own else 'none'}, marked are {kernel.lines}"
    return None


def run_program(args, base, kernels, target, seed):
    """The races of one run by kernel."""
    report = f"{base}.{target}.json"
    options = f"hooks={args.hooks}:max_reports=100000:json_path={report}"
    done = run([args.wavesan, "run", "--device=cpu", f"--gpu={target}", f"--seed={seed}", "--", base],
               env={**os.environ, "WAVESAN_OPTIONS": options})
    if done.returncode not in (0, 66) or "result: ok" not in done.stdout.splitlines():
        raise Failure(f"{base} on {target}, seed {seed}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    # Later occurrences of a known race are the only loss that changes no verdict.
    losses = {name: n for name, n in document["summary"]["losses"].items() if n and name != "laterOccurrences"}
    if args.hooks == "device":
        losses.pop("dispatchesNotRecorded", None)  # for races between streams, of which these programs have one
    if losses or document["summary"]["skippedSites"]:
        raise Failure(f"{base} on {target}: not everything was checked: {losses} {document['summary']['skippedSites']}")
    # A kernel that runs unchecked is named there; its label says nothing then.
    if document["summary"].get("uncheckedKernels") or document["summary"].get("uninstrumentedKernels"):
        raise Failure(f"{base} on {target}: kernels ran unchecked: {document['summary']}")
    found = collections.defaultdict(list)
    for race in document["races"]:
        owners = [kernel.name for kernel in kernels if kernel.name in race["kernelMangled"]]
        if len(owners) != 1:
            raise Failure(f"{base}: a report of the unknown kernel {race['kernelMangled']}")
        found[owners[0]].append(race)
    return found


def judge_program(args, kernels, number):
    """Returns (kernel, target, what is wrong or None) for each kernel and target."""
    base = os.path.join(args.work, f"labelled{number:03}")
    source = base + ".hip"
    generate.write_program(kernels, source)
    done = run([args.wavesan, "cc", *(f"--offload-arch={t}" for t in TARGETS), args.optimize, "-w", "-I" + args.include, source, "-o",
                base])
    if done.returncode != 0:
        raise Failure(f"{source} does not compile:\n{done.stderr}")
    results = []
    for target in TARGETS:
        wrong = dict.fromkeys(kernels)
        for seed in range(args.seed, args.seed + args.seeds):
            found = run_program(args, base, kernels, target, seed)
            for kernel in kernels:
                if why := verdict(kernel, target, found.get(kernel.name, []), source):
                    wrong[kernel] = wrong[kernel] or f"seed {seed}: {why}"
        results += [(kernel, target, wrong[kernel]) for kernel in kernels]
    if not args.keep:
        os.remove(base)
    return results


def print_table(results):
    rows = collections.defaultdict(lambda: [0, 0])
    totals = collections.defaultdict(lambda: [0, 0])
    for kernel, target, wrong in results:
        racy = "racy" if kernel.racy_on(target) else "clean"
        for counts in (rows[kernel.variant.pattern, kernel.variant.bug or "-", racy], totals[target, racy]):
            counts[0] += wrong is None
            counts[1] += 1
    print(f"{'pattern':32} {'mistake':30} {'label':6} right")
    for (pattern, bug, racy), (right, total) in rows.items():
        print(f"{pattern:32} {bug:30} {racy:6} {right} of {total}")
    for (target, racy), (right, total) in sorted(totals.items()):
        print(f"{target}: {right} of {total} {racy} kernels right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--include", required=True, help="directory of twin.h")
    parser.add_argument("--work", required=True, help="directory for programs and reports")
    parser.add_argument("--share", default="0/1", metavar="I/N")
    parser.add_argument("--pattern", default="", help="only patterns whose name contains this")
    parser.add_argument("--hooks", default="native", choices=("native", "device"))
    parser.add_argument("--optimize", default="-O2")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds; a verdict is right if it is under each of them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the programs")
    args = parser.parse_args()
    index, count = map(int, args.share.split("/"))
    kernels = [k for k in generate.all_kernels() if args.pattern in k.variant.pattern]
    if args.hooks == "device":  # only LDS is checked there
        kernels = [k for k in kernels if k.variant.pattern.startswith("lds-") and k.variant.kind in ("race", "missing-fence")]
    kernels = generate.share_of(kernels, index, count)
    if not kernels:
        print("no kernel is left")
        return 2
    print(f"labelled kernels: {len(kernels)}, share {args.share}, {args.hooks} hooks, {args.seeds} seeds from {args.seed}, {args.optimize}")
    results, failures = [], []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(judge_program, args, part, number) for number, part in enumerate(generate.programs_of(kernels))]
        for future in futures:
            try:
                results += future.result()
            except Failure as failure:
                failures.append(failure)
    print_table(results)
    wrong = [(kernel, target, why) for kernel, target, why in results if why]
    for kernel, target, why in wrong:
        print(f"WRONG: {kernel.name} on {target}: {why}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if wrong or failures else 0


if __name__ == "__main__":
    sys.exit(main())
