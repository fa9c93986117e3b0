// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool_fixture.h"

#include "wavesan/abi/options.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace wavesan::test {

std::string sampleCodeObject(const std::vector<SymbolSpec> &symbols, bool callsHost) {
  constexpr uint32_t R = abi::kAccessRead, W = abi::kAccessWrite;
  abi::SiteTableBuilder t;
  abi::StringRef32 file = t.intern("app.hip"), k = t.intern("k(int*)"), tile = t.intern("tile");
  auto frame = [&](uint32_t line, uint32_t column) {
    t.frames.push_back({k, file, line, column, abi::kNoFrame});
    return uint32_t(t.frames.size() - 1);
  };
  auto site = [&](abi::SiteKind kind, uint32_t bits, uint32_t f, const char *opcode) {
    t.sites.push_back({uint32_t(kind), abi::accessInfo(bits, bits ? 4 : 0), f, tile, t.intern(opcode), {}});
  };
  uint32_t load = frame(11, 14);
  site(abi::SiteKind::Access, W, frame(8, 13), "store");
  site(abi::SiteKind::Access, R, load, "load");
  site(abi::SiteKind::Barrier, 0, frame(15, 3), "barrier");
  site(abi::SiteKind::Access, W, frame(20, 7), "store");
  site(abi::SiteKind::Access, R, load, "load");
  site(abi::SiteKind::Access, R | W, frame(22, 3), "atomicrmw add");
  t.sites.back().info = abi::atomicInfo(R | W | abi::kAccessAtomic, 4, abi::Scope::Workgroup, false, false);
  t.loops.push_back({k, file, 7, 20});
  t.skips.push_back({t.intern("global memory"), 3});
  t.kernels.push_back({t.intern("_Z1kPi"), t.intern("_Z1kPi.wavesan"), file, 5, 2, 0, 0, 1, 4, 0, 0});

  std::vector<ArgSpec> args = {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}, {16, 1, "by_value"}}, twinArgs = args;
  twinArgs.push_back({24, 8, "global_buffer"});
  for (const ArgSpec &a : hiddenArgsV4(24))
    args.push_back(a);
  for (const ArgSpec &a : hiddenArgsV4(32))
    twinArgs.push_back(a);
  for (std::vector<ArgSpec> *list : {&args, &twinArgs})
    for (ArgSpec &a : *list)
      if (!callsHost && a.kind == std::string("hidden_hostcall_buffer"))
        a.kind = "hidden_none";
  std::vector<std::pair<std::string, std::string>> sections = {
      {".note", metadataNote(metadataRoot({kernelMetadata("_Z1kPi", kKernargBytes, kStaticLds, args),
                                           kernelMetadata("_Z1kPi.wavesan", kTwinKernargBytes, kStaticLds, twinArgs),
                                           kernelMetadata("_Z5plainv", 0, 0, {}),
                                           kernelMetadata("__amd_rocclr_copyBuffer", 0, 0, {})}))},
      {abi::kSiteTableSection, t.finish()}};
  if (!symbols.empty())
    for (auto &section : symbolSections(symbols))
      sections.push_back(section);
  return buildElf(sections);
}

std::vector<FakeSymbol> sampleSymbols() {
  return {{"_Z1kPi.kd", kOriginalObject, kKernargBytes, kStaticLds, 16},
          {"_Z1kPi.wavesan.kd", kTwinObject, kTwinKernargBytes, kStaticLds, 48},
          {"_Z5plainv.kd", kPlainObject, 0, 0, 0},
          {"__amd_rocclr_copyBuffer.kd", kBlitObject, 0, 0, 0}};
}

void ToolTest::SetUp() {
  unsetenv(abi::kStatusFdVariable);
  Runtime = std::make_unique<FakeRuntime>();
  Kernarg.resize(kKernargBytes);
  for (size_t i = 0; i < Kernarg.size(); ++i)
    Kernarg[i] = uint8_t(i + 1);
}

