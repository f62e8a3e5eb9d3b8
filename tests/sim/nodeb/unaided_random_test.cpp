// Tests of the ACK-based controller on random networks, beside CUBIC without a proxy on the same network. It delivers
// nearly as much, and no queue stands if the link is steady. A seed that fails is printed.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "emulator/random.hpp"
#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

constexpr int seconds = 50;
constexpr int window = 10;     ///< seconds over which goodput is compared
constexpr int to_settle = 10;  ///< before the first one

/// One UE's network, as a scenario. Everything comes from the seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(Random::stream(seed, "network")) {
    rate_mbps_ = std::exp(random_.uniform(std::log(0.7), std::log(30.0)));
    steady_ = random_.chance(0.4);
    handovers_ = !steady_ && random_.chance(0.3);
    scheduled_ = !handovers_ && random_.chance(0.5);
    text_ << "seed: " << seed << "\nduration: " << seconds << "s\nwarmup: 1s\ninterval: 1s\n"
          << "modes: [none, smvs, smvs/regulate]\nsmvs: {law: acks}\n"
          << "server_proxy: {delay: " << number(1, 50) << "ms}\nproxy_nodeb: {delay: " << number(2, 40) << "ms}\n";
    cell();
    hosts();
    moves();
    text_ << "apps:\n  - {type: bulk, connections: " << (random_.chance(0.5) ? 1 : number(2, 4)) << "}\n";
    uploads_ = random_.chance(0.2);
    if (uploads_) text_ << "  - {type: bulk, direction: upload, start: 5s}\n";
    if (random_.chance(0.3)) text_ << "  - {type: web, start: 3s}\n";
  }

  [[nodiscard]] std::string scenario() const { return text_.str(); }
  /// The link is always there and always the same.
  [[nodiscard]] bool steady() const { return steady_; }
  [[nodiscard]] double rate_mbps() const { return rate_mbps_; }
  /// Loss on the air halves the windows of end-to-end hosts, whatever the law.
  [[nodiscard]] bool loses() const { return loses_; }
  /// The UE sends as much as it can besides.
  [[nodiscard]] bool uploads() const { return uploads_; }
  /// Returns the share of CUBIC's goodput that the controller must reach. A slow link with a varying rate carries few
  /// packets per RTT, which gives few samples. Beside an upload that fills the modem's buffer, ACKs are late by up to
  /// half a second, unevenly.
  [[nodiscard]] double min_part() const { return uploads_ || (!steady_ && rate_mbps_ < 2.5) ? 0.65 : 0.8; }

 private:
  [[nodiscard]] std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    return least + random_.below(most - least + 1);
  }
  void cell() {
    text_ << "cell:\n  tti: " << (random_.chance(0.5) ? 1 : 2) << "ms\n";
    uplink("  ");
    text_ << "  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: " << buffer() << ", loss: " << loss()
          << ", channel: " << channel() << "}\n";
    if (!handovers_) return;
    text_ << "nodebs:\n  - name: east\n";
    uplink("    ");
  }
  void uplink(const std::string& indent) {
    text_ << indent << "uplink: {delay: " << number(0, 30) << "ms, rate: " << number(2, 10) << "Mb/s, buffer: 128KiB";
    if (scheduled_) text_ << ", scheduled: {block_errors: " << (random_.chance(0.5) ? "0.1" : "0") << "}";
    text_ << "}\n";
  }
  [[nodiscard]] std::string buffer() {
    if (random_.chance(0.6)) return "unlimited";
    const double bytes = rate_mbps_ / 8 * 1e6 * random_.uniform(0.3, 2);
    return std::to_string(std::max(60'000, static_cast<int>(bytes))) + "B";
  }
  [[nodiscard]] std::string loss() {
    loses_ = random_.chance(0.2);
    return loses_ ? std::to_string(random_.uniform(0, 0.0005)) : "0";
  }
  [[nodiscard]] std::string rate(double mbps) const { return std::to_string(static_cast<int>(mbps * 1000)) + "kb/s"; }
  [[nodiscard]] std::string channel() {
    if (steady_) return "{type: constant, rate: " + rate(rate_mbps_) + "}";
    std::ostringstream text;
    if (random_.chance(0.5)) {
      text << "{type: piecewise, min: " << rate(rate_mbps_ * random_.uniform(0.2, 0.9)) << ", max: " << rate(rate_mbps_)
           << ", period: " << number(100, 5000) << "ms}";
    } else {
      text << "{type: generated, model: {mean: " << rate(rate_mbps_) << ", speed: " << number(1, 60)
           << "km/h, snr: " << number(3, 15) << "dB, length: 60s}}";
    }
    return text.str();
  }
  void hosts() { text_ << "hosts: {tcp: {ack_every: " << (random_.chance(0.7) ? 2 : number(3, 6)) << "}}\n"; }
  void moves() {
    if (steady_) return;
    std::ostringstream moves;
    bool away = false;
    for (std::uint64_t at = number(5, 12); at < seconds - 5; at += number(5, 12)) {
      if (handovers_ && random_.chance(0.6)) {
        away = !away;
        moves << "  - {type: handover, at: " << at << "s, nodeb: " << (away ? "east" : "first")
              << ", duration: 50ms, path_switch: 20ms}\n";
      } else if (random_.chance(0.4)) {
        moves << "  - {type: outage, at: " << at << "s, duration: " << number(50, 2500) << "ms}\n";
      }
    }
    if (!moves.view().empty()) text_ << "moves:\n" << moves.view();
  }

  Random random_;
  std::ostringstream text_;
  double rate_mbps_ = 0;
  bool steady_ = false;
  bool handovers_ = false;
  bool scheduled_ = false;
  bool uploads_ = false;
  bool loses_ = false;
};

/// Goodput over a window of time. What was repaired is acknowledged all at once, so it is bounded by what the link
/// carried. An upload that does well has the link carry more of its acknowledgements, on a slow one half of all that it
/// carries: so with an upload everything counts but what was sent again.
double megabits_in(const RunResult& run, int from, bool uploads) {
  constexpr double payload = 1448.0 / 1500;
  constexpr double megabits_of_segment = 1500 * 8 / 1e6;
  double acknowledged = 0;
  double carried = 0;
  double again = 0;
  for (int second = from; second < from + window; ++second) {
    const SeriesPoint& point = run.series.at(static_cast<std::size_t>(second));
    acknowledged += point.throughput_bps / 1e6;
    carried += point.link_used_bps * payload / 1e6;
    again += static_cast<double>(point.retransmissions) * megabits_of_segment * payload;
  }
  return uploads ? std::max(carried - again, 0.0) : std::min(acknowledged, carried);
}

/// Longest time, in seconds, that the queue at their ends was beyond `limit_ms`.
int longest_standing(const RunResult& run, double rate_mbps, double limit_ms) {
  int longest = 0;
  int now = 0;
  for (std::size_t second = to_settle; second < run.series.size(); ++second) {
    const double queue_ms = run.series[second].queue_bytes * 8 / rate_mbps / 1e3;
    now = queue_ms > limit_ms ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return longest;
}

/// Routine drains cost some of the networks that were looked into one by one a part of their bound.
constexpr double of_bound_with_drains = 0.84;

/// `of_bound`: the part of the bound on goodput that must be reached.
void examine(std::uint64_t seed, double of_bound = 1) {
  const Draw draw(seed);
  SCOPED_TRACE("SLUICE_SIM_SEED=" + std::to_string(seed) + "\n" + draw.scenario());
  const auto results = run_all(draw.scenario());
  ASSERT_EQ(results.size(), 3U);
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (draw.loses() && results[i].key.mode != "smvs") continue;
    if (draw.steady()) {
      EXPECT_LE(longest_standing(results[i], draw.rate_mbps(), 400), 5) << results[i].key.mode;
    }
    for (int from = to_settle; from + window <= seconds; from += window / 2) {
      EXPECT_GE(megabits_in(results[i], from, draw.uploads()),
                of_bound * draw.min_part() * megabits_in(results[0], from, draw.uploads()))
          << results[i].key.mode << " from second " << from;
    }
  }
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(AckBasedRandom, DeliversNearlyAsMuchAsCubicWithoutAStandingQueue) {
  if (const char* const one = std::getenv("SLUICE_SIM_SEED")) {
    examine(std::strtoull(one, nullptr, 10));
    return;
  }
  const std::uint64_t first = from_environment("SLUICE_SIM_FIRST_SEED", 1);
  const std::uint64_t seeds = from_environment("SLUICE_SIM_SEEDS", 30);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    examine(seed);
  }
}

// An outage leaves more in flight than the window, and the tail of it is lost.
TEST(AckBasedRandom, ALossAtTheEndOfAnOutageIsDetectedWithoutATimeout) {
  for (const std::uint64_t seed : {223U, 266U, 524U}) examine(seed, of_bound_with_drains);
}

// The link stalls for 50 to 200 ms at a time, and the queue at that time lasts for 10 ms.
TEST(AckBasedRandom, ABurstyLinkIsUsedInItsBursts) {
  examine(212);
}

// Acknowledgements wait 0.3 s behind an upload, and the relay holds what they are for.
TEST(AckBasedRandom, ALateUplinkIsCoveredByTheRelayBuffer) {
  examine(440);
}

// Beside an upload the second loop closes the server's window for longer than its timeout, after which the server
// would restart with ten segments.
TEST(AckBasedRandom, AServerContinuesAfterAClosedWindow) {
  for (const std::uint64_t seed : {2790U, 3209U, 3417U}) examine(seed);
}

// At the end of an outage acknowledgements of before it come two seconds late, behind an upload.
TEST(AckBasedRandom, TheAckDelayIsStillKnownAfterAnOutage) {
  examine(4164);
}

// Acknowledgements of four downloads wait half a second behind an upload, and what is known of their clocks differs by
// 20 ms.
TEST(AckBasedRandom, DownloadsContinueBesideAnUpload) {
  examine(568);
}

// After an outage two downloads have few segments in flight. Their round trips contain 0.4 s on the uplink behind an
// upload, which is no sign of a bottleneck that is not the radio link.
TEST(AckBasedRandom, DownloadsRecoverFromAnOutageBesideAnUpload) {
  const std::string network = R"(
duration: 40s
warmup: 1s
interval: 1s
modes: [none, smvs]
smvs: {law: acks}
server_proxy: {delay: 9ms}
proxy_nodeb: {delay: 20ms}
cell:
  tti: 2ms
  uplink: {delay: 23ms, rate: 2Mb/s, buffer: 128KiB}
  ues:
    - address: 10.45.0.2
      frame: 0B
      buffer: 200000B
      channel: {type: generated, model: {mean: 9504kb/s, speed: 8km/h, snr: 4dB, length: 60s}}
moves:
  - {type: outage, at: 15s, duration: 2s}
apps:
  - {type: bulk, connections: 2}
  - {type: bulk, direction: upload, start: 5s}
)";
  const auto megabits_after_outage = [](const RunResult& run) {
    double megabits = 0;
    for (std::size_t second = 20; second < run.series.size(); ++second) {
      megabits += run.series[second].throughput_bps / 1e6;
    }
    return megabits;
  };
  for (const int seed : {13, 35, 59, 66, 110, 130, 149}) {
    const auto results = run_all("seed: " + std::to_string(seed) + network);
    ASSERT_EQ(results.size(), 2U);
    EXPECT_GE(megabits_after_outage(results[1]), 0.9 * megabits_after_outage(results[0])) << "seed " << seed;
  }
}

// Four end-to-end connections keep eight segments in flight, and the drain of a slow link waits for fewer.
TEST(AckBasedRandom, ADrainEndsIfConnectionsShareASlowLink) {
  for (const std::uint64_t seed : {1760U, 3007U}) examine(seed, of_bound_with_drains);
}

// The UE acknowledges every fourth segment of each of four connections.
TEST(AckBasedRandom, EachConnectionMayHaveTheBytesOfOneAckInFlight) {
  examine(3608, of_bound_with_drains);
}

}  // namespace
}  // namespace sluice::emulator
