# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What CMake's language HIP asks of a ROCm directory, reduced to the two targets that it links. Debian 12 installs the real
# package where CMake does not look.
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(hip-lang::amdhip64 SHARED IMPORTED)
set_target_properties(hip-lang::amdhip64 PROPERTIES IMPORTED_LOCATION "${root}/lib/libamdhip64.so")
add_library(hip-lang::device INTERFACE IMPORTED)
set_target_properties(hip-lang::device PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:HIP>:__HIP_ROCclr__=1>"
  INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link>"
  INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
