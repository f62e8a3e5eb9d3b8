// Tests of the scheduled LTE uplink: scheduling requests, grants, buffer status reports and lost blocks, with exact
// times.
#include "emulator/cell/scheduled_uplink.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/timeline.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::frame_from;
using test::Recorder;

const IpAddress first = address("10.45.0.2");
const IpAddress second = address("10.45.0.3");

/// 2500 bytes in every TTI, 50 in each of its blocks.
std::unique_ptr<Channel> constant() {
  return std::make_unique<ConstantChannel>(Rate::bytes_per_second(2.5e6), milliseconds(1));
}

/// Channel that loses the blocks of the listed TTIs.
class Script final : public SteppedChannel {
 public:
  explicit Script(std::set<std::uint64_t> lost) : lost_(std::move(lost)) {}
  [[nodiscard]] double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const override { return 0.5; }

 protected:
  LinkGrant step(std::uint64_t tti) override {
    LinkGrant grant;
    grant.capacity = Bytes(2500);
    grant.received = !lost_.contains(tti);
    grant.draw = grant.received ? 0.9 : 0.1;
    return grant;
  }

 private:
  std::set<std::uint64_t> lost_;
};

/// LTE with its usual times: scheduling requests every 10 ms, a grant 4 ms later, and its block 4 ms after that. A
/// lost block is retransmitted after 8 ms.
class ScheduledUplinkTest : public testing::Test {
 protected:
  void add(const IpAddress& ue, std::unique_ptr<Channel> channel = constant(), std::uint64_t packets = 0) {
    if (uplink_ == nullptr) uplink_ = std::make_unique<ScheduledUplink>(loop_, milliseconds(1), config_, core_);
    UplinkUeConfig config;
    config.addresses = {ue};
    config.queue = {Bytes(0), BufferUnit::packets, packets};
    config.channel = std::move(channel);
    uplink_->add_ue(std::move(config));
  }
  void send_at(double ms, int packets, std::size_t length = 52, const IpAddress& from = first) {
    loop_.run_until(at_ms(ms));
    for (int i = 0; i < packets; ++i) {
      uplink_->receive(frame_from(from, length, from.octets.back()), loop_.now());
    }
  }
  /// Returns how many packets arrived in each millisecond.
  std::map<double, int> arrivals() const {
    std::map<double, int> result;
    for (const auto& entry : core_.entries) ++result[to_milliseconds(entry.at.time_since_epoch())];
    return result;
  }
  using Arrivals = std::map<double, int>;

  ScheduledUplinkConfig config_;
  EventLoop loop_;
  Recorder core_;
  std::unique_ptr<ScheduledUplink> uplink_;
};

TEST_F(ScheduledUplinkTest, ASingleAckWaitsForItsSchedulingRequestAndGrant) {
  add(first);
  send_at(3.2, 1);
  send_at(100, 1);
  send_at(200.5, 1);
  loop_.run_until(at_ms(400));
  // Asked for at 10 ms, sent in the TTI from 18 ms on; what comes in the instant of an opportunity misses it.
  EXPECT_EQ(arrivals(), Arrivals({{19, 1}, {119, 1}, {219, 1}}));
  EXPECT_EQ(uplink_->counters().requests, 3U);
  EXPECT_EQ(uplink_->counters().grants, 3U);
  EXPECT_EQ(uplink_->counters().padding, 0U);
}

TEST_F(ScheduledUplinkTest, TheFirstBlockCarriesABufferStatusReport) {
  add(first);
  send_at(3.2, 10);
  loop_.run_until(at_ms(100));
  // Three blocks of 50 bytes for the request, at 18 ms; the rest, which is known at 22 ms, at 26 ms.
  EXPECT_EQ(arrivals(), Arrivals({{19, 2}, {27, 8}}));
  EXPECT_EQ(uplink_->counters().requests, 1U);
  EXPECT_EQ(uplink_->counters().grants, 2U);
}

