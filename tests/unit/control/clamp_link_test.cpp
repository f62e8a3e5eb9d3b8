// Tests of CLAMP in closed loop on a fixed link, against figure 2 and theorem 1 of the paper.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/window_laws/advertised_window.hpp"
#include "control/window_laws/clamp_price.hpp"
#include "control/window_laws/clamp_window.hpp"
#include "tests/unit/control/regulated_link.hpp"

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// Runs both agents of CLAMP on one queue of a fixed link of 10 Mb/s, figure 2 of the paper. A packet carries the
/// price at its departure. The window agent is at the receiver, and its window passes an AdvertisedWindow. Flow i
/// begins after 20·i seconds.
class ClampedLink {
 public:
  explicit ClampedLink(const std::vector<Duration>& propagation) : prices_(propagation.size()) {
    ClampWindowParameters parameters;
    parameters.segment = link.packet;
    for (const Duration round_trip : propagation) {
      test::RegulatedLink::Flow flow;
      flow.wired = round_trip / 2;
      flow.start = Instant(20s * static_cast<int>(link.flows.size()));
      flow.edge = link.packet;
      link.flows.push_back(flow);
      windows.emplace_back(parameters, round_trip);
      fields_.emplace_back(std::uint8_t{7});
    }
    link.rate = [](Instant) { return bytes_per_second; };
    link.on_arrival = [this](std::size_t) { price_.on_arrival(link.now(), link.queue()); };
    link.on_dequeue = [this](std::size_t flow, Bytes) {
      prices_[flow] = price_.price(Rate::bytes_per_second(bytes_per_second)).price;
    };
    link.on_delivered = [this](std::size_t flow, Bytes) {
      static_cast<void>(windows[flow].on_data(link.now(), link.packet, prices_[flow], 8'000'000_B));
    };
    link.on_ack = [this](std::size_t flow, Bytes ack) {
      AdvertisedWindow& advertised = fields_[flow];
      const std::uint16_t field = advertised.field(ack, 65'535, Bytes(windows[flow].state().window));
      link.pass(flow, ack, advertised.in_bytes(field));
    };
  }

  struct Measured {
    std::vector<double> rates;  ///< rate of each flow, as a share of the link
    double used = 0;            ///< utilisation of the link
    double mean_queue = 0;
  };
  Measured measure(Instant from, Instant to) {
    link.run(from);
    std::vector<Bytes> before;
    for (const auto& flow : link.flows) before.push_back(flow.delivered);
    static_cast<void>(link.mean_queue());
    link.run(to);
    Measured result;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto delivered = static_cast<double>((link.flows[i].delivered - before[i]).count());
      result.rates.push_back(delivered / to_seconds(to - from) / bytes_per_second);
      result.used += result.rates.back();
    }
    result.mean_queue = link.mean_queue();
    return result;
  }

  static constexpr double bytes_per_second = 1.25e6;
  test::RegulatedLink link;
  std::vector<ClampWindow> windows;

 private:
  ClampPriceAgent price_;
  std::vector<AdvertisedWindow> fields_;
  std::vector<Duration> prices_;
};

// Figure 2: a = 5500 B, τ = 500 B, 50 ms; the mean queue is k·τ + a for k flows.
TEST(ClampLink, TheQueueConvergesToKTauPlusA) {
  ClampedLink clamped({50ms, 50ms, 50ms});
  for (int flows = 1; flows <= 3; ++flows) {
    const Instant joined = Instant(20s * (flows - 1));
    const auto measured = clamped.measure(joined + 14s, joined + 20s);
    EXPECT_NEAR(measured.mean_queue, 5500 + 500 * flows, 0.1 * (5500 + 500 * flows)) << flows << " flows";
    EXPECT_GE(measured.used, 0.99) << flows << " flows";
  }
  const auto settled = clamped.measure(Instant(100s), Instant(140s));
  for (const double rate : settled.rates) EXPECT_NEAR(rate, 1.0 / 3, 0.02);
  EXPECT_NEAR(settled.mean_queue, 7000, 700);
  for (const auto& flow : clamped.link.flows) EXPECT_LT(flow.retracted, 128_B) << "a unit of the scale";
}

// Section 3.2: every flow gets μc/k whatever its round trip. The short one swings a little about its half, since q̄ and
// μ̂ look back much further than its round trip; so the queue is less exact than above.
TEST(ClampLink, FlowsWithRttsOf10And180MillisecondsShareEqually) {
  ClampedLink clamped({10ms, 180ms});
  const auto measured = clamped.measure(Instant(100s), Instant(160s));
  EXPECT_NEAR(measured.rates[0], 0.5, 0.03);
  EXPECT_NEAR(measured.rates[1], 0.5, 0.03);
  EXPECT_NEAR(measured.mean_queue, 6500, 975);
  EXPECT_GE(measured.used, 0.98);
}

}  // namespace
}  // namespace sluice::control
