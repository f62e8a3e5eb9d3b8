// BBR 3: the cycle of ProbeBW (draft-ietf-ccwg-bbr-06 section 5.3.3), and the long-term bound on bytes in flight that
// it finds. bbr3.cpp calls update_cycle() and handle_losses() for every ACK. The long-term bound rises only while a
// probe fills it without excess losses.

#include <algorithm>

#include "dataplane/tcp/bbr3.hpp"

namespace sluice::tcp {
namespace {

/// Shortest wait between bandwidth probes (draft-ietf-ccwg-bbr-06 section 5.3.3.8.2).
constexpr Duration min_wait = std::chrono::seconds(2);
/// Upper limit of the random time that is added to the shortest wait between bandwidth probes.
constexpr Duration drawn_wait = std::chrono::seconds(1);
constexpr std::uint32_t reno_rounds = 63;
constexpr std::uint8_t max_up_rounds = 30;
constexpr std::uint32_t never_steps = UINT32_MAX;

}  // namespace

/// Returns the next random number of a linear congruential generator.
std::uint32_t Bbr3::draw() {
  draw_ = draw_ * 1664525U + 1013904223U;
  return draw_ >> 8;  // the lower bits of such a generator have a short period
}

// Enters ProbeBW_DOWN and draws the wait until the next probe (StartProbeBW_DOWN(), PickProbeWait()).
void Bbr3::begin_down(Instant now, std::uint32_t delivered) {
  bounds_.forget_signals();
  acked_per_step_ = never_steps;
  const std::uint32_t drawn = draw();
  rounds_since_up_ = drawn & 1;
  probe_wait_ = min_wait + Duration((drawn >> 1) % static_cast<std::uint32_t>(drawn_wait.count()));
  cycle_began_ = now;
  feedback_ = Feedback::stopping;
  rounds_.begin(delivered);
  mode_ = Mode::down;
}

/// Enters ProbeBW_REFILL, which fills the pipe for one round before the probe.
void Bbr3::begin_refill(std::uint32_t delivered) {
  bounds_.forget_short_term();
  up_rounds_ = 0;
  up_acked_ = 0;
  precautionary_ = false;
  feedback_ = Feedback::refilling;
  rounds_.begin(delivered);
  mode_ = Mode::refill;
}

/// Enters ProbeBW_UP, which probes for more bandwidth.
void Bbr3::begin_up(const ModelAck& ack, std::uint32_t cwnd) {
  probe_sample_ = true;
  feedback_ = Feedback::starting;
  rounds_.begin(ack.delivered);
  full_pipe_.restart(ack.sample.rate());
  mode_ = Mode::up;
  steepen_longterm(cwnd, ack.mss);
}

// Advances the phase of ProbeBW (draft-ietf-ccwg-bbr-06 section 5.3.3.9, UpdateProbeBWCyclePhase()).
void Bbr3::update_cycle(const ModelAck& ack, std::uint32_t cwnd) {
  if (!was_full_ || ack.sample.newly == 0 || adapt_long_term(ack, cwnd)) return;
  switch (mode_) {
    case Mode::down:
    case Mode::cruise:
      if (time_to_probe(ack, cwnd)) {
        begin_refill(ack.delivered);
      } else if (mode_ == Mode::down && time_to_cruise(ack)) {
        mode_ = Mode::cruise;
      }
      break;
    case Mode::refill:
      if (rounds_.started()) begin_up(ack, cwnd);
      break;
    case Mode::up:
      if (time_to_go_down(ack, cwnd)) {
        probe_too_high_ = false;
        begin_down(ack.now, ack.delivered);
      }
      break;
    case Mode::startup:
    case Mode::drain:
    case Mode::probe_rtt:
      break;
  }
}

/// True if BBR must probe for more bandwidth now (draft-ietf-ccwg-bbr-06 section 5.3.3.8). This is two to three seconds
/// after the last probe. It is earlier on short paths: after as many rounds as a Reno flow needs to fill the pipe, at
/// most 63.
bool Bbr3::time_to_probe(const ModelAck& ack, std::uint32_t cwnd) const {
  if (ack.now > cycle_began_ + probe_wait_) return true;
  return rounds_since_up_ >= std::min(target_inflight(cwnd) / ack.mss, reno_rounds);
}

/// True if the queue is drained: the bytes in flight exceed neither the bandwidth-delay product nor the long-term bound
/// less headroom.
bool Bbr3::time_to_cruise(const ModelAck& ack) const {
  if (ack.in_flight > bounds_.with_headroom(ack.mss, min_segments * ack.mss)) return false;
  return ack.in_flight <= inflight(max_bandwidth_.value(), 1, ack.mss);
}

/// True if ProbeBW_UP must end, because the delivery rate does not grow any more (draft-ietf-ccwg-bbr-06 section
/// 5.3.3.7). If the last probe had excess losses, this probe also ends if the bytes in flight reach the long-term bound
/// (section 5.3.3.6).
bool Bbr3::time_to_go_down(const ModelAck& ack, std::uint32_t cwnd) {
  if (probe_too_high_ && ack.sample.prior_in_flight >= bounds_.inflight_longterm()) {
    precautionary_ = true;
    return true;
  }
  if (limited_by_longterm(cwnd)) {
    full_pipe_.restart(ack.sample.rate());
    return false;
  }
  return full_pipe_.full();
}

/// True if the whole cwnd was in flight in this or the last round, and cwnd is not below the long-term bound.
bool Bbr3::limited_by_longterm(std::uint32_t cwnd) const {
  return (window_full_ || window_was_full_) && cwnd >= bounds_.inflight_longterm();
}

/// Begins a round of ProbeBW_UP (RaiseInflightLongtermSlope()). In each round the long-term bound of the bytes in
/// flight may rise by twice as many segments as in the round before: 1, 2, 4, …
void Bbr3::steepen_longterm(std::uint32_t cwnd, std::uint32_t mss) {
  acked_per_step_ = std::max(cwnd >> up_rounds_, mss);
  up_rounds_ = static_cast<std::uint8_t>(std::min<int>(up_rounds_ + 1, max_up_rounds));
}

/// Raises the long-term bound of the bytes in flight by one segment for every acked_per_step_ bytes acknowledged
/// (ProbeInflightLongtermUpward()). Does so only while this bound limits the sender.
void Bbr3::probe_longterm_upward(const ModelAck& ack, std::uint32_t cwnd) {
  if (!limited_by_longterm(cwnd)) return;
  up_acked_ += ack.sample.newly;
  if (up_acked_ >= acked_per_step_) {
    const std::uint32_t steps = up_acked_ / acked_per_step_;
    up_acked_ -= steps * acked_per_step_;
    bounds_.set_longterm(bounds_.inflight_longterm() + steps * ack.mss);
  }
  if (rounds_.started()) steepen_longterm(cwnd, ack.mss);
}

/// Evaluates the delivery-rate samples of data that was sent in a bandwidth probe (AdaptLongTermModel()). Raises the
/// long-term bound of the bytes in flight if few of them were lost. Returns true if it has begun ProbeBW_REFILL.
bool Bbr3::adapt_long_term(const ModelAck& ack, std::uint32_t cwnd) {
  if (feedback_ == Feedback::starting && rounds_.started()) feedback_ = Feedback::coming;
  if (feedback_ == Feedback::stopping && rounds_.started()) {
    probe_sample_ = false;
    feedback_ = Feedback::none;
    if (in_probe_bandwidth()) {
      if (!ack.sample.app_limited) max_bandwidth_.advance();
      if (precautionary_ && !probe_too_high_) {
        begin_refill(ack.delivered);
        return true;
      }
    }
  }
  const bool too_high = ack.uses_sack ? ack.sample.lost > static_cast<double>(tolerated_loss) * ack.sample.tx_in_flight
                                      : ack.sample.newly_lost != 0;
  if (too_high || bounds_.inflight_longterm() == LossBounds::unbounded) return false;
  bounds_.raise_longterm(ack.sample.tx_in_flight);
  if (mode_ == Mode::up) probe_longterm_upward(ack, cwnd);
  return false;
}

/// Handles losses (HandleLostPacket() and HandleInflightTooHigh(), draft-ietf-ccwg-bbr-06 section 5.5.10.2). If more
/// than 2 % of the bytes in flight are lost in a bandwidth probe, sets their long-term bound and ends the probe.
void Bbr3::handle_losses(const ModelAck& ack, std::uint32_t cwnd) {
  if (ack.sample.newly_lost == 0) return;
  if (bounds_.record_loss(ack.delivered)) save_state(cwnd);
  if (!probe_sample_ || !ack.sample.excess.found) return;
  probe_too_high_ = true;
  probe_sample_ = false;
  if (!ack.sample.excess.app_limited) {
    const auto least = static_cast<std::uint32_t>(LossBounds::beta * target_inflight(cwnd));
    bounds_.set_longterm(std::max(ack.sample.excess.in_flight, least));
  }
  if (mode_ != Mode::up) return;
  left_ = Left::up;
  begin_down(ack.now, ack.delivered);
}

}  // namespace sluice::tcp
