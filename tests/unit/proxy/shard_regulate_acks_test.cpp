// Tests of end-to-end connections under the ACK-based controller: the windows that their servers get.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Side;
using tcp::Flags;

proxy::ShardConfig regulating() {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::acks;
  config.intercept = proxy::Intercept::regulate;
  return config;
}

constexpr std::uint32_t segment = 1000;

/// A server that sends as much as the window lets it, and a UE behind a link that carries a segment each millisecond.
class Download {
 public:
  Download(ProxyLab& lab, std::uint16_t port, std::uint8_t window_scale) : hosts_(lab) {
    hosts_.ue_to_server.src_port = port;
    hosts_.options.window_scale = window_scale;
    hosts_.window = static_cast<std::uint16_t>(1'024'000 >> window_scale);
    hosts_.open();
  }

  [[nodiscard]] std::uint16_t port() const { return hosts_.ue_to_server.src_port; }
  [[nodiscard]] std::uint32_t acknowledged() const { return acknowledged_; }
  /// Returns how many bytes the server may have in flight.
  [[nodiscard]] std::uint32_t window() const { return edge_ - acknowledged_; }
  void told(const tcp::Segment& ack) {
    const tcp::SeqNum right = ack.ack + (std::uint32_t{ack.window} << hosts_.options.window_scale);
    edge_ = std::max(edge_, static_cast<std::uint32_t>(right - (hosts_.server_isn + 1)));
  }
  void send_what_may_be() {
    for (; sent_ + segment <= std::min(edge_, length); sent_ += segment) {
      hosts_.server(Flags::ack_bit, sent_, 0, std::string(segment, 's'));
    }
  }
  void acknowledge() { hosts_.ue(Flags::ack_bit, 0, acknowledged_ += segment); }

  std::uint32_t length = UINT32_MAX;  ///< what the server has

 private:
  ScriptedHosts hosts_;
  std::uint32_t sent_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::uint32_t edge_ = 64240;  ///< right edge of the window in the SYN
};

class ShardRegulateAcks : public testing::Test {
 protected:
  ShardRegulateAcks() : lab(regulating()) {}

  Download& download(std::uint16_t port) {
    return *downloads.emplace_back(std::make_unique<Download>(lab, port, window_scale));
  }
  Download& of(std::uint16_t port) {
    return **std::find_if(downloads.begin(), downloads.end(), [&](const auto& each) { return each->port() == port; });
  }
  /// 20 ms from the link to the UE and back, 40 ms to the server and back. The UE may have stopped to answer.
  void run(Duration time) {
    for (const Instant end = lab.now + time; lab.now < end; lab.pass_time(1ms)) {
      while (const auto ack = lab.next(Side::core)) to_servers.push_back({lab.now + 40ms, *ack});
      for (; !to_servers.empty() && to_servers.front().at <= lab.now; to_servers.pop_front()) {
        of(to_servers.front().frame.parsed.src_port).told(to_servers.front().frame.segment());
      }
      for (const auto& each : downloads) each->send_what_may_be();
      while (const auto data = lab.next(Side::radio)) {
        if (!data->payload.empty()) queue.push_back({lab.now, *data});
      }
      longest_queue = std::max(longest_queue, queue.size());
      if (!queue.empty()) {
        to_proxy.push_back({lab.now + 20ms, queue.front().frame});
        queue.pop_front();
      } else {
        ++idle;
      }
      for (; !to_proxy.empty() && to_proxy.front().at <= lab.now; to_proxy.pop_front()) {
        Download& flow = of(to_proxy.front().frame.parsed.dst_port);
        if (flow.port() != silent_port) flow.acknowledge();
      }
    }
  }
  /// Bytes that the UE acknowledges of the download in that time.
  [[nodiscard]] double carried(const Download& flow, Duration time) {
    const std::uint32_t before = flow.acknowledged();
    run(time);
    return flow.acknowledged() - before;
  }
  [[nodiscard]] proxy::BearerInfo bearer() const {
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0);
  }

  struct OnItsWay {
    Instant at;
    Seen frame;
  };
  mutable ProxyLab lab;
  std::vector<std::unique_ptr<Download>> downloads;
  std::deque<OnItsWay> to_servers, queue, to_proxy;
  std::size_t longest_queue = 0;
  int idle = 0;  ///< milliseconds in which the link had nothing to carry
  std::uint16_t silent_port = 0;
  std::uint8_t window_scale = 7;
};

