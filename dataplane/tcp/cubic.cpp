// CUBIC (RFC 9438): growth along a cubic of the time since the last reduction, with fast convergence and the
// Reno-friendly region. CongestionControl calls the hooks after HyStart has ended the first slow start. Windows are in
// segments and times in seconds, as in the RFC.

#include <cmath>

#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/tick.hpp"

namespace sluice::tcp {
namespace {

float segments(std::uint32_t bytes, const PathView& path) {
  return static_cast<float>(bytes) / static_cast<float>(path.mss);
}

float seconds(Duration d) {
  return static_cast<float>(to_seconds(d));
}

}  // namespace

// Starts a congestion avoidance stage: restarts the curve of RFC 9438 figure 1 and computes K by equation 2.
void Cubic::begin_epoch(const CongestionWindow& window, const PathView& path) {
  const float cwnd = segments(window.cwnd, path);
  if (cwnd < w_max) {
    k = std::cbrt((w_max - cwnd) / c);
  } else {
    w_max = cwnd;
    k = 0;
  }
  epoch = tick::ms(path.now);
  w_est = cwnd;
  fraction = 0;
}

void Cubic::on_ack(CongestionWindow& window, const AckEvent& event, const PathView& path) {
  if (k < 0) begin_epoch(window, path);
  const auto cubic_at = [this](float t) { return c * (t - k) * (t - k) * (t - k) + w_max; };
  const float t = seconds(tick::ms_duration(tick::ms(path.now) - epoch));
  const float cwnd = segments(window.cwnd, path);

  // Section 4.3: window of Reno, with a flatter slope until the earlier window is reached again.
  constexpr float mild = 3 * (1 - beta) / (1 + beta);
  w_est += (w_est < cwnd_prior ? mild : 1) * segments(event.delivered, path) / cwnd;
  if (cubic_at(t) < w_est) {
    window.cwnd = std::max(window.cwnd, static_cast<std::uint32_t>(w_est * static_cast<float>(path.mss)));
    return;
  }
  // Sections 4.4 and 4.5: reach W_cubic(t + RTT) within one round trip, but grow by half at most.
  const float target = std::clamp(cubic_at(t + seconds(path.srtt)), cwnd, 1.5F * cwnd);
  const float growth = fraction + (target - cwnd) / cwnd * static_cast<float>(event.delivered);
  const auto whole = static_cast<std::uint32_t>(growth);
  fraction = growth - static_cast<float>(whole);
  window.cwnd += whole;
}

// Reduces the window after congestion (RFC 9438 sections 4.6 and 4.7).
void Cubic::reduce(CongestionWindow& window, const PathView& path) {
  const float cwnd = segments(window.cwnd, path);
  keep();
  cwnd_prior = cwnd;
  w_max = cwnd < w_max ? cwnd * (1 + beta) / 2 : cwnd;  // fast convergence
  k = no_epoch;
  const auto flight = static_cast<float>(std::min(path.flight_size, window.cwnd));
  window.ssthresh = std::max(static_cast<std::uint32_t>(flight * beta), 2 * path.mss);
}

// Reverses the last reduction (RFC 9438 section 4.9.1). The curve restarts, because the path was not probed during the
// pause.
void Cubic::on_undo() {
  if (k < 0) {  // otherwise begin_epoch() has overwritten the saved values
    w_max = w_est;
    cwnd_prior = fraction;
  }
  k = no_epoch;
}

void Cubic::on_congestion(CongestionWindow& window, const PathView& path) {
  reduce(window, path);
}

// Handles a timeout (RFC 9438 section 4.8): the next congestion avoidance stage starts its cubic at its current window.
void Cubic::on_timeout(CongestionWindow& window, const PathView& path) {
  reduce(window, path);
  w_max = 0;
}

}  // namespace sluice::tcp
