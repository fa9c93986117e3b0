// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streams of a process: numbers for their handles, clocks, and which of them are being captured.
//
// HIP knows streams that nobody creates: the default stream of a device ("legacy", which waits for the blocking streams
// and they for it) and the default stream of a thread. Handle 0 is the one or the other, by the function that is
// called.
#ifndef WAVESAN_HIP_STREAM_TABLE_H
#define WAVESAN_HIP_STREAM_TABLE_H

#include "event_producers.h"

#include <mutex>
#include <unordered_set>

namespace wavesan::hip {

enum class StreamKind : uint8_t { Created, LegacyDefault, PerThreadDefault, BeforeAttach };
const char *name(StreamKind);

inline constexpr int kUnknownDevice = -1;

struct StreamInfo {
  StreamId id = 0;
  StreamKind kind = StreamKind::Created;
  int device = kUnknownDevice;
  bool blocking = true; ///< ordered with the legacy default stream
  uint32_t thread = 0;  ///< PerThreadDefault: whose
};

/// What identifies a stream while it lives.
struct StreamKey {
  StreamKind kind = StreamKind::Created; ///< Created: by `handle`
  uint64_t handle = 0;                   ///< default streams: the device
  uint32_t thread = 0;
  bool operator==(const StreamKey &) const = default;
};

/// The stream that a call means by `handle`.
StreamKey streamKey(Stream handle, bool zeroIsPerThread, int device, uint32_t thread);

/// Thread-safe. At most kMaxStreams streams at a time; others have the number 0 and are counted. May throw
/// std::bad_alloc; the table stays as it was then.
class StreamTable {
public:
  static constexpr size_t kMaxStreams = 1 << 16;

  explicit StreamTable(size_t maxStreams = kMaxStreams) : MaxStreams(maxStreams) {}

  struct Use {
    StreamId id = 0;
    StreamClock clock;
    uint64_t capture = 0;            ///< the capture that the stream takes part in; 0: none
    std::optional<StreamInfo> fresh; ///< set when the stream is met for the first time
    std::optional<Producer> last;    ///< the command that was put into it last
  };
  /// With `command` its clock advances.
  Use use(const StreamKey &, bool command);

  /// A new stream; whatever was known of the handle is forgotten.
  StreamInfo create(Stream, int device, bool blocking);
  /// The command is in the stream.
  void setLast(const StreamKey &, const Producer &);

  class Forgotten;
  /// As EventProducers::take and restore.
  Forgotten take(const StreamKey &);
  void restore(Forgotten &&);
  /// The default streams of a thread that has ended.
  void forgetThread(uint32_t thread);

  void beginCapture(const StreamKey &);
  /// The stream waits for an event of that capture and so becomes part of it, unless the capture is over.
  void joinCapture(const StreamKey &, uint64_t capture);
  /// Ends the capture for all its streams.
  void endCapture(const StreamKey &);

  void clearAll();
  uint64_t lost() const;
  size_t streamCount() const;

private:
  struct Entry {
    StreamInfo info;
    uint64_t position = 0, capture = 0;
    std::optional<Producer> last;
  };
  struct Hash {
    size_t operator()(const StreamKey &key) const {
      return (key.handle ^ uint64_t(key.thread) << 32 ^ uint64_t(key.kind) << 60) * 0x9e3779b97f4a7c15u >> 16;
    }
  };

  const size_t MaxStreams;
  mutable std::mutex Mutex;
  std::unordered_map<StreamKey, Entry, Hash> Streams;
  std::unordered_set<uint64_t> Captures; ///< under way
  uint64_t NextId = 0, NextCapture = 0, LostCount = 0;
};

class StreamTable::Forgotten {
  friend class StreamTable;
  std::unordered_map<StreamKey, Entry, Hash>::node_type Node;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_STREAM_TABLE_H
