# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Options, toolchain and the few functions that every part uses.
include(WaveSanVersion)

option(WAVESAN_TESTS "Build the tests" ON)
option(WAVESAN_BENCHMARKS "Build the benchmarks" OFF)
set(WAVESAN_SANITIZE OFF CACHE STRING "Build with sanitizers: OFF; address (and undefined behaviour), also called ON; thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/wavesan)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

# Checks stay in release builds: no NDEBUG.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

add_compile_options(-Wall -Wextra -Werror=return-type)
include(WaveSanSanitize)

# The plugin must match the compiler's LLVM exactly; Debian keeps several side by side. The CPU agent and the wait checker
# are written for LLVM 22; the plugin by itself (cmake -S llvm-pass) builds against 19 to 22.
if(NOT LLVM_DIR)
  set(WAVESAN_LLVM_MAJOR 22 CACHE STRING "LLVM major version to look for where LLVM_DIR is not given")
  find_package(LLVM CONFIG QUIET PATHS /usr/lib/llvm-${WAVESAN_LLVM_MAJOR} NO_DEFAULT_PATH)
endif()
find_package(LLVM REQUIRED CONFIG)
if(WAVESAN_PASS_ONLY AND (LLVM_VERSION_MAJOR LESS 19 OR LLVM_VERSION_MAJOR GREATER 22))
  message(FATAL_ERROR "found LLVM ${LLVM_VERSION} in ${LLVM_DIR}; WaveSan's plugin needs LLVM 19 to 22 (set LLVM_DIR)")
elseif(NOT WAVESAN_PASS_ONLY AND NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "found LLVM ${LLVM_VERSION} in ${LLVM_DIR}; WaveSan needs LLVM 22 (set LLVM_DIR). "
                      "Only the plugin builds against others: cmake -S llvm-pass, docs/rocm.md")
endif()
set(WAVESAN_LLVM_MAJOR ${LLVM_VERSION_MAJOR})
set(WAVESAN_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})

# What is installed must find LLVM's library where the dynamic linker does not look by itself (below /opt, for example).
# Debian links its directory of LLVM to the system's: no run path then.
file(REAL_PATH ${LLVM_LIBRARY_DIR}/libLLVM.so llvm_library)
if(NOT llvm_library MATCHES "^(/usr)?/lib(64|/[^/]+-linux-gnu)?/[^/]+$")
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# wavesan_llvm(target): LLVM's headers and flags (no libraries).
function(wavesan_llvm target)
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  separate_arguments(defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_options(${target} PRIVATE ${defs} -fno-rtti -fno-exceptions)
endfunction()

# wavesan_unit_test(name SOURCES ... LIBRARIES ... [LABELS ...]): a GoogleTest executable, registered with CTest.
function(wavesan_unit_test name)
  if(NOT WAVESAN_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE ${T_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_test(NAME unit.${name} COMMAND ${name})
  set(limit 600) # seconds; many times what an idle machine needs
  if(WAVESAN_SANITIZE)
    set(limit 3600)
  endif()
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;${T_LABELS}" TIMEOUT ${limit})
endfunction()
