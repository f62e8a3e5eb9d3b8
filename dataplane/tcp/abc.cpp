#include <algorithm>

#include "dataplane/tcp/congestion.hpp"

// Sender of ABC: Goyal et al., "ABC: A Simple Explicit Congestion Controller for Wireless Networks", NSDI 2020. Windows
// are in bytes.

namespace sluice::tcp {

/// Grows as Reno does while no feedback has arrived, because without an ABC queue no feedback sets the window.
void Abc::on_ack(CongestionWindow& all, const AckEvent& event, const PathView& path) {
  if (window == 0) NewReno::on_ack(all, event, path);
}

/// Applies the window rule of the ABC paper, and takes the lower of two windows, each at most twice the bytes in
/// flight. The second window responds to losses, which are the only signal of queues without ABC. There is no slow
/// start, because the marks for acceleration double the window per round.
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
