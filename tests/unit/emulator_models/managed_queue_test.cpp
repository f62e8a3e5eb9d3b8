// Tests of radio queues under CoDel and FQ-CoDel, which must not drop the packet in transit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include "emulator/cell/ue_queue.hpp"
#include "emulator/random.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::at_ms;
using test::segment;
using Lengths = std::vector<std::int64_t>;

/// A queue without limit, byte by byte.
QueueConfig managed(QueueManagement management, bool ecn = false) {
  QueueConfig config{Bytes(0), BufferUnit::packets, 0};
  config.management = management;
  config.codel.ecn = ecn;
  return config;
}

/// Serves, and keeps what left and what was dropped.
struct Served {
  Lengths left;
  Lengths dropped;
  std::vector<int> ecn;  ///< ECN field of those that left
  void serve(UeQueue& queue, std::int64_t grant, Instant now) {
    queue.serve(
        Bytes(grant), now,
        [this](const Departed& departed) {
          left.push_back(departed.length.count());
          ecn.push_back(departed.packet.data()[15] & 3);
        },
        [this](const packet::Packet&, Bytes length) { dropped.push_back(length.count()); });
  }
};

/// The queue of RFC 8289's pseudo-code (section 5), letter by letter.
class Pseudocode {
 public:
  void enqueue(std::int64_t length, Instant now) {
    queue_.push_back({length, now});
    bytes_ += length;
  }
  void serve(std::int64_t grant, Instant now, Served& served) {
    while (grant > 0) {
      if (!sending_) sending_ = dequeue(now, served);
      if (!sending_) return;
      const std::int64_t amount = std::min(grant, sending_->length - sent_);
      grant -= amount;
      sent_ += amount;
      if (sent_ < sending_->length) return;
      served.left.push_back(sending_->length);
      sending_.reset();
      sent_ = 0;
    }
  }

 private:
  struct Packet {
    std::int64_t length;
    Instant tstamp;
  };
  struct Result {
    std::optional<Packet> p;
    bool ok_to_drop = false;
  };
  Result dodequeue(Instant now) {
    Result r;
    if (queue_.empty() || queue_.front().tstamp >= now) {
      first_above_time_.reset();
      return r;
    }
    r.p = queue_.front();
    queue_.pop_front();
    bytes_ -= r.p->length;
    const Duration sojourn_time = now - r.p->tstamp;
    if (sojourn_time < 5ms || bytes_ <= 1500) {
      first_above_time_.reset();
    } else if (!first_above_time_) {
      first_above_time_ = now + 100ms;
    } else if (now >= *first_above_time_) {
      r.ok_to_drop = true;
    }
    return r;
  }
  static Instant control_law(Instant t, std::uint32_t count) { return t + from_seconds(0.1 / std::sqrt(count)); }
  std::optional<Packet> dequeue(Instant now, Served& served) {
    Result r = dodequeue(now);
    if (dropping_) {
      if (!r.ok_to_drop) dropping_ = false;
      while (now >= drop_next_ && dropping_) {
        served.dropped.push_back(r.p->length);
        ++count_;
        r = dodequeue(now);
        if (!r.ok_to_drop) {
          dropping_ = false;
        } else {
          drop_next_ = control_law(drop_next_, count_);
        }
      }
    } else if (r.ok_to_drop) {
      served.dropped.push_back(r.p->length);
      r = dodequeue(now);
      dropping_ = true;
      const std::uint32_t delta = count_ - lastcount_;
      count_ = 1;
      if (delta > 1 && now - drop_next_ < 16 * 100ms) count_ = delta;
      drop_next_ = control_law(now, count_);
      lastcount_ = count_;
    }
    return r.p;
  }

  std::deque<Packet> queue_;
  std::int64_t bytes_ = 0;
  std::optional<Packet> sending_;
  std::int64_t sent_ = 0;
  std::optional<Instant> first_above_time_;
  bool dropping_ = false;
  Instant drop_next_{};
  std::uint32_t count_ = 0;
  std::uint32_t lastcount_ = 0;
};

// Load and link change every second, from idle to three times as much as goes.
TEST(Codel, ARadioQueueDropsLikeThePseudocodeOfTheRfc) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    UeQueue queue(managed(QueueManagement::codel));
    Pseudocode expected_queue;
    Served served;
    Served expected;
    double load = 0;
    std::uint64_t link = 1;
    for (int ms = 0; ms < 20'000; ++ms) {
      if (ms % 1000 == 0) {
        load = 2 * random.uniform();
        link = 1 + random.below(3000);
      }
      if (random.chance(load / 2)) {
        const auto length = static_cast<std::int64_t>(100 + random.below(1400));
        queue.push(segment(1, static_cast<std::size_t>(length)), Bytes(length), at_ms(ms));
        expected_queue.enqueue(length, at_ms(ms));
      }
      const auto grant = static_cast<std::int64_t>(random.below(link));
      served.serve(queue, grant, at_ms(ms));
      expected_queue.serve(grant, at_ms(ms), expected);
    }
    ASSERT_EQ(served.left, expected.left) << "seed " << seed;
    ASSERT_EQ(served.dropped, expected.dropped) << "seed " << seed;
    EXPECT_GT(served.dropped.size(), 10U) << "seed " << seed;
    EXPECT_EQ(queue.counters().early_packets, served.dropped.size());
    EXPECT_EQ(queue.counters().dropped_packets, served.dropped.size());
  }
}

