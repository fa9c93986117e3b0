// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading, unloading, options, the status page, and ends that are not orderly.
#include "shared_page.h"
#include "tool_fixture.h"

#include "wavesan/abi/options.h"

#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace wavesan::test {

TEST_F(ToolTest, StatusPageIsUpToDateBeforeTheEnd) {
  SharedPage shared;
  load();
  EXPECT_EQ(shared.page->processesAttached, 1u);
  DispatchPacket original = packet(), twin = submit(original);
  counters(twin).checkedAccesses = 11;
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  finishDispatch(twin, original.completion_signal);
  submit(packet(kPlainObject));
  // The program could end by _exit here.
  EXPECT_EQ(shared.page->races, 1u);
  EXPECT_EQ(shared.page->checkedAccesses, 11u);
  EXPECT_EQ(shared.page->kernels, 1u);
  EXPECT_EQ(shared.page->dispatchesUnchecked, 1u);
  EXPECT_EQ(shared.page->errors, 0u);
  EXPECT_EQ(shared.page->summariesPrinted, 0u);
  unload();
  EXPECT_EQ(shared.page->summariesPrinted, 1u);
  unload(); // idempotent
  EXPECT_EQ(shared.page->summariesPrinted, 1u);
}

TEST_F(ToolTest, StatusPageKnowsOfDispatchesWhoseResultsAreMissing) {
  SharedPage shared;
  load();
  EXPECT_EQ(shared.page->firstProcess, uint64_t(getpid()));
  DispatchPacket original = packet(), twin = submit(original);
  EXPECT_EQ(shared.page->dispatchesPending, 1u); // killed now, its races would never be seen
  counters(twin).racesDropped = 3;
  finishDispatch(twin, original.completion_signal);
  EXPECT_EQ(shared.page->dispatchesPending, 0u);
  EXPECT_EQ(shared.page->racesLost, 3u);
  unload();
}

TEST_F(ToolTest, FilesOfOtherProcessesOfARunAreNotOverwritten) {
  SharedPage shared;
  shared.page->firstProcess = uint64_t(getpid()) + 1;
  TemporaryFile other("of the first process");
  const std::string own = other.path() + "." + std::to_string(getpid());
  load("json_path=" + other.path());
  unload();
  EXPECT_EQ(other.read(), "of the first process");
  EXPECT_TRUE(std::ifstream(own).good());
  EXPECT_NE(log().find("wavesan: warning: json_path: '" + other.path() +
                       "' belongs to another process of this run; this one writes '" + own + "'"),
            std::string::npos)
      << log();
  unlink(own.c_str());
}

TEST_F(ToolTest, AFullDiskForTheLogIsAnError) {
  SharedPage shared;
  testing::internal::CaptureStderr();
  load("log_path=/dev/full");
  unload();
  EXPECT_EQ(testing::internal::GetCapturedStderr().find(
                "wavesan: log_path: cannot write to '/dev/full': No space left on device; reports go to stderr\n"),
            0u);
  EXPECT_EQ(shared.page->errors, 1u);
}

