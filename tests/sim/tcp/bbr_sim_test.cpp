// Tests of paced senders on a link: BBR's model, and the bursts that leave.
#include <gtest/gtest.h>

#include "tests/sim/tcp/connection.hpp"

namespace sluice::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double payload = 1448;
constexpr Duration spacing = microseconds(600);  ///< 20 Mb/s with headers
constexpr Duration one_way = milliseconds(20);
constexpr double link = payload / 600e-6;  ///< bytes of payload per second

Scenario bulk(tcp::CongestionAlgorithm algorithm) {
  Scenario scenario;
  scenario.seed = 3;
  scenario.options_a = {
      .mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .timestamps = true};
  scenario.options_b = scenario.options_a;
  scenario.config.congestion = algorithm;
  scenario.a.to_send = 1ULL << 40;
  scenario.a.whole_writes = true;
  scenario.a.send_buffer = 2 << 20;
  scenario.b.room = 2 << 20;
  scenario.a_to_b.delay = scenario.b_to_a.delay = one_way;
  scenario.a_to_b.spacing = spacing;
  return scenario;
}

/// A connection that is watched for a while.
class Watched : public Connection {
 public:
  explicit Watched(const Scenario& scenario) : Connection(scenario), begin_(now()) {}

  /// What happened meanwhile.
  struct Stretch {
    double goodput = 0;                        ///< bytes per second
    double mean_queue = 0, longest_queue = 0;  ///< seconds
    std::uint32_t largest_burst = 0;           ///< bytes that left at one instant
  };
  Stretch run_for(Duration time) {
    Stretch stretch;
    const Instant end = now() + time;
    const std::uint64_t received = received_by_b();
    double sum = 0;
    tcp::SeqNum sent = a().snd_nxt();
    while (now() < end) {
      const Instant before = now();
      if (!advance()) break;
      stretch.largest_burst = std::max(stretch.largest_burst, static_cast<std::uint32_t>(a().snd_nxt() - sent));
      sent = a().snd_nxt();
      const double queue = to_seconds(queue_from_a());
      sum += queue * to_seconds(now() - before);
      stretch.longest_queue = std::max(stretch.longest_queue, queue);
    }
    stretch.goodput = static_cast<double>(received_by_b() - received) / to_seconds(time);
    stretch.mean_queue = sum / to_seconds(time);
    return stretch;
  }
  [[nodiscard]] double bandwidth() const { return paced_a().model.as<tcp::Bbr>().bandwidth().bytes_per_second(); }

 private:
  Instant begin_;
};

TEST(BbrOnALink, FillsTheLinkWithoutAStandingQueue) {
  Watched connection(bulk(tcp::CongestionAlgorithm::bbr));
  connection.run_for(seconds(2));
  const auto steady = connection.run_for(seconds(20));
  EXPECT_GE(steady.goodput, 0.95 * link);
  EXPECT_LE(steady.mean_queue, 0.5 * to_seconds(2 * one_way));
  EXPECT_LE(steady.longest_queue, to_seconds(2 * one_way + 6 * spacing)) << "a bandwidth-delay product, three bursts";
  EXPECT_EQ(connection.a().counters().retransmitted, 0U);
}

TEST(BbrOnALink, RandomLossCostsLittle) {
  for (const double loss : {0.01, 0.05}) {
    Scenario scenario = bulk(tcp::CongestionAlgorithm::bbr);
    scenario.a_to_b.loss = loss;
    Watched connection(scenario);
    connection.run_for(seconds(2));
    const auto steady = connection.run_for(seconds(15));
    EXPECT_GE(steady.goodput, 0.8 * link) << "loss " << loss;
    scenario.config.congestion = tcp::CongestionAlgorithm::cubic;
    Watched cubic(scenario);
    cubic.run_for(seconds(2));
    EXPECT_LT(cubic.run_for(seconds(5)).goodput, 0.5 * link) << "else this proves nothing";
  }
}