void ToolTest::TearDown() { OnUnload(); }

void ToolTest::load(const std::string &options) {
  setenv(abi::kOptionsVariable, ("log_path=" + Log.path() + ":" + options).c_str(), 1);
  ASSERT_TRUE(OnLoad(Runtime->table(), 0, 0, nullptr));
  Executable = Runtime->loadExecutable(sampleCodeObject({}, CallsHost), sampleSymbols());
  Queue = &Runtime->createQueue();
}

std::string ToolTest::lastLine() const {
  std::string text = log();
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

DispatchPacket ToolTest::packet(uint64_t kernelObject, uint32_t dynamicLds) {
  DispatchPacket p{};
  p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER;
  p.setup = 1;
  p.workgroup_size_x = 128;
  p.workgroup_size_y = p.workgroup_size_z = 1;
  p.grid_size_x = 1024;
  p.grid_size_y = p.grid_size_z = 1;
  p.private_segment_size = 16;
  p.group_segment_size = kStaticLds + dynamicLds;
  p.kernel_object = kernelObject;
  p.kernarg_address = Kernarg.data();
  p.completion_signal = Runtime->createSignal();
  return p;
}

abi::DispatchContext &ToolTest::context(const DispatchPacket &twin) {
  uint64_t address;
  std::memcpy(&address, static_cast<const uint8_t *>(twin.kernarg_address) + 24, sizeof(address));
  return *reinterpret_cast<abi::DispatchContext *>(address);
}

abi::DispatchCounters &ToolTest::counters(const DispatchPacket &twin) {
  return *reinterpret_cast<abi::DispatchCounters *>(context(twin).counters);
}

void ToolTest::putRace(const DispatchPacket &twin, abi::RaceRecord r) {
  auto *table = reinterpret_cast<abi::RaceTable *>(context(twin).raceTable);
  auto *records = reinterpret_cast<abi::RaceRecord *>(table + 1);
  uint64_t slot = r.key % table->capacity;
  while (records[slot].key != 0)
    slot = (slot + 1) % table->capacity;
  records[slot] = r;
  ++table->used;
  counters(twin).racesSeen += r.count;
}

abi::RaceRecord ToolTest::record(uint32_t currentSite, uint32_t currentWave, uint32_t previousSite,
                                 uint32_t previousWave) {
  auto bits = [](uint32_t site) {
    return uint8_t(site == kLoadSite || site == kUnrolledLoadSite ? abi::kAccessRead : abi::kAccessWrite);
  };
  abi::RaceRecord r{};
  r.key = abi::raceKey(currentSite, previousSite, abi::RaceClass::Race);
  r.count = 1;
  r.ready = 1;
  r.raceClass = uint32_t(abi::RaceClass::Race);
  r.address = 508;
  r.size = 4;
  r.variableOffset = 508;
  r.current = {currentSite, uint16_t(currentWave), 0, bits(currentSite)};
  r.previous = {previousSite, uint16_t(previousWave), 63, bits(previousSite)};
  return r;
}

abi::RaceRecord ToolTest::globalRecord(const void *address, uint32_t currentSite, uint32_t previousSite) {
  abi::RaceRecord r = record(currentSite, 0, previousSite, 1);
  r.space = uint32_t(abi::RaceSpace::Global);
  r.address = reinterpret_cast<uint64_t>(address);
  r.variableOffset = abi::kNoVariable;
  r.workgroup[0] = 1;
  return r;
}

void ToolTest::waitFor(const std::function<bool()> &condition) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  ASSERT_TRUE(condition());
}

void ToolTest::finishDispatch(const DispatchPacket &twin, hsa_signal_t programSignal) {
  counters(twin).checkedSpaces = abi::kChecksLds | abi::kChecksGlobal;
  Runtime->complete(twin);
  waitFor([&] { return Runtime->signalValue(programSignal) <= 0; });
}

} // namespace wavesan::test
