// Tests of UEs in one shared queue of which one sends false feedback. Its gain is bounded by the throughput of the
// mode i-tcp, which does not use that feedback.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "dataplane/packet/parse.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/request_client.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/router.hpp"
#include "emulator/runtime/late_link.hpp"
#include "emulator/runtime/proxy_node.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

/// A segment without SYN whose only option, or first one, is timestamps.
class Acknowledgement {
 public:
  explicit Acknowledgement(const packet::Packet& packet) {
    is_one_ = packet::parse(packet, parsed_) == packet::ParseResult::tcp && !parsed_.segment.flags.syn() &&
              parsed_.segment.has_timestamps && parsed_.segment.flags.ack();
  }
  [[nodiscard]] bool is_one() const { return is_one_; }
  [[nodiscard]] std::uint32_t number() const { return parsed_.segment.ack.raw(); }
  [[nodiscard]] std::uint32_t ts_value() const { return parsed_.segment.ts_value; }
  void set_number(packet::Packet& packet, std::uint32_t number) const { set(packet, 8, number); }
  void set_ts_value(packet::Packet& packet, std::uint32_t value) const { set(packet, 24, value); }

 private:
  /// Changes a word of the TCP header, and the checksum with it (RFC 1624).
  void set(packet::Packet& packet, std::size_t at, std::uint32_t value) const {
    std::uint8_t* const header = packet.data() + parsed_.l4_offset;
    const auto word = [header](std::size_t i) { return static_cast<std::uint32_t>(header[i] << 8U | header[i + 1]); };
    std::uint32_t sum = (~word(16) & 0xffffU) + (~word(at) & 0xffffU) + (~word(at + 2) & 0xffffU);
    for (std::size_t i = 0; i < 4; ++i) header[at + i] = static_cast<std::uint8_t>(value >> (24U - 8U * i));
    sum += word(at) + word(at + 2);
    while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
    header[16] = static_cast<std::uint8_t>(~sum >> 8U);
    header[17] = static_cast<std::uint8_t>(~sum);
  }

  packet::Parsed parsed_;
  bool is_one_ = false;
};

/// Alters the acknowledgements that a UE sends, as a lying UE would.
class Lie : public Element {
 public:
  explicit Lie(Element& next) : next_(&next) {}
  virtual ~Lie() = default;
  Lie(const Lie&) = delete;
  Lie& operator=(const Lie&) = delete;
  void receive(packet::Packet packet, Instant now) override {
    const Acknowledgement said(packet);
    if (said.is_one()) notify(said, packet, now);
    next_->receive(std::move(packet), now);
  }

 protected:
  virtual void notify(const Acknowledgement& said, packet::Packet& packet, Instant now) = 0;
  Element* next_;
};

class Honest final : public Lie {
 public:
  using Lie::Lie;

 private:
  void notify(const Acknowledgement& /*said*/, packet::Packet& /*packet*/, Instant /*now*/) override {}
};

/// The clock of the UE stops once for 150 ms after six seconds, so that no timestamp decreases.
class ClockSetBack final : public Lie {
 public:
  using Lie::Lie;

 private:
  void notify(const Acknowledgement& said, packet::Packet& packet, Instant now) override {
    constexpr std::uint32_t back = 150;
    if (now < Instant(6s)) {
      last_ = said.ts_value();
      return;
    }
    const std::uint32_t set = said.ts_value() - back;
    if (static_cast<std::int32_t>(set - last_) > 0) last_ = set;
    said.set_ts_value(packet, last_);
  }
  std::uint32_t last_ = 0;
};

/// Acknowledges in ten parts what it would in one.
class Divider final : public Lie {
 public:
  using Lie::Lie;

 private:
  void notify(const Acknowledgement& said, packet::Packet& packet, Instant now) override {
    constexpr std::uint32_t parts = 10;
    const std::uint32_t news = said.number() - last_;
    const std::uint32_t before = std::exchange(last_, said.number());
    if (before == 0 || news < parts || news > 1'000'000) return;
    for (std::uint32_t part = 1; part < parts; ++part) {
      packet::Packet copy = ::sluice::test::pool().copy(packet);
      said.set_number(copy, before + news / parts * part);
      next_->receive(std::move(copy), now);
    }
  }
  std::uint32_t last_ = 0;
};

