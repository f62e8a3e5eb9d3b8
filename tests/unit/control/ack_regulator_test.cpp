// Tests of the Ack Regulator (Chan and Ramjee): which ACKs it holds and releases, with scripts and with a NewReno
// source.
#include "control/window_laws/ack_regulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <stdexcept>
#include <utility>

namespace sluice::control {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr Bytes packet{1000};

AckRegulatorParameters buffer_of(std::int64_t packets) {
  AckRegulatorParameters parameters;
  parameters.buffer = packet * packets;
  parameters.segment = packet;
  return parameters;
}

TEST(AckRegulator, SlowStartReservesTwiceTheBufferSpace) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 6);
  // 6 arrived, 2 of them on the air, 4 queued: 6 free, and every ACK brings two.
  EXPECT_EQ(law.on_queue(packet * 4).up_to, packet * 3);
  EXPECT_EQ(law.on_queue(packet * 8).up_to, packet * 1);
  EXPECT_EQ(law.on_queue(packet * 10).up_to, 0_B) << "full";
}

/// The controller takes over after 100 packets, 6 of them in flight.
TEST(AckRegulator, ASourceThatIsAlreadySendingIsPastSlowStart) {
  AckRegulator law(buffer_of(10));
  law.source_runs();
  law.on_released(packet * 94);
  law.on_data(packet * 100);
  EXPECT_EQ(law.on_queue(packet * 4).up_to, packet * 100)
      << "6 are free, for the 6 that all the ACKs bring: its window is not all that it has ever sent";
}

TEST(AckRegulator, AWindowThatGrowsBySingleSegmentsIsInCongestionAvoidance) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 6);
  for (std::int64_t i = 1; i <= 7; ++i) {
    law.on_released(packet * i);
    law.on_data(packet * (6 + i));
  }
  EXPECT_EQ(law.phase(), SourcePhase::avoidance);
  // 13 arrived, W = 6, 7 acknowledged; with 4 queued there is room for what 6 more bring.
  EXPECT_EQ(law.on_queue(packet * 4).up_to, packet * 13);
}

TEST(AckRegulator, DataOfAReleasedAckIsReservedUntilItArrives) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 6);
  for (std::int64_t i = 1; i <= 7; ++i) {
    law.on_released(packet * i);
    law.on_data(packet * (6 + i));
  }
  EXPECT_EQ(law.on_queue(packet * 9).up_to, packet * 8) << "one free, one ACK";
  law.on_released(packet * 8);
  EXPECT_EQ(law.on_queue(packet * 9).up_to, packet * 8) << "its packet is in flight";
  law.on_data(packet * 14);
  EXPECT_EQ(law.on_queue(packet * 9).up_to, packet * 9) << "it came and another left";
  law.on_data(packet * 10);
  EXPECT_EQ(law.on_queue(packet * 9).up_to, packet * 9) << "a retransmission changes nothing";
}

TEST(AckRegulator, AnEmptyQueueReleasesTwoThenFour) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 20);
  static_cast<void>(law.on_ack(packet * 5));
  EXPECT_EQ(law.on_queue(packet).at_least, 0U);
  EXPECT_EQ(law.on_queue(0_B).at_least, 2U);
  EXPECT_EQ(law.on_ack(packet * 6).at_least, 4U);
  EXPECT_EQ(law.on_queue(packet).at_least, 0U);
  EXPECT_EQ(law.on_queue(0_B).at_least, 2U);
  static_cast<void>(law.on_ack(packet * 20));
  EXPECT_EQ(law.on_queue(0_B).up_to, Bytes::max()) << "nothing is left that would release them";
}

TEST(AckRegulator, AnEmptyQueueRevealsThatTheSourceSendsLess) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 30);
  static_cast<void>(law.on_queue(packet * 2));
  law.on_released(packet * 25);
  EXPECT_EQ(law.on_ack(packet * 25).up_to, packet * 4) << "8 are free, and 25 more are expected";
  EXPECT_EQ(law.on_queue(0_B).up_to, packet * 30) << "they did not come: it had a timeout, or has nothing to send";
}

TEST(AckRegulator, ARetransmissionThatIsDroppedDoesNotProlongRecovery) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 30);
  law.on_drop(packet * 30);
  EXPECT_EQ(law.phase(), SourcePhase::recovery);
  EXPECT_EQ(law.on_queue(packet * 10).up_to, packet * -1) << "not even what is there already";
  law.on_data(packet * 31);
  law.on_drop(packet * 5);
  law.on_released(packet * 30);
  EXPECT_EQ(law.phase(), SourcePhase::avoidance);
  EXPECT_EQ(law.on_queue(packet * 10).up_to, packet * 30) << "its window is measured anew: one packet is in flight";
}

TEST(AckRegulator, SlowStartIsAssumedUntilABufferOfAcksIsHeld) {
  AckRegulator law(buffer_of(10));
  law.on_data(packet * 30);
  static_cast<void>(law.on_queue(packet * 8));
  EXPECT_EQ(law.on_ack(packet * 10).up_to, packet * 1) << "2 free, an ACK brings two";
  EXPECT_EQ(law.on_ack(packet * 11).up_to, packet * 2) << "the source has outgrown the buffer: one too many may come";
}

