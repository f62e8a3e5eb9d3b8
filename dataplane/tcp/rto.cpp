#include <algorithm>
#include <cstdlib>

#include "dataplane/tcp/rtt.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::tcp {
namespace {

constexpr std::int64_t longest_us = 1'000'000'000;  ///< largest RTT sample in µs; longer ones count as this value
constexpr std::chrono::seconds initial_rto{1};      ///< RTO before the first sample (RFC 6298 (2.1))

}  // namespace

void RttEstimator::sample(Duration rtt, SeqNum snd_una, SeqNum snd_nxt, const Duration& min_rto) {
  const auto us =
      std::clamp<std::int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(rtt).count(), 1, longest_us);
  if (!has_sample()) {  // RFC 6298 (2.2)
    srtt_us_ = static_cast<std::uint32_t>(us);
    variation_us_ = srtt_us_ / 2;
    min_us_ = srtt_us_;
    round_max_deviation_us_ = 0;
    round_end_ = snd_nxt;
    set_probe_timeout(min_rto);
    return;
  }
  const std::int64_t error = us - std::int64_t{srtt_us_};
  const auto deviation = static_cast<std::uint32_t>(std::abs(error));
  srtt_us_ = static_cast<std::uint32_t>(std::max<std::int64_t>(1, std::int64_t{srtt_us_} + error / 8));
  // RFC 6298 (2.3) with beta = 1/4; upwards at once, downwards once per round.
  round_max_deviation_us_ = std::max(round_max_deviation_us_, deviation);
  if (deviation > variation_us_) variation_us_ += (deviation - variation_us_) / 4;
  if (snd_una < round_end_) return;
  if (round_max_deviation_us_ < variation_us_) variation_us_ -= (variation_us_ - round_max_deviation_us_) / 4;
  if (srtt_us_ > min_us_) min_us_ += (srtt_us_ - min_us_) / 1024;
  min_us_ = std::min(min_us_, static_cast<std::uint32_t>(us));
  set_probe_timeout(min_rto);
  round_max_deviation_us_ = 0;
  round_end_ = snd_nxt;
}

/// Recomputes the result of probe_timeout() from the current SRTT.
void RttEstimator::set_probe_timeout(Duration min_rto) {
  const Duration after = greater(srtt() + lesser(srtt(), min_rto), std::chrono::milliseconds(10));
  probe_ticks_ = static_cast<std::uint16_t>(std::min<std::uint32_t>(tick::ms(after) + 1, UINT16_MAX));
}

Duration RttEstimator::timeout(unsigned backoff, Duration min_rto, Duration max_rto) const {
  const Duration once = has_sample() ? srtt() + std::max(min_rto, 4 * variation()) : Duration(initial_rto);
  // The shift is limited to 16, where the maximum is reached anyway, so it cannot overflow.
  return std::min(std::min(once, max_rto) * (std::int64_t{1} << std::min(backoff, 16U)), max_rto);
}

}  // namespace sluice::tcp
