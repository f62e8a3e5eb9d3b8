#include "dataplane/tcp/congestion.hpp"

namespace sluice::tcp {
namespace {

// Constants of RFC 9406 section 4.3.
/// Smallest RTT increase in µs that can show a growing queue (MIN_RTT_THRESH).
constexpr std::uint32_t min_threshold_us = 4'000;
/// RTT increase in µs that always shows a growing queue (MAX_RTT_THRESH).
constexpr std::uint32_t max_threshold_us = 16'000;
/// Divisor of the last round's minimum RTT (MIN_RTT_DIVISOR). An RTT increase by the quotient, but at least 4 ms and at
/// most 16 ms, shows a growing queue.
constexpr std::uint32_t threshold_divisor = 8;
/// Number of RTT samples in a round from which on its minimum RTT is used (N_RTT_SAMPLE).
constexpr std::uint8_t samples_needed = 8;
/// Divisor of cwnd's growth in conservative slow start (CSS_GROWTH_DIVISOR).
constexpr std::uint32_t growth_divisor = 4;
/// Rounds of conservative slow start after which slow start ends (CSS_ROUNDS).
constexpr std::uint8_t conservative_rounds = 5;

}  // namespace

/// Ends a round of slow start when the bytes that were in flight at its start have been delivered. Returns true if a
/// new round begins.
bool HyStart::begin_round(const AckEvent& event, const PathView& path) {
  const bool over = round_left <= event.delivered;
  if (!over) {
    round_left -= event.delivered;
    return false;
  }
  round_left = path.flight_size;
  if (samples != 0) last_round_min_us = current_round_min_us;
  current_round_min_us = none;
  samples = 0;
  return true;
}

std::uint32_t HyStart::growth(CongestionWindow& window, const AckEvent& event, const PathView& path,
                              std::uint32_t usual) {
  if (begin_round(event, path) && baseline_us != none && ++rounds >= conservative_rounds) {
    window.ssthresh = window.cwnd;
    return 0;
  }
  if (event.rtt > Duration::zero()) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(event.rtt).count();
    current_round_min_us =
        std::min(current_round_min_us, static_cast<std::uint32_t>(std::min<std::int64_t>(us, none - 1)));
    if (samples < samples_needed) ++samples;
  }
  if (samples >= samples_needed) judge();
  return baseline_us == none ? usual : usual / growth_divisor;
}

/// Enters conservative slow start if the minimum RTT of this round exceeds that of the last round by the threshold.
/// Leaves it if the minimum falls below the RTT at which it began (RFC 9406 section 4.2).
void HyStart::judge() {
  if (baseline_us != none) {
    if (current_round_min_us < baseline_us) baseline_us = none;  // the queue did not grow: slow start continues
    return;
  }
  if (last_round_min_us == none) return;
  const std::uint32_t threshold = std::clamp(last_round_min_us / threshold_divisor, min_threshold_us, max_threshold_us);
  if (current_round_min_us < last_round_min_us + threshold) return;
  baseline_us = current_round_min_us;
  rounds = 0;
}

}  // namespace sluice::tcp
