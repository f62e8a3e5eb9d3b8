// Tests of the Window Regulator in closed loop with a 1xEV-DO cell: no overflow, and the order of its three forms.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>

#include "control/window_laws/advertised_window.hpp"
#include "control/window_laws/window_regulator.hpp"
#include "tests/unit/control/regulated_link.hpp"

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// An outline of the paper's cell. The server is 1 ms away, and the radio delay is 200 ms there and back. The 1xEV-DO
/// rates change at random every 100 ms. The controller holds or releases ACKs, and windows pass an AdvertisedWindow.
class Cell {
 public:
  Cell(WindowRegulation form, std::int64_t buffer_packets, std::uint8_t scale, std::uint64_t seed)
      : law_(parameters(form, buffer_packets)), field_(scale), random_(seed) {
    test::RegulatedLink::Flow flow;
    flow.wired = 1ms;
    flow.air = 100ms;
    flow.edge = packet;
    link.flows.push_back(flow);
    link.rate = [this](Instant now) { return rate_at(now); };
    link.on_dequeue = [this](std::size_t, Bytes end) { go(law_.on_dequeue(end, link.queue() <= Bytes(0))); };
    link.on_ack = [this](std::size_t, Bytes ack) {
      held_.push_back(ack);
      go(law_.on_ack(ack, link.queue() <= Bytes(0)));
    };
  }

  static constexpr Bytes packet{1000};
  test::RegulatedLink link;
  std::uint64_t shrunk = 0;  ///< ACKs with a smaller window than the one before, but for those of an empty queue

 private:
  static WindowRegulatorParameters parameters(WindowRegulation form, std::int64_t buffer_packets) {
    WindowRegulatorParameters result;
    result.form = form;
    result.buffer = packet * buffer_packets;
    result.segment = packet;
    return result;
  }
  double rate_at(Instant now) {
    constexpr std::array<double, 6> rates{153.6e3, 307.2e3, 614.4e3, 921.6e3, 1228.8e3, 2457.6e3};
    for (; until_ <= now; until_ += 100ms) rate_ = rates[random_() % rates.size()] / 8;
    return rate_;
  }
  void go(AckRelease release) {
    for (std::size_t gone = 0; !held_.empty() && (held_.front() <= release.up_to || gone < release.at_least); ++gone) {
      const Bytes ack = held_.front();
      held_.pop_front();
      const Bytes window = field_.in_bytes(field_.field(ack, 65'535, law_.window(ack)));
      if (window < last_window_ && gone >= release.at_least) ++shrunk;
      last_window_ = window;
      law_.on_released(ack, window);
      link.pass(0, ack, window);
    }
  }

  WindowRegulator law_;
  AdvertisedWindow field_;
  std::mt19937_64 random_;
  std::deque<Bytes> held_;
  Bytes last_window_;
  Instant until_{};
  double rate_ = 0;
};

constexpr std::array forms{WindowRegulation::fixed, WindowRegulation::dynamic, WindowRegulation::ack_buffer};

// Eq. 3, no overflow, holds for each form at any buffer; eq. 2, no underflow, best for WRB and worst for WRS.
TEST(WindowRegulatorLink, NothingOverflowsAndWrbCarriesMostAndWrsLeast) {
  for (const std::int64_t buffer : {5, 10, 20}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::array<double, forms.size()> carried{};
      for (const WindowRegulation form : forms) {
        Cell cell(form, buffer, 0, seed);
        cell.link.run(Instant(200s));
        carried[static_cast<std::size_t>(form)] = static_cast<double>(cell.link.flows[0].delivered.count());
        EXPECT_LE(cell.link.highest_queue(), Cell::packet * buffer) << "seed " << seed << " buffer " << buffer;
        EXPECT_EQ(cell.link.flows[0].retracted, 0_B) << "seed " << seed << " buffer " << buffer;
        EXPECT_EQ(cell.shrunk > 0, form == WindowRegulation::dynamic) << "seed " << seed << " buffer " << buffer;
      }
      const auto [wrs, wrd, wrb] = carried;
      EXPECT_GE(wrd, 1.5 * wrs) << "seed " << seed << " buffer " << buffer;
      EXPECT_GE(wrb, (buffer == 5 ? 1.1 : 0.999) * wrd) << "seed " << seed << " buffer " << buffer;
    }
  }
}

// Written windows are rounded to the unit of the scale (RFC 7323 section 2.4) without advancing the edge. Eq. 3
// therefore holds, but for one packet if the unit is larger than a packet.
TEST(WindowRegulatorLink, AScaledWindowAdmitsNoMorePackets) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const WindowRegulation form : forms) {
      for (const std::uint8_t scale : {std::uint8_t{7}, std::uint8_t{10}}) {
        Cell cell(form, 10, scale, seed);
        cell.link.run(Instant(200s));
        EXPECT_LE(cell.link.highest_queue(), Cell::packet * (scale == 10 ? 11 : 10))
            << "seed " << seed << " scale " << int{scale};
        EXPECT_GE(cell.link.highest_queue(), Cell::packet * 9) << "seed " << seed << " scale " << int{scale};
        EXPECT_LT(cell.link.flows[0].retracted, Bytes(1 << scale)) << "seed " << seed << " scale " << int{scale};
      }
    }
  }
}

}  // namespace
}  // namespace sluice::control