/// A NewReno source (RFC 6582, in packets) directly behind the queue. The link carries one packet per tick, and the
/// radio delay is 10 ticks each way. Runs with or without the controller.
class RenoLink {
 public:
  RenoLink(bool regulated, std::int64_t buffer) : regulated_(regulated), buffer_(buffer), law_(buffer_of(buffer)) {}

  void run(std::int64_t ticks) {
    send();
    for (const std::int64_t end = now_ + ticks; now_ < end; ++now_) {
      for (; !air_.empty() && air_.front().first <= now_; air_.pop_front()) receive(air_.front().second);
      if (queue_.empty()) continue;
      air_.emplace_back(now_ + 20, queue_.front());
      queue_.pop_front();
      ++carried;
      go(law_.on_queue(packet * queued()));
    }
  }
  std::int64_t carried = 0;
  std::int64_t drops = 0;
  std::int64_t halvings = 0;

 private:
  [[nodiscard]] std::int64_t queued() const { return static_cast<std::int64_t>(queue_.size()); }
  /// Data reaches the UE; the ACK is back at the queue in the same tick of this loop, the air is counted both ways.
  void receive(std::int64_t number) {
    if (number >= next_in_order_) received_.insert(number);
    while (received_.erase(next_in_order_) > 0) ++next_in_order_;
    held_.push_back(next_in_order_);
    go(law_.on_ack(packet * next_in_order_));
  }
  void go(AckRelease release) {
    if (!regulated_) release = AckRelease::all();
    while (!held_.empty() && (packet * held_.front() <= release.up_to || release.at_least > 0)) {
      const std::int64_t ack = held_.front();
      held_.pop_front();
      law_.on_released(packet * ack);
      const std::size_t at_least = release.at_least;
      acknowledged(ack);
      if (regulated_ && !queue_.empty()) release = law_.on_queue(packet * queued());
      release.at_least = std::max<std::size_t>(at_least, 1) - 1;
    }
  }
  void acknowledged(std::int64_t ack) {
    if (ack > una_) {
      una_ = ack;
      duplicates_ = 0;
      if (recovering_ && ack >= recover_) {
        recovering_ = false;
        window_ = threshold_;
      }
      if (recovering_) transmit(una_);
      if (!recovering_) window_ += window_ < threshold_ ? 1 : 1 / window_;
    } else if (++duplicates_ == 3 && !recovering_) {
      ++halvings;
      recovering_ = true;
      recover_ = next_;
      threshold_ = std::max(window_ / 2, 2.0);
      window_ = threshold_ + 3;
      transmit(una_);
    } else if (recovering_) {
      window_ += 1;
    }
    send();
  }
  void send() {
    while (next_ < una_ + static_cast<std::int64_t>(window_)) transmit(next_++);
  }
  void transmit(std::int64_t number) {
    law_.on_data(packet * (number + 1));
    if (queued() < buffer_) {
      queue_.push_back(number);
    } else {
      ++drops;
      law_.on_drop(packet * (number + 1));
    }
  }

  bool regulated_;
  std::int64_t buffer_;
  AckRegulator law_;
  std::int64_t now_ = 0;
  std::deque<std::int64_t> queue_;
  std::deque<std::pair<std::int64_t, std::int64_t>> air_;
  std::deque<std::int64_t> held_;
  std::set<std::int64_t> received_;
  std::int64_t next_in_order_ = 0;
  std::int64_t una_ = 0, next_ = 0, recover_ = 0;
  double window_ = 2, threshold_ = 1e9;
  int duplicates_ = 0;
  bool recovering_ = false;
};

// The deliberate drop: one per halving, where a full buffer without the law loses a burst at the end of slow start.
TEST(AckRegulator, TheSourceHalvesForASingleDrop) {
  for (const std::int64_t buffer : {8, 12, 20, 40}) {
    RenoLink regulated(true, buffer);
    regulated.run(20'000);
    RenoLink drop_tail(false, buffer);
    drop_tail.run(20'000);
    EXPECT_GE(regulated.drops, 1) << buffer;
    EXPECT_EQ(regulated.drops, regulated.halvings) << buffer;
    EXPECT_GT(drop_tail.drops, drop_tail.halvings) << buffer;
    EXPECT_GE(regulated.carried, drop_tail.carried) << buffer;
  }
}

TEST(AckRegulatorRules, ParametersOutOfRangeAreRefused) {
  const auto rule = [](const char* name) { return Field(&Violation::rule, name); };
  const auto broken = [](auto change) {
    AckRegulatorParameters parameters;
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(validate(AckRegulatorParameters{}), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.segment = 0_B; }), ElementsAre(rule("segment > 0")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = -1_B; }), ElementsAre(rule("B > 0")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = 2000_B; }), ElementsAre(rule("B ≥ 2 segments")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = p.segment * 2 - 1_B; }), ElementsAre(rule("B ≥ 2 segments")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = p.segment * 2; }), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.segment = 1_B; }), IsEmpty());
  EXPECT_THAT(broken([](auto& p) {
                p.segment = 0_B;
                p.buffer = 0_B;
              }),
              ElementsAre(rule("segment > 0"), rule("B > 0")))
      << "every broken rule is named";
  EXPECT_THROW(AckRegulator{buffer_of(1)}, std::invalid_argument);
}

}  // namespace
}  // namespace sluice::control
