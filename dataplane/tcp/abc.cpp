#include <algorithm>

#include "dataplane/tcp/congestion.hpp"

// Sender of ABC: Goyal et al., "ABC: A Simple Explicit Congestion Controller for Wireless Networks", NSDI 2020. Windows
// are in bytes.

namespace sluice::tcp {

/// Grows cwnd as Reno does until the first accurate ECN feedback (RFC 9768) arrives. From then on, on_feedback() sets
/// cwnd. On a connection without accurate ECN no feedback arrives.
void Abc::on_ack(CongestionWindow& all, const AckEvent& event, const PathView& path) {
  if (window == 0) NewReno::on_ack(all, event, path);
}

/// Applies the window rule of the ABC paper (Accel-Brake Control). The result is the smaller of two windows, each at
/// most twice the bytes in flight. One follows the ABC marks. The other responds to losses, because queues without ABC
/// signal congestion only by losses. There is no slow start, because accelerate marks double cwnd per round.
void Abc::on_feedback(CongestionWindow& all, const MarkFeedback& feedback, const AckEvent& event,
                      const PathView& path) {
  const auto size = static_cast<float>(path.mss);
  if (window == 0) window = static_cast<float>(all.cwnd);
  const auto packets = static_cast<float>(feedback.packets);
  const auto braked = static_cast<float>(std::min(feedback.marked, feedback.packets));
  window += size * (packets - 2 * braked + packets * size / window);
  const float most = 2 * static_cast<float>(std::max(event.in_flight, path.mss));
  if (ceiling > 0) {
    ceiling = std::min(ceiling + packets * size * size / ceiling, most);
    window = std::min(window, ceiling);
  }
  window = std::clamp(window, size, std::max(most, size));
  all.cwnd = all.ssthresh = static_cast<std::uint32_t>(window);
}

void Abc::on_congestion(CongestionWindow& all, const PathView& path) {
  NewReno::on_congestion(all, path);
  if (window == 0) return;
  ceiling = static_cast<float>(all.ssthresh);
  window = std::min(window, ceiling);
}

void Abc::on_timeout(CongestionWindow& all, const PathView& path) {
  NewReno::on_timeout(all, path);
  if (window == 0) return;
  ceiling = static_cast<float>(all.ssthresh);
  window = static_cast<float>(path.mss);
}

}  // namespace sluice::tcp
