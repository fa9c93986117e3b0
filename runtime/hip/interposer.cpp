// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the program calls instead of HIP's.
//
// Each symbol is a jump through a slot that holds the address of its wrapper. So one template serves all functions, and
// the exported names need no parameter lists. Symbols carry no version: the dynamic linker lets them stand for every
// version that a program asks for.
//
// A function that this HIP lacks cannot be taken out of the symbol table at run time: it answers hipErrorNotSupported.
#include "call_hook.h"
#include "last_error.h"
#include "launch_turns.h"
#include "real_hip.h"

#include "trace_session.h"
#include "wavesan/abi/host_watch.h"
#include "wavesan/abi/replay.h"

#include <functional>
#include <mutex>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the entries of the interposed functions are written for x86-64"
#endif

namespace wavesan::hip {

namespace {

std::atomic<void *> realFunctions[kCallCount];
/// Stands for a function that HIP does not have.
char absent;

void *findOnce(CallId id) noexcept {
  bool final = false;
  void *function = findRealFunction(infoOf(id).symbol, final);
  if (function || final)
    realFunctions[size_t(id)].store(function ? function : &absent, std::memory_order_release);
  return function;
}

void *realFunction(CallId id) {
  void *function = realFunctions[size_t(id)].load(std::memory_order_acquire);
  if (__builtin_expect(!function, 0))
    return findOnce(id);
  return function == &absent ? nullptr : function;
}

std::atomic<Tracer *> tracing{nullptr};          ///< null: off
std::atomic<const CallHook *> callHook{nullptr}; ///< null: none
std::atomic<void (*)(Stream)> streamEnding{nullptr};
std::atomic<bool> observed{false}; ///< either of them is there

void noteObserved() { observed.store(tracing.load() || callHook.load(), std::memory_order_release); }

/// HIP's functions call one another through the same symbols.
__attribute__((tls_model("initial-exec"))) thread_local bool insideHip = false;

struct Thread {
  ThreadState state{uint32_t(syscall(SYS_gettid)), 0};
  ~Thread() {
    if (Tracer *tracer = tracing.load())
      tracer->threadEnds(state.id);
  }
};

ThreadState &currentThread() {
  static thread_local Thread thread;
  return thread.state;
}

/// A destructor, because a cancelled thread leaves HIP's calls without returning from them.
struct InsideHip {
  InsideHip() { insideHip = true; }
  ~InsideHip() { insideHip = false; }
};

/// HIP's functions have HIP's types, for which those of hip_types.h stand: to UndefinedBehaviorSanitizer another type.
#if defined(__clang__)
#define WAVESAN_CALLS_HIP __attribute__((no_sanitize("function")))
#else
#define WAVESAN_CALLS_HIP
#endif

std::atomic<abi::ReplayGraph *> graphReplay{nullptr};

/// A launch, or several in its place, if a kernel replay tool wants them.
WAVESAN_CALLS_HIP int launchGraph(abi::ReplayGraph &replay, const LaunchMatcher *graph, Stream stream,
                                  const std::function<int()> &launch) {
  struct Range {
    const std::function<int()> &launch;
    Stream stream;
  } once{launch, stream};
  std::vector<const char *> kernels;
  abi::GraphRange range{};
  if (graph && graph->graph().order) {
    range.nodes = graph->graph().order->size();
    range.declined = graph->graph().hostNodes        ? "host_functions"
                     : !graph->graph().waits.empty() ? "event_waits"
                                                     : nullptr;
    for (const LaunchableGraph::Group &group : graph->graph().groups) {
      kernels.push_back(group.launch.kernel.c_str());
      if (group.launch.kernel.empty())
        range.declined = "graph_unknown";
    }
  } else {
    range.declined = "graph_unknown";
  }
  range.kernels = kernels.data();
  range.kernelCount = kernels.size();
  range.self = &once;
  range.launch = [](void *self) WAVESAN_CALLS_HIP {
    const auto &one = *static_cast<Range *>(self);
    const int result = one.launch();
    auto *wait = reinterpret_cast<int (*)(Stream)>(realFunction(CallId::hipStreamSynchronize));
    return result != kHipSuccess ? result : wait ? wait(one.stream) : int(kHipErrorNotSupported);
  };
  range.isOfProgram = [](void *, uint64_t begin, uint64_t bytes) {
    return processTracer().watch()->isOfProgram(begin, bytes);
  };
  int result = kHipSuccess;
  return replay(&range, &result) ? result : launch();
}

template <CallId Id, class Type> struct Wrapper;
template <CallId Id, class... Arguments> struct Wrapper<Id, int(Arguments...)> {
  WAVESAN_CALLS_HIP static int call(Arguments... arguments) {
    const auto real = reinterpret_cast<int (*)(Arguments...)>(realFunction(Id));
    if (__builtin_expect(!real, 0))
      return absent(arguments...);
    if constexpr (infoOf(Id).action == Action::StreamDestroy)
      if (auto *ending = streamEnding.load(std::memory_order_acquire))
        ending(arguments...);
    if (__builtin_expect(!observed.load(std::memory_order_acquire), 1))
      return inTurn(real, arguments...);
    return seen(real, arguments...);
  }

  WAVESAN_CALLS_HIP static int inTurn(int (*real)(Arguments...), Arguments... arguments) {
    constexpr Category category = infoOf(Id).category;
    if constexpr (category == Category::Graph || category == Category::Launch) {
      const LaunchTurn turn(category == Category::Graph ? LaunchTurn::Graph : LaunchTurn::Kernel);
      return real(arguments...);
    } else {
      return real(arguments...);
    }
  }

  static bool takenByHook(const CallArguments &seen, int &result) {
    const CallHook *hook = callHook.load(std::memory_order_acquire);
    if (!hook)
      return false;
    const TakenCall call;
    if (!hook->take(Id, seen, result))
      return false;
    call.taken(result);
    return true;
  }

  /// This HIP lacks the function; recorded it needs none.
  __attribute__((noinline)) static int absent(Arguments... arguments) {
    CallArguments seen;
    (seen.add(arguments), ...);
    int result = kHipErrorNotSupported;
    if (!insideHip)
      takenByHook(seen, result);
    return result;
  }

  /// HIP calls the program's function through one of ours.
  template <class S, class F, class U, class... Rest>
  WAVESAN_CALLS_HIP static int withStand(int (*real)(S, F, U, Rest...), const std::shared_ptr<HostCall> &call, S stream,
                                         F function, U user, Rest... rest) {
    if (!call)
      return real(stream, function, user, rest...);
    const HostFunctionArguments given = stand(call, sizeof...(rest) != 0); // the flags of hipStreamAddCallback
    return real(stream, given.function, given.user, rest...);
  }

  WAVESAN_CALLS_HIP __attribute__((noinline)) static int seen(int (*real)(Arguments...), Arguments... arguments) {
    if (insideHip)
      return real(arguments...);
    CallArguments seen;
    (seen.add(arguments), ...);
    int result = kHipSuccess;
    if (takenByHook(seen, result))
      return result;
    Tracer *const tracer = tracing.load(std::memory_order_acquire);
    ThreadState *thread = tracer && tracer->active() ? &currentThread() : nullptr;
    CallState state;
    InsideHip inside;
    if (!thread)
      return inTurn(real, arguments...);
    tracer->begin(state, Id, seen, *thread);
    if constexpr (infoOf(Id).category == Category::HostFunction)
      result = withStand(real, state.watched.hostCall, arguments...);
    else if (auto *replay = Id == CallId::hipGraphLaunch ? graphReplay.load(std::memory_order_acquire) : nullptr) {
      // From before its window until it is over: who has a turn may wait for the window.
      const LaunchTurn turn(LaunchTurn::Graph);
      result = launchGraph(*replay, state.watched.graph.get(), seen.stream, [&] { return real(arguments...); });
    } else
      result = inTurn(real, arguments...);
    tracer->end(state, seen, *thread, result);
    return result;
  }
};

} // namespace

/// Whether calls are given to processTracer().
void setTracing(bool on) {
  tracing.store(on ? &processTracer() : nullptr, std::memory_order_release);
  noteObserved();
}

namespace {

/// Kernels of libraries that were initialized before this one.
struct EarlyNames {
  std::mutex mutex;
  std::vector<std::pair<const void *, const char *>> names;
  bool started = false;
};
EarlyNames &earlyNames() {
  static auto *const early = new EarlyNames;
  return *early;
}

void noteKernelName(const void *function, const char *name) noexcept try {
  EarlyNames &early = earlyNames();
  {
    std::lock_guard lock(early.mutex);
    if (!early.started) {
      early.names.push_back({function, name});
      return;
    }
  }
  if (StreamWatch *watch = processTracer().watch())
    watch->addKernelName(function, name);
} catch (...) { // it stays without a name
}

__attribute__((constructor)) void loaded() {
  startFromEnvironment();
  EarlyNames &early = earlyNames();
  {
    std::lock_guard lock(early.mutex);
    early.started = true;
  }
  for (const auto &[function, name] : early.names)
    noteKernelName(function, name);
  early.names.clear();
  setTracing(processTracer().active());
}

__attribute__((destructor)) void unloaded() {
  if (Tracer *tracer = tracing.exchange(nullptr))
    tracer->detach();
  noteObserved();
}

/// Markers of ROCTX, which programs have anyway. Its library, if there is one, gets them too.
template <class Type> Type *realMarker(const char *symbol) {
  return reinterpret_cast<Type *>(dlsym(RTLD_NEXT, symbol));
}
thread_local int rangeDepth = 0;
std::atomic<uint64_t> lastRange{0};

/// Null: no region is recorded.
StreamWatch *regions() { return processTracer().active() ? processTracer().watch() : nullptr; }

void enter(MarkerKind kind, const char *name) {
  if (StreamWatch *watch = regions())
    watch->enterRegion(kind, currentThread().id, name);
}
void leave(MarkerKind kind) {
  if (StreamWatch *watch = regions())
    watch->leaveRegion(kind, currentThread().id);
}

const abi::StreamCheck kStreamCheck = {
    abi::kAbiVersion,
    [](const abi::StreamCheckTool *tool) {
      processTracer().watch()->setHip(realFunction(CallId::hipStreamSynchronize));
      processTracer().watch()->attach(tool);
    },
    [](const abi::DispatchShapeSeen *shape, const char *name, const void *kernarg, uint64_t kernel, uint64_t dispatch) {
      return processTracer().watch()->bind(*shape, name, kernarg, kernel, dispatch);
    },
    [](uint64_t ticket, uint64_t kernel, uint64_t dispatch, const abi::DispatchAccesses *accesses) {
      processTracer().watch()->deliver(ticket, kernel, dispatch, accesses);
    },
    [](const void *host, const void *device, uint64_t bytes) { processTracer().watch()->alias(host, device, bytes); },
    [](abi::StreamCheckCounts *counts) { processTracer().watch()->finish(*counts); },
    [](uint64_t begin, uint64_t bytes) { return processTracer().watch()->isOfProgram(begin, bytes); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) void wavesan_hip_own_code(const void *begin, const void *end) {
  setOwnCode(reinterpret_cast<uint64_t>(begin), reinterpret_cast<uint64_t>(end));
  StreamWatch::keepAccesses();
}

extern "C" __attribute__((visibility("default"))) bool wavesan_hip_node_accesses(const void *node, const void *exec,
                                                                                 const WavesanNodeAccesses *to) {
  StreamWatch *watch = processTracer().watch();
  const auto known = watch ? watch->accessesOf(node, exec) : nullptr;
  if (!known)
    return false;
  for (const streams::TouchedBytes &t : known->touched)
    to->run(to->self, t.begin, t.end, t.bits);
  for (const abi::SyncPlace &place : known->places)
    to->place(to->self, &place);
  return true;
}

extern "C" __attribute__((visibility("default"))) void
wavesan_hip_by_host(uint64_t begin, uint64_t end, void *self, void (*piece)(void *self, uint64_t begin, uint64_t end)) {
  if (StreamWatch *watch = processTracer().watch())
    watch->byHost(begin, end, [&](uint64_t from, uint64_t to) { piece(self, from, to); });
  else
    piece(self, begin, end);
}

extern "C" __attribute__((visibility("default"))) bool wavesan_hip_has(const char *symbol) {
  bool final = false;
  return findRealFunction(symbol, final) != nullptr;
}

extern "C" __attribute__((visibility("default"))) void wavesan_hip_replay_graph(uint32_t version,
                                                                                abi::ReplayGraph *replay) {
  if (version == abi::kAbiVersion)
    graphReplay.store(replay, std::memory_order_release);
}

extern "C" __attribute__((visibility("default"))) bool wavesan_hip_say(const char *line) {
  StreamWatch *watch = processTracer().watch();
  if (!watch || !watch->attached())
    return false;
  if (line)
    sayLine(line);
  return true;
}

extern "C" __attribute__((visibility("default"))) void wavesan_hip_stream_hook(void (*ending)(Stream)) {
  streamEnding.store(ending, std::memory_order_release);
}

extern "C" __attribute__((visibility("default"))) bool wavesan_hip_hook(const CallHook *hook) {
  if (hook && hook->version != abi::kAbiVersion)
    return false;
  callHook.store(hook, std::memory_order_release);
  noteObserved();
  return true;
}

extern "C" __attribute__((visibility("default"))) const abi::StreamCheck *wavesan_stream_check() {
  return processTracer().watch() ? &kStreamCheck : nullptr;
}

// wavesan/graph.h.
extern "C" __attribute__((visibility("default"))) void wavesan_region_begin(const char *name) {
  enter(MarkerKind::Region, name);
}
extern "C" __attribute__((visibility("default"))) void wavesan_region_end() { leave(MarkerKind::Region); }

extern "C" __attribute__((visibility("default"))) int roctxRangePushA(const char *name) {
  enter(MarkerKind::Range, name);
  auto *real = realMarker<int(const char *)>("roctxRangePushA");
  return real ? real(name) : rangeDepth++;
}
extern "C" __attribute__((visibility("default"))) int roctxRangePop() {
  leave(MarkerKind::Range);
  if (auto *real = realMarker<int()>("roctxRangePop"))
    return real();
  return rangeDepth > 0 ? --rangeDepth : -1;
}
extern "C" __attribute__((visibility("default"))) uint64_t roctxRangeStartA(const char *name) {
  auto *real = realMarker<uint64_t(const char *)>("roctxRangeStartA");
  const uint64_t range = real ? real(name) : ++lastRange;
  if (StreamWatch *watch = regions())
    watch->startRange(range, name);
  return range;
}
extern "C" __attribute__((visibility("default"))) void roctxRangeStop(uint64_t range) {
  if (StreamWatch *watch = regions())
    watch->stopRange(range);
  if (auto *real = realMarker<void(uint64_t)>("roctxRangeStop"))
    real(range);
}

/// Called by programs when they start, for each kernel.
extern "C" __attribute__((visibility("default"))) void __hipRegisterFunction(void *module, const void *function,
                                                                             char *device, const char *name,
                                                                             unsigned threads, void *a, void *b,
                                                                             void *c, void *d, int *waveSize) {
  noteKernelName(function, name);
  bool final = false;
  using Real = void(void *, const void *, char *, const char *, unsigned, void *, void *, void *, void *, int *);
  if (auto *real = reinterpret_cast<Real *>(findRealFunction("__hipRegisterFunction", final)))
    real(module, function, device, name, threads, a, b, c, d, waveSize);
}

extern "C" __attribute__((visibility("default"))) void wavesan_host_watch(abi::HostWatch *watch) {
  watch->access = [](const void *address, uint64_t bytes, uint32_t bits) {
    processTracer().watch()->hostAccess(address, bytes, bits, reinterpret_cast<uint64_t>(__builtin_return_address(0)));
  };
  // Last: another thread may look at it. It stays 0 where streams are not watched.
  __atomic_store_n(&watch->busy, StreamWatch::busy(), __ATOMIC_RELEASE);
}

#define WAVESAN_HIP_ENTRY(Name, Symbol, Category, Action, ...)                                                         \
  extern "C" __attribute__((visibility("hidden"), used)) std::add_pointer_t<__VA_ARGS__> const wavesanHipSlot_##Name = \
      &Wrapper<CallId::Name, __VA_ARGS__>::call;                                                                       \
  __asm__(".pushsection .text\n"                                                                                       \
          ".globl " #Symbol "\n.type " #Symbol ", @function\n.p2align 4\n" #Symbol ":\n"                               \
          "endbr64\njmp *wavesanHipSlot_" #Name "(%rip)\n"                                                             \
          ".size " #Symbol ", .-" #Symbol "\n.popsection\n");
#include "hip_calls.def"
#undef WAVESAN_HIP_ENTRY

} // namespace wavesan::hip
