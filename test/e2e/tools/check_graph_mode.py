#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the clean builds of all programs with several streams, recorded and replayed as graphs (graph_mode.cpp): each must leave the memory that
it leaves when it is executed directly, which the programs check themselves, without a race.

    check_graph_mode.py --wavesan=WAVESAN --temporary=PREFIX --shim=graph_mode.cpp DIRECTORY FLAGS...
"""
import argparse
import os
import re
import subprocess
import sys

# Make graphs themselves, put callbacks into streams (which a recording refuses), let a kernel and the host wait for one another while
# the kernel runs, or use the default stream alone.
LEFT_OUT = {"callback_in_capture", "callback_reads", "host_function_wakes", "host_function_writes", "graph_host_node", "graph_in_two_streams",
            "graph_and_kernel", "graph_captured", "graph_copy_in_child", "graph_disjoint", "graph_fill_node", "graph_nodes", "host_mailbox",
            "host_managed"}
LINE = re.compile(r"^graph mode: (\d+) graphs, (\d+) nodes$", re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wavesan", required=True)
    parser.add_argument("--temporary", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("directory")
    arguments, flags = parser.parse_known_args()
    problems = []

    def run(command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout + done.stderr

    compile_line = [arguments.wavesan, "cc", "--offload-arch=gfx90a", "-O2", "-DFIXED"]
    shim = arguments.temporary + ".graph_mode.o"
    status, text = run([arguments.wavesan, "cc", "-O2", "-std=c++20", "-D__HIP_PLATFORM_AMD__", "-c", arguments.shim, "-o", shim,
                        *[f for f in flags if f.startswith("-I")]])
    if status:
        print(text)
        return 1
    programs, graphs, nodes = 0, 0, 0
    for name in sorted(os.listdir(arguments.directory)):
        stem, extension = os.path.splitext(name)
        if extension != ".hip" or stem in LEFT_OUT:
            continue
        program = f"{arguments.temporary}.{stem}"
        status, text = run([*compile_line, os.path.join(arguments.directory, name), shim, "-o", program, *flags])
        if status == 0:
            status, text = run([arguments.wavesan, "run", "--device=cpu", "--gpu=gfx90a", "--", program])
        match = LINE.search(text)
        if status or not match or "result: ok" not in text or " 0 races" not in text:
            problems.append(f"{name}: status {status}\n{text}")
            continue
        programs, graphs, nodes = programs + 1, graphs + int(match[1]), nodes + int(match[2])
        if int(match[2]) < 1:
            problems.append(f"{name}: nothing was recorded")
    print("\n".join(problems))
    print(f"{programs} programs, {graphs} graphs, {nodes} nodes, {len(problems)} problems")
    return bool(problems) or programs < 18


if __name__ == "__main__":
    sys.exit(main())
