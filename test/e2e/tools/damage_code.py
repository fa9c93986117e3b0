#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages the GPU code in a program, or a code object by itself.

    damage_code.py WHAT INPUT OUTPUT

    cut-file      the second half of the whole file is missing
    cut-bundle    the last code object of each offload bundle is zeros, as after a write that did not finish
    bundle-magic  the bundles do not begin as bundles do
    bundle-entry  the bundles' entries lie far outside of them
    elf-magic     the code objects do not begin as ELF files do
    elf-sections  the code objects' section headers lie far outside of them
    elf-segments  the code objects' segments lie far outside of them
    elf-machine   the code objects are for another machine
    symbols       the code objects' symbols lie far outside of their segments
    metadata      the kernels' metadata (a MessagePack note) is noise
    ir            WaveSan's IR does not begin as bitcode does
    ir-half       the second half of WaveSan's IR is zeros
    sites         the site tables are noise
"""
import random
import shutil
import struct
import sys

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
FAR = 0x7fffffffffff
SHT_DYNSYM = 11
NOISE = random.Random(1)


def noise(size):
    return bytes(NOISE.randrange(256) for _ in range(size))


def bundles(data):
    """Of each bundle: where it begins, and its entries as (place of the entry's header, offset, size)."""
    found, at = [], data.find(BUNDLE_MAGIC)
    while at >= 0:
        count, place, entries = struct.unpack_from("<Q", data, at + 24)[0], at + 32, []
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, place)
            entries.append((place, offset, size))
            place += 24 + length
        found.append((at, entries))
        at = data.find(BUNDLE_MAGIC, max(at + offset + size for _, offset, size in entries))
    return found


def code_objects(data):
    if data[:4] == b"\x7fELF" and struct.unpack_from("<H", data, 18)[0] == 224:
        return [(0, len(data))]
    return [(at + offset, size) for at, entries in bundles(data) for _, offset, size in entries if size]


def sections(data, base):
    """Of each section: name, type, offset in the file, size, where its header is."""
    table, = struct.unpack_from("<Q", data, base + 0x28)
    size, count, names = struct.unpack_from("<HHH", data, base + 0x3a)
    headers = [(base + table + i * size, *struct.unpack_from("<IIQQQQ", data, base + table + i * size)) for i in range(count)]
    strings = base + headers[names][5]
    for place, name, kind, _, _, offset, length in headers:
        end = data.index(b"\0", strings + name)
        yield data[strings + name:end].decode(), kind, base + offset, length, place


def damage(what, data):
    """How many places were damaged."""
    count = 0
    if what in ("cut-bundle", "bundle-magic", "bundle-entry"):
        for at, entries in bundles(data):
            count += 1
            end = max(at + offset + size for _, offset, size in entries)
            if what == "cut-bundle":
                last = at + max(offset for _, offset, _ in entries)
                data[last:end] = bytes(end - last)
            elif what == "bundle-magic":
                data[at:at + 4] = b"----"
            else:
                for place, _, size in entries:
                    if size:
                        struct.pack_into("<Q", data, place, FAR)
        return count
    for base, _ in code_objects(data):
        segments, = struct.unpack_from("<Q", data, base + 0x20)
        if what == "elf-magic":
            data[base:base + 4] = b"----"
        elif what == "elf-sections":
            struct.pack_into("<Q", data, base + 0x28, FAR)
        elif what == "elf-segments":
            struct.pack_into("<Q", data, base + segments + 56 + 8, FAR)  # p_offset of the second one
        elif what == "elf-machine":
            struct.pack_into("<H", data, base + 18, 62)
        else:
            places = list(sections(data, base))
            for name, kind, offset, size, _ in places:
                if what == "symbols" and kind == SHT_DYNSYM:
                    for symbol in range(offset + 24, offset + size, 24):
                        struct.pack_into("<Q", data, symbol + 8, FAR)
                elif what == "metadata" and name == ".note":
                    data[offset + 20:offset + size] = noise(size - 20)  # behind the note's header and owner
                elif what == "ir" and name == ".wavesan.ir":
                    data[offset:offset + 4] = b"----"
                elif what == "ir-half" and name == ".wavesan.ir":
                    data[offset + size // 2:offset + size] = bytes(size - size // 2)
                elif what == "sites" and name == ".wavesan.sites":
                    data[offset + 8:offset + size] = noise(size - 8)
                else:
                    continue
                count += 1
            continue
        count += 1
    return count


def main():
    what, source, output = sys.argv[1:]
    with open(source, "rb") as f:
        data = bytearray(f.read())
    if what == "cut-file":
        data = data[:len(data) // 2]
    elif damage(what, data) == 0:
        print("nothing to damage was found", file=sys.stderr)
        return 1
    with open(output, "wb") as f:
        f.write(data)
    shutil.copymode(source, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
