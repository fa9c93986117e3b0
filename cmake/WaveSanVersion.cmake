# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The one place that states the version: the driver, the plugin and the packages read it.
set(WAVESAN_VERSION 0.1.0)
