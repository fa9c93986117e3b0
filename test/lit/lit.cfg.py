# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys

import lit.formats

config.name = "wavesan-pass"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll", ".cpp", ".test"]
config.excludes = ["Inputs", "tools"]
# The plugin is tested with each LLVM that it builds against; a test that needs a newer one says REQUIRES: llvm-22.
for major in range(19, int(config.llvm_major) + 1):
    config.available_features.add(f"llvm-{major}")

path = [os.path.dirname(config.filecheck), config.llvm_bin, config.site_dump_dir, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
if config.sanitizer_library:
    # clang and opt are not sanitized, the plugin that they load is (docs/development.md).
    config.environment["LD_PRELOAD"] = config.sanitizer_library
    variable, _, value = config.sanitizer_options.partition("=")
    config.environment[variable] = value

# HIP device code without any installed HIP: Inputs/device.h declares the few words it needs.
inputs = os.path.join(config.test_source_root, "Inputs")
hip = (
    f"{config.device_clang} -x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib"
    f" -mcode-object-version=4 -Wall -Werror -I{inputs}"
)
config.substitutions += [
    ("%clang_hip", hip),
    ("%clang", config.device_clang),
    ("%plugin", config.plugin),
    ("%opt", f"opt -load-pass-plugin={config.plugin}"),
    ("%inputs", inputs),
    ("%python", sys.executable),
]