/// The clock of the UE loses `Lost` milliseconds in every `Period` milliseconds, in one step.
template <std::uint32_t Lost, std::uint32_t Period>
class SlowClock final : public Lie {
 public:
  using Lie::Lie;

 private:
  void notify(const Acknowledgement& said, packet::Packet& packet, Instant now) override {
    const auto lost = static_cast<std::uint32_t>((now - Instant{}) / std::chrono::milliseconds(Period)) * Lost;
    const std::uint32_t set = said.ts_value() - lost;
    if (static_cast<std::int32_t>(set - last_) > 0 || last_ == 0) last_ = set;
    said.set_ts_value(packet, last_);
  }
  std::uint32_t last_ = 0;
};

/// Records which position of the first UE's data was sent last.
class SentTap final : public Element {
 public:
  SentTap(Element& next, const IpAddress& ue) : next_(&next), ue_(ue) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    const bool is_data = packet::parse(packet, parsed) == packet::ParseResult::tcp && parsed.segment.payload_len > 0;
    if (is_data && parsed.dst == ue_) end_ = parsed.segment.seq.raw() + parsed.segment.payload_len;
    next_->receive(std::move(packet), now);
  }
  [[nodiscard]] std::uint32_t end() const { return end_; }

 private:
  Element* next_;
  IpAddress ue_;
  std::uint32_t end_ = 0;
};

/// Acknowledges a part of the segments that are still in the queue (optimistic ACKs). The UE knows how much was sent.
/// It takes for granted that all segments are full ones.
template <std::uint32_t Percent>
class Optimist final : public Lie {
 public:
  Optimist(Element& next, const SentTap& sent) : Lie(next), sent_(&sent) {}

 private:
  void notify(const Acknowledgement& said, packet::Packet& packet, Instant now) override {
    constexpr std::uint32_t segment = 1448;
    if (now < Instant(3s)) return;
    const std::uint32_t queued = (sent_->end() - said.number()) / segment;
    const std::uint32_t number = said.number() + queued * Percent / 100 * segment;
    if (static_cast<std::int32_t>(number - last_) > 0 || last_ == 0) last_ = number;
    said.set_number(packet, last_);
  }
  const SentTap* sent_;
  std::uint32_t last_ = 0;
};

/// Leads to what is put in its place later.
class Slot final : public Element {
 public:
  void lead_to(std::unique_ptr<Lie> next) { next_ = std::move(next); }
  void receive(packet::Packet packet, Instant now) override { next_->receive(std::move(packet), now); }

 private:
  std::unique_ptr<Lie> next_;
};

struct Outcome {
  double liar_mbps = 0;
  double other_mbps = 0;
  double echo_ms = 0;  ///< median
};

