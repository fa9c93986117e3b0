// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// options_doc FILE: writes docs/options.md from options.def. options_doc --check FILE: fails where FILE is not that.
#include "wavesan/abi/options.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

/// For a cell of a table.
std::string cell(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string document() {
  std::string text =
      "# Options\n\n"
      "<!-- Generated from runtime/abi/include/wavesan/abi/options.def: ninja docs-options -->\n\n"
      "`WAVESAN_OPTIONS=\"name=value:name=value\"` sets them for every process that is checked; `wavesan run -o "
      "name=value` does, "
      "too, and wins. Between\nsettings stand `:`, `,` or blanks; a value that holds one of these goes in quotes "
      "(`kernels='app::*'`). The name of a bool alone means true.\nThe last setting of an option counts. Numbers are "
      "whole and not negative, decimal or 0x... `wavesan run` refuses unknown names and values that do not fit before it\n"
      "starts the program (exit status 2); `wavesan help options` and `WAVESAN_OPTIONS=help=1` print this list.\n\n"
      "| option | type | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const wavesan::abi::OptionInfo &o : wavesan::abi::kOptionInfos)
    text +=
        std::string("| `") + o.name + "` | " + o.type + " | `" + cell(o.defaultText) + "` | " + cell(o.help) +
            (o.values ? " Values: " + wavesan::abi::detail::listOfChoices(o.values) + "." : "") + " |\n";
  return text;
}

} // namespace

int main(int argc, char **argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check)
    return 2;
  const std::string path = argv[argc - 1];
  if (!check)
    return (std::ofstream(path, std::ios::binary) << document()).flush() ? 0 : 1;
  std::ostringstream now;
  now << std::ifstream(path, std::ios::binary).rdbuf();
  if (now.str() == document())
    return 0;
  std::fprintf(stderr, "%s is not what options.def says; run: ninja docs-options\n", path.c_str());
  return 1;
}
