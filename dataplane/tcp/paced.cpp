// Pacing of an endpoint: delivery-rate samples, bursts at a rate and, if configured, the model that sets rate and
// window. Called by emit.cpp and ack_processing.cpp. A paced connection never uses the fast paths, see
// update_fast_path().

#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp {
namespace {

// Rates as in Linux, because the window may double per round trip of slow start.
constexpr double slow_start_factor = 2;
constexpr double avoidance_factor = 1.2;

/// Returns the RecoveryKind that models of the path use. `fast` is true in fast recovery, `timeout` in the recovery
/// after a retransmission timeout.
RecoveryKind recovery_kind_of(bool fast, bool timeout) {
  if (fast) return RecoveryKind::fast;
  return timeout ? RecoveryKind::timeout : RecoveryKind::none;
}

}  // namespace

/// Initialises the state of a paced connection when it opens.
void Sender::begin_pacing(Instant now) {
  PacedSender& state = *config().paced;
  state = PacedSender();
  pace_window();
  if (!congestion_.is_model_based()) return;
  const ModelStart start{
      .now = now, .srtt = srtt(), .cwnd = congestion_.cwnd(), .draw = snd_.nxt.raw() * 2654435761U >> 16};
  state.model.start(config().congestion, start);
  state.delivery.set_tolerated_loss(uses_sack() ? Bbr3::tolerated_loss : 0);
  state.pacer.set_rate(state.model.pacing_rate());
}

/// Sets the pacing rate of a connection without a model of the path: max(cwnd, bytes in flight) / SRTT, times 2 if cwnd
/// is below half of ssthresh, else times 1.2. The factor is above 1, so that cwnd limits the sender, not the pacing.
void Sender::pace_window() {
  if (!has_rtt()) return;
  const bool early = congestion_.cwnd() < congestion_.ssthresh() / 2;
  const Bytes window(std::max(congestion_.cwnd(), pipe()));
  config().paced->pacer.set_rate(Rate::of(window, srtt()) * (early ? slow_start_factor : avoidance_factor));
}

/// Restarts the model from the present cwnd and SRTT after the sender has switched from a caller's allowance (bytes
/// permitted to send) to congestion control.
void Sender::resume_pacing() {
  PacedSender& state = *config().paced;
  if (!congestion_.is_model_based()) return;
  state.model.seed(congestion_.cwnd(), srtt());
  state.pacer.set_rate(state.model.pacing_rate());
}

/// Reports a transmission to the delivery-rate estimator. Called before the new send time is stored in the packet's
/// metadata, because the estimator needs the previous one.
void Sender::record_sent(packet::Cursor position, Instant now) {
  if (paced()) config().paced->delivery.on_sent(position.note(), now, pipe(), !queue().outstanding());
}

/// Computes the delivery-rate sample at the end of an ACK. Updates the model with it, then pacing rate and cwnd.
void Sender::follow_model(const AckEvent& event) {
  PacedSender& state = *config().paced;
  RateSample sample = state.delivery.take(event.now, min_rtt());
  if (bits_.window_source == WindowSource::allowance) return;
  if (!congestion_.is_model_based()) {
    pace_window();
    return;
  }
  sample.rtt = event.rtt;
  sample.losses = event.newly_lost;
  sample.prior_in_flight = event.in_flight;
  const ModelAck ack{
      .now = event.now,
      .sample = sample,
      .delivered = state.delivery.delivered(),
      .in_flight = pipe(),
      .mss = mtu_.mss,
      .srtt = srtt(),
      .recovery = recovery_kind_of(bits_.recovery == Recovery::fast, bits_.recovery == Recovery::timeout),
      .uses_sack = uses_sack(),
      .window_limited = event.cwnd_limited};
  congestion_.follow(state.model.on_ack(ack, congestion_.cwnd()));
  state.pacer.set_rate(state.model.pacing_rate());
  if (state.model.limits_itself()) state.delivery.limit_by_application(pipe());
}

/// Returns the part of `allowance` that pacing permits in this burst. At least one segment is permitted if a tail loss
/// probe is due, or the retransmission that begins or continues a recovery.
Bytes Sender::burst_allowance(Instant now, const Output& output, Bytes allowance) const {
  if (bits_.window_source == WindowSource::allowance || allowance < min_unbounded) return allowance;
  const packet::Cursor lost = next_retransmission();
  const packet::Cursor next = lost ? lost : queue().unsent();
  const std::uint32_t size = next ? next.note().payload_len : 0U;
  const Bytes segment(output.wire_size(std::max<std::uint32_t>(size, mtu_.mss)));
  const Bytes burst = config().paced->pacer.allowance(now, segment);
  return bits_.retransmit_first || bits_.tail_probe_due ? std::max(burst, segment) : burst;
}

/// Reports the bytes of a burst to the pacer, which then computes when the next burst may leave. Also records whether
/// data waits for that burst.
void Sender::record_burst(Instant now, Bytes sent, Bytes allowance) {
  PacedSender& state = *config().paced;
  state.pacer.spend(now, sent);
  const bool free = bits_.window_source == WindowSource::congestion_control && allowance >= min_unbounded;
  state.pacer.wait(free && state.pacer.holds_back(now) && can_send_now());
  if (!free) state.delivery.limit_by_application(pipe());
}

/// Returns when pacing permits the next burst; `never` if no data waits for it. In TIME-WAIT nothing waits, although an
/// acknowledgement may have removed a retransmission for which the pacer still has a deadline.
Instant Sender::pacing_deadline() const {
  const bool can_wait = state() >= State::established && !is_over() && !bits_.reset_due;
  return can_wait && paced() ? config().paced->pacer.deadline() : never;
}

/// True if pacing delays the next burst beyond `now`.
bool Sender::held_by_pacing(Instant now) const {
  return pacing_deadline() != never && pacing_deadline() > now;
}

/// Reports to the model that sending resumes after a time with nothing in flight.
void Sender::restart_model(Instant now) {
  PacedSender& state = *config().paced;
  const std::uint32_t cwnd = state.model.on_restart(state.delivery.limited_by_application(), now, congestion_.cwnd());
  congestion_.follow(cwnd);
  state.pacer.set_rate(state.model.pacing_rate());
}

/// Reverses what the model has derived from a spurious recovery. Losses that the model has not processed yet are
/// discarded too.
void Sender::undo_model() {
  PacedSender& state = *config().paced;
  state.delivery.forgive_losses();
  state.model.on_undo();
}

DeliveryRate* Sender::samples() const {
  return paced() ? &config().paced->delivery : nullptr;
}

}  // namespace sluice::tcp
