// Tests of the rate that is advised to QUIC senders, against the link of a UE in virtual time. TCP downloads show the
// link's rate to the proxy, and SCONE packets from a server show what it advises.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/scone.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/runtime/deferred_element.hpp"
#include "emulator/runtime/proxy_node.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;

/// Reads the signals of SCONE packets, and hands all other packets on.
class SignalTap final : public Element {
 public:
  explicit SignalTap(Element& next) : next_(&next) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) != packet::ParseResult::udp) return next_->receive(std::move(packet), now);
    const std::span<const std::uint8_t> frame(packet.data(), parsed.frame_length());
    const std::span<const std::uint8_t> payload = frame.subspan(parsed.l4_offset + packet::udp_length);
    if (packet::scone_format(payload) == packet::SconeFormat::packet) {
      newest = packet::scone_signal(payload);
    } else {
      next_->receive(std::move(packet), now);
    }
  }
  std::optional<std::uint8_t> newest;

 private:
  Element* next_;
};

struct Setting {
  proxy::Mode mode = proxy::Mode::smvs;
  proxy::Intercept intercept = proxy::Intercept::split;
  proxy::CrossTraffic cross_traffic = proxy::CrossTraffic::queue;
  double link_bps = 8e6;
  double share = 1;
};

/// A UE behind a link with an unlimited queue, 20 ms from the proxy, and a server 40 ms from the proxy.
class Network {
 public:
  explicit Network(const Setting& setting)
      : config_(shard_config(setting)), link_(loop_, {10ms, Rate::bits_per_second(setting.link_bps), Bytes()}, ue_) {
    proxy_.connect(tap_, to_server_);
    into_server_.set_next(server_);
    server_.listen(80,
                   [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
  }

  /// A download from `start` until `stop`.
  void download(Duration start, Duration stop, std::uint64_t size = Request::endless) {
    BulkConfig bulk;
    bulk.server = server_.config().address;
    bulk.start = Instant(start);
    bulk.stop = Instant(stop);
    bulk.size = size;
    clients_.push_back(std::make_unique<BulkClient>(loop_, ue_, bulk, log_));
  }
  /// Sends datagrams of 1500 bytes to the UE at this rate until `end`.
  void send_datagrams(double bps, Duration end) {
    const Duration interval = from_seconds(1500 * 8 / bps);
    for (Instant at = loop_.now(); at < Instant(end); at += interval) {
      loop_.run_until(at);
      send(std::vector<std::uint8_t>(1472, 0x40), 999);
    }
  }
  /// Returns the rate that a SCONE packet advises at `at` in Mb/s; zero: none.
  double advised_at(Duration at) {
    loop_.run_until(Instant(at));
    tap_.newest.reset();
    std::vector<std::uint8_t> payload = {0xff, 0xef, 0x7d, 0xc0, 0xfd, 4, 1, 2, 3, 4, 0, 0x40, 1, 2, 3, 4};
    payload.resize(payload.size() + 30, 0xab);
    send(payload, ++port_);
    loop_.run_until(Instant(at + 2s));  // the datagram may wait for the window
    EXPECT_TRUE(tap_.newest.has_value());
    if (tap_.newest.value_or(packet::no_scone_advice) == packet::no_scone_advice) return 0;
    return std::pow(10, *tap_.newest / 20.0) / 10;
  }
  [[nodiscard]] std::uint64_t count(Counter counter) const { return proxy_.shard().counters()[counter]; }

 private:
  /// Sends a datagram from the server's port 443 to a port of the UE.
  void send(const std::vector<std::uint8_t>& payload, std::uint16_t port) {
    constexpr std::array<std::uint8_t, 6> server_mac = {2, 0, 0, 0, 0, 2};
    constexpr std::array<std::uint8_t, 6> ue_mac = {2, 0, 0, 0, 0, 1};
    packet::Packet packet = ::sluice::test::pool().allocate();
    std::copy(payload.begin(), payload.end(), packet.append(static_cast<std::uint16_t>(payload.size())));
    const auto header = packet::make_template(server_mac, ue_mac, 4);
    packet::write_udp_headers(packet, header, {server_.config().address, ue_.config().address, 443, port}, 7);
    proxy_.core_port().receive(std::move(packet), loop_.now());
  }
  static proxy::ShardConfig shard_config(const Setting& setting) {
    proxy::ShardConfig config;
    config.mode = setting.mode;
    config.intercept = setting.intercept;
    config.smvs.law = proxy::ControllerLocation::acks;
    config.smvs.cross_traffic = setting.cross_traffic;
    config.scone_link_share = setting.share;
    config.limits.max_flows = 512;
    config.limits.max_bearers = 8;
    return config;
  }
  static HostConfig host(const IpAddress& address) {
    HostConfig config;
    config.address = address;
    return config;
  }

  EventLoop loop_;
  proxy::ShardConfig config_;
  ServerCounters counters_;
  FlowLog log_;
  ProxyNode proxy_{loop_, ::sluice::test::pool(), config_, 1};
  DeferredElement into_server_;
  DelayLine up_{loop_, {10ms, Rate(), Bytes()}, proxy_.radio_port()};
  Host ue_{loop_, ::sluice::test::pool(), host(IpAddress::v4(10, 45, 0, 2)), Random::stream(1, "ue"), up_};
  DelayLine link_;
  SignalTap tap_{link_};
  DelayLine to_server_{loop_, {20ms, Rate(), Bytes()}, into_server_};
  DelayLine from_server_{loop_, {20ms, Rate(), Bytes()}, proxy_.core_port()};
  Host server_{loop_, ::sluice::test::pool(), host(IpAddress::v4(192, 0, 2, 1)), Random::stream(1, "server"),
               from_server_};
  std::vector<std::unique_ptr<BulkClient>> clients_;
  std::uint16_t port_ = 1000;
};

/// Ratio of the rates of two successive signals.
const double signal_step = std::pow(10, 1 / 20.0);

/// The advice is at most the link's rate, and at least 95 % of it, rounded to a signal.
void expect_rate_of(double advised, double mbps) {
  EXPECT_LE(advised, mbps * 1.01);
  EXPECT_GE(advised, mbps * 0.95 / signal_step);
}

TEST(SconeAdvice, FollowsTheLinkOfADownload) {
  for (const double mbps : {1.0, 8.0, 45.0}) {
    for (const proxy::Intercept intercept : {proxy::Intercept::split, proxy::Intercept::regulate}) {
      Network network({.intercept = intercept, .link_bps = mbps * 1e6});
      network.download(0s, 100s);
      EXPECT_EQ(network.advised_at(15s), 0) << "unknown";
      expect_rate_of(network.advised_at(60s), mbps);
      EXPECT_EQ(network.count(Counter::scone_lowered_to_link), 1U);
      EXPECT_EQ(network.count(Counter::scone_rate_unknown), 1U);
    }
  }
}

TEST(SconeAdvice, IsAShareOfTheLink) {
  Network network({.share = 0.5});
  network.download(0s, 100s);
  expect_rate_of(network.advised_at(60s), 4);
}

TEST(SconeAdvice, IsNotMeasuredFromTrafficThatDoesNotFillTheLink) {
  Network network({});
  for (int i = 0; i < 600; ++i) network.download(i * 200ms, 200s, 20'000);  // 0.8 Mb/s
  EXPECT_EQ(network.advised_at(130s), 0);
}

// Segments of a video: 1 MB each 2 s, which take half of the time.
TEST(SconeAdvice, IsMeasuredFromBursts) {
  Network network({});
  for (int i = 0; i < 100; ++i) network.download(i * 2s, 300s, 1'000'000);
  const double advised = network.advised_at(150s);
  EXPECT_GE(advised, 8 * 0.8 / signal_step);
  EXPECT_LE(advised, 8.1);
}

// A download that ends while its data waits leaves a last sample of a full link. The pause after it does not count.
TEST(SconeAdvice, PausesAfterStoppedDownloadsDoNotCount) {
  Network network({});
  for (int i = 0; i < 20; ++i) network.download(i * 12s, i * 12s + 5s);
  const double advised = network.advised_at(230s);
  EXPECT_GE(advised, 8 * 0.9 / signal_step);
  EXPECT_LE(advised, 8.1);
}

// Below about 0.2 Mb/s the packets to a UE are too far apart for samples.
TEST(SconeAdvice, IsUnknownOnVerySlowLinks) {
  const auto advised = [](double mbps) {
    Network network({.link_bps = mbps * 1e6});
    network.download(0s, 400s);
    return network.advised_at(300s);
  };
  EXPECT_EQ(advised(0.1), 0);
  expect_rate_of(advised(0.3), 0.3);
}

TEST(SconeAdvice, IsTheRateOfAllTrafficToTheUe) {
  for (const proxy::CrossTraffic cross_traffic : {proxy::CrossTraffic::queue, proxy::CrossTraffic::forward}) {
    Network network({.cross_traffic = cross_traffic});
    network.download(0s, 100s);
    network.send_datagrams(3e6, 60s);
    expect_rate_of(network.advised_at(60s), 8);
  }
}

TEST(SconeAdvice, IsCountedInModeObserve) {
  Network network({.mode = proxy::Mode::observe});
  network.download(0s, 100s);
  EXPECT_EQ(network.advised_at(60s), 0);
  EXPECT_EQ(network.count(Counter::scone_observed), 1U);
}

TEST(SconeAdvice, IsUnknownWithoutARateController) {
  Network network({.mode = proxy::Mode::i_tcp});
  network.download(0s, 100s);
  EXPECT_EQ(network.advised_at(60s), 0);
  EXPECT_EQ(network.count(Counter::scone_rate_unknown), 1U);
}

}  // namespace
}  // namespace sluice::emulator
