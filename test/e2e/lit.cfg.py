# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Substitutions (all words of a command line):
#   %wavesan      the command
#   %cc           wavesan cc for both targets of this suite, with the suite's headers: %cc %s -o %t
#   %run90a       wavesan run on the CPU agent as gfx90a (waves of 64)
#   %run1030      the same as gfx1030 (waves of 32)
#   %twin         builds a twin both ways, runs it on both targets and judges the reports (tools/check_twin.py)
#   %direct       the same for more targets, without HIP's runtime (include/direct.h)
#   %build_tool   compiles a kernel replay tool: %build_tool FILE.c -o %t.so
#   %graph        links %cc's program with the recording of graphs
#   %trace        wavesan trace on the CPU agent, all formats
#   %check_trace  checks the traces of one run (tools/check_trace.py)
#   %streams      builds a twin of commands both ways, runs it and judges the reports (tools/check_streams.py)
#   %gpucheck     scripts/gpu-check
#   %clean        the same for a program that has only a clean build
import os

import lit.formats

config.name = "wavesan e2e"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".hip", ".test"]
config.excludes = ["include", "tools", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.llvm_bin, os.environ.get("PATH", "")])
for name in ("WAVESAN_OPTIONS", "WAVESAN_CXX", "HSA_TOOLS_LIB", "LD_PRELOAD"):
    config.environment.pop(name, None)  # the caller's settings must not decide a test

if not os.path.exists("/dev/kfd"):
    config.available_features.add("no-gpu")

wavesan = installed = os.path.join(config.wavesan_bin, "wavesan")
preloaded = ""
if config.sanitizer_library:
    # Neither clang nor a HIP program is sanitized; what they load of WaveSan is (docs/development.md). A script sets that, not
    # the suite's environment: shells, Python and FileCheck would start several times slower.
    variable, _, value = config.sanitizer_options.partition("=")
    config.environment[variable] = value
    config.environment["WAVESAN_TEST_LIMIT_SECONDS"] = "1200"
    script = os.path.join(config.test_exec_root, "wavesan")
    with open(script, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\nexport LD_PRELOAD="{config.sanitizer_library}${{LD_PRELOAD:+:$LD_PRELOAD}}"\nexec {wavesan} "$@"\n')
    os.chmod(script, 0o755)
    wavesan = script
    preloaded = f"env LD_PRELOAD={config.sanitizer_library} "
    config.available_features.add("sanitized")
include = os.path.join(config.test_source_root, "include")
tools = os.path.join(config.test_source_root, "tools")
repository = os.path.dirname(os.path.dirname(config.test_source_root))
check_formats = os.path.join(repository, "test", "report", "check_formats.py")
library = os.path.join(os.path.dirname(config.wavesan_bin), "lib", "wavesan")
schema = os.path.join(repository, "docs", "report.schema.json")
judge = f"{config.python} -B {tools}/check_twin.py --wavesan={wavesan} --include={include} --temporary=%t"
config.substitutions += [
    ("%wavesan", wavesan),
    ("%cc", f"{wavesan} cc --offload-arch=gfx90a --offload-arch=gfx1030 -O2 -I{include}"),
    ("%run90a", f"{wavesan} run --device=cpu --gpu=gfx90a"),
    ("%run1030", f"{wavesan} run --device=cpu --gpu=gfx1030"),
    ("%twin", judge),
    ("%direct", judge + " --direct"),
    ("%clean", judge + " --only-clean"),
    ("%python", config.python),
    ("%tools", tools),
    ("%check_formats", f"{config.python} -B {check_formats} --schema={schema}"),
    ("%status", f"{config.python} -B {tools}/expect_status.py"),
    ("%include", include),
    ("%build_tool", f"{os.path.join(config.llvm_bin, 'clang')} -shared -fPIC -Wall -Wextra -Werror -I{repository}/runtime/include"),
    ("%graph", f"-I{repository}/runtime/include -L{library} -lwavesan-graph -lwavesan-hip -Wl,-rpath,{library}"
     + (" -Wl,--allow-shlib-undefined" if config.sanitizer_library else "")),
    ("%examples", os.path.join(repository, "examples")),
    ("%gpucheck", f"{preloaded}{config.python} -B {os.path.join(repository, 'scripts', 'gpu-check')} --wavesan={installed}"),
    ("%trace", f"{wavesan} trace --device=cpu --gpu=gfx90a --format=csv,json,perfetto"),
    ("%streams", f"{config.python} -B {tools}/check_streams.py --wavesan={wavesan} --include={include} --temporary=%t"),
    ("%check_trace", f"{config.python} -B {tools}/check_trace.py"),
]
