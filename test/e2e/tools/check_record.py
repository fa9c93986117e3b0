#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a recorded graph with what a test expects: kinds of nodes in any order that its edges allow, edges, conflicts.

    check_record.py GRAPH.json --kinds fill,kernel --edges "1-2" --conflicts "1-2"
"""
import argparse
import json
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graph")
    parser.add_argument("--kinds")
    parser.add_argument("--edges")
    parser.add_argument("--conflicts")
    arguments = parser.parse_args()
    with open(arguments.graph, encoding="utf-8") as f:
        graph = json.load(f)
    nodes = graph["nodes"]
    problems = []

    def expect(what, wanted, found):
        if wanted is not None and wanted != found:
            problems.append(f"{what}: {found!r} in place of {wanted!r}")

    expect("schema", "wavesan-recorded-graph", graph["schema"])
    expect("ids", list(range(1, len(nodes) + 1)), [n["id"] for n in nodes])
    if any(d >= n["id"] for n in nodes for d in n["dependencies"]):
        problems.append("a node depends on a later one")
    expect("kinds", arguments.kinds, ",".join(n["kind"] for n in nodes))
    expect("edges", arguments.edges, " ".join(f"{d}-{n['id']}" for n in nodes for d in n["dependencies"]))
    expect("conflicts", arguments.conflicts, " ".join("-".join(map(str, c["missingEdge"])) for c in graph["conflicts"]))
    expect("conflictsLookedFor", True, graph["conflictsLookedFor"])
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