TEST_F(ScheduledUplinkTest, AStreamOfAcksNeedsOneSchedulingRequest) {
  add(first);
  for (int i = 0; i < 200; ++i) send_at(3.2 + i, 1);
  loop_.run_until(at_ms(300));
  EXPECT_EQ(uplink_->counters().requests, 1U);
  EXPECT_EQ(core_.entries.size(), 200U);
  double last = 11;
  for (const auto& [at, count] : arrivals()) {
    EXPECT_EQ(at, last + 8) << "each block tells of what the next one carries";
    EXPECT_EQ(count, at == 19 ? 2 : at == 27 ? 13 : count);
    last = at;
  }
  send_at(305, 1);
  loop_.run_until(at_ms(400));
  EXPECT_EQ(uplink_->counters().requests, 2U);
  EXPECT_EQ(core_.entries.back().at, at_ms(319));
}

TEST_F(ScheduledUplinkTest, TwoUesShareTheTtis) {
  add(first);
  add(second);
  send_at(0.2, 100, 1000, first);
  send_at(0.2, 100, 1000, second);
  loop_.run_until(at_ms(66.5));
  // The second UE sends its request at 1 ms and is granted 150 bytes at 9 ms. From 17 ms on it gets everything, less
  // the 150 bytes of the other at 18 ms. From 26 ms on each has half: 1250 bytes in 40 TTIs.
  int of_first = 0;
  for (const auto& entry : core_.entries) of_first += entry.mark == 2 ? 1 : 0;
  EXPECT_EQ(of_first, 50);
  EXPECT_EQ(core_.entries.size() - 50, 72U);
  loop_.run_until(at_ms(200));
  EXPECT_EQ(core_.entries.size(), 200U);
  EXPECT_EQ(uplink_->counters().requests, 2U);
}

TEST_F(ScheduledUplinkTest, WithOneUePerTtiTheOtherWaits) {
  config_.request_period = milliseconds(1);
  config_.resources.sharers = 1;
  add(first);
  add(second);
  send_at(3.2, 1, 52, first);
  send_at(3.2, 1, 52, second);
  loop_.run_until(at_ms(50));
  EXPECT_EQ(arrivals(), Arrivals({{13, 1}, {14, 1}}));
  EXPECT_EQ(uplink_->counters().grants, 2U) << "more requests change nothing while a grant is in flight";
}

TEST_F(ScheduledUplinkTest, AnUploadDelaysTheAcknowledgementsOfItsUe) {
  add(first);
  send_at(3.2, 8, 1250);
  send_at(3.3, 1);
  loop_.run_until(at_ms(100));
  // 150 bytes at 18 ms, 2500 a TTI from 26 ms on.
  EXPECT_EQ(arrivals(), Arrivals({{27, 2}, {28, 2}, {29, 2}, {30, 3}}));
}

TEST_F(ScheduledUplinkTest, ALostBlockDelaysItsBufferStatusReport) {
  add(first, std::make_unique<Script>(std::set<std::uint64_t>{18}));
  send_at(3.2, 10);
  loop_.run_until(at_ms(100));
  EXPECT_EQ(arrivals(), Arrivals({{27, 2}, {35, 8}}));
}

TEST_F(ScheduledUplinkTest, ALostBlockDelaysLaterBlocks) {
  add(first, std::make_unique<Script>(std::set<std::uint64_t>{27}));
  send_at(0.2, 20, 1250);
  loop_.run_until(at_ms(100));
  // The block of 27 ms comes again at 35 ms, when nothing else is sent; those of 28 to 34 ms wait for it.
  EXPECT_EQ(arrivals(), Arrivals({{27, 2}, {36, 16}, {37, 2}}));
  EXPECT_EQ(uplink_->ue(0).air().counters().retransmissions, 1U);
  EXPECT_EQ(uplink_->ue(0).in_flight(), 0U);
}

TEST_F(ScheduledUplinkTest, RlcRetransmitsWhatHarqAbandons) {
  add(first, std::make_unique<Script>(std::set<std::uint64_t>{18, 26, 34, 42, 50}));
  send_at(3.2, 1);
  loop_.run_until(at_ms(300));
  // Given up at 50 ms; the poll notices at 95 ms, the status comes 20 ms later, and the request goes at 120 ms.
  EXPECT_EQ(arrivals(), Arrivals({{129, 1}}));
  EXPECT_EQ(uplink_->counters().requests, 2U);
}

