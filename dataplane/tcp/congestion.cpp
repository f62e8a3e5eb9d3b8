// Congestion window of one connection: what all algorithms have in common (slow start, limits, undo), and the dispatch
// to the algorithm's hooks. Called by the Endpoint's ACK, recovery and timer processing. The window never exceeds
// largest_congestion_window. RFC 5681, RFC 6582.

#include "dataplane/tcp/congestion.hpp"

namespace sluice::tcp {
namespace {

/// Largest number of segments by which one ACK increases cwnd in slow start (L of RFC 3465; 8 as in RFC 9406 section
/// 4.2). After a timeout the limit is one segment, because one ACK may then cover much data that arrived before the
/// timeout.
constexpr std::uint32_t slow_start_limit = 8;

}  // namespace

void CongestionControl::start(CongestionAlgorithm algorithm, std::uint32_t cwnd) {
  window_ = prior_ = CongestionWindow{cwnd, UINT32_MAX};
  const auto begin = [&]<class Hooks>(Hooks hooks) {
    if constexpr (Hooks::model_based) {
      algorithm_ = ModelBased{};
    } else {
      algorithm_ = hooks;
    }
  };
  switch (algorithm) {
#define X(name, word, hooks, text) \
  case CongestionAlgorithm::name:  \
    begin(hooks{});                \
    break;
    SLUICE_CONGESTION_CONTROLS(X)
#undef X
  }
}

/// Replaces HyStart by Cubic, because HyStart handles only the first slow start.
void CongestionControl::end_first_slow_start() {
  if (std::holds_alternative<HyStart>(algorithm_)) algorithm_ = Cubic{};
}

void CongestionControl::seed(std::uint32_t cwnd) {
  end_first_slow_start();
  window_ = prior_ = CongestionWindow{cwnd, cwnd};
  std::visit([](auto& algorithm) { algorithm = {}; }, algorithm_);
}

void CongestionControl::on_feedback(const MarkFeedback& feedback, const AckEvent& event, const PathView& path) {
  std::visit([&](auto& algorithm) { algorithm.on_feedback(window_, feedback, event, path); }, algorithm_);
  window_.cwnd = std::min(window_.cwnd, largest_congestion_window);
}

void CongestionControl::on_ack(const AckEvent& event, const PathView& path, bool after_timeout) {
  if (!event.cwnd_limited) {
    std::visit([](auto& algorithm) { algorithm.on_idle(); }, algorithm_);
    return;
  }
  if (window_.slow_start()) {
    const std::uint32_t growth = std::min(event.delivered, path.mss * (after_timeout ? 1 : slow_start_limit));
    auto* const first = std::get_if<HyStart>(&algorithm_);
    const std::uint32_t allowed = first == nullptr ? growth : first->growth(window_, event, path, growth);
    window_.cwnd = std::min({window_.cwnd + allowed, window_.ssthresh, largest_congestion_window});
    return;
  }
  end_first_slow_start();
  std::visit([&](auto& algorithm) { algorithm.on_ack(window_, event, path); }, algorithm_);
  window_.cwnd = std::min(window_.cwnd, largest_congestion_window);
}

void CongestionControl::on_congestion(const PathView& path) {
  end_first_slow_start();
  prior_ = window_;
  if (is_model_based()) return;
  std::visit([&](auto& algorithm) { algorithm.on_congestion(window_, path); }, algorithm_);
  window_.cwnd = window_.ssthresh;
}

void CongestionControl::on_mark(const PathView& path) {
  on_congestion(path);
  prior_ = window_;
}

void CongestionControl::on_timeout(const PathView& path, bool first, bool answered) {
  // RFC 5681 section 3.1: ssthresh stays if the same segment times out again.
  if (first) {
    end_first_slow_start();
    prior_ = window_;
    std::visit([&](auto& algorithm) { algorithm.on_timeout(window_, path); }, algorithm_);
    // The window shaped by rate reduction so far is no measure of the path.
    if (answered) window_.ssthresh = prior_.ssthresh;
  }
  window_.cwnd = path.mss;
}

void CongestionControl::on_recovery_exit(const PathView& path, bool reduced) {
  if (is_model_based()) return;
  // RFC 6582 section 3.2 step 3, case 1: avoids a burst if little is in flight.
  window_.cwnd =
      reduced ? window_.ssthresh : std::min(window_.ssthresh, std::max(path.flight_size, path.mss) + path.mss);
  std::visit([&](auto& algorithm) { algorithm.on_recovery_exit(window_, path); }, algorithm_);
}

void CongestionControl::undo() {
  window_.cwnd = std::max(window_.cwnd, prior_.cwnd);
  window_.ssthresh = std::max(window_.ssthresh, prior_.ssthresh);
  std::visit([](auto& algorithm) { algorithm.on_undo(); }, algorithm_);
}

void CongestionControl::on_idle(std::uint32_t restart) {
  if (is_model_based()) return;
  window_.cwnd = std::min(window_.cwnd, restart);
  prior_ = window_;
  std::visit([](auto& algorithm) { algorithm.on_idle(); }, algorithm_);
}

}  // namespace sluice::tcp
