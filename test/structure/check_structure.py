#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the source tree against the project's rules.

    check_structure.py ROOT    prints one line per violation; exit status 1 if there is any

Rules: arrows between parts (arrows.txt) over every #include and target_link_libraries, licence headers, file length, no
paths of somebody's machine, no file called utils, no globbing of sources in CMake.
"""
import os
import re
import sys

MAX_LINES = 800
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOURCE_SUFFIXES = (".cpp", ".cc", ".c", ".h", ".hpp", ".hip", ".def", ".inc", ".in", ".cl", ".py", ".sh", ".cmake", ".ll", ".s", ".cfg")
CODE_SUFFIXES = (".cpp", ".cc", ".c", ".h", ".hpp", ".hip", ".def", ".inc", ".in", ".cl")
# Headers of the libraries that are written in quotes.
EXTERNAL = ("llvm/", "llvm-c/", "clang/", "lld/", "hsa/", "hip/", "gtest/", "benchmark/", "CLI/", "nlohmann/")
FREE = ("test", "bench", "examples", "docs")  # may use every part
# Written so that this file does not match itself.
MACHINE_PATH = re.compile(r"(?<![\w.)}])/(?:" + "|".join(["work", "home", "root", "Users", "tmp/build"]) + r")/[\w.-]")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
COMMAND = re.compile(r"\b(add_library|add_executable|target_link_libraries)[ \t]*\(([^()]*)\)", re.I)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def files_of(root):
    """All files below root but for build trees and hidden directories (.ci is looked at)."""
    found = []
    for directory, names, files in os.walk(root):
        names[:] = sorted(n for n in names if not (n.startswith("build") or n == "__pycache__" or (n.startswith(".") and n != ".ci")))
        found += [os.path.relpath(os.path.join(directory, f), root) for f in sorted(files)]
    return found


def is_cmake(path):
    return os.path.basename(path) == "CMakeLists.txt" or path.endswith(".cmake")


def is_source(root, path):
    if path.endswith(SOURCE_SUFFIXES) or is_cmake(path):
        return True
    if "." in os.path.basename(path):
        return False
    with open(os.path.join(root, path), "rb") as f:
        return f.read(2) == b"#!"


def parse_arrows(text):
    arrows = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            left, _, right = line.partition("->")
            arrows[left.strip()] = set(right.split())
    return arrows


class Tree:
    def __init__(self, root, arrows):
        self.root = root
        self.arrows = arrows
        self.files = files_of(root)
        self.problems = []
        self.cmake = {f: re.sub(r"#[^\n]*", "", read(os.path.join(root, f))) for f in self.files if is_cmake(f)}

    def part_of(self, path):
        """The part a file belongs to; None where everything is allowed or the file is in no part."""
        best = None
        for part in self.arrows:
            if path.startswith(part + "/") and (best is None or len(part) > len(best)):
                best = part
        return best

    def complain(self, path, text):
        self.problems.append(f"{path}: {text}")

    def check_arrow(self, path, source, target, how):
        if source is None or target is None or source == target or target in self.arrows[source]:
            return
        self.complain(path, f"{how}: {source} must not use {target} (test/structure/arrows.txt)")

    def check_includes(self):
        headers = [f for f in self.files if f.endswith(CODE_SUFFIXES)]
        cmake_text = "\n".join(self.cmake.values())
        for path in headers:
            source = self.part_of(path)
            if source is None:
                if not path.startswith(FREE):
                    self.complain(path, "code outside of every part of test/structure/arrows.txt")
                continue
            for quote, name in INCLUDE.findall(read(os.path.join(self.root, path))):
                if quote == "<" and not name.startswith("wavesan"):
                    continue
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if beside in headers:
                    self.check_arrow(path, source, self.part_of(beside), f'#include "{name}"')
                    continue
                found = [f for f in headers if f.endswith("/" + name) or f.endswith("/" + name + ".in")]
                own = [f for f in found if self.part_of(f) == source]
                for f in own or found:
                    if self.part_of(f) is None and not f.startswith("test/fakes"):
                        self.complain(path, f'#include "{name}": {source} must not use {f}')
                    self.check_arrow(path, source, self.part_of(f), f'#include "{name}"')
                generated = os.path.basename(name) in cmake_text
                if not found and not generated and not name.startswith(EXTERNAL):
                    self.complain(path, f'#include "{name}": no such header in the tree')

    def check_links(self):
        home = {}
        for path, text in self.cmake.items():
            for command, arguments in COMMAND.findall(text):
                words = arguments.split()
                if command.lower() != "target_link_libraries" and words and "ALIAS" not in words:
                    home[words[0]] = path
        for path, text in self.cmake.items():
            for command, arguments in COMMAND.findall(text):
                words = arguments.split()
                if command.lower() != "target_link_libraries" or not words:
                    continue
                source = self.part_of(home.get(words[0], path))
                for library in words[1:]:
                    if library in home:
                        self.check_arrow(path, source, self.part_of(home[library]), f"target_link_libraries({words[0]} {library})")

    def check_files(self):
        for path in self.files:
            if re.search(r"(^|[/_.-])utils?([/_.-]|$)", path, re.I):
                self.complain(path, "called utils: name the subject instead")
            if is_source(self.root, path):
                text = read(os.path.join(self.root, path))
                lines = text.splitlines()
                if LICENCE not in "\n".join(lines[:6]):
                    self.complain(path, "no licence header (SPDX line)")
                if len(lines) > MAX_LINES:
                    self.complain(path, f"{len(lines)} lines, at most {MAX_LINES}: split it by subject")
                for number, line in enumerate(lines, 1):
                    if MACHINE_PATH.search(line):
                        self.complain(path, f"line {number}: a path of somebody's machine: {line.strip()}")
        for path, text in self.cmake.items():
            if re.search(r"\bfile\s*\(\s*GLOB", text, re.I):
                self.complain(path, "file(GLOB): list the sources")


def check(root, arrows):
    tree = Tree(root, arrows)
    tree.check_includes()
    tree.check_links()
    tree.check_files()
    return tree


def main():
    root = sys.argv[1]
    arrows = parse_arrows(read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrows.txt")))
    tree = check(root, arrows)
    for problem in tree.problems:
        print(problem)
    # An empty walk would pass everything.
    if not any(f.startswith("runtime/abi/") for f in tree.files):
        print(f"{root}: this is not the source tree")
        return 1
    print(f"{len(tree.files)} files, {len(tree.problems)} problems")
    return 1 if tree.problems else 0


if __name__ == "__main__":
    sys.exit(main())