/// 20 Mb/s that three UEs share, in a queue without end: two download, and the
/// third asks for 100 bytes again and again.
class SharedQueue {
 public:
  SharedQueue(proxy::Mode mode, proxy::Intercept intercept, std::uint64_t secret)
      : config_(shard_config(mode, intercept, secret)) {
    proxy_.connect(sent_, to_server_);
    into_server_.lead_to(server_);
    for (std::size_t ue = 0; ue < ues_.size(); ++ue) router_.add(address(ue), *ues_.at(ue));
    server_.listen(80,
                   [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
    what_the_first_sends_.lead_to(std::make_unique<Honest>(proxy_.radio_port()));
  }

  template <typename Kind>
  void first_is() {
    if constexpr (std::is_constructible_v<Kind, Element&, const SentTap&>) {
      what_the_first_sends_.lead_to(std::make_unique<Kind>(proxy_.radio_port(), sent_));
    } else {
      what_the_first_sends_.lead_to(std::make_unique<Kind>(proxy_.radio_port()));
    }
  }

  Outcome run() {
    BulkConfig bulk;
    bulk.server = server_.config().address;
    BulkClient liar(loop_, *ues_[0], bulk, log_);
    BulkClient other(loop_, *ues_[1], bulk, log_);
    RequestConfig requests;
    requests.server = bulk.server;
    requests.interval = 100ms;
    requests.size = {SizeKind::fixed, Bytes(100), Bytes(100), 1};
    RequestClient echo(loop_, *ues_[2], requests, Random(1), log_);
    constexpr Duration begin = 10s;
    constexpr Duration end = 40s;
    loop_.run_until(Instant(begin));
    const std::uint64_t liar_before = liar.transferred();
    const std::uint64_t other_before = other.transferred();
    loop_.run_until(Instant(end));
    const auto mbps = [&](std::uint64_t bytes) {
      return static_cast<double>(bytes) * 8 / 1e6 / to_seconds(end - begin);
    };
    const Outcome outcome{mbps(liar.transferred() - liar_before), mbps(other.transferred() - other_before),
                          to_milliseconds(log_.fetch_times.percentile(0.5))};
    for (const auto& ue : ues_) ue->end_run(loop_.now());
    server_.end_run(loop_.now());
    EXPECT_EQ(log_.corrupted, 0U);
    return outcome;
  }

 private:
  static IpAddress address(std::size_t ue) { return IpAddress::v4(10, 45, 0, static_cast<std::uint8_t>(2 + ue)); }
  static HostConfig host(const IpAddress& address) {
    HostConfig config;
    config.address = address;
    return config;
  }
  static proxy::ShardConfig shard_config(proxy::Mode mode, proxy::Intercept intercept, std::uint64_t secret) {
    proxy::ShardConfig config;
    config.mode = mode;
    config.intercept = intercept;
    config.smvs.law = proxy::ControllerLocation::acks;
    config.tcp.boundary_secret = secret;
    config.limits.max_flows = 64;
    config.limits.max_bearers = 8;
    return config;
  }
  std::unique_ptr<Host> ue(std::size_t number, Element& up) {
    return std::make_unique<Host>(loop_, ::sluice::test::pool(), host(address(number)),
                                  Random::stream(number + 2, "ue"), up);
  }

  EventLoop loop_;
  proxy::ShardConfig config_;
  ServerCounters counters_;
  FlowLog log_;
  ProxyNode proxy_{loop_, ::sluice::test::pool(), config_, 1};
  Router router_;
  LateLink into_server_;
  Slot what_the_first_sends_;
  DelayLine shared_{loop_, {10ms, Rate::bits_per_second(20e6), Bytes()}, router_};
  SentTap sent_{shared_, address(0)};
  DelayLine to_server_{loop_, {20ms, Rate(), Bytes()}, into_server_};
  DelayLine from_server_{loop_, {20ms, Rate(), Bytes()}, proxy_.core_port()};
  DelayLine first_up_{loop_, {10ms, Rate(), Bytes()}, what_the_first_sends_};
  DelayLine up_{loop_, {10ms, Rate(), Bytes()}, proxy_.radio_port()};
  Host server_{loop_, ::sluice::test::pool(), host(IpAddress::v4(192, 0, 2, 1)), Random::stream(1, "server"),
               from_server_};
  std::array<std::unique_ptr<Host>, 3> ues_{ue(0, first_up_), ue(1, up_), ue(2, up_)};
};

/// Mean outcome over four secrets, because the shares of one run depend on where boundaries of segments are moved.
template <typename Kind>
Outcome outcome_of(proxy::Mode mode, proxy::Intercept intercept = proxy::Intercept::split) {
  constexpr std::uint64_t secrets = 4;
  Outcome mean;
  for (std::uint64_t secret = 1; secret <= secrets; ++secret) {
    SharedQueue network(mode, intercept, secret);
    network.first_is<Kind>();
    const Outcome outcome = network.run();
    mean.liar_mbps += outcome.liar_mbps / secrets;
    mean.other_mbps += outcome.other_mbps / secrets;
    mean.echo_ms += outcome.echo_ms / secrets;
  }
  return mean;
}

/// Throughput of each of two downloads in the mode i-tcp, in Mb/s: half of the link.
constexpr double part_by_congestion_control = 9.7;

TEST(DishonestUes, HonestUesHaveSimilarShares) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, proxy::Intercept::regulate}) {
    const Outcome outcome = outcome_of<Honest>(proxy::Mode::smvs, intercept);
    EXPECT_NEAR(outcome.liar_mbps, outcome.other_mbps, 2);
    EXPECT_GT(outcome.liar_mbps + outcome.other_mbps, 19);
  }
  EXPECT_NEAR(outcome_of<Honest>(proxy::Mode::i_tcp).liar_mbps, part_by_congestion_control, 0.1);
}

