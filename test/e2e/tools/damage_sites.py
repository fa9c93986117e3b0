#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages the site tables in a program.

    damage_sites.py version PROGRAM OUTPUT    as another version of WaveSan writes it
    damage_sites.py count PROGRAM OUTPUT      says more kernels than there is room for
    damage_sites.py frame PROGRAM OUTPUT      strings outside of the table
"""
import shutil
import struct
import sys

MAGIC = b"WSSITES1"


def main():
    what, source, output = sys.argv[1:]
    with open(source, "rb") as f:
        data = bytearray(f.read())
    at, found = data.find(MAGIC), 0
    while at >= 0:
        found += 1
        if what == "version":
            struct.pack_into("<I", data, at + 8, 77)
        elif what == "count":
            struct.pack_into("<I", data, at + 12, 0x7fffffff)
        elif what == "frame":
            struct.pack_into("<I", data, at + 44, 0x7fffffff)  # KernelEntry::original.offset
        else:
            return 2
        at = data.find(MAGIC, at + 1)
    if not found:
        print("no site table found", file=sys.stderr)
        return 1
    with open(output, "wb") as f:
        f.write(data)
    shutil.copymode(source, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
