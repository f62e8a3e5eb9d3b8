// BBR 3: the phases that find the bandwidth at the start of a connection (Startup, Drain) and the minimum RTT later
// (ProbeRTT). bbr3.cpp calls the check functions for every ACK. Section numbers are those of draft-ietf-ccwg-bbr-06.

#include <algorithm>

#include "dataplane/tcp/bbr3.hpp"

namespace sluice::tcp {
namespace {

/// Number of separate losses in a round that end Startup (BBRStartupFullLossCnt).
constexpr std::uint32_t startup_lost_runs = 6;
constexpr std::uint32_t max_drain_rounds = 3;
/// Shortest duration of ProbeRTT (BBR.ProbeRTTDuration).
constexpr Duration shortest_probe_rtt = std::chrono::milliseconds(200);

}  // namespace

// Detects a full pipe by the delivery rate (draft-ietf-ccwg-bbr-06 section 5.3.1.2).
void Bbr3::check_full_pipe(const ModelAck& ack) {
  if (!rounds_.started() || ack.sample.app_limited) return;
  full_pipe_.record(ack.sample.rate());
  was_full_ = was_full_ || full_pipe_.full();
}

// Ends Startup on losses: six runs and excess losses in a round of fast recovery, or any loss without SACK
// (draft-ietf-ccwg-bbr-06 section 5.3.1.3).
void Bbr3::check_startup(const ModelAck& ack) {
  lost_runs_ += ack.sample.lost_runs;
  if (mode_ == Mode::startup && !was_full_ && recovery_ == RecoveryKind::fast) {
    const bool round_over = bounds_.round_started() && rounds_.count() != recovery_round_;
    const bool many = lost_runs_ >= startup_lost_runs &&
                      ack.sample.lost > static_cast<double>(tolerated_loss) * ack.sample.tx_in_flight;
    if (ack.uses_sack ? round_over && many : ack.sample.newly_lost != 0) {
      left_ = Left::startup;
      was_full_ = true;
      const auto product = static_cast<std::uint32_t>(multiple(bandwidth(), 1));
      bounds_.set_longterm(std::max(product, bounds_.inflight_latest()));
    }
  }
  if (bounds_.round_started()) lost_runs_ = 0;
  if (mode_ == Mode::startup && was_full_) {
    mode_ = Mode::drain;
    drain_round_ = rounds_.count();
  }
}

// Ends Drain when the queue is drained, or after more than three rounds (draft-ietf-ccwg-bbr-06 section 5.3.2).
void Bbr3::check_drain(const ModelAck& ack) {
  if (mode_ != Mode::drain) return;
  const bool drained = ack.in_flight <= inflight(bandwidth(), 1, ack.mss);
  if (drained || rounds_.count() > drain_round_ + max_drain_rounds) begin_down(ack.now, ack.delivered);
}

// Enters ProbeRTT when the minimum RTT has expired, and runs it (draft-ietf-ccwg-bbr-06 section 5.3.4.3).
void Bbr3::check_probe_rtt(const ModelAck& ack, std::uint32_t& cwnd) {
  if (mode_ != Mode::probe_rtt && min_rtt_.expired() && !idle_restart_) {
    save_cwnd(cwnd);
    mode_ = Mode::probe_rtt;
    probe_rtt_done_ = never;
    feedback_ = Feedback::stopping;
    rounds_.begin(ack.delivered);
  }
  if (mode_ == Mode::probe_rtt) probe_rtt(ack, cwnd);
  if (ack.sample.newly != 0) idle_restart_ = false;
}

/// Keeps cwnd small until 200 ms and one round have passed with few bytes in flight (draft-ietf-ccwg-bbr-06 section
/// 5.3.4.3).
void Bbr3::probe_rtt(const ModelAck& ack, std::uint32_t& cwnd) {
  if (probe_rtt_done_ == never) {
    if (ack.in_flight > probe_rtt_window(ack.mss)) return;
    probe_rtt_done_ = ack.now + shortest_probe_rtt;
    probe_rtt_round_done_ = false;
    rounds_.begin(ack.delivered);
    return;
  }
  if (rounds_.started()) probe_rtt_round_done_ = true;
  if (probe_rtt_round_done_) leave_probe_rtt(ack.now, ack.delivered, cwnd);
}

// Leaves ProbeRTT (draft-ietf-ccwg-bbr-06 section 5.3.4.4). ProbeBW starts in cruise, because the bytes in flight are
// below the bandwidth-delay product.
void Bbr3::leave_probe_rtt(Instant now, std::uint32_t delivered, std::uint32_t& cwnd) {
  if (probe_rtt_done_ == never || now <= probe_rtt_done_) return;
  min_rtt_.probed(now);
  cwnd = std::max(cwnd, prior_cwnd_);
  bounds_.forget_short_term();
  if (was_full_) {
    begin_down(now, delivered);
    mode_ = Mode::cruise;
  } else {
    mode_ = Mode::startup;
  }
}

// Returns the window of ProbeRTT (draft-ietf-ccwg-bbr-06 section 5.6.4.5).
double Bbr3::probe_rtt_window(std::uint32_t mss) const {
  return std::max(multiple(bandwidth(), probe_rtt_gain), static_cast<double>(min_segments * mss));
}

}  // namespace sluice::tcp