/// End to end there is no i-tcp to compare with.
TEST(DishonestUes, SettingBackItsClockGainsAUeNothing) {
  const Outcome split = outcome_of<ClockSetBack>(proxy::Mode::smvs);
  EXPECT_LE(split.liar_mbps, part_by_congestion_control + 0.2);
  EXPECT_LE(split.echo_ms, outcome_of<Honest>(proxy::Mode::smvs).echo_ms * 1.4);
  const proxy::Intercept regulate = proxy::Intercept::regulate;
  EXPECT_LE(outcome_of<ClockSetBack>(proxy::Mode::smvs, regulate).echo_ms,
            outcome_of<Honest>(proxy::Mode::smvs, regulate).echo_ms * 1.1);
}

/// A delay that is longer than the round trip, or that grows for 20 s, shows that the clock loses time.
TEST(DishonestUes, AClockThatLosesTimeGainsAUeLittle) {
  const double echo_ms = outcome_of<Honest>(proxy::Mode::i_tcp).echo_ms;
  for (const Outcome& outcome :
       {outcome_of<SlowClock<30, 2000>>(proxy::Mode::smvs), outcome_of<SlowClock<1, 67>>(proxy::Mode::smvs),
        outcome_of<SlowClock<1, 20>>(proxy::Mode::smvs), outcome_of<SlowClock<100, 2000>>(proxy::Mode::smvs)}) {
    EXPECT_LE(outcome.liar_mbps, 1.2 * part_by_congestion_control);
    EXPECT_GE(outcome.other_mbps, 0.8 * part_by_congestion_control);
    EXPECT_LE(outcome.echo_ms, echo_ms / 4);
  }
}

/// Boundaries of segments that the UE cannot know show that it acknowledges ahead. It then has an initial window.
TEST(DishonestUes, OptimisticAcksGainAUeNothing) {
  for (const proxy::Mode mode : {proxy::Mode::smvs, proxy::Mode::i_tcp}) {
    const double echo_ms = outcome_of<Honest>(mode).echo_ms;
    for (const Outcome& outcome : {outcome_of<Optimist<100>>(mode), outcome_of<Optimist<80>>(mode),
                                   outcome_of<Optimist<50>>(mode), outcome_of<Optimist<20>>(mode)}) {
      EXPECT_LE(outcome.liar_mbps, part_by_congestion_control);
      EXPECT_GE(outcome.other_mbps, 0.8 * part_by_congestion_control);
      EXPECT_LE(outcome.echo_ms, echo_ms);
    }
  }
}

/// Bytes are counted, not acknowledgements (RFC 3465).
TEST(DishonestUes, AckDivisionGainsAUeNothing) {
  const Outcome honest = outcome_of<Honest>(proxy::Mode::smvs);
  const Outcome outcome = outcome_of<Divider>(proxy::Mode::smvs);
  EXPECT_LE(outcome.liar_mbps, honest.liar_mbps);
  EXPECT_LE(outcome.echo_ms, honest.echo_ms * 1.1);
  EXPECT_LE(outcome_of<Divider>(proxy::Mode::i_tcp).liar_mbps, part_by_congestion_control + 0.1);
}

}  // namespace
}  // namespace sluice::emulator
