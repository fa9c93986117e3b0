# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# find_package(WaveSan): docs/cmake.md. This file lies in <prefix>/lib/cmake/WaveSan of a build tree or an installed tree and
# finds everything from there, so the tree may be moved.
get_filename_component(WaveSan_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(WaveSan_EXECUTABLE "${WaveSan_PREFIX}/bin/wavesan")
if(NOT EXISTS "${WaveSan_EXECUTABLE}")
  set(WaveSan_FOUND FALSE)
  set(WaveSan_NOT_FOUND_MESSAGE "the wavesan command is missing: ${WaveSan_EXECUTABLE}")
  return()
endif()

# For add_test(... COMMAND WaveSan::wavesan run -- $<TARGET_FILE:app>).
if(NOT TARGET WaveSan::wavesan)
  add_executable(WaveSan::wavesan IMPORTED)
  set_target_properties(WaveSan::wavesan PROPERTIES IMPORTED_LOCATION "${WaveSan_EXECUTABLE}")
endif()

# wavesan_instrument(target [GPU gfx90a...] [OPTIONS option...])
#
# Compiles the HIP sources of `target` with WaveSan's plugin: those of language HIP, and those of language CXX that are
# compiled with -x hip or are called *.hip. Every other source goes to the project's compiler as before.
#
#   GPU      targets to compile for (HIP_ARCHITECTURES of language HIP; --offload-arch of CXX sources that name none)
#   OPTIONS  further compiler options for the HIP sources only
#
# Works by compiler launchers, so with the Makefile and Ninja generators.
function(wavesan_instrument target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GPU;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "wavesan_instrument(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS} (GPU..., OPTIONS...)")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "wavesan_instrument(${target}): there is no such target")
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(imported OR NOT type MATCHES "^(EXECUTABLE|OBJECT_LIBRARY|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY)$")
    message(FATAL_ERROR "wavesan_instrument(${target}): the target compiles nothing")
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "wavesan_instrument: the generator ${CMAKE_GENERATOR} has no compiler launchers; "
                        "use Ninja or Makefiles, or set CMAKE_CXX_COMPILER to ${WaveSan_PREFIX}/bin/wavesan-c++")
  endif()

  set(launcher "${WaveSan_EXECUTABLE}" cc)
  if(arg_GPU)
    string(REPLACE ";" "," gpus "${arg_GPU}")
    list(APPEND launcher "--gpu=${gpus}")
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("HIP" IN_LIST languages)
      set_target_properties(${target} PROPERTIES HIP_ARCHITECTURES "${arg_GPU}")
    endif()
  endif()
  foreach(option IN LISTS arg_OPTIONS)
    list(APPEND launcher "--with=${option}")
  endforeach()
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}" HIP_COMPILER_LAUNCHER "${launcher}")

  # CMake links HIP's runtime to what has language HIP; here CXX sources may be HIP too.
  find_library(WaveSan_HIP_RUNTIME amdhip64 HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES lib
               DOC "HIP's runtime, linked to instrumented targets")
  if(WaveSan_HIP_RUNTIME)
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES "${WaveSan_HIP_RUNTIME}")
  endif()
endfunction()
