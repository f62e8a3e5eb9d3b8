#include "emulator/model/wlan_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace sluice::emulator {

double queue_loss(double load, double room) {
  if (!(load >= 0) || !(room >= 1)) throw std::invalid_argument("M/M/1/K: a load >= 0 and room >= 1 are needed");
  if (std::abs(load - 1) < 1e-9) return 1 / (room + 1);
  if (load > 1) {  // divided by ρ^K, so that nothing overflows
    return (load - 1) / (load - std::pow(load, -room));
  }
  return (1 - load) * std::pow(load, room) / (1 - std::pow(load, room + 1));
}

namespace {

void check(const WlanShare& s) {
  const bool good = s.buffer_packets >= 1 && s.window_packets >= 1 && s.downloads >= 1 && s.acks_per_packet > 0 &&
                    s.packets_per_ack >= 1;
  if (!good) throw std::invalid_argument("WLAN model: buffer, window, downloads and packets per ACK must be >= 1");
}

/// True if all windows together fit into the access point's buffer.
bool windows_fit(const WlanShare& s) {
  return s.buffer_packets >= (1 + s.downloads) * s.window_packets;
}

}  // namespace

double wlan_ratio(const WlanShare& s) {
  check(s);
  if (windows_fit(s)) return 1;
  const double shared = std::min(s.buffer_packets, s.window_packets);
  const double own = 0.75 * (s.buffer_packets - shared) / s.downloads;
  const auto implied = [&](double ratio) {
    const double loss = queue_loss(s.acks_per_packet + s.downloads / ratio, shared);
    return s.window_packets / (own + std::sqrt(3 / (2 * loss * s.packets_per_ack)));
  };
  // Bisection converges because a larger R means less load and loss, and thus a smaller implied R.
  double low = 1e-6;
  double high = 1e9;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low * high);
    (implied(middle) > middle ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

double wlan_naive_ratio(const WlanShare& s) {
  check(s);
  if (windows_fit(s)) return 1;
  if (s.buffer_packets <= s.window_packets) return std::numeric_limits<double>::infinity();
  return s.window_packets * s.downloads / (0.75 * (s.buffer_packets - s.window_packets));
}

double wlan_full_window_orders(const WlanShare& s) {
  check(s);
  if (windows_fit(s)) return std::numeric_limits<double>::infinity();
  const double shared = std::min(s.buffer_packets, s.window_packets);
  const double loss = queue_loss(s.acks_per_packet + s.downloads / wlan_ratio(s), shared);
  const auto begins_anew = [&](double window) { return std::pow(loss, window * s.acks_per_packet); };
  // `reached` is the mean number of visits of a state between two restarts. Only a restart leaves the last state.
  double reached = 1;
  double below = 0;
  for (double window = 1; window < s.window_packets; window *= 2) {
    below += reached;
    reached *= 1 - begins_anew(window);
  }
  // The result is a logarithm, because the number of steps in the full-window state can exceed a double.
  return std::log10(reached / below) - s.window_packets * s.acks_per_packet * std::log10(loss);
}

}  // namespace sluice::emulator