TEST_F(ScheduledUplinkTest, AnotherRequestReplacesALostBufferStatusReport) {
  config_.air.harq.transmissions = 1;
  config_.retry = milliseconds(30);
  add(first, std::make_unique<Script>(std::set<std::uint64_t>{18}));
  send_at(3.2, 10);
  loop_.run_until(at_ms(49));
  EXPECT_EQ(uplink_->counters().requests, 1U);
  loop_.run_until(at_ms(80));
  // Nothing was granted up to 48 ms: it asks at 50 ms, and sends 150 and 220 bytes at 58 and 66 ms.
  EXPECT_EQ(uplink_->counters().requests, 2U);
  EXPECT_TRUE(uplink_->ue(0).queue().empty());
  loop_.run_until(at_ms(300));
  // The poll finds at 63 ms what is missing, and the status comes at 83 ms: it asks at 90 ms, and sends at 98 ms.
  EXPECT_EQ(arrivals(), Arrivals({{99, 10}}));
  EXPECT_EQ(uplink_->counters().requests, 3U);
}

TEST_F(ScheduledUplinkTest, ConfiguredGrantsNeedNoRequest) {
  config_.configured.emplace();
  add(first);
  send_at(3.2, 1);
  send_at(103.2, 10);
  loop_.run_until(at_ms(300));
  // 125 bytes at 10 ms and at 110 ms; what is left is known at 114 ms and granted for 118 ms.
  EXPECT_EQ(arrivals(), Arrivals({{11, 1}, {111, 2}, {119, 8}}));
  EXPECT_EQ(uplink_->counters().requests, 0U);
  EXPECT_EQ(uplink_->counters().grants, 1U);
}

TEST_F(ScheduledUplinkTest, NoRequestIsReceivedWithoutALink) {
  auto timeline = std::make_unique<TimelineChannel>(constant());
  timeline->silence_from(5);
  timeline->resume_from(50);
  add(first, std::move(timeline));
  send_at(3.2, 1);
  loop_.run_until(at_ms(100));
  EXPECT_EQ(arrivals(), Arrivals({{59, 1}}));
  EXPECT_EQ(uplink_->counters().requests, 1U);
}

TEST_F(ScheduledUplinkTest, AFullQueueDropsItsOwnPacketsOnly) {
  class Observer final : public CellObserver {
   public:
    void on_departure(UeIndex, const packet::Packet&, Bytes, Duration way, Instant) override { last = way; }
    void on_drop(UeIndex, const packet::Packet&, Bytes, DropReason, Instant) override { ++drops; }
    int drops = 0;
    Duration last{};
  } observer;
  add(first, constant(), 2);
  uplink_->set_observer(&observer);
  send_at(3, 5);
  EXPECT_EQ(observer.drops, 3);
  send_at(4, 1, 52, second);
  EXPECT_EQ(arrivals(), Arrivals({{4, 1}})) << "a UE that is not of this uplink passes at once";
  loop_.run_until(at_ms(50));
  EXPECT_EQ(observer.last, milliseconds(16)) << "from 3 ms to the end of the TTI at 19 ms";
}

TEST_F(ScheduledUplinkTest, InvalidParametersAreRefused) {
  EXPECT_THROW(add(first, nullptr), std::invalid_argument);
  uplink_.reset();
  add(first);
  EXPECT_THROW(add(first), std::invalid_argument);
  const auto refuses = [this](auto&& change) {
    ScheduledUplinkConfig config;
    change(config);
    EXPECT_THROW(ScheduledUplink(loop_, milliseconds(1), config, core_), std::invalid_argument);
  };
  refuses([](auto& config) { config.request_period = Duration::zero(); });
  refuses([](auto& config) { config.response = milliseconds(-1); });
  refuses([](auto& config) { config.grant_delay = Duration::zero(); });
  refuses([](auto& config) { config.retry = Duration::zero(); });
  refuses([](auto& config) { config.grant_delay = milliseconds(9); });
  refuses([](auto& config) { config.configured.emplace().period = Duration::zero(); });
  refuses([](auto& config) { config.configured.emplace().size = Bytes(0); });
}

}  // namespace
}  // namespace sluice::emulator
