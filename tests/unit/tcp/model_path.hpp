#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

/// Feeds a path model (Bbr, Bbr3, …) with ACKs of a path that delivers the flight at a given rate, twenty ACKs per
/// RTT. Tests set the RTTs.
template <class Model>
class ModelPath {
 public:
  static constexpr int steps = 20;
  static constexpr std::uint32_t mss = 1000;
  static constexpr Duration rtt = 100ms;

  explicit ModelPath(double bytes_per_second) : rate(bytes_per_second) {
    model.start({.now = now, .srtt = rtt, .cwnd = 10 * mss, .draw = 3});
  }

  void acknowledge(Duration measured = rtt, std::uint32_t losses = 0,
                   tcp::RecoveryKind recovery = tcp::RecoveryKind::none) {
    const double step = to_seconds(rtt) / steps;
    now += rtt / steps;
    const double getting = std::min(rate, in_flight / to_seconds(rtt));
    const double newly = getting * step;
    delivered += static_cast<std::uint32_t>(newly);
    tcp::ModelAck ack{.now = now,
                      .sample = {},
                      .delivered = delivered,
                      .in_flight = 0,
                      .mss = mss,
                      .srtt = rtt,
                      .recovery = recovery};
    ack.sample.newly = static_cast<std::uint32_t>(newly);
    ack.sample.losses = ack.sample.newly_lost = losses;
    ack.sample.lost_runs = losses / mss;
    ack.sample.rtt = measured;
    ack.sample.prior_in_flight = ack.sample.tx_in_flight = static_cast<std::uint32_t>(in_flight);
    ack.sample.lost = losses;
    ack.sample.excess = {
        .in_flight = ack.sample.tx_in_flight, .found = losses > 0.02 * in_flight, .app_limited = app_limited};
    ack.sample.delivered = static_cast<std::uint32_t>(getting * to_seconds(rtt));
    ack.sample.interval = static_cast<std::uint32_t>(rtt.count() >> 10);
    ack.sample.prior_delivered = delivered - std::min(delivered, ack.sample.delivered);
    ack.sample.app_limited = app_limited;
    ack.uses_sack = uses_sack;
    ack.window_limited = window_limited;
    in_flight -= newly;
    ack.in_flight = static_cast<std::uint32_t>(in_flight);
    cwnd = model.on_ack(ack, cwnd);
    in_flight += std::clamp(cwnd - in_flight, 0.0, model.pacing_rate().bytes_per_second() * step);
  }
  void rounds(int count) {
    for (int i = 0; i < count * steps; ++i) acknowledge();
  }
  /// Runs until the model is in `mode`; returns false if it is not within `within` RTTs.
  template <class Mode>
  [[nodiscard]] bool reaches(Mode mode, int within = 100) {
    for (int i = 0; i < within * steps; ++i) {
      if (model.mode() == mode) return true;
      acknowledge();
    }
    return model.mode() == mode;
  }
  [[nodiscard]] double bandwidth() const { return model.bandwidth().bytes_per_second(); }

  Model model;
  double rate;
  Instant now{1h};
  std::uint32_t cwnd = 10 * mss;
  std::uint32_t delivered = 0;
  double in_flight = 10 * mss;  ///< the queue at the bottleneck too
  bool app_limited = false;
  bool uses_sack = true;
  bool window_limited = true;
};

}  // namespace sluice::test
