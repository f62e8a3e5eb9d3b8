#include "emulator/model/tcp_throughput.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator {
namespace {

void check(const VaryingLink& link) {
  const bool rates = !link.packets_per_s.empty() && std::all_of(link.packets_per_s.begin(), link.packets_per_s.end(),
                                                                [](double b) { return std::isfinite(b) && b >= 0; });
  if (!rates || !(link.round_trip_s > 0) || !(link.buffer_packets > 0)) {
    throw std::invalid_argument("throughput model: rates >= 0, a round trip > 0 and a buffer > 0 are needed");
  }
}

}  // namespace

unsigned spurious_timeouts(const VaryingLink& link) {
  check(link);
  unsigned count = 0;
  for (std::size_t i = 1; i < link.packets_per_s.size(); ++i) {
    const double before = link.packets_per_s[i - 1];
    const double after = link.packets_per_s[i];
    const double bound = 1 + 2 * link.round_trip_s * before / (link.buffer_packets + 2);
    if (before - after > bound * after) ++count;
  }
  return count;
}

double varying_link_throughput(const VaryingLink& link, double p1) {
  check(link);
  if (!(p1 >= 0 && p1 <= 1)) throw std::invalid_argument("throughput model: p1 is a share, 0 to 1");
  const auto n = static_cast<double>(link.packets_per_s.size());
  double rate = 0;
  double squares = 0;
  for (const double b : link.packets_per_s) {
    const double window = b * link.round_trip_s + link.buffer_packets + 1;
    rate += b / n;
    squares += window * window / n;
  }
  if (rate <= 0) return 0;
  const double trip = link.round_trip_s + 1 / rate;  // eq. 13
  const double largest = std::sqrt(squares);         // eq. 14
  const double half = largest / 2;
  const double filled = std::max(rate * trip, half);  // window at which the queue begins to grow
  const double time_a = trip * (filled - half);       // eq. 6
  const double sent_a = (half * time_a + time_a * time_a / (2 * trip)) / trip;
  const double time_b = (largest * largest - filled * filled) / (2 * rate);  // eq. 8
  const double sent_b = rate * time_b;
  const double time_c = std::ceil(std::log2(half + 1)) * trip;  // eq. 10
  const double sent_c = half;
  return (p1 * sent_c + sent_a + sent_b) / (p1 * time_c + time_a + time_b);  // eq. 15
}

double padhye_throughput(const PadhyeInput& input) {
  const bool good = input.loss > 0 && input.round_trip_s > 0 && input.timeout_s >= 0 && input.packets_per_ack >= 1 &&
                    input.window > 0;
  if (!good) throw std::invalid_argument("Padhye's formula: loss, round trip and window must be > 0");
  const double p = input.loss;
  const double b = input.packets_per_ack;
  const double recoveries = input.round_trip_s * std::sqrt(2 * b * p / 3);
  const double timeouts = input.timeout_s * std::min(1.0, 3 * std::sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p);
  return std::min(input.window / input.round_trip_s, 1 / (recoveries + timeouts));
}

}  // namespace sluice::emulator
