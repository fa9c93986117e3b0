// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fuzz_seeds DIRECTORY CODE_OBJECT...: one directory of small valid inputs for each target.
#include "code_object_builder.h"
#include "sample_documents.h"

#include "wavesan/report/merge.h"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace fs = std::filesystem;

namespace {

fs::path Root;

void put(const std::string &target, const std::string &name, const std::string &bytes) {
  fs::create_directories(Root / target);
  if (!(std::ofstream(Root / target / name, std::ios::binary) << bytes).flush()) {
    std::cerr << "cannot write " << Root / target / name << "\n";
    std::exit(1);
  }
}

std::string siteTable() {
  using namespace wavesan::abi;
  SiteTableBuilder table;
  const StringRef32 file = table.intern("a.hip");
  table.frames.push_back({table.intern("k"), file, 3, 5, kNoFrame});
  table.frames.push_back({table.intern("load"), table.intern("a.h"), 9, 1, 0});
  table.sites.push_back({uint32_t(SiteKind::Access), accessInfo(1, 4), 1, table.intern("t"), table.intern("load"), {}});
  table.sites.push_back({uint32_t(SiteKind::Barrier), 0, 0, {}, table.intern("barrier"), {}});
  table.skips.push_back({table.intern("inline asm"), 2});
  table.loops.push_back({table.intern("k"), file, 2, 4});
  table.kernels.push_back({table.intern("k"), table.intern("k.wavesan"), file, 1, 2, 0, 0, 1, 2, 0, 0});
  return table.finish();
}

std::string codeObject(const std::string &sites) {
  using namespace wavesan::test;
  std::vector<ArgSpec> args = {{0, 8, "global_buffer"}}, twinArgs = {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}};
  for (const ArgSpec &a : hiddenArgsV5(8))
    args.push_back(a);
  for (const ArgSpec &a : hiddenArgsV5(16))
    twinArgs.push_back(a);
  std::vector<std::pair<std::string, std::string>> sections = {
      {".note",
       metadataNote(metadataRoot({kernelMetadata("k", 264, 16, args), kernelMetadata("k.wavesan", 272, 16, twinArgs),
                                  kernelMetadata("other", 0, 0, {})}))},
      {wavesan::abi::kSiteTableSection, sites}};
  for (auto &section : symbolSections({{"variable", 0x100, 16}, {"k.kd", 0x500, 64}}))
    sections.push_back(section);
  return buildElf(sections);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  Root = argv[1];
  fs::remove_all(Root);
  const std::string sites = siteTable();
  put("site_table", "small", sites);
  put("site_table", "empty", wavesan::abi::SiteTableBuilder().finish());
  put("code_object", "small", codeObject(sites));
  put("code_object", "no-sites", codeObject(""));
  for (int i = 2; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (bytes.empty()) {
      std::cerr << argv[i] << " cannot be read\n";
      return 1;
    }
    put("code_object", fs::path(argv[i]).filename(), bytes);
    put("agent_code_object", fs::path(argv[i]).filename(), bytes);
  }
  using wavesan::report::jsonText;
  const wavesan::report::Document full = wavesan::test::sampleDocument();
  put("report", "full", jsonText(full));
  put("report", "empty", jsonText(wavesan::report::Document{}));
  put("report", "divergence", jsonText(wavesan::test::sampleDivergence()));
  put("report", "merged", jsonText(wavesan::report::mergeDocuments({full, full})));
  put("suppressions", "types",
      "# known\nrace:^load*t>$\nrace_top:tile.h\ncalled_from:k(int\\*)\ncalled_from_lib:app\nthread:x\n\nbad\n");
  put("suppressions", "filter", "a*;!ab?;app::*");
  put("options", "some", "seed=0x7:help:log_path='a:b',verbosity=1 kernels=\"x y\"\tmax_races=99999999999999999999");
  put("options", "wrong", "sede=1:seed=x:=:'':help=maybe");
  for (const char *target : {"engine_ir", "pass_ir"})
    for (const char kernel : {'\0', '\1', '\2', '\x80', '\x81', '\x82'})
      put(target, "kernel" + std::to_string(uint8_t(kernel)), std::string({kernel, '\x05', 's', 'e', 'e', 'd'}));
  // header, setup, workgroup, grid x, grid y and z, private, group, kernel, completion; then a barrier and a vendor
  // packet
  put("agent_queue", "some",
      std::string("\2\0\1\0\x40\0\x40\1\0\0\1\0\0\0\0\0\0\0\0\0\1", 21) + std::string("\3\0\1\0\2\0\0\1", 8) +
          std::string("\0\0\2\1\1", 5));
  return 0;
}
