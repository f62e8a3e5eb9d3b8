// Windows by loss rate, and use of a link by its buffer: what congestion control is known to come to.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

constexpr unsigned seeds = 3;
constexpr double round_trip = 0.101;  ///< propagation delay and a TTI, s

/// The mean window in packets over a path without a queue that loses packets at random.
double mean_window(const std::string& congestion, const std::string& sack, double loss) {
  const std::string text =
      "duration: 460s\nwarmup: 60s\nmodes: [none]\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\n"
      "cell:\n  tti: 1ms\n  uplink: {delay: 40ms}\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, "
      "loss: " +
      std::to_string(loss) +
      ", channel: {type: constant, rate: 10Gb/s}}\nhosts: {receive_buffer: 64MiB, send_buffer: " + "64MiB, sack: " +
      sack + ", tcp: {congestion: " + congestion + "}}\napps: [{type: bulk}]\nbuffers: 131072\n";
  double sum = 0;
  for (const RunResult& result : run_all(text, seeds)) sum += result.throughput_bps / 8 / 1448 * round_trip;
  return sum / seeds;
}

// Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997: 1.31 / sqrt(p) where
// losses are random and every segment counts. The formula leaves out the round trip of a repair, in which the window
// does not grow: that is one in fifteen at 0.3 %, and more without SACK (RFC 6582).
TEST(ResponseFunction, OfRenoEqualsThatOfMathis) {
  for (const char* sack : {"true", "false"}) {
    for (const double loss : {0.003, 0.001}) {
      SCOPED_TRACE(std::string("sack ") + sack + ", loss " + std::to_string(loss));
      const double expected = 1.31 / std::sqrt(loss);
      EXPECT_NEAR(mean_window("newreno", sack, loss), expected, 0.15 * expected);
    }
  }
}

// RFC 9438 section 5.1, equation 6 is for regular loss and the cubic region; here Reno's own window is as large
// (section 4.3), and below it CUBIC must not be.
TEST(ResponseFunction, OfCubicIsAtLeastThatOfBothRegions) {
  for (const double loss : {0.003, 0.001}) {
    SCOPED_TRACE(loss);
    const double cubic = 1.054 * std::pow(round_trip / loss, 0.75);
    const double reno = 1.31 / std::sqrt(loss);
    const double window = mean_window("cubic", "true", loss);
    EXPECT_GT(window, 0.9 * std::max(cubic, reno));
    EXPECT_LT(window, 1.5 * std::max(cubic, reno));
  }
}

/// Returns the utilisation by one Reno sender with a buffer of `share` bandwidth-delay products. The window is halved
/// at 1 + share of the product and grows by a segment per RTT, which is longer while a queue stands.
double expected_use(double share) {
  const double waiting = share * (1 + share / 2);
  return ((1 - share) * (3 + share) / 8 + waiting) / ((1 - share) / 2 + waiting);
}

TEST(AdditiveIncrease, UtilisationFollowsTheBufferSize) {
  constexpr double product = 20e6 * round_trip / 8 / 1500;
  for (const double share : {0.05, 0.25, 1.0}) {
    for (const char* sack : {"true", "false"}) {
      SCOPED_TRACE(std::string("buffer ") + std::to_string(share) + ", sack " + sack);
      const auto packets = static_cast<int>(std::lround(share * product));
      const std::string text =
          "duration: 260s\nwarmup: 60s\nmodes: [none]\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\n"
          "cell:\n  tti: 1ms\n  uplink: {delay: 40ms}\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: " +
          std::to_string(packets) +
          " packets, channel: {type: constant, rate: 20Mb/s}}\nhosts: {receive_buffer: 64MiB, send_buffer: 64MiB, "
          "sack: " +
          sack + ", tcp: {congestion: newreno}}\napps: [{type: bulk}]\nbuffers: 131072\n";
      EXPECT_NEAR(run_all(text).front().utilisation, expected_use(share), 0.04);
    }
  }
}

}  // namespace
}  // namespace sluice::emulator
