// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starting a trace from the environment.
#include "trace_session.h"

#include "region_files.h"

#include "wavesan/abi/options.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesan::hip {

namespace {

abi::StatusPage *mapStatusPage() {
  const char *text = std::getenv(abi::kStatusFdVariable);
  int fd = -1;
  if (!text || std::from_chars(text, text + std::strlen(text), fd).ec != std::errc() || fd < 0)
    return nullptr;
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || size_t(info.st_size) < sizeof(abi::StatusPage))
    return nullptr; // the program has taken the number for a file of its own, or it is another version's page
  void *memory = mmap(nullptr, sizeof(abi::StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto *page = static_cast<abi::StatusPage *>(memory);
  if (page->magic == abi::kStatusMagic)
    return page;
  munmap(memory, sizeof(abi::StatusPage));
  return nullptr;
}

struct Session {
  abi::Options options;
  abi::StatusPage *page = nullptr;
  int messages = STDERR_FILENO; ///< a copy: programs redirect and close their stderr
};

Session &session() {
  static Session *const instance = new Session;
  return *instance;
}

} // namespace

void sayLine(const std::string &line) {
  const std::string text = "wavesan: " + line + "\n";
  if (line.starts_with("error: ") && session().page)
    session().page->traceErrors.fetch_add(1);
  if (::write(session().messages, text.data(), text.size()) < 0) {
    // nowhere left to say it
  }
}

namespace {

std::string ownFileName(const std::string &path) {
  const auto pid = uint64_t(getpid());
  uint64_t first = 0;
  if (abi::StatusPage *page = session().page)
    if (page->traceFirstProcess.compare_exchange_strong(first, pid))
      first = pid;
  const std::string name = traceFileName(path, pid, first);
  if (first && first != pid && name != path && path.find("%p") == std::string::npos)
    sayLine("trace: another process writes '" + path + "'; this one writes '" + name + "'");
  return name;
}

bool traces(const abi::Options &options) {
  return !(options.trace_csv.empty() && options.trace_json.empty() && options.trace_perfetto.empty() &&
           options.trace_graph.empty() && options.trace_dot.empty());
}

std::vector<std::unique_ptr<TraceSink>> openSinks() {
  const abi::Options &options = session().options;
  if (!traces(options))
    return {};
  if (session().page)
    session().page->tracedProcesses.fetch_add(1);
  std::vector<std::unique_ptr<TraceSink>> sinks;
  if (!options.trace_csv.empty())
    sinks.push_back(makeCsvSink(TraceFile(ownFileName(options.trace_csv)), options.trace_columns));
  if (!options.trace_json.empty())
    sinks.push_back(makeJsonSink(TraceFile(ownFileName(options.trace_json))));
  if (!options.trace_perfetto.empty())
    sinks.push_back(makePerfettoSink(TraceFile(ownFileName(options.trace_perfetto))));
  if (!options.trace_graph.empty())
    sinks.push_back(makeGraphSink(TraceFile(ownFileName(options.trace_graph)), /*dot=*/false));
  if (!options.trace_dot.empty())
    sinks.push_back(makeGraphSink(TraceFile(ownFileName(options.trace_dot)), /*dot=*/true));
  return sinks;
}

/// Who reports races between commands: without it nobody looks for them.
bool raceToolIsLoaded() {
  const char *tools = std::getenv("HSA_TOOLS_LIB");
  return tools && std::strstr(tools, "libwavesan-hsa.so");
}

/// What `wavesan record` has asked for.
void keepRegion(const RecordedRegion &region) {
  if (region.nodes.empty() && region.name == RegionRecorder::kAll) // a process without HIP
    return;
  const std::string prefix = regionPrefix(session().options.record, region);
  const RegionReport report = writeRegion(region, ownFileName(prefix + ".json"), ownFileName(prefix + ".dot"));
  for (const std::string &line : report.lines)
    sayLine(line);
  if (report.written && session().page)
    session().page->graphsRecorded.fetch_add(1);
}

} // namespace

std::string traceFileName(const std::string &path, uint64_t pid, uint64_t first) {
  const std::string number = std::to_string(pid);
  std::string out;
  bool named = false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path.compare(i, 2, "%p") == 0) {
      out += number;
      named = true;
      ++i;
    } else {
      out += path[i];
    }
  }
  if (named || first == 0 || first == pid)
    return out;
  const size_t dot = path.rfind('.'), slash = path.rfind('/');
  const bool hasExtension = dot != std::string::npos && dot != 0 && (slash == std::string::npos || dot > slash + 1);
  return hasExtension ? path.substr(0, dot) + "." + number + path.substr(dot) : path + "." + number;
}

Tracer &processTracer() {
  static Tracer *const tracer = new Tracer;
  return *tracer;
}

void startFromEnvironment() {
  abi::OptionErrors errors; // said by whoever starts the program, and by the HSA tool
  abi::Options options = abi::optionsFromEnvironment(errors);
  const bool watch = (options.check_streams && raceToolIsLoaded()) || !options.record.empty();
  if (!watch && !traces(options))
    return;
  if (watch)
    processTracer().watchStreams(size_t(options.stream_history_mb) << 20);
  session().options = std::move(options);
  session().page = mapStatusPage();
  if (const abi::Options &set = session().options; !set.record.empty())
    processTracer().watch()->setRecorder(
        std::make_unique<RegionRecorder>(set.record_region, set.record_max, size_t(set.stream_history_mb) << 20),
        keepRegion);
  if (const int copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100); copy >= 0)
    session().messages = copy;
  if (const abi::Options &set = session().options; watch && !set.capsule.empty() && set.capsule_of == "all")
    processTracer().watch()->keepGraphLaunches(std::make_unique<GraphLaunches>(set.capsule, set.capsule_max), sayLine);
  processTracer().attach(openSinks, sayLine);
  pthread_atfork([] { processTracer().beforeFork(); }, [] { processTracer().afterForkInParent(); },
                 [] { processTracer().afterForkInChild(); });
}

} // namespace wavesan::hip
