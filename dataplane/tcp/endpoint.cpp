// The parts of an Endpoint that route to its sender, receiver, handshake and timers: emission, expired timers, the fast
// path, and data that moves between the two endpoints of a relay. Called by the owner of a connection: the relay of the
// proxy and the hosts of the emulator.

#include "dataplane/tcp/endpoint.hpp"

#include <array>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
std::string_view to_string(State state) {
  static constexpr std::array names = {
#define X(name) std::string_view(#name),
      SLUICE_TCP_STATES(X)
#undef X
  };
  return names.at(static_cast<std::size_t>(state));
}

std::string_view to_string(CloseReason reason) {
  static constexpr std::array names = {
#define X(name) std::string_view(#name),
      SLUICE_TCP_CLOSE_REASONS(X)
#undef X
  };
  return names.at(static_cast<std::size_t>(reason));
}

Bytes Endpoint::emit_due(Instant now, Output& output, Bytes allowance) {
  expire_delayed_ack(now);
  if (!on_fast_path()) [[unlikely]]
    return emit_slow(now, output, allowance);
  Bytes left = allowance;
  if (queue().unsent()) emit_new(now, output, left);
  if (ack_is_due()) emit_ack(now, output);
  if (armed() == Timer::none && queue().unsent() && needs_persist_timer()) arm(Timer::persist, now + rto());
  return allowance - left;
}

/// Sends all due segments when the fast path (established, without recovery, probe or pending FIN) does not apply.
/// Returns the IP bytes of the data segments sent.
Bytes Endpoint::emit_slow(Instant now, Output& output, Bytes allowance) {
  if (!sends_plainly()) [[unlikely]]
    return emit_slow_path(now, output, allowance);
  const Bytes sent = emit_plainly(now, output, allowance);
  update_fast_path();
  return sent;
}

/// Sends everything that can be due in any state, including RST, handshake, recovery, probes and paced data. Returns
/// the IP bytes of the data segments sent.
Bytes Endpoint::emit_slow_path(Instant now, Output& output, Bytes allowance) {
  if (reset_is_due()) {
    if (emit_reset(now, output)) close(close_reason());
    return Bytes();
  }
  if (state() < State::established) {
    emit_handshake(now, output);
    return Bytes();
  }
  const Bytes sent = emit_everything(now, output, allowance);
  update_fast_path();
  return sent;
}

bool Endpoint::wants_to_send(Instant now) const {
  if (ack_is_due() || ack_deadline() <= now) return true;
  if (syn_is_due() || probe_or_reset_is_due()) return true;
  if (state() < State::established) return false;
  return (can_send_now() && !held_by_pacing(now)) || fin_can_go() || needs_persist_timer() || needs_probe_timer();
}

/// Recomputes the fast-path flag of an open connection and releases recovery state that is no longer needed.
void Endpoint::update_fast_path_open() {
  if (urgent_ahead() || urgent_is_out()) [[unlikely]] {
    update_urgent_in();
    update_urgent_out();
  }
  if (has_recovery_state()) release_recovery_state();
  set_fast_path(state() == State::established && can_release_recovery_state() && sends_in_order() &&
                receives_plainly());
}

void Endpoint::on_timer(Instant now) {
  if (ack_deadline() <= now) {
    set_ack_deadline(never);
    request_ack();
  }
  if (timer_deadline() > now) return;
  const Timer expired = armed();
  leave_fast_path();
  if (expired != Timer::probe) arm(Timer::none, never);
  switch (expired) {
    case Timer::none:
      break;
    case Timer::reorder:
      on_reordering_timeout(now);
      break;
    case Timer::probe:
      on_probe_timeout(now);
      break;
    case Timer::retransmit:
      if (!on_retransmission_timeout(now)) {
        give_up();
      } else if (state() < State::established) {
        request_syn();
      }
      break;
    case Timer::persist:
      if (!on_persist()) give_up();
      break;
    case Timer::time_wait:
      close(CloseReason::finished);
      break;
  }
}

void Endpoint::splice_from(Endpoint& from) {
  const std::uint32_t taken = from.hand_over_unread();
  write_all(from.in_order(), taken);
}

}  // namespace sluice::tcp
