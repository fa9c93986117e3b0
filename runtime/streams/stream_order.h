// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before between the commands of a HIP program, by HIP's rules alone (docs/stream-order.md).
//
//   program order   a command follows everything that was put into its stream before
//   host order      a command follows everything that the host has waited for before it was submitted. What one host
//                   thread has waited for counts for all of them: how threads wait for one another is not seen
//   events          a wait follows the record that was the event's latest when the wait was entered, and what that
//                   record followed
//   default stream  a command in a device's legacy default stream follows everything that was put into the device's
//                   blocking streams before; a command in a blocking stream follows everything that was put into the
//                   legacy default stream before
//
// How a device happened to execute commands is no order. Where the other end of a wait is not known, everything behind
// the wait has unknown order (KnownCommands::unknown), until the host has waited for all of the program's commands.
#ifndef WAVESAN_STREAMS_STREAM_ORDER_H
#define WAVESAN_STREAMS_STREAM_ORDER_H

#include "known_commands.h"

#include <map>
#include <memory>

namespace wavesan::streams {

using StreamId = uint64_t;                          ///< 0: none
using Clock = std::shared_ptr<const KnownCommands>; ///< null: nothing is known

enum class StreamType : uint8_t {
  LegacyDefault, ///< of a device
  Blocking,      ///< waits for the legacy default stream, and that one for it
  NonBlocking,
  Unknown ///< its creation was not seen
};

inline constexpr int kAnyDevice = -1; ///< not known: taken for each

/// A command at its submission.
struct Submitted {
  uint64_t number = 0; ///< from 1, in order of submission
  StreamPosition at;
  Clock before; ///< what it follows
  bool unknown() const { return before && before->unknown(); }
};

/// Not thread-safe. Memory: a clock for each stream, with a component for each stream that it knows of; when the host
/// has waited for everything, they are empty again.
class StreamOrder {
public:
  /// A stream; one that is known already keeps its commands.
  void addStream(StreamId stream, StreamType type, int device);
  /// No command will be put into it any more. What was put into it stays.
  void endStream(StreamId stream);

  /// Puts a command into a stream.
  Submitted submit(StreamId stream);
  /// What follows a command: itself and what it follows.
  static Clock after(const Submitted &command);

  /// From here on the stream's commands follow `known`, the wait itself included: it is to be submitted next.
  void streamWaits(StreamId stream, const Clock &known);
  /// From here on the stream's commands may follow anything.
  void streamWaitsForUnknown(StreamId stream);

  /// What has been put into a stream so far, into a device's streams, into all.
  Clock contentsOfStream(StreamId stream);
  Clock contentsOfDevice(int device) const;
  Clock contentsOfAll() const;
  /// The host has waited for `known`.
  void hostWaits(const Clock &known);
  void hostWaitsForUnknown();

  /// Whether the host has waited for a command.
  bool hostKnows(uint64_t number, StreamPosition at) const { return number <= Floor || (Host && Host->knows(at)); }
  /// Whether a command follows an earlier one.
  bool follows(const Submitted &later, const Submitted &earlier) const {
    return earlier.number <= Floor || earlier.at.stream == later.at.stream ||
           (later.before && later.before->knows(earlier.at));
  }
  /// The host has waited for all commands up to this number.
  uint64_t floor() const { return Floor; }
  uint64_t lastNumber() const { return Numbers; }
  /// Whether there may be a command that the host has not waited for.
  bool inFlight() const { return Floor < Numbers; }
  bool hostUnknown() const { return Host && Host->unknown(); }
  const Clock &host() const { return Host; }

private:
  struct Stream {
    StreamType type = StreamType::Unknown;
    int device = kAnyDevice;
    bool ended = false;
    uint64_t position = 0;
    Clock before;          ///< of the next command, as far as the stream alone says
    uint64_t hostSeen = 0; ///< HostVersion that `before` contains
    Clock last;            ///< after the last command; made when it is asked for
    uint64_t lastPosition = 0;
  };
  Stream &at(StreamId stream);
  static bool sameDevice(const Stream &a, const Stream &b) {
    return a.device == kAnyDevice || b.device == kAnyDevice || a.device == b.device;
  }
  static Clock joined(const Clock &a, const Clock &b);
  static Clock contentsOf(StreamId id, const Stream &stream);
  void raiseFloor();

  std::map<StreamId, Stream> Streams;
  Clock Host;
  uint64_t HostVersion = 1, Numbers = 0, Floor = 0;
};

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_STREAM_ORDER_H
