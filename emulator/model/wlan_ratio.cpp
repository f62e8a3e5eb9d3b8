#include "emulator/model/wlan_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator {

double queue_loss(double load, double room) {
  if (!(load >= 0) || !(room >= 1)) throw std::invalid_argument("M/M/1/K: a load >= 0 and room >= 1 are needed");
  if (std::abs(load - 1) < 1e-9) return 1 / (room + 1);
  if (load > 1) {  // the same, divided by ρ^K: nothing grows beyond bounds
    return (load - 1) / (load - std::pow(load, -room));
  }
  return (1 - load) * std::pow(load, room) / (1 - std::pow(load, room + 1));
}

double wlan_ratio(const WlanShare& s) {
  const bool good = s.buffer_packets >= 1 && s.window_packets >= 1 && s.downloads >= 1 && s.acks_per_packet > 0 &&
                    s.packets_per_ack >= 1;
  if (!good) throw std::invalid_argument("WLAN model: buffer, window, downloads and packets per ACK must be >= 1");
  if (s.buffer_packets >= (1 + s.downloads) * s.window_packets) return 1;
  const double shared = std::min(s.buffer_packets, s.window_packets);
  const double own = 0.75 * (s.buffer_packets - shared) / s.downloads;
  const auto implied = [&](double ratio) {
    const double loss = queue_loss(s.acks_per_packet + s.downloads / ratio, shared);
    return s.window_packets / (own + std::sqrt(3 / (2 * loss * s.packets_per_ack)));
  };
  // The larger R, the lower the load and the loss, and the smaller the R that they imply.
  double low = 1e-6;
  double high = 1e9;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low * high);
    (implied(middle) > middle ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace sluice::emulator
