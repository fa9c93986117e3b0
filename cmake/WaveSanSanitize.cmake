# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# WAVESAN_SANITIZE=address|thread: flags for everything in the build, and WAVESAN_SANITIZER_LIBRARY, the runtime that a
# program without sanitizers (HIP programs, clang) needs preloaded to load one of WaveSan's libraries. Such programs run
# with WAVESAN_SANITIZER_OPTIONS (VARIABLE=value). docs/development.md.
set(WAVESAN_SANITIZER_LIBRARY "")
set(WAVESAN_SANITIZER_OPTIONS "")
if(NOT WAVESAN_SANITIZE)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "WAVESAN_SANITIZE needs clang, whose sanitizer runtimes come as shared libraries")
endif()

if(WAVESAN_SANITIZE STREQUAL "thread")
  set(sanitizer_runtime tsan)
  set(sanitizer_flags -fsanitize=thread)
  set(WAVESAN_SANITIZER_OPTIONS "TSAN_OPTIONS=exitcode=99")
elseif(WAVESAN_SANITIZE MATCHES "^(address|ON|1|TRUE|YES)$")
  set(sanitizer_runtime asan)
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  # No leaks: clang, lld and HIP leave memory behind by design (WaveSan's own executables are checked, by the unit tests).
  # No link order: `wavesan run --preload` puts the agent before the runtime, and the agent replaces no function of libc.
  # Signals stay signals: tests expect some (HIP crashes on damaged code objects), and the agent has a handler of its own.
  # Exit status 99: no test expects it.
  set(WAVESAN_SANITIZER_OPTIONS
    "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:handle_segv=0:handle_sigbus=0:exitcode=99")
else()
  message(FATAL_ERROR "WAVESAN_SANITIZE=${WAVESAN_SANITIZE}: there are OFF, address and thread")
endif()

# One shared runtime per process, whoever brings it in: the program, a library of WaveSan's or LD_PRELOAD.
foreach(name libclang_rt.${sanitizer_runtime}-${CMAKE_SYSTEM_PROCESSOR}.so libclang_rt.${sanitizer_runtime}.so)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE WAVESAN_SANITIZER_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS ${WAVESAN_SANITIZER_LIBRARY})
    break()
  endif()
endforeach()
if(NOT EXISTS ${WAVESAN_SANITIZER_LIBRARY})
  message(FATAL_ERROR "the shared runtime ${name} of ${CMAKE_CXX_COMPILER} is missing "
    "(Debian: libclang-rt-${WAVESAN_LLVM_MAJOR}-dev)")
endif()
get_filename_component(sanitizer_directory ${WAVESAN_SANITIZER_LIBRARY} DIRECTORY)
list(APPEND CMAKE_BUILD_RPATH ${sanitizer_directory})

add_compile_options(${sanitizer_flags} -fno-omit-frame-pointer)
add_link_options(${sanitizer_flags} -shared-libsan)
