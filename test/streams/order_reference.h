// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before the plain way: a graph of everything that the program did, and what can be reached in it.
#ifndef WAVESAN_TEST_STREAMS_ORDER_REFERENCE_H
#define WAVESAN_TEST_STREAMS_ORDER_REFERENCE_H

#include "stream_order.h"

#include <vector>

namespace wavesan::test {

/// Nodes are commands and moments of the host. `reach[n]`: what happens before n.
class OrderReference {
public:
  struct Stream {
    streams::StreamType type;
    int device;
    std::vector<size_t> commands;
  };
  std::vector<Stream> streams;

  OrderReference() { Host = add({}); }

  size_t submit(size_t stream) {
    std::vector<size_t> before = {Host};
    before.insert(before.end(), Waits[stream].begin(), Waits[stream].end());
    if (!streams[stream].commands.empty())
      before.push_back(streams[stream].commands.back());
    using enum streams::StreamType;
    const auto type = streams[stream].type;
    for (const Stream &other : streams)
      if (other.device == streams[stream].device &&
          ((type == LegacyDefault && other.type == Blocking) || (type == Blocking && other.type == LegacyDefault)))
        before.insert(before.end(), other.commands.begin(), other.commands.end());
    const size_t node = add(before);
    streams[stream].commands.push_back(node);
    return node;
  }
  /// What is put into the stream later follows this node.
  void streamWaits(size_t stream, size_t node) { Waits[stream].push_back(node); }
  void hostWaits(const std::vector<size_t> &nodes) {
    std::vector<size_t> before = nodes;
    before.push_back(Host);
    Host = add(before);
  }
  std::vector<size_t> contents(size_t stream) const {
    std::vector<size_t> all = streams[stream].commands;
    if (streams[stream].type == streams::StreamType::LegacyDefault)
      for (const Stream &other : streams)
        if (other.type == streams::StreamType::Blocking && other.device == streams[stream].device)
          all.insert(all.end(), other.commands.begin(), other.commands.end());
    return all;
  }
  bool before(size_t earlier, size_t later) const { return Reach[later][earlier]; }
  bool hostKnows(size_t node) const { return Reach[Host][node]; }
  void resizeWaits(size_t n) { Waits.resize(n); }

private:
  size_t add(const std::vector<size_t> &before) {
    const size_t n = Reach.size();
    Reach.emplace_back(n + 1, false);
    for (size_t b : before) {
      Reach[n][b] = true;
      for (size_t i = 0; i < Reach[b].size(); ++i)
        if (Reach[b][i])
          Reach[n][i] = true;
    }
    return n;
  }
  std::vector<std::vector<bool>> Reach;
  std::vector<std::vector<size_t>> Waits;
  size_t Host = 0;
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_STREAMS_ORDER_REFERENCE_H