TEST_F(ToolTest, AChildForkedFromAnHsaProgramIsNotChecked) {
  SharedPage shared;
  load();
  const pid_t child = fork();
  if (child == 0) {
    DispatchPacket original = packet();
    const bool passed = submit(original).kernel_object == kOriginalObject;
    submit(original);
    _exit(passed ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared.page->errors, 1u);
  EXPECT_EQ(shared.page->dispatchesUnchecked, 2u);
  unload();
}

TEST_F(ToolTest, UnusableStatusPageIsSaid) {
  for (const char *fd : {"999", "-1", "x", "0x"}) {
    setenv(abi::kStatusFdVariable, fd, 1);
    load();
    unload();
    unsetenv(abi::kStatusFdVariable);
  }
  SharedPage shared;
  shared.page->magic = 0;
  load();
  unload();
  std::string text = log();
  size_t n = 0;
  for (size_t at = text.find("wavesan: status page (WAVESAN_STATUS_FD): "); at != std::string::npos;
       at = text.find("wavesan: status page (WAVESAN_STATUS_FD): ", at + 1))
    ++n;
  EXPECT_EQ(n, 5u) << text;
}

TEST_F(ToolTest, UnknownOptionsAreOneLineEach) {
  load("max_race=5:verbosity=x:summary=0");
  unload();
  std::string text = log();
  EXPECT_NE(text.find("wavesan: warning: unknown option 'max_race'; did you mean 'max_races'?\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("wavesan: option verbosity: 'x' is not a number from 0 to 4294967295\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("checked 0 accesses"), std::string::npos) << text;
}

TEST_F(ToolTest, ValuesThatDoNotFitMakeTheResultIncomplete) {
  SharedPage shared;
  load("early_exit=maybe:color=blue");
  unload();
  std::string text = log();
  EXPECT_NE(text.find("wavesan: option early_exit: 'maybe' is none of error, warning, off\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: option color: 'blue' is none of auto, always, never\n"), std::string::npos) << text;
  EXPECT_EQ(shared.page->errors, 2u);
}

TEST_F(ToolTest, HelpPrintsEveryOptionWithItsValue) {
  load("help=1:max_races=7");
  std::string text = log();
  for (const abi::OptionInfo &option : abi::kOptionInfos)
    EXPECT_NE(text.find(std::string("wavesan:   ") + option.name + "="), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan:   max_races=7  (uint64) "), std::string::npos) << text;
}

TEST_F(ToolTest, MaxRacesSizesTheTable) {
  load("max_races=100");
  DispatchPacket original = packet(), twin = submit(original);
  EXPECT_EQ(reinterpret_cast<abi::RaceTable *>(context(twin).raceTable)->capacity, 128u);
  finishDispatch(twin, original.completion_signal);
}

TEST_F(ToolTest, FunctionsAreGivenBack) {
  CoreApiTable before = Runtime->core();
  AmdExtTable amdBefore = Runtime->amd();
  load();
  EXPECT_NE(Runtime->amd().hsa_amd_memory_pool_allocate_fn, amdBefore.hsa_amd_memory_pool_allocate_fn);
  EXPECT_EQ(Runtime->amd().hsa_amd_memory_lock_to_pool_fn, nullptr); // the runtime lacks it
  EXPECT_NE(Runtime->core().hsa_queue_create_fn, before.hsa_queue_create_fn);
  EXPECT_NE(Runtime->core().hsa_executable_freeze_fn, before.hsa_executable_freeze_fn);
  unload();
  EXPECT_EQ(std::memcmp(&Runtime->core(), &before, sizeof(before)), 0);
  EXPECT_EQ(std::memcmp(&Runtime->amd(), &amdBefore, sizeof(amdBefore)), 0);
}

TEST_F(ToolTest, AnotherRuntimesTableIsRefused) {
  setenv(abi::kOptionsVariable, ("log_path=" + Log.path()).c_str(), 1);
  SharedPage shared;
  Runtime->amd().version.minor_id += 8;
  CoreApiTable before = Runtime->core();
  EXPECT_FALSE(OnLoad(Runtime->table(), 0, 0, nullptr));
  EXPECT_EQ(std::memcmp(&Runtime->core(), &before, sizeof(before)), 0);
  EXPECT_NE(log().find("wavesan: nothing is checked: this libwavesan-hsa.so was built for another ROCm version"),
            std::string::npos)
      << log();
  Runtime->amd().version.minor_id -= 8;
  Runtime->amd().hsa_amd_queue_intercept_create_fn = nullptr;
  EXPECT_FALSE(OnLoad(Runtime->table(), 0, 0, nullptr));
  EXPECT_NE(log().find("wavesan: nothing is checked: the HSA runtime has no hsa_amd_queue_intercept_create\n"),
            std::string::npos)
      << log();
  EXPECT_FALSE(OnLoad(nullptr, 0, 0, nullptr));
  EXPECT_EQ(shared.page->errors, 3u);
}

TEST_F(ToolTest, QueueThatCannotBeInterceptedStillWorks) {
  load();
  Runtime->failIntercept = true;
  FakeQueue &queue = Runtime->createQueue();
  EXPECT_FALSE(queue.intercepted);
  DispatchPacket original = packet();
  EXPECT_EQ(Runtime->submit(queue, {original}).at(0).kernel_object, kOriginalObject);
  EXPECT_NE(log().find("wavesan: a queue cannot be intercepted"), std::string::npos) << log();
}

TEST_F(ToolTest, HostileCodeObjectsAreSaidAndTheProgramGoesOn) {
  load();
  std::string broken = sampleCodeObject();
  broken[broken.find("WSSITES1")] = 'X';
  Runtime->core().hsa_executable_destroy_fn(Executable);
  Runtime->loadExecutable(broken, sampleSymbols());
  Runtime->loadExecutable("garbage", {});
  EXPECT_EQ(submit(packet()).kernel_object, kOriginalObject);
  unload();
  std::string text = log();
  EXPECT_NE(text.find("wavesan: site table: wrong magic\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: code object: not an ELF file\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: 2 errors of WaveSan itself (printed above)\n"), std::string::npos) << text;
}

TEST_F(ToolTest, CodeObjectFromAFile) {
  load();
  Runtime->core().hsa_executable_destroy_fn(Executable);
  TemporaryFile file(sampleCodeObject());
  hsa_executable_t executable{500};
  for (const FakeSymbol &s : sampleSymbols())
    Runtime->Symbols[executable.handle][s.name] = s;
  FILE *f = fopen(file.path().c_str(), "r");
  hsa_code_object_reader_t reader{};
  Runtime->core().hsa_code_object_reader_create_from_file_fn(fileno(f), &reader);
  fclose(f);
  Runtime->core().hsa_executable_load_agent_code_object_fn(executable, kGpuAgent, reader, nullptr, nullptr);
  Runtime->core().hsa_executable_freeze_fn(executable, nullptr);
  DispatchPacket original = packet(), twin = submit(original);
  EXPECT_EQ(twin.kernel_object, kTwinObject);
  finishDispatch(twin, original.completion_signal);
}

TEST_F(ToolTest, KernelsOfUnknownExecutablesAreNamedWhenLookedUp) {
  load();
  hsa_executable_t executable{600};
  Runtime->Symbols[executable.handle]["_Z6hiddenv.kd"] = {"_Z6hiddenv.kd", 0x7000, 0, 0, 0};
  uint64_t object = 0;
  Runtime->core().hsa_executable_symbol_get_info_fn(Runtime->symbol(executable, "_Z6hiddenv.kd"),
                                                    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object);
  EXPECT_EQ(object, 0x7000u);
  submit(packet(0x7000));
  unload();
  EXPECT_NE(log().find("wavesan: not checked: kernel hidden(), 1 dispatch: not built with WaveSan\n"),
            std::string::npos)
      << log();
}

TEST_F(ToolTest, VerbosityTellsOfCodeObjectsAndDispatches) {
  load("verbosity=1");
  DispatchPacket original = packet(), twin = submit(original);
  finishDispatch(twin, original.completion_signal);
  EXPECT_NE(log().find(" bytes: 3 kernels, 1 twins, 6 sites\n"), std::string::npos) << log();
  EXPECT_NE(log().find("wavesan: dispatch 1: k(int*), group segment "), std::string::npos) << log();
}

TEST_F(ToolTest, QueueErrorSavesWhatWasFoundBeforeTheProgramHearsOfIt) {
  load();
  static std::string logAtCallback;
  static ToolTest *self;
  struct Reader : ToolTest {
    static std::string read(ToolTest *t) { return static_cast<Reader *>(t)->log(); }
  };
  self = this;
  logAtCallback.clear();
  hsa_queue_t *handle = nullptr;
  int cookie = 0;
  Runtime->core().hsa_queue_create_fn(
      kGpuAgent, 64, HSA_QUEUE_TYPE_MULTI,
      [](hsa_status_t, hsa_queue_t *, void *data) {
        ++*static_cast<int *>(data);
        logAtCallback = Reader::read(self);
      },
      &cookie, 0, 0, &handle);
  FakeQueue &queue = *Runtime->Queues.at(reinterpret_cast<uint64_t>(handle));
  DispatchPacket original = packet(), twin = Runtime->submit(queue, {original}).at(0);
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  abi::RaceRecord half = record(kStoreSite, 0, kStoreSite, 1);
  half.ready = 0; // the device stopped in the middle of this one
  putRace(twin, half);
  queue.errorCallback(hsa_status_t(HSA_STATUS_ERROR_MEMORY_FAULT), handle, queue.errorData);
  EXPECT_EQ(cookie, 1);
  EXPECT_NE(logAtCallback.find("wavesan: race: LDS write-read"), std::string::npos) << logAtCallback;
  // Some runtimes complete the packet afterwards: forwarded, and not reported again.
  Runtime->complete(twin, -1);
  waitFor([&] { return Runtime->signalValue(original.completion_signal) == -1; });
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 0 accesses in 1 kernels: 1 races");
  EXPECT_EQ(log().find("damaged"), std::string::npos) << log();
  EXPECT_NE(log().find("wavesan: 1 dispatch failed"), std::string::npos) << log();
}

TEST_F(ToolTest, DestroyedQueueGivesItsDispatchesUp) {
  load();
  FakeQueue &queue = Runtime->createQueue();
  Runtime->submit(queue, {packet()});
  EXPECT_EQ(Runtime->core().hsa_queue_destroy_fn(&queue.queue), HSA_STATUS_SUCCESS);
  auto begin = std::chrono::steady_clock::now();
  unload(); // must not wait for it
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_NE(log().find("wavesan: 1 dispatch not checked: not finished when the program ended\n"), std::string::npos)
      << log();
}

TEST_F(ToolTest, EndWaitsForRunningDispatchesAndNotForEver) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  counters(twin).checkedAccesses = 5;
  std::thread device([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Runtime->complete(twin);
  });
  unload();
  device.join();
  EXPECT_EQ(lastLine(), "wavesan: checked 5 accesses in 1 kernels: 0 races");

  load();
  submit(packet()); // never completes
  auto begin = std::chrono::steady_clock::now();
  unload();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9));
  EXPECT_NE(log().find("wavesan: 1 dispatch not checked: not finished when the program ended\n"), std::string::npos)
      << log();
}

TEST_F(ToolTest, DispatchesAfterTheEndPassThroughAndAreSaid) {
  load();
  unload();
  DispatchPacket original = packet(), written = submit(original);
  EXPECT_EQ(std::memcmp(&written, &original, sizeof(written)), 0);
  submit(packet(kBlitObject));
  EXPECT_EQ(lastLine(), "wavesan: not checked: kernel k(int*): dispatched after the program's exit began");
}

TEST_F(ToolTest, ExitPrintsTheSummaryAndForkedChildrenPrintNothing) {
  pid_t child = fork();
  if (child == 0) {
    load();
    DispatchPacket original = packet(), twin = submit(original);
    counters(twin).checkedAccesses = 3;
    finishDispatch(twin, original.completion_signal);
    if (fork() == 0)
      std::exit(0);
    wait(nullptr);
    std::exit(0); // neither OnUnload nor hsa_shut_down
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(log(), "wavesan: not checked: 3 places in the kernels: global memory\n"
                   "wavesan: checked 3 accesses in 1 kernels: 0 races\n");
}

} // namespace wavesan::test
