// BBR version 1: the order of steps per ACK, and each step. Called through PathModel by paced.cpp for every ACK that
// Endpoint processes. Section numbers are those of draft-cardwell-iccrg-bbr-congestion-control-00. Reads no clock and
// no random source; random choices derive from the caller's seed.

#include "dataplane/tcp/bbr.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/pacer.hpp"

namespace sluice::tcp {
namespace {

using namespace std::chrono_literals;

/// Gain of Startup: 2/ln 2 doubles the rate in each round (section 4.3.2.1 of the BBR draft).
constexpr double high_gain = 2.885;
constexpr double drain_gain = 1 / high_gain;
/// Factor of the bandwidth-delay product that cwnd permits in ProbeBW. The surplus covers ACKs that are delayed or
/// arrive together (section 4.2.3.2 of the BBR draft).
constexpr double steady_window_gain = 2;
// Pacing gains of ProbeBW (section 4.3.4.1 of the BBR draft).
constexpr std::array<double, 8> cycle = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
/// Share of the measured bandwidth at which the sender paces; below 1, so that no queue persists (as in Linux).
constexpr double margin = 0.99;
/// Factor by which the bandwidth must grow in a round. After three rounds with less growth the pipe counts as full
/// (section 4.3.2.2 of the BBR draft).
constexpr double full_growth = 1.25;
constexpr std::uint8_t full_rounds = 3;
constexpr Duration min_rtt_valid = 10s;
constexpr Duration probe_rtt_time = 200ms;
constexpr std::uint32_t min_segments = 4;  ///< BBRMinPipeCwnd, smallest window in segments

}  // namespace

void Bbr::start(const ModelStart& start) {
  *this = Bbr();
  initial_cwnd_ = prior_cwnd_ = start.cwnd;
  draw_ = start.draw;
  min_rtt_at_ = phase_began_ = start.now;
  rtt_seen_ = start.srtt > Duration::zero();
  if (rtt_seen_) min_rtt_ = start.srtt;
  // Section 4.2.1: assumes an RTT of one millisecond until one is measured.
  pacing_rate_ = Rate::of(Bytes(start.cwnd), rtt_seen_ ? start.srtt : 1ms) * high_gain;
}

void Bbr::seed(std::uint32_t cwnd, Duration srtt) {
  if (srtt <= Duration::zero()) return;
  bandwidth_ = RoundMaximum();
  bandwidth_.record(rounds_.count(), Rate::of(Bytes(cwnd), srtt).bytes_per_second());
  if (min_rtt_ == Duration::max()) min_rtt_ = srtt;
  prior_cwnd_ = cwnd;
  full_pipe_ = rtt_seen_ = seeded_ = true;
  conserve_ = false;
  recovery_ = RecoveryKind::none;
  enter_probe_bandwidth(phase_began_);
  set_pacing_rate(1);
}

double Bbr::pacing_gain() const {
  switch (mode_) {
    case Mode::startup:
      return high_gain;
    case Mode::drain:
      return drain_gain;
    case Mode::probe_bandwidth:
      return cycle[phase_];
    case Mode::probe_rtt:
      break;
  }
  return 1;
}

double Bbr::window_gain() const {
  if (mode_ == Mode::probe_rtt) return 1;
  return mode_ == Mode::probe_bandwidth ? steady_window_gain : high_gain;
}

/// Returns the bytes in flight that the model aims at: `gain` times the bandwidth-delay product, plus three bursts of
/// the pacer (section 4.2.3.2 of the BBR draft). The bursts are added because each host sends or acknowledges data in
/// groups. The phase that probes for bandwidth adds two segments. Before the first samples of rate and RTT, returns the
/// initial window.
std::uint32_t Bbr::target(double gain, std::uint32_t mss) const {
  if (min_rtt_ == Duration::max() || bandwidth() == Rate()) return initial_cwnd_;
  const double product = bandwidth().bytes_per_second() * to_seconds(min_rtt_) * gain;
  const auto bursts = static_cast<double>(std::max(Bytes(2 * mss), pacing_rate_.in(Pacer::burst)).count()) * 3;
  const double probing = mode_ == Mode::probe_bandwidth && phase_ == 0 ? 2.0 * mss : 0;
  return static_cast<std::uint32_t>(
      std::min(product + bursts + probing, static_cast<double>(largest_congestion_window)));
}

std::uint32_t Bbr::on_ack(const ModelAck& ack, std::uint32_t cwnd) {
  if (std::exchange(seeded_, false)) min_rtt_at_ = phase_began_ = ack.now;
  update_bandwidth(ack);
  update_cycle(ack);
  check_full_pipe(ack);
  check_drain(ack);
  update_min_rtt(ack, cwnd);
  set_pacing_rate(pacing_gain());
  return window(ack, cwnd);
}

// Updates rounds and the bandwidth maximum (sections 4.1.1.3 to 4.1.1.5 of the BBR draft).
void Bbr::update_bandwidth(const ModelAck& ack) {
  if (rounds_.advance(ack.sample, ack.delivered)) conserve_ = false;
  if (!ack.sample.valid()) return;
  const Rate rate = ack.sample.rate();
  if (!ack.sample.app_limited || rate >= bandwidth()) bandwidth_.record(rounds_.count(), rate.bytes_per_second());
}

// Advances the cycle of pacing gains (section 4.3.4.3 of the BBR draft).
void Bbr::update_cycle(const ModelAck& ack) {
  if (mode_ == Mode::probe_bandwidth && phase_is_over(ack)) next_phase(ack.now);
}

/// True if the current phase of the cycle of pacing gains is over (section 4.3.4.3 of the BBR draft). A phase lasts one
/// minimum RTT. The probing phase continues until its target is in flight or a loss occurs. The draining phase ends
/// earlier if the queue is empty.
bool Bbr::phase_is_over(const ModelAck& ack) const {
  const bool full = ack.now - phase_began_ > min_rtt_;
  if (cycle[phase_] > 1) {
    return full && (ack.sample.losses != 0 || ack.sample.prior_in_flight >= target(cycle[phase_], ack.mss));
  }
  return full || (cycle[phase_] < 1 && ack.sample.prior_in_flight <= target(1, ack.mss));
}

void Bbr::next_phase(Instant now) {
  phase_ = static_cast<std::uint8_t>((phase_ + 1U) % cycle.size());
  phase_began_ = now;
}

// Detects that the pipe is full: the bandwidth stopped growing (section 4.3.2.2 of the BBR draft).
void Bbr::check_full_pipe(const ModelAck& ack) {
  if (full_pipe_ || !rounds_.started() || ack.sample.app_limited) return;
  if (bandwidth() >= full_bandwidth_ * full_growth) {
    full_bandwidth_ = bandwidth();
    full_rounds_ = 0;
    return;
  }
  full_pipe_ = ++full_rounds_ >= full_rounds;
}

// Enters Drain after Startup, and ProbeBW once the queue is drained (section 4.3.3 of the BBR draft).
void Bbr::check_drain(const ModelAck& ack) {
  if (mode_ == Mode::startup && full_pipe_) mode_ = Mode::drain;
  if (mode_ == Mode::drain && ack.in_flight <= target(1, ack.mss)) enter_probe_bandwidth(ack.now);
}

/// Enters ProbeBW at a random phase of its cycle, except the phase that drains the queue (section 4.3.4.2 of the BBR
/// draft).
void Bbr::enter_probe_bandwidth(Instant now) {
  mode_ = Mode::probe_bandwidth;
  const std::uint32_t drawn = draw_ % static_cast<std::uint32_t>(cycle.size() - 1);
  phase_ = static_cast<std::uint8_t>(drawn == 0 ? 0 : drawn + 1);
  draw_ = draw_ * 1664525U + 1013904223U;  // next random number of a linear congruential generator
  phase_began_ = now;
}

// Updates the minimum RTT and enters or runs ProbeRTT (sections 4.1.2.3 and 4.3.5 of the BBR draft).
void Bbr::update_min_rtt(const ModelAck& ack, std::uint32_t& cwnd) {
  const bool expired = ack.now > min_rtt_at_ + min_rtt_valid;
  if (ack.sample.rtt >= Duration::zero() && (ack.sample.rtt <= min_rtt_ || expired)) {
    min_rtt_ = std::max(ack.sample.rtt, Duration(1));
    min_rtt_at_ = ack.now;
    if (!rtt_seen_) {
      rtt_seen_ = true;
      pacing_rate_ = Rate::of(Bytes(cwnd), min_rtt_) * high_gain;
    }
  }
  if (expired && !idle_restart_ && mode_ != Mode::probe_rtt) {
    save(cwnd);
    mode_ = Mode::probe_rtt;
    probe_rtt_done_ = never;
  }
  if (mode_ == Mode::probe_rtt) probe_rtt(ack, cwnd);
  if (ack.sample.newly != 0) idle_restart_ = false;
}

/// Keeps cwnd small until 200 ms and one round have passed with few bytes in flight (ProbeRTT, section 4.3.5 of the BBR
/// draft).
void Bbr::probe_rtt(const ModelAck& ack, std::uint32_t& cwnd) {
  if (probe_rtt_done_ == never) {
    if (ack.in_flight > min_segments * ack.mss) return;
    probe_rtt_done_ = ack.now + probe_rtt_time;
    probe_rtt_round_done_ = false;
    rounds_.begin(ack.delivered);
    return;
  }
  if (rounds_.started()) probe_rtt_round_done_ = true;
  if (probe_rtt_round_done_) leave_probe_rtt(ack.now, cwnd);
}

/// Leaves ProbeRTT if its time has passed: restores cwnd and continues in ProbeBW or Startup.
void Bbr::leave_probe_rtt(Instant now, std::uint32_t& cwnd) {
  if (now <= probe_rtt_done_) return;
  min_rtt_at_ = now;
  cwnd = std::max(cwnd, prior_cwnd_);
  if (full_pipe_) {
    enter_probe_bandwidth(now);
  } else {
    mode_ = Mode::startup;
  }
}

/// Saves cwnd, so that it can be restored after recovery or ProbeRTT.
void Bbr::save(std::uint32_t cwnd) {
  const bool usual = recovery_ == RecoveryKind::none && mode_ != Mode::probe_rtt;
  prior_cwnd_ = usual ? cwnd : std::max(prior_cwnd_, cwnd);
}

// Sets the pacing rate; it only grows until the pipe is full (section 4.2.1 of the BBR draft).
void Bbr::set_pacing_rate(double gain) {
  const Rate rate = bandwidth() * (gain * margin);
  if (full_pipe_ || rate > pacing_rate_) pacing_rate_ = rate;
}

// Modulates the window during recovery (section 4.2.3.4 of the BBR draft). Returns true if recovery determines the
// window. For one round the flow sends no more than is delivered, then the model decides again. The earlier window is
// restored when nothing is missing any more.
bool Bbr::follow_recovery(const ModelAck& ack, std::uint32_t& cwnd) {
  if (ack.sample.losses != 0) cwnd -= std::min(cwnd - ack.mss, ack.sample.losses);
  if (ack.recovery == RecoveryKind::fast && recovery_ != RecoveryKind::fast) {
    conserve_ = true;
    rounds_.begin(ack.delivered);
    cwnd = ack.in_flight + ack.sample.newly;
  } else if (ack.recovery == RecoveryKind::none && recovery_ != RecoveryKind::none) {
    cwnd = std::max(cwnd, prior_cwnd_);
    conserve_ = false;
  }
  recovery_ = ack.recovery;
  if (conserve_) cwnd = std::max(cwnd, ack.in_flight + ack.sample.newly);
  return conserve_;
}

// Computes the window (section 4.2.3.6 of the BBR draft).
std::uint32_t Bbr::window(const ModelAck& ack, std::uint32_t cwnd) {
  const std::uint32_t least = min_segments * ack.mss;
  cwnd = std::max(cwnd, ack.mss);
  if (ack.recovery == RecoveryKind::fast && recovery_ == RecoveryKind::none) save(cwnd);
  if (ack.sample.newly != 0 && !follow_recovery(ack, cwnd)) {
    const std::uint32_t wanted = target(window_gain(), ack.mss);
    if (full_pipe_) {
      cwnd = std::min(cwnd + ack.sample.newly, wanted);
    } else if (cwnd < wanted || ack.delivered < initial_cwnd_) {
      cwnd += ack.sample.newly;
    }
    cwnd = std::max(cwnd, least);
  }
  return std::min(mode_ == Mode::probe_rtt ? std::min(cwnd, least) : cwnd, largest_congestion_window);
}

void Bbr::on_timeout(std::uint32_t cwnd) {
  save(cwnd);
  recovery_ = RecoveryKind::timeout;
  full_bandwidth_ = Rate();  // the search for a full pipe restarts
  conserve_ = false;
}

void Bbr::on_undo() {
  full_bandwidth_ = Rate();
  full_rounds_ = 0;
}

// Restarts after an idle period (section 4.3.4.4 of the BBR draft) without a burst. The long RTT sample of the pause
// must not start ProbeRTT.
std::uint32_t Bbr::on_restart(bool app_limited, Instant now, std::uint32_t cwnd) {
  if (!app_limited) return cwnd;
  idle_restart_ = true;
  if (mode_ == Mode::probe_bandwidth) set_pacing_rate(1);
  if (mode_ == Mode::probe_rtt) leave_probe_rtt(now, cwnd);
  return cwnd;
}

}  // namespace sluice::tcp