TEST(Codel, ARadioQueueOfOnePacketBehindTheOneInTransitIsNotDropped) {
  for (const QueueManagement management : {QueueManagement::codel, QueueManagement::fq_codel}) {
    UeQueue queue(managed(management));
    Served served;
    for (int i = 0; i < 50; ++i) {  // two wait for 150 ms, again and again
      for (int both = 0; both < 2; ++both) queue.push(segment(1, 1500), Bytes(1500), at_ms(i * 200));
      served.serve(queue, 1500, at_ms(i * 200 + 150));
      served.serve(queue, 1500, at_ms(i * 200 + 151));
    }
    EXPECT_EQ(served.left.size(), 100U);
    EXPECT_TRUE(served.dropped.empty());
    for (int i = 0; i < 3; ++i) queue.push(segment(1, 1500), Bytes(1500), at_ms(10'000));
    for (int ms = 10'150; ms < 10'400; ms += 10) {
      served.serve(queue, 700, at_ms(ms));
      queue.push(segment(1, 700), Bytes(700), at_ms(ms));
    }
    EXPECT_FALSE(served.dropped.empty()) << "with more behind it, it is a standing queue";
  }
}

TEST(Codel, ThePacketInTransitIsNotDropped) {
  UeQueue queue(managed(QueueManagement::codel));
  Served served;
  for (int ms = 0; ms < 4000; ms += 200) {  // the delay is far above target, and half a packet goes each time
    for (int i = 0; i < 60; ++i) queue.push(segment(1, 1000), Bytes(1000), at_ms(ms - 100));
    const std::int64_t before = queue.bytes().count();
    const std::size_t dropped = served.dropped.size();
    served.serve(queue, 500, at_ms(ms));
    const auto gone = static_cast<std::int64_t>(served.dropped.size() - dropped) * 1000;
    ASSERT_EQ(queue.bytes().count(), before - 500 - gone) << "what goes in one piece is whole packets";
  }
  EXPECT_EQ(served.left.size(), 10U);
  EXPECT_GT(served.dropped.size(), 10U);
}

TEST(Codel, MarksEcnCapablePacketsAndDropsOthers) {
  for (const QueueManagement management : {QueueManagement::codel, QueueManagement::fq_codel}) {
    for (const bool capable : {true, false}) {
      UeQueue queue(managed(management, true));
      Served served;
      for (int ms = 0; ms < 1000; ++ms) {
        queue.push(segment(1, 1000, capable), Bytes(1000), at_ms(ms));
        served.serve(queue, 500, at_ms(ms));
      }
      const QueueCounters& c = queue.counters();
      const auto marks = static_cast<std::uint64_t>(std::count(served.ecn.begin(), served.ecn.end(), 3));
      EXPECT_EQ(c.marked_packets, marks);
      EXPECT_EQ(c.early_packets, served.dropped.size());
      EXPECT_GT(capable ? c.marked_packets : c.early_packets, 5U);
      EXPECT_EQ(capable ? c.early_packets : c.marked_packets, 0U);
    }
  }
}

TEST(Codel, AFullRadioQueueStillDropsAtItsEnd) {
  QueueConfig config = managed(QueueManagement::codel);
  config.limit = 3;
  UeQueue queue(config);
  for (int i = 0; i < 5; ++i) queue.push(segment(1, 1000 + static_cast<std::size_t>(i)), Bytes(1000 + i), at_ms(0));
  EXPECT_EQ(queue.counters().dropped_packets, 2U);
  EXPECT_EQ(queue.counters().early_packets, 0U);
  Served served;
  served.serve(queue, 5000, at_ms(1));
  EXPECT_EQ(served.left, Lengths({1000, 1001, 1002}));
}

TEST(FqCodel, ASparseFlowOfAUePrecedesItsBulkFlowOnceItArrives) {
  UeQueue queue(managed(QueueManagement::fq_codel));
  for (int i = 0; i < 10; ++i) queue.push(segment(1, 1500), Bytes(1500), at_ms(0));
  Served served;
  served.serve(queue, 4000, at_ms(1));
  queue.push(segment(2, 100), Bytes(100), at_ms(2));
  served.serve(queue, 600, at_ms(2));  // the rest of the third, and the fourth is begun
  served.serve(queue, 1500, at_ms(3));
  EXPECT_EQ(served.left, Lengths({1500, 1500, 1500, 1500, 100}));
}

TEST(FqCodel, AFullRadioQueueDropsTheOldestPacketOfTheLongestFlow) {
  QueueConfig config = managed(QueueManagement::fq_codel);
  config.limit = 4;
  UeQueue queue(config);
  queue.push(segment(2, 300), Bytes(300), at_ms(0));
  for (int i = 0; i < 3; ++i) queue.push(segment(1, 1000 + static_cast<std::size_t>(i)), Bytes(1000 + i), at_ms(i));
  Lengths gone;
  const auto dropped = [&](const packet::Packet&, Bytes length) { gone.push_back(length.count()); };
  Served served;
  served.serve(queue, 1, at_ms(3));  // the sparse flow's packet is in transit and does not count
  EXPECT_TRUE(queue.push(segment(3, 200), Bytes(200), at_ms(4), dropped));
  EXPECT_TRUE(queue.push(segment(3, 201), Bytes(201), at_ms(4), dropped));
  EXPECT_EQ(gone, Lengths({1000}));
  served.serve(queue, 10'000, at_ms(5));
  EXPECT_EQ(served.left, Lengths({300, 1001, 1002, 200, 201}));
}

TEST(ManagedQueue, RefusesInvalidParameters) {
  QueueConfig config = managed(QueueManagement::codel);
  config.codel.target = 0ms;
  EXPECT_THROW(UeQueue{config}, std::invalid_argument);
  config = managed(QueueManagement::fq_codel);
  config.order = QueueOrder::short_flows_first;
  EXPECT_THROW(UeQueue{config}, std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
