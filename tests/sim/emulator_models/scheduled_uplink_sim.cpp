// A scheduled uplink under load: whatever is lost on the air, packets come once and in order, or are counted.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/channel/block_errors.hpp"
#include "emulator/channel/constant.hpp"
#include "emulator/channel/timeline.hpp"
#include "emulator/random.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::address;

constexpr std::uint32_t ues = 4;
constexpr std::uint32_t packets = 400;  ///< packets of each UE

/// The number that a packet carries behind its IP header, and the UE it is from.
struct Label {
  std::uint32_t ue = 0;
  std::uint32_t number = 0;
  bool operator==(const Label&) const = default;
};

class Labels final : public Element {
 public:
  void receive(packet::Packet packet, Instant now) override {
    Label label;
    std::memcpy(&label, packet.data() + 34, sizeof label);
    labels.push_back(label);
    times.push_back(now);
  }
  std::vector<Label> labels;
  std::vector<Instant> times;
};

class Dropped final : public CellObserver {
 public:
  void on_departure(UeIndex, const packet::Packet&, Bytes, Duration way, Instant) override {
    EXPECT_GT(way, Duration::zero());
  }
  void on_drop(UeIndex ue, const packet::Packet&, Bytes, DropReason reason, Instant) override {
    ++count[ue];
    ++by_reason[static_cast<std::size_t>(reason)];
  }
  std::array<std::uint32_t, ues> count{};
  std::array<std::uint32_t, drop_reasons> by_reason{};
};

/// Sends a UE's packets at random instants, in bursts.
class Source final : public EventTarget {
 public:
  Source(EventLoop& loop, std::uint32_t ue, Random random, Element& uplink)
      : loop_(loop), ue_(ue), random_(random), uplink_(uplink) {
    loop.at(Instant(from_seconds(random_.exponential(0.02))), *this);
  }
  void on_event(std::uint64_t /*tag*/, Instant now) override {
    const std::uint64_t burst = 1 + random_.below(12);
    for (std::uint64_t i = 0; i < burst && sent_ < packets; ++i) {
      const IpAddress from = IpAddress::v4(10, 45, 0, static_cast<std::uint8_t>(2 + ue_));
      packet::Packet packet = test::frame_from(from, 52 + random_.below(1400));
      const Label label{ue_, sent_++};
      std::memcpy(packet.data() + 34, &label, sizeof label);
      uplink_.receive(std::move(packet), now);
    }
    if (sent_ < packets) loop_.at(now + from_seconds(random_.exponential(0.02)), *this);
  }

 private:
  EventLoop& loop_;
  std::uint32_t ue_;
  Random random_;
  Element& uplink_;
  std::uint32_t sent_ = 0;
};

struct Outcome {
  std::vector<Label> labels;
  std::vector<Instant> times;
  std::array<std::uint32_t, drop_reasons> drops{};
};

/// One run; `step`: how far the loop is driven at a time.
Outcome run(std::uint64_t seed, Duration step) {
  Random draws = Random::stream(seed, "test");
  EventLoop loop;
  Labels core;
  Dropped dropped;
  ScheduledUplinkConfig config;
  config.request_period = milliseconds(1 + draws.below(20));
  config.response = milliseconds(draws.below(6));
  config.grant_delay = milliseconds(1 + draws.below(6));
  config.resources.sharers = 1 + static_cast<std::uint32_t>(draws.below(ues));
  config.air.harq.transmissions = 1 + static_cast<std::uint32_t>(draws.below(3));
  config.air.rlc.retransmissions = static_cast<std::uint32_t>(draws.below(3));
  config.retry = milliseconds(40);
  if (draws.chance(0.5)) config.configured.emplace();
  ScheduledUplink uplink(loop, milliseconds(1), config, core);
  uplink.set_observer(&dropped);
  std::vector<std::unique_ptr<Drx>> drx;
  std::vector<std::unique_ptr<Source>> sources;
  for (std::uint32_t ue = 0; ue < ues; ++ue) {
    UplinkUeConfig one;
    one.addresses = {IpAddress::v4(10, 45, 0, static_cast<std::uint8_t>(2 + ue))};
    one.queue = {Bytes(0), BufferUnit::packets, 60};
    auto link = std::make_unique<TimelineChannel>(
        std::make_unique<ConstantChannel>(Rate::bytes_per_second(2e6), milliseconds(1)));
    link->silence_from(500 + 100 * ue);
    link->resume_from(700 + 100 * ue);
    one.channel = std::make_unique<BlockErrorChannel>(std::move(link), 0.3, draws.split("errors", ue));
    drx.push_back(std::make_unique<Drx>(DrxParameters{}));
    if (draws.chance(0.5)) one.drx = drx.back().get();
    uplink.add_ue(std::move(one));
    sources.push_back(std::make_unique<Source>(loop, ue, draws.split("source", ue), uplink));
  }
  for (Instant end{}; end < Instant(milliseconds(30'000));) loop.run_until(end += step);

  std::vector<std::uint32_t> arrived(ues, 0);
  std::vector<std::uint32_t> next(ues, 0);
  for (const Label& label : core.labels) {
    EXPECT_GE(label.number, next[label.ue]) << "out of order, or twice";
    next[label.ue] = label.number + 1;
    ++arrived[label.ue];
  }
  for (std::uint32_t ue = 0; ue < ues; ++ue) {
    EXPECT_EQ(arrived[ue] + dropped.count[ue], packets) << "UE " << ue;
    EXPECT_GT(arrived[ue], packets / 8) << "UE " << ue;
    EXPECT_TRUE(uplink.ue(ue).queue().empty());
    EXPECT_EQ(uplink.ue(ue).in_flight(), 0U);
    const QueueCounters& counters = uplink.ue(ue).queue().counters();
    EXPECT_EQ(counters.delivered_packets, arrived[ue]);
    EXPECT_EQ(counters.lost_packets + counters.dropped_packets, dropped.count[ue]);
  }
  return {core.labels, core.times, dropped.by_reason};
}

TEST(ScheduledUplinkSim, EveryPacketArrivesOnceInOrderOrIsCountedAsDropped) {
  std::array<std::uint32_t, drop_reasons> drops{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Outcome outcome = run(seed, milliseconds(100));
    if (HasFailure()) return;
    for (std::size_t i = 0; i < drops.size(); ++i) drops[i] += outcome.drops[i];
  }
  EXPECT_GT(drops[static_cast<std::size_t>(DropReason::full)], 0U) << "no run had a full queue";
  EXPECT_GT(drops[static_cast<std::size_t>(DropReason::air)], 0U) << "no run lost a packet for good";
}

TEST(ScheduledUplinkSim, TheSameSeedGivesTheSameTimesInAnyTimeSteps) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Outcome at_once = run(seed, milliseconds(30'000));
    const Outcome in_steps = run(seed, std::chrono::microseconds(370));
    EXPECT_EQ(at_once.labels, in_steps.labels);
    EXPECT_EQ(at_once.times, in_steps.times);
  }
}

}  // namespace
}  // namespace sluice::emulator
