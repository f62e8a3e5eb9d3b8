// Prague congestion control: draft-briscoe-iccrg-prague-congestion-control-04. CongestionControl calls the hooks;
// on_feedback() precedes on_ack() for every ACK with accurate ECN feedback. Marks are counted in packets, and the
// window never shrinks below two segments.

#include <algorithm>

#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/tick.hpp"

namespace sluice::tcp {
namespace {

/// True if tick `now` is at or after tick `when`; both wrap.
bool reached(std::uint32_t now, std::uint32_t when) {
  return static_cast<std::int32_t>(now - when) >= 0;
}

/// Returns the round-trip time divided by 25 ms (the shortest virtual round), but at most 1.
float share_of_round(const PathView& path) {
  const auto least = static_cast<float>(Prague::min_round.count());
  return std::min(1.0F, static_cast<float>(path.srtt.count()) / least);
}

}  // namespace

/// Grows cwnd by one segment per round trip, if that is 25 ms or longer. In a shorter round trip, cwnd grows by (round
/// trip / 25 ms)² segments. Such flows thus gain rate as fast as one with 25 ms. Without accurate ECN feedback cwnd
/// always grows by one segment per round trip. Marked bytes add nothing.
void Prague::on_ack(CongestionWindow& window, const AckEvent& event, const PathView& path) {
  const std::uint32_t unmarked = event.delivered - std::min(event.delivered, just_marked * path.mss);
  const float share = fed ? share_of_round(path) : 1;
  const auto size = static_cast<float>(path.mss);
  fraction += static_cast<float>(unmarked) * size / static_cast<float>(window.cwnd) * share * share;
  const auto whole = static_cast<std::uint32_t>(fraction);
  fraction -= static_cast<float>(whole);
  window.cwnd += whole;
}

void Prague::on_feedback(CongestionWindow& window, const MarkFeedback& feedback, const AckEvent& /*event*/,
                         const PathView& path) {
  const std::uint32_t now = tick::us(path.now);
  const std::uint32_t round = tick::us(std::max(path.srtt, min_round));
  if (!fed) {
    fed = true;
    round_end = now + round;
  }
  count(feedback);
  if (reached(now, round_end)) end_round(now, round);
  if (feedback.marked == 0 || (saw_mark && !reached(now, cut_end))) return;
  saw_mark = true;
  cut_end = now + round;
  cut(window, path);
}

/// Adds the ECN feedback of an ACK to the counts of this virtual round (one round trip, at least 25 ms).
void Prague::count(const MarkFeedback& feedback) {
  just_marked = static_cast<std::uint16_t>(std::min<std::uint32_t>(feedback.marked, UINT16_MAX));
  const std::uint32_t all = packets + feedback.packets;
  const std::uint32_t with_mark = std::min(marked + feedback.marked, all);
  // Reduces both counts if a round exceeds 16 bits, because only their share is used.
  const unsigned shift = all > UINT16_MAX ? 16 : 0;
  packets = static_cast<std::uint16_t>(all >> shift);
  marked = static_cast<std::uint16_t>(with_mark >> shift);
}

/// Updates alpha, the average share of marked packets, at the end of a virtual round (one round trip, at least 25 ms).
/// Then starts the next round.
void Prague::end_round(std::uint32_t now, std::uint32_t round) {
  round_end = now + round;
  if (saw_mark && packets != 0) {
    alpha += gain * (static_cast<float>(marked) / static_cast<float>(packets) - alpha);
  }
  packets = marked = 0;
}

/// Reduces cwnd by the share alpha / 2, where alpha is the average share of marked packets. The result is at least two
/// segments, because pacing does not support smaller windows.
void Prague::cut(CongestionWindow& window, const PathView& path) {
  const auto reduced = static_cast<std::uint32_t>(static_cast<float>(window.cwnd) * (1 - alpha / 2));
  window.cwnd = std::min(window.cwnd, std::max(reduced, 2 * path.mss));
  window.ssthresh = window.cwnd;
}

void Prague::on_congestion(CongestionWindow& window, const PathView& path) {
  window.ssthresh = half_of_flight(window, path);
  fraction = 0;
}

void Prague::on_timeout(CongestionWindow& window, const PathView& path) {
  window.ssthresh = std::max(path.flight_size / 2, 2 * path.mss);
  fraction = 0;
}

}  // namespace sluice::tcp
