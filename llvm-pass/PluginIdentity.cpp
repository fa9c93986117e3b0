// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this plugin is, as one line of text in the file: the driver must know it before a compiler loads the plugin,
// because one of another LLVM would fail or crash there. Read by driver/plugin_identity.cpp.
#include "wavesan/abi/hooks.h"

#include "llvm/Config/llvm-config.h"

#include <array>

#define WAVESAN_TEXT_OF(X) #X
#define WAVESAN_TEXT(X) WAVESAN_TEXT_OF(X)

static constexpr char kText[] = "\nwavesan-plugin version=" WAVESAN_VERSION
                                " llvm=" WAVESAN_TEXT(LLVM_VERSION_MAJOR) "." WAVESAN_TEXT(LLVM_VERSION_MINOR) " abi=";

static constexpr auto identity() {
  std::array<char, sizeof kText + 4> Out{};
  static_assert(wavesan::abi::kAbiVersion < 1000);
  unsigned At = 0;
  for (; kText[At]; ++At)
    Out[At] = kText[At];
  for (unsigned Unit = 100; Unit; Unit /= 10)
    Out[At++] = char('0' + wavesan::abi::kAbiVersion / Unit % 10);
  Out[At] = '\n';
  return Out;
}

extern "C" __attribute__((used, visibility("default"))) constinit const auto wavesanPluginIdentity = identity();