TEST_F(ShardRegulateAcks, ADownloadFillsTheLinkWithoutAStandingQueue) {
  const Download& only = download(40000);
  run(5s);
  longest_queue = 0;
  idle = 0;
  run(3s);
  EXPECT_LT(idle, 75) << "of 3000 ms";  // the window does not creep on by parts of its unit
  EXPECT_LT(longest_queue, 80U) << "segments, a millisecond each";
  EXPECT_LT(only.window(), 160'000U) << "of 1 MB that the UE offers";
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
  EXPECT_EQ(lab.count(Counter::flows_regulated), 1U);
  EXPECT_GT(lab.count(Counter::windows_rewritten), 1000U);
  EXPECT_EQ(bearer().controller, proxy::Controller::acks);
}

TEST_F(ShardRegulateAcks, TwoDownloadsHaveEqualSharesOfOneWindow) {
  const Download& one = download(40000);
  const Download& other = download(40001);
  run(6s);
  longest_queue = 0;
  const std::uint32_t before_one = one.acknowledged();
  const std::uint32_t before_other = other.acknowledged();
  run(6s);
  const double ours = one.acknowledged() - before_one;
  const double theirs = other.acknowledged() - before_other;
  EXPECT_NEAR(ours / (ours + theirs), 0.5, 0.05);
  EXPECT_GT(ours + theirs, 0.95 * 6'000'000);
  EXPECT_LT(longest_queue, 90U);
  EXPECT_EQ(bearer().waiting, 2U);
}

// Sixteen of them have 7 kB each, and a unit is 8 KiB.
TEST_F(ShardRegulateAcks, RoundingToTheScaleDoesNotCloseTheWindow) {
  window_scale = 13;
  for (std::uint16_t port = 40000; port < 40016; ++port) download(port);
  run(10s);
  std::vector<std::uint32_t> before;
  for (const auto& each : downloads) before.push_back(each->acknowledged());
  run(2s);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_GT(downloads[i]->acknowledged(), before[i]) << i;
}

TEST_F(ShardRegulateAcks, UnusedBudgetGoesToTheOtherDownload) {
  download(40000).length = 1'500'000;
  const Download& other = download(40001);
  run(6s);
  ASSERT_EQ(of(40000).acknowledged(), 1'500'000U);
  EXPECT_EQ(bearer().waiting, 1U);
  EXPECT_GT(carried(other, 3s), 0.95 * 3'000'000);
}

TEST_F(ShardRegulateAcks, ASilentConnectionHoldsNoBudgetOfTheOther) {
  download(40000);
  const Download& other = download(40001);
  run(3s);
  silent_port = 40000;
  run(4s);
  EXPECT_EQ(bearer().waiting, 1U);
  EXPECT_GT(carried(other, 3s), 0.95 * 3'000'000);
}

TEST_F(ShardRegulateAcks, ASwitchOfTheControllerClearsTheBytesInFlight) {
  download(40000);
  run(2s);
  ASSERT_GT(bearer().in_flight, Bytes{});
  proxy::Policies policies;
  policies.otherwise = regulating();
  policies.otherwise.intercept = proxy::Intercept::split;
  lab.shard.apply(policies, lab.now);
  EXPECT_EQ(bearer().in_flight, Bytes{});
  EXPECT_EQ(bearer().waiting, 0U);
  run(2s);
  EXPECT_GT(bearer().in_flight, Bytes{}) << "it is end to end until it rests, and goes on under the law";
}

// Where reports lead and acknowledgements only stand in for them, the allowance is of split connections.
TEST_F(ShardRegulateAcks, AFallbackToAcksDoesNotAffectEndToEndConnections) {
  download(40000);
  run(2s);
  proxy::Policies policies;
  policies.otherwise = regulating();
  policies.otherwise.intercept = proxy::Intercept::split;
  policies.otherwise.smvs.law = proxy::ControllerLocation::nodeb;
  policies.otherwise.smvs.without_reports = proxy::WithoutReports::acks;
  lab.shard.apply(policies, lab.now);
  run(2s);
  std::vector<proxy::FlowInfo> flows;
  lab.shard.describe_flows(flows, 1);
  EXPECT_STREQ(flows.at(0).phase, "bypassed");
  EXPECT_EQ(bearer().in_flight, Bytes{});
}

}  // namespace
}  // namespace sluice::test
