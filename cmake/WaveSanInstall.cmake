# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is installed beside the targets that install themselves, the CMake package, and the Debian package. Nothing installed
# holds a path of the build tree: the command finds its parts relative to itself (driver/layout.h).
include(CMakePackageConfigHelpers)

install(TARGETS wavesan_hsa wavesan_hip wavesan_graph LIBRARY DESTINATION lib/wavesan)
if(TARGET wavesan_cpu_agent)
  install(TARGETS wavesan_cpu_agent LIBRARY DESTINATION lib/wavesan/cpu-agent NAMELINK_SKIP)
endif()

# The build tree has the same shape, so find_package works there too.
set(package_dir ${CMAKE_BINARY_DIR}/lib/cmake/WaveSan)
configure_file(${CMAKE_CURRENT_LIST_DIR}/WaveSanConfig.cmake ${package_dir}/WaveSanConfig.cmake COPYONLY)
write_basic_package_version_file(${package_dir}/WaveSanConfigVersion.cmake
  VERSION ${WAVESAN_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${package_dir}/WaveSanConfig.cmake ${package_dir}/WaveSanConfigVersion.cmake DESTINATION lib/cmake/WaveSan)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/wavesan RENAME copyright)
# For device code and for tools (C): whoever compiles with WaveSan may include them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/wavesan DESTINATION include)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/doc/wavesan)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION share/doc/wavesan)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wavesan)
set(CPACK_PACKAGE_VERSION ${WAVESAN_VERSION})
set(CPACK_PACKAGE_VENDOR "WaveSan")
set(CPACK_PACKAGE_CONTACT "WaveSan developers <wavesan@localhost.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "data race detector for AMD GPU programs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Libraries by what is linked; what is only run or included must be named. The plugin fits one LLVM minor version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
math(EXPR next_minor "${LLVM_VERSION_MINOR} + 1")
set(llvm "${LLVM_VERSION_MAJOR}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "clang-${llvm} (>= 1:${llvm}.${LLVM_VERSION_MINOR}~), clang-${llvm} (<< 1:${llvm}.${next_minor}~), clang-tools-${llvm}, lld-${llvm}")
# HIP may come from Debian or from ROCm's own packages.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libamdhip64-dev | hip-dev, rocm-device-libs, cmake (>= 3.25)")
include(CPack)
