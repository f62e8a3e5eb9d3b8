#include "dataplane/tcp/congestion.hpp"

namespace sluice::tcp {

// Increases the window by one segment per window acknowledged, counting bytes (RFC 5681 section 3.1).
void NewReno::on_ack(CongestionWindow& window, const AckEvent& event, const PathView& path) {
  counted += event.delivered;
  if (counted < window.cwnd) return;
  counted -= window.cwnd;
  window.cwnd += path.mss;
}

// Sets ssthresh to half of the flight (RFC 5681 equation 4).
void NewReno::on_congestion(CongestionWindow& window, const PathView& path) {
  window.ssthresh = half_of_flight(window, path);
  counted = 0;
}

void NewReno::on_timeout(CongestionWindow& window, const PathView& path) {
  window.ssthresh = std::max(path.flight_size / 2, 2 * path.mss);
  counted = 0;
}

}  // namespace sluice::tcp
