// BBR version 3: the order of steps per ACK, the pacing rate and the window. bbr3_startup_drain_probe_rtt.cpp has
// Startup, Drain and ProbeRTT, bbr3_probe_bw.cpp has ProbeBW. Called through PathModel by paced.cpp for every ACK that
// Endpoint processes. Section numbers are those of draft-ietf-ccwg-bbr-06. Reads no clock and no random source; random
// choices derive from the caller's seed.

#include "dataplane/tcp/bbr3.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/pacer.hpp"

namespace sluice::tcp {

using namespace std::chrono_literals;

// Returns the pacing gain of a phase (draft-ietf-ccwg-bbr-06 section 5.6.1).
double Bbr3::pacing_gain(Mode mode) {
  switch (mode) {
    case Mode::startup:
      return startup_gain;
    case Mode::drain:
      return 0.5;
    case Mode::down:
      return 0.9;
    case Mode::up:
      return 1.25;
    case Mode::cruise:
    case Mode::refill:
    case Mode::probe_rtt:
      break;
  }
  return 1;
}

double Bbr3::window_gain(Mode mode) {
  if (mode == Mode::probe_rtt) return probe_rtt_gain;
  return mode == Mode::up ? 2.25 : 2;
}

void Bbr3::start(const ModelStart& start) {
  *this = Bbr3();
  initial_cwnd_ = prior_cwnd_ = start.cwnd;
  draw_ = start.draw;
  cycle_began_ = start.now;
  min_rtt_.begin(start.srtt, start.now);
  aggregation_.restart(start.now);
  rtt_seen_ = start.srtt > Duration::zero();
  // Section 5.6.2: assumes an RTT of one millisecond until one is measured.
  pacing_rate_ = Rate::of(Bytes(start.cwnd), rtt_seen_ ? start.srtt : 1ms) * startup_gain;
}

void Bbr3::seed(std::uint32_t cwnd, Duration srtt) {
  if (srtt <= Duration::zero()) return;
  max_bandwidth_ = CycleMaximum();
  max_bandwidth_.record(Rate::of(Bytes(cwnd), srtt));
  bounds_ = LossBounds();
  min_rtt_.seed(srtt);
  prior_cwnd_ = cwnd;
  was_full_ = rtt_seen_ = seeded_ = true;
  probe_sample_ = probe_too_high_ = precautionary_ = false;
  recovery_ = RecoveryKind::none;
  left_ = Left::nothing;
  mode_ = Mode::cruise;
  set_pacing_rate(1);
}

std::uint32_t Bbr3::on_ack(const ModelAck& ack, std::uint32_t cwnd) {
  if (std::exchange(seeded_, false)) {
    min_rtt_.restart(ack.now);
    aggregation_.restart(ack.now);
    begin_down(ack.now, ack.delivered);
    mode_ = Mode::cruise;
  }
  delivered_ = ack.delivered;
  record_window_use(ack, cwnd);
  follow_recovery(ack, cwnd);
  handle_losses(ack, cwnd);
  update_model(ack, cwnd);
  set_pacing_rate(pacing_gain(mode_));
  return window(ack, cwnd);
}

/// Records whether the whole cwnd is in flight, for this round and the next one (C.is_cwnd_limited,
/// draft-ietf-ccwg-bbr-06 section 2.2).
void Bbr3::record_window_use(const ModelAck& ack, std::uint32_t cwnd) {
  window_full_ = window_full_ || ack.sample.prior_in_flight + ack.mss > cwnd;
}

// Saves the state when recovery begins and restores the window when it ends (draft-ietf-ccwg-bbr-06 section 5.6.4.4).
// Fast recovery alone does not change the window.
void Bbr3::follow_recovery(const ModelAck& ack, std::uint32_t& cwnd) {
  if (ack.recovery == RecoveryKind::fast && recovery_ == RecoveryKind::none) {
    save_state(cwnd);
    recovery_round_ = rounds_.count();
  } else if (ack.recovery == RecoveryKind::none && recovery_ != RecoveryKind::none) {
    cwnd = std::max(cwnd, prior_cwnd_);
  }
  recovery_ = ack.recovery;
}

// Updates the model and the phase from one ACK (draft-ietf-ccwg-bbr-06 section 5.2.3, UpdateModelAndState()).
void Bbr3::update_model(const ModelAck& ack, std::uint32_t& cwnd) {
  const RateSample& sample = ack.sample;
  bounds_.begin(sample, ack.delivered);
  if (rounds_.advance(sample, ack.delivered)) {
    ++rounds_since_up_;
    window_was_full_ = std::exchange(window_full_, false);
  }
  if (sample.valid() && (!sample.app_limited || sample.rate() >= max_bandwidth_.value())) {
    max_bandwidth_.record(sample.rate());
  }
  bounds_.adapt(probing(), max_bandwidth_.value(), cwnd);
  aggregation_.record(ack, bandwidth(), cwnd, rounds_.count());
  check_full_pipe(ack);
  check_startup(ack);
  check_drain(ack);
  update_cycle(ack, cwnd);
  min_rtt_.record(sample.rtt, ack.now);
  if (!rtt_seen_ && sample.rtt >= Duration::zero()) {
    rtt_seen_ = true;
    pacing_rate_ = Rate::of(Bytes(initial_cwnd_), min_rtt_.value()) * startup_gain;
  }
  check_probe_rtt(ack, cwnd);
  bounds_.end(sample);
}

/// Saves cwnd, so that it can be restored after recovery or ProbeRTT.
void Bbr3::save_cwnd(std::uint32_t cwnd) {
  const bool usual = recovery_ == RecoveryKind::none && mode_ != Mode::probe_rtt;
  prior_cwnd_ = usual ? cwnd : std::max(prior_cwnd_, cwnd);
}

// Saves window and bounds for undo() (draft-ietf-ccwg-bbr-06 section 5.5.11.1).
void Bbr3::save_state(std::uint32_t cwnd) {
  save_cwnd(cwnd);
  left_ = Left::nothing;
  bounds_.save();
}

// Sets the pacing rate; it only grows until the pipe was full once (draft-ietf-ccwg-bbr-06 section 5.6.2).
void Bbr3::set_pacing_rate(double gain) {
  const Rate rate = bandwidth() * (gain * pacing_margin);
  if (was_full_ || rate > pacing_rate_) pacing_rate_ = rate;
}

/// Returns `gain` times the product of `bandwidth` and the minimum RTT in bytes (BDPMultiple()). While one of them is
/// unknown, returns the initial window.
double Bbr3::multiple(Rate bandwidth, double gain) const {
  if (!min_rtt_.known() || bandwidth == Rate()) return initial_cwnd_;
  return bandwidth.bytes_per_second() * to_seconds(min_rtt_.value()) * gain;
}

/// Returns `bytes`, but at least three bursts of the pacer and four segments (QuantizationBudget(),
/// draft-ietf-ccwg-bbr-06 section 5.5.8.1). The reason is that each host sends or acknowledges data in groups.
/// ProbeBW_UP adds two segments.
double Bbr3::with_budget(double bytes, std::uint32_t mss) const {
  const auto bursts = static_cast<double>(std::max(Bytes(2 * mss), pacing_rate_.in(Pacer::burst)).count()) * 3;
  return std::max({bytes, bursts, static_cast<double>(min_segments * mss)}) + (mode_ == Mode::up ? 2.0 * mss : 0);
}

/// Returns the bandwidth-delay product in bytes, at most `cwnd`.
std::uint32_t Bbr3::target_inflight(std::uint32_t cwnd) const {
  return static_cast<std::uint32_t>(std::min(multiple(bandwidth(), 1), static_cast<double>(cwnd)));
}

// Computes the window (draft-ietf-ccwg-bbr-06 sections 5.6.4.2 to 5.6.4.7).
std::uint32_t Bbr3::window(const ModelAck& ack, std::uint32_t cwnd) const {
  const double product = multiple(bandwidth(), window_gain(mode_)) + aggregation_.value(was_full_);
  const double limit = std::min<double>(largest_congestion_window, with_budget(product, ack.mss));
  const auto most = static_cast<std::uint32_t>(limit);
  if (was_full_) {
    cwnd = std::min(cwnd + ack.sample.newly, most);
  } else if (cwnd < most || ack.delivered < initial_cwnd_) {
    cwnd += ack.sample.newly;
  }
  cwnd = std::max(cwnd, min_segments * ack.mss);
  if (mode_ == Mode::probe_rtt) cwnd = std::min(cwnd, static_cast<std::uint32_t>(probe_rtt_window(ack.mss)));
  return std::min({cwnd, window_cap(ack.mss), largest_congestion_window});
}

/// Returns the upper limit of cwnd that earlier losses have set (LossBounds; BoundCwndForModel()).
std::uint32_t Bbr3::window_cap(std::uint32_t mss) const {
  const std::uint32_t least = min_segments * mss;
  std::uint32_t cap = LossBounds::unbounded;
  if (mode_ == Mode::cruise || mode_ == Mode::probe_rtt) {
    cap = bounds_.with_headroom(mss, least);
  } else if (in_probe_bandwidth()) {
    cap = bounds_.inflight_longterm();
  }
  return std::max(std::min(cap, bounds_.inflight_shortterm()), least);
}

void Bbr3::on_timeout(std::uint32_t cwnd) {
  save_state(cwnd);
  recovery_ = RecoveryKind::timeout;
}

// Reverses the reaction to a spurious loss (draft-ietf-ccwg-bbr-06 section 5.5.11.2).
void Bbr3::on_undo() {
  bounds_.undo();
  full_pipe_.restart();
  const Left left = std::exchange(left_, Left::nothing);
  if (left == Left::startup && mode_ != Mode::startup) {
    was_full_ = false;
    if (mode_ != Mode::probe_rtt) mode_ = Mode::startup;
  } else if (left == Left::up && mode_ != Mode::up && mode_ != Mode::probe_rtt) {
    begin_refill(delivered_);
  }
}

// Restarts after an idle period (draft-ietf-ccwg-bbr-06 section 5.4.1) without a burst. The long RTT sample of the
// pause must not start ProbeRTT.
std::uint32_t Bbr3::on_restart(bool app_limited, Instant now, std::uint32_t cwnd) {
  if (!app_limited) return cwnd;
  idle_restart_ = true;
  aggregation_.restart(now);
  if (in_probe_bandwidth()) {
    set_pacing_rate(1);
  } else if (mode_ == Mode::probe_rtt) {
    leave_probe_rtt(now, delivered_, cwnd);
  }
  return cwnd;
}

}  // namespace sluice::tcp
