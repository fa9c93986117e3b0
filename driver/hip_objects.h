// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a link without HIP sources makes a HIP program.
//
// hipcc adds HIP's runtime library to every link. Who writes `wavesan cc` in its place, say as CC of a makefile that
// compiles and links in two steps, expects the same; who writes it in place of clang++ names the library himself.
#ifndef WAVESAN_DRIVER_HIP_OBJECTS_H
#define WAVESAN_DRIVER_HIP_OBJECTS_H

#include "compile_line.h"

namespace wavesan::driver {

/// True if `line` links objects or archives of which one registers GPU code with HIP, or objects of which one calls HIP
/// (hipXyz is undefined in it), and says nothing of HIP itself.
/// Files that cannot be read count as none: the linker will name them.
bool linksHipObjects(const CompileLine &line);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_HIP_OBJECTS_H
