// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream_order.h"

#include <gtest/gtest.h>

namespace wavesan::streams {

namespace {
struct StreamOrderTest : testing::Test {
  StreamOrder order;
  StreamOrderTest() {
    order.addStream(1, StreamType::LegacyDefault, 0);
    order.addStream(2, StreamType::Blocking, 0);
    order.addStream(3, StreamType::NonBlocking, 0);
    order.addStream(4, StreamType::NonBlocking, 0);
  }
};
} // namespace

TEST_F(StreamOrderTest, AStreamIsInOrderAndTwoAreNot) {
  const Submitted a = order.submit(3), b = order.submit(3), c = order.submit(4);
  EXPECT_TRUE(order.follows(b, a));
  EXPECT_FALSE(order.follows(c, a));
  EXPECT_FALSE(order.follows(c, b));
}

TEST_F(StreamOrderTest, AWaitFollowsTheRecordAndNothingLater) {
  const Submitted a = order.submit(3), record = order.submit(3), late = order.submit(3);
  order.streamWaits(4, StreamOrder::after(record));
  const Submitted b = order.submit(4);
  EXPECT_TRUE(order.follows(b, a));
  EXPECT_TRUE(order.follows(b, record));
  EXPECT_FALSE(order.follows(b, late));
}

TEST_F(StreamOrderTest, TheDefaultStreamAndBlockingStreamsWaitForOneAnother) {
  const Submitted blocking = order.submit(2), other = order.submit(3), legacy = order.submit(1);
  EXPECT_TRUE(order.follows(legacy, blocking));
  EXPECT_FALSE(order.follows(legacy, other));
  EXPECT_TRUE(order.follows(order.submit(2), legacy));
  EXPECT_FALSE(order.follows(order.submit(4), legacy));
}

TEST_F(StreamOrderTest, DevicesHaveDefaultStreamsOfTheirOwn) {
  order.addStream(5, StreamType::LegacyDefault, 1);
  const Submitted there = order.submit(5);
  EXPECT_FALSE(order.follows(order.submit(2), there));
}

TEST_F(StreamOrderTest, WhatTheHostHasWaitedForPrecedesWhatItSubmits) {
  const Submitted a = order.submit(3);
  EXPECT_FALSE(order.hostKnows(a.number, a.at));
  EXPECT_TRUE(order.inFlight());
  order.hostWaits(order.contentsOfStream(3));
  EXPECT_TRUE(order.hostKnows(a.number, a.at));
  EXPECT_TRUE(order.follows(order.submit(4), a));
}

TEST_F(StreamOrderTest, AWaitCoversWhatWasThereWhenItBegan) {
  const Submitted a = order.submit(3);
  const Clock atEntry = order.contentsOfStream(3);
  const Submitted b = order.submit(3); // by another thread, during the wait
  order.hostWaits(atEntry);
  EXPECT_TRUE(order.hostKnows(a.number, a.at));
  EXPECT_FALSE(order.hostKnows(b.number, b.at));
}

TEST_F(StreamOrderTest, WaitingForTheDefaultStreamWaitsForBlockingStreams) {
  const Submitted blocking = order.submit(2), other = order.submit(3);
  order.hostWaits(order.contentsOfStream(1));
  EXPECT_TRUE(order.hostKnows(blocking.number, blocking.at));
  EXPECT_FALSE(order.hostKnows(other.number, other.at));
}

TEST_F(StreamOrderTest, AnUnknownWaitSpreadsAndEndsWithADeviceSynchronisation) {
  order.streamWaitsForUnknown(3);
  const Submitted a = order.submit(3);
  EXPECT_TRUE(a.unknown());
  EXPECT_FALSE(order.submit(4).unknown());
  order.streamWaits(4, StreamOrder::after(a));
  EXPECT_TRUE(order.submit(4).unknown());
  order.hostWaits(order.contentsOfStream(3));
  EXPECT_TRUE(order.submit(2).unknown()); // by way of the host
  order.hostWaits(order.contentsOfAll());
  EXPECT_FALSE(order.inFlight());
  EXPECT_FALSE(order.submit(2).unknown());
  EXPECT_FALSE(order.submit(3).unknown());
}

TEST_F(StreamOrderTest, AStreamOfUnknownMakingHasUnknownOrder) {
  order.addStream(9, StreamType::Unknown, kAnyDevice);
  EXPECT_TRUE(order.submit(9).unknown());
}

TEST_F(StreamOrderTest, AnEndedStreamKeepsItsCommandsUntilTheHostKnowsAll) {
  const Submitted a = order.submit(3);
  order.endStream(3);
  EXPECT_FALSE(order.follows(order.submit(4), a));
  order.hostWaits(order.contentsOfAll());
  EXPECT_TRUE(order.follows(order.submit(4), a));
}

TEST_F(StreamOrderTest, ClocksAreEmptyAgainWhenTheHostKnowsAll) {
  for (int round = 0; round < 3; ++round) {
    for (StreamId s : {2, 3, 4})
      order.submit(s);
    order.hostWaits(order.contentsOfAll());
    EXPECT_EQ(order.host(), nullptr);
  }
  EXPECT_EQ(order.submit(3).before, nullptr);
}

} // namespace wavesan::streams
