// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan help options`: the list, from options.def.
#include "commands.h"

#include "wavesan/abi/options.h"

#include <cstdio>

namespace wavesan::driver {

int helpOptionsCommand() {
  std::printf("Options, set by %s=\"name=value:name=value\" or `wavesan run -o name=value`:\n\n",
              abi::kOptionsVariable);
  for (const abi::OptionInfo &o : abi::kOptionInfos) {
    std::printf("  %s=%s  (%s)\n      %s\n", o.name, o.defaultText, o.type, o.help);
    if (o.values)
      std::printf("      Values: %s.\n", abi::detail::listOfChoices(o.values).c_str());
  }
  return 0;
}

} // namespace wavesan::driver