TEST(BbrOnALink, FollowsTheLinkRate) {
  Watched connection(bulk(tcp::CongestionAlgorithm::bbr));
  connection.run_for(seconds(3));
  connection.path_from_a().spacing = 4 * spacing;
  connection.run_for(seconds(6));
  const auto slow = connection.run_for(seconds(10));
  EXPECT_GE(slow.goodput, 0.95 * link / 4);
  EXPECT_LE(slow.mean_queue, to_seconds(2 * one_way));
  connection.path_from_a().spacing = spacing;
  connection.run_for(seconds(4));
  EXPECT_GE(connection.run_for(seconds(10)).goodput, 0.95 * link);
}

TEST(BbrOnALink, FollowsALongerPath) {
  Watched connection(bulk(tcp::CongestionAlgorithm::bbr));
  connection.run_for(seconds(3));
  EXPECT_LE(connection.paced_a().model.as<tcp::Bbr>().min_rtt(), 2 * one_way + milliseconds(2));
  connection.path_from_a().delay = one_way + milliseconds(30);
  connection.run_for(seconds(22));
  EXPECT_GE(connection.paced_a().model.as<tcp::Bbr>().min_rtt(), 2 * one_way + milliseconds(29));
  EXPECT_LE(connection.paced_a().model.as<tcp::Bbr>().min_rtt(), 2 * one_way + milliseconds(35)) << "without the queue";
}

TEST(BbrOnALink, AnAppLimitedFlowKeepsItsBandwidthEstimate) {
  Watched connection(bulk(tcp::CongestionAlgorithm::bbr));
  connection.run_for(seconds(3));
  connection.application_a().rate = 0.1 * link;
  connection.run_for(seconds(2));  // what was written before has gone
  const double before = connection.bandwidth();
  EXPECT_GE(before, 0.95 * link);
  EXPECT_LE(connection.run_for(seconds(8)).goodput, 0.2 * link);
  EXPECT_GE(connection.bandwidth(), before);
  connection.application_a().rate = 0;
  EXPECT_GE(connection.run_for(seconds(3)).goodput, 0.9 * link) << "at once";
}

TEST(BbrOnALink, AStallCostsNoMoreThanItsDuration) {
  for (const auto stall : {milliseconds(300), milliseconds(700), milliseconds(1500)}) {
    for (const double loss : {0.0, 0.01, 0.05}) {
      Scenario scenario = bulk(tcp::CongestionAlgorithm::bbr);
      scenario.a_to_b.loss = loss;
      scenario.a_to_b.stall_at = seconds(3);
      scenario.a_to_b.stall_for = stall;
      Watched connection(scenario);
      connection.run_for(seconds(3) + stall);
      const auto after = connection.run_for(seconds(4));
      EXPECT_GE(after.goodput, 0.8 * link) << stall.count() << " ms, loss " << loss;
    }
  }
}

/// The acknowledgements stay away for 150 ms and then come at once.
Scenario bunched(bool pacing) {
  Scenario scenario = bulk(tcp::CongestionAlgorithm::cubic);
  scenario.config.pacing = pacing;
  scenario.b_to_a.stall_at = seconds(2);
  scenario.b_to_a.stall_for = milliseconds(150);
  return scenario;
}

TEST(Pacing, BoundsBursts) {
  Watched unpaced(bunched(false));
  EXPECT_GE(unpaced.run_for(seconds(4)).largest_burst, 10 * payload) << "else nothing is tested";

  Watched paced(bunched(true));
  std::uint32_t most = 0;
  double rate = 0;
  for (int i = 0; i < 400; ++i) {
    rate = std::max(rate, paced.paced_a().pacer.rate().bytes_per_second());
    most = std::max(most, paced.run_for(milliseconds(10)).largest_burst);
  }
  EXPECT_LE(most, std::max(2 * payload, rate * 1e-3) + payload);
  EXPECT_GE(paced.run_for(seconds(2)).goodput, 0.95 * link) << "and it costs nothing";
}

}  // namespace
}  // namespace sluice::test
