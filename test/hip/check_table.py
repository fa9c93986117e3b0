#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the interposer with a HIP library.

    check_table.py NM INTERPOSER HIP_LIBRARY TABLE

Every function of the library is either interposed or of a kind that has nothing to do with streams, events and memory; every
interposed function is one of the library's or listed here as one of another version. The interposer has no symbol versions.
"""
import re
import subprocess
import sys

# Kinds of functions that say nothing about order or memory.
OTHER_KINDS = re.compile(
    r"^(hip(Bind|Unbind|Choose|ConfigureCall|CreateChannelDesc|CreateTextureObject|CreateSurfaceObject|DestroyTextureObject"
    r"|DestroySurfaceObject|TexRef|TexObject|Func|Get|Device(?!Synchronize|Reset)|Driver|Runtime|KernelName|Module(?!Launch)"
    r"|Occupancy|Peek|Pointer|DrvPointer|Profiler|Register|Remove|Enable|ApiName|Init|SetupArgument|SetDeviceFlags"
    r"|HostGet|MemGet|MemPtr|MemRange|MemPoolGet|ExtGetLink|GLGet|GraphicsResourceGet|GraphicsSub|StreamGet(?!Capture)"
    r"|ExtStreamGet|EventElapsed|IpcGetMem|MipmappedArrayGet|Ctx(?!Synchronize|SetCurrent|Push|Pop|Create|Destroy)"
    r"|GraphKernelNode[GS]etAttribute))"
    r"|^_Z(22hipCreateSurfaceObject|23hipDestroySurfaceObject|N8hip_impl)"
)
# In the header of HIP 5.2.3, but not in its library.
HEADER_ONLY = {"hipLaunchHostFunc"}
# For the HSA tool, for instrumented host code, and for the recording of graphs.
OWN = {"wavesan_stream_check", "wavesan_host_watch", "wavesan_hip_hook", "wavesan_hip_own_code", "wavesan_hip_stream_hook",
       "wavesan_hip_node_accesses", "wavesan_hip_say", "wavesan_hip_by_host", "wavesan_hip_has", "wavesan_hip_replay_graph",
       "__hipRegisterFunction", "hipGetLastError", "hipPeekAtLastError",
       # Markers of regions: wavesan/graph.h, and ROCTX.
       "wavesan_region_begin", "wavesan_region_end", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop"}


def symbols(nm, library):
    out = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return [line.split()[-1] for line in out.splitlines() if re.match(r"\S+ [TWi] ", line)]


def main():
    nm, interposer, hip = sys.argv[1:4]
    table = open(sys.argv[4], encoding="utf-8").read()
    newer = set(re.findall(r"^WAVESAN_HIP_NEWER\((\w+),", table, re.M))
    ours = symbols(nm, interposer)
    problems = [f"{s}: has a version" for s in ours if "@" in s]
    problems += [f"{s}: not exported" for s in sorted(OWN - set(ours))]
    ours = set(ours) - OWN
    theirs = {s.split("@")[0] for s in symbols(nm, hip)}
    problems += [f"{s}: exported, but no function of HIP" for s in sorted(ours) if not re.match(r"hip|_Z\d+hip", s)]
    of_hip = {s for s in theirs if re.match(r"hip(?!rtc)|_Z.*hip", s)}
    problems += [f"{s}: not interposed" for s in sorted(of_hip - ours) if not OTHER_KINDS.match(s)]
    if "5.2." in subprocess.run(["readlink", "-f", hip], check=True, capture_output=True, text=True).stdout:
        problems += [f"{s}: HIP does not have it" for s in sorted(ours - theirs - newer - HEADER_ONLY)]
    print("\n".join(problems))
    print(f"{len(ours)} interposed, {len(ours & theirs)} of them in {hip}, {len(problems)} problems")
    return 1 if problems or len(ours & theirs) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
