// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "host_functions.h"

#include "stream_watch.h"

#include <dlfcn.h>
#include <unwind.h>

namespace wavesan::hip {

namespace {

__attribute__((tls_model("initial-exec"))) thread_local HostCall *current = nullptr;

/// A destructor, because the program's function may leave by an exception or with its thread.
class Running {
public:
  explicit Running(void *argument) : Call(static_cast<std::shared_ptr<HostCall> *>(argument)), Outer(current) {
    (*Call)->watch->hostFunctionStarts(**Call);
    current = Call->get();
  }
  ~Running() {
    current = Outer;
    (*Call)->watch->hostFunctionEnds(**Call);
  }
  HostCall &call() const { return **Call; }

private:
  const std::unique_ptr<std::shared_ptr<HostCall>> Call;
  HostCall *const Outer;
};

/// The program's functions have HIP's types, for which void * and int stand here.
#if defined(__clang__)
#define WAVESAN_CALLS_PROGRAM __attribute__((no_sanitize("function")))
#else
#define WAVESAN_CALLS_PROGRAM
#endif

WAVESAN_CALLS_PROGRAM void hostFunction(void *argument) {
  const Running running(argument);
  reinterpret_cast<void (*)(void *)>(running.call().function)(running.call().user);
}

WAVESAN_CALLS_PROGRAM void streamCallback(void *stream, int status, void *argument) {
  const Running running(argument);
  reinterpret_cast<void (*)(void *, int, void *)>(running.call().function)(stream, status, running.call().user);
}

struct Search {
  const void *base; ///< of HIP's library
  int steps = 0;
  bool found = false;
};

_Unwind_Reason_Code look(_Unwind_Context *context, void *data) {
  constexpr int kMaxSteps = 256; // the end of the stack, or a recursion that HIP would not be behind
  auto &search = *static_cast<Search *>(data);
  const uintptr_t address = _Unwind_GetIP(context);
  Dl_info info;
  if (!address || ++search.steps > kMaxSteps)
    return _URC_END_OF_STACK;
  search.found = dladdr(reinterpret_cast<const void *>(address), &info) && info.dli_fbase == search.base;
  return search.found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

HostFunctionArguments stand(const std::shared_ptr<HostCall> &call, bool callback) {
  // Where HIP refuses the call, or never makes it, this stays behind: it may have been handed on already.
  auto *kept = new std::shared_ptr<HostCall>(call);
  return {callback ? reinterpret_cast<void *>(&streamCallback) : reinterpret_cast<void *>(&hostFunction), kept};
}

HostCall *currentHostCall() { return current; }

bool calledByHip(const void *hip) {
  enum class Answer : uint8_t { Unknown, No, Yes };
  __attribute__((tls_model("initial-exec"))) static thread_local Answer answer = Answer::Unknown;
  if (answer == Answer::Unknown) {
    Dl_info info;
    Search search{hip && dladdr(hip, &info) ? info.dli_fbase : nullptr};
    if (!search.base)
      return false;
    _Unwind_Backtrace(look, &search);
    answer = search.found ? Answer::Yes : Answer::No;
  }
  return answer == Answer::Yes;
}

} // namespace wavesan::hip
