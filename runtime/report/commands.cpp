// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/commands.h"

namespace wavesan::report {

namespace {

using Kind = CommandSide::Kind;

/// "(anonymous namespace)::fill" for "(anonymous namespace)::fill(int*, int)".
std::string withoutParameters(const std::string &kernel) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t at = kernel.find('(');
  while (at != std::string::npos && std::string_view(kernel).substr(at).starts_with(kAnonymous))
    at = kernel.find('(', at + kAnonymous.size());
  return kernel.substr(0, at);
}

/// "the launch of fill(int*, int) (a.hip:12)"
std::string withPlace(const CommandSide &side) {
  const std::string place = shortPlace(side.call);
  std::string what;
  switch (side.kind) {
  case Kind::Kernel:
    what = (side.node ? "kernel " : "the launch of ") + withoutParameters(side.kernel);
    break;
  case Kind::Graph:
    what = "the launch of the graph";
    break;
  case Kind::Host:
    what = "the host's access";
    break;
  case Kind::HostFunction:
    what = "the call of " + side.function;
    break;
  default:
    what = side.function;
  }
  return what + (place.empty() ? "" : " (" + place + ")");
}

const char *handleText(const CommandSide &side) {
  return side.streamKind == "legacy_default"       ? "0"
         : side.streamKind == "per_thread_default" ? "hipStreamPerThread"
                                                   : nullptr;
}

std::string handle(const CommandSide &side) {
  if (const char *text = handleText(side))
    return text;
  return "<stream " + std::to_string(side.stream) + ">";
}

} // namespace

std::string shortPlace(const std::vector<Frame> &frames) {
  if (frames.empty())
    return {};
  const Frame &frame = frames[userFrame(frames)];
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  return frame.line ? file + ":" + std::to_string(frame.line) : frame.function.empty() ? file : frame.function;
}

std::string commandText(const CommandSide &side) {
  switch (side.kind) {
  case Kind::Kernel:
    return "kernel " + side.kernel;
  case Kind::Graph:
    return side.kernel.empty() ? side.function : "kernel " + side.kernel + " of a graph";
  case Kind::Host:
    return "the host";
  case Kind::HostFunction:
    return "a host function";
  default:
    return side.function;
  }
}

std::string streamText(const CommandSide &side) {
  if (side.kind == Kind::Host)
    return "the host";
  if (side.streamKind == "legacy_default")
    return "the default stream";
  return (side.streamKind == "per_thread_default" ? "a thread's default stream " : "stream ") +
         std::to_string(side.stream);
}

std::string commandsHead(const Race &race) {
  const CommandPair &pair = *race.commands;
  auto word = [](const CommandSide &side, uint32_t bits) -> std::string {
    if (side.kind == Kind::Free)
      return "free";
    if (side.kind == Kind::Allocation)
      return "allocation";
    return accessText(bits);
  };
  return word(pair.current, race.current.bits) + " by " + commandText(pair.current) + " against " +
         word(pair.previous, race.previous.bits) + " by " + commandText(pair.previous);
}

std::string commandsReason(const Race &race) {
  const CommandPair &pair = *race.commands;
  const CommandSide &now = pair.current, &before = pair.previous;
  std::string text;
  if (now.node)
    text = "both are nodes of the graph that is launched" +
           (shortPlace(pair.graphLaunch).empty() ? std::string() : " at " + shortPlace(pair.graphLaunch)) +
           ", and no path of edges leads from node " + std::to_string(before.node) + " to node " +
           std::to_string(now.node);
  else if (now.kind == Kind::Host)
    text =
        "the host has not waited for " + withPlace(before) + " in " + streamText(before) + ": it may still be running";
  else if (now.stream == before.stream)
    text = "nothing orders the two";
  else
    text = "nothing orders the two: " + streamText(now) + " does not wait for " + withPlace(before) + " in " +
           streamText(before);
  if (before.kind == Kind::Allocation)
    text += ", which must have happened before the memory is used";
  if (now.kind == Kind::Free || now.kind == Kind::Allocation)
    text += ", so that the memory may have another owner while it is still in use";
  if (!pair.earlyRecord.empty())
    text += "; it does wait for the event recorded at " + shortPlace(pair.earlyRecord) +
            ", but that was recorded before " + withPlace(before);
  return text;
}

std::string commandsFix(const Race &race) {
  const CommandPair &pair = *race.commands;
  const CommandSide &now = pair.current, &before = pair.previous;
  if (now.node) {
    const std::string from = "node " + std::to_string(before.node), to = "node " + std::to_string(now.node);
    if (now.function.starts_with("hipGraphAdd") && before.function.starts_with("hipGraphAdd"))
      return "add the missing edge: hipGraphAddDependencies(graph, &<" + from + ">, &<" + to + ">, 1)";
    return "while capturing, let the stream of " + to + " wait before " + withPlace(now) +
           " for an event recorded behind " + withPlace(before) + " (" + from + ")";
  }
  if (now.kind == Kind::Host)
    return "call hipStreamSynchronize(" + handle(before) + "), or hipEventSynchronize for an event recorded in " +
           streamText(before) + " behind " + withPlace(before) + ", before the host's access" +
           (shortPlace(now.call).empty() ? "" : " in " + shortPlace(now.call));
  std::string text;
  if (!pair.lateRecord.empty() || pair.lateEvent)
    text = "the event recorded at " +
           (shortPlace(pair.lateRecord).empty() ? "an unknown line" : shortPlace(pair.lateRecord)) + " covers " +
           withPlace(before) + ": let " + streamText(now) + " wait for it before " + withPlace(now) +
           ": hipStreamWaitEvent(" + handle(now) + ", <that event>, 0)";
  else
    text = "record an event in " + streamText(before) + " behind " + withPlace(before) + ": hipEventRecord(event, " +
           handle(before) + "); and let " + streamText(now) + " wait for it before " + withPlace(now) +
           ": hipStreamWaitEvent(" + handle(now) + ", event, 0)";
  if (now.streamKind == "legacy_default" && now.function.find("Async") == std::string::npos && now.kind != Kind::Kernel)
    text += "; or call hipStreamSynchronize(" + handle(before) + ") before it";
  return text;
}

std::string commandsNote(const Race &race) {
  const CommandPair &pair = *race.commands;
  if (pair.sameGraph && pair.current.stream != pair.previous.stream)
    return "both are launches of one executable graph: HIP does not put them into an order when they are in different "
           "streams (CUDA does)";
  const CommandSide *other = nullptr;
  if (pair.current.streamKind == "legacy_default")
    other = &pair.previous;
  else if (pair.previous.streamKind == "legacy_default")
    other = &pair.current;
  if (!other || other->blocking || other->kind == Kind::Host)
    return {};
  return streamText(*other) +
         " was created with hipStreamNonBlocking: it does not wait for the default stream, nor the "
         "default stream for it (a stream of hipStreamCreate would)";
}

} // namespace wavesan::report
