// Opening a connection: negotiation of options, and the steps of SYN-SENT and SYN-RECEIVED (RFC 9293 sections 3.5 and
// 3.10.7.3). The owner calls connect(), accept() or establish_at(); Endpoint calls the rest until the connection is
// established. Sender and Receiver hold the numbers and windows that a SYN sets.

#include "dataplane/tcp/handshake.hpp"

#include "dataplane/tcp/accurate_ecn.hpp"

namespace sluice::tcp {

/// Resets the endpoint for a new connection. Settings that the endpoint's owner may have made before are kept: receive
/// room (bytes accepted beyond the first unread one), timestamp, WindowSource and WindowUpdates.
void Handshake::reset_connection(const EndpointConfig& config, SeqNum iss) {
  if (is_configured()) forget_connection();
  ConnectionCore::reset(config);
  if (config.accurate_ecn != nullptr) config.accurate_ecn->begin();
  begin_sending(iss);
}

/// Clears the state of the last connection, but keeps the settings that the endpoint's owner has made.
void Handshake::forget_connection() {
  release_queues();
  Timers::reset();
  Receiver::reset();
  Sender::reset();
}

void Handshake::release_queues() {
  clear_queue();
  clear_unread();
  drop_recovery();
}

void Handshake::drop_recovery() {
  drop_recovery_state();
  forget_urgent_in();
  forget_urgent_out();
}

/// Computes the options in use and the segment size from the SYN options of both sides.
void Handshake::negotiate(const SynOptions& ours, const SynOptions& theirs, std::uint16_t port_mss) {
  bool ecn = ours.ecn && theirs.ecn;
  if (AccurateEcn* const accurate = config().accurate_ecn; accurate != nullptr) {
    accurate->agree(ours.accurate_ecn && theirs.accurate_ecn);
    ecn = ecn || accurate->agreed();
  }
  const bool scaled = ours.has_window_scale && theirs.has_window_scale;
  set_options(ours.timestamps && theirs.timestamps, ours.sack_permitted && theirs.sack_permitted, ecn, scaled,
              theirs.window_shift(ours));
  set_rcv_shift(ours.window_shift(theirs));
  set_segment_size(theirs.mss, port_mss);
}

/// Returns the options that this host's SYN offers. Until the SYN-ACK arrives, the fields of the negotiated options
/// contain the offered ones.
SynOptions Handshake::offer() const {
  return {.mss = local_mss(),
          .window_scale = rcv_shift(),
          .has_window_scale = uses_window_scale(),
          .sack_permitted = uses_sack(),
          .timestamps = uses_timestamps(),
          .ecn = uses_ecn(),
          .accurate_ecn = uses_accurate_ecn()};
}

/// Returns the ECN flags of a SYN or, with `answer`, of a SYN-ACK. If accurate ECN is to be offered, the third and
/// later transmissions of a SYN offer no ECN at all. A middlebox may drop SYNs with these flags (RFC 9768 section
/// 3.1.4.1).
std::uint16_t Handshake::ecn_offer(bool answer) const {
  if (!uses_ecn()) return 0;
  const AccurateEcn* const accurate = accurate_ecn();
  if (accurate == nullptr) return answer ? Flags::ece_bit : Flags::ece_bit | Flags::cwr_bit;
  if (answer) return ace_bits(accurate->handshake_ace());
  return retries() > 1 ? std::uint16_t{0} : ace_bits(7);
}

void Handshake::connect(const EndpointConfig& config, SeqNum iss, const SynOptions& ours, Instant now) {
  reset_connection(config, iss);
  start_receiving(ours.mss, now);
  negotiate(ours, ours);
  set_state(State::syn_sent);
  request_syn();
}

void Handshake::accept(const EndpointConfig& config, const Segment& syn, SeqNum iss, const SynOptions& ours,
                       Instant now) {
  reset_connection(config, iss);
  start_receiving(ours.mss, now);
  receive_syn(syn, ours, now);
  set_state(State::syn_received);
  request_syn();
}

void Handshake::establish_at(const EndpointConfig& config, const EstablishedState& state, Instant now) {
  reset_connection(config, state.snd_nxt - 1);
  start_receiving(state.local.mss, now);
  negotiate(state.local, state.remote, state.port_mss);
  continue_stream(state.snd_nxt, state.snd_una_is_acked);
  set_window(state.rcv_nxt - 1, state.snd_window);
  begin_stream(state.rcv_nxt, later(state.rcv_adv, state.rcv_nxt));
  accept_advertised();
  begin_timestamps(state.ts_recent, now);
  if (state.rtt > Duration::zero()) sample_rtt(state.rtt, snd_una(), snd_nxt());
  set_state(State::established);
  start_sending(now);
  set_fast_path(may_go_fast());  // true for a new connection without a small path, pacing or accurate ECN
}

/// Stores the initial sequence number, the window field and the options of the peer's SYN or SYN-ACK.
void Handshake::receive_syn(const Segment& syn, const SynOptions& ours, Instant now) {
  negotiate(ours, syn.syn);
  begin_stream(syn.seq + 1, syn.seq + 1 + syn_window());
  set_window(syn.seq, syn.window);
  if (AccurateEcn* const accurate = accurate_ecn()) {
    accurate->on_syn(syn.ecn, syn.flags.ack());
    if (syn.flags.ack()) accurate->syn_arrived(ace_of(syn.flags));
  }
  if (uses_timestamps()) begin_timestamps(syn.ts_value, now);
}

/// Handles a segment in SYN-SENT (RFC 9293 section 3.10.7.3). Returns false if the peer refuses the connection.
bool Handshake::receive_in_syn_sent(const Segment& segment, Instant now) {
  const bool answers = segment.flags.ack() && segment.ack == snd_nxt() && snd_nxt() != snd_una();
  if (segment.flags.ack() && !answers) return true;  // belongs to an older connection
  if (segment.flags.rst()) return !answers;
  if (!segment.flags.syn()) return true;
  receive_syn(segment, offer(), now);
  if (answers) {
    establish(segment, now);
    request_ack();
  } else {  // simultaneous open
    set_state(State::syn_received);
    request_syn();
  }
  return true;
}

/// Enters ESTABLISHED after the peer has acknowledged this host's SYN.
void Handshake::establish(const Segment& segment, Instant now) {
  syn_acknowledged(segment, now);
  cancel_syn();
  set_state(State::established);
  start_sending(now);
}

/// Handles an acceptable segment in SYN-RECEIVED. Returns true if the connection is established now.
bool Handshake::complete_handshake(const Segment& segment, Instant now) {
  if (!segment.flags.ack()) return false;
  if (segment.ack != snd_nxt() || snd_nxt() == snd_una()) return false;
  if (AccurateEcn* const accurate = accurate_ecn()) {
    accurate->syn_ack_arrived(ace_of(segment.flags), segment.payload_len == 0);
  }
  establish(segment, now);
  set_window(segment.seq, std::uint32_t{segment.window} << snd_shift());
  return true;
}

/// Handles a SYN after the handshake. It is a retransmitted SYN or SYN-ACK whose answer was lost, or an attack. The
/// answer is an ACK or SYN-ACK with the current numbers (RFC 5961 section 4.2).
void Handshake::receive_late_syn(const Segment& segment, Instant now) {
  const bool retransmitted = state() == State::syn_received && segment.seq + 1 == rcv_nxt();
  if (!retransmitted) {
    challenge(now);
    return;
  }
  if (complete_handshake(segment, now)) {
    request_ack();  // simultaneous open: the peer's SYN-ACK
  } else if (!segment.flags.ack()) {
    request_syn();
  }
}

/// Sends the SYN or SYN-ACK if it is due.
void Handshake::emit_handshake(Instant now, Output& output) {
  if (!syn_is_due()) return;
  Segment segment;
  const bool answer = state() == State::syn_received;
  segment.seq = snd_una();
  segment.flags.bits = answer ? Flags::syn_bit | Flags::ack_bit : Flags::syn_bit;
  segment.flags.bits |= ecn_offer(answer);
  segment.window = syn_window();
  segment.syn = offer();
  segment.has_timestamps = uses_timestamps();
  segment.ts_value = ts_value();
  if (answer) {
    segment.ack = rcv_nxt();
    segment.ts_echo = ts_recent();
  }
  if (output.transmit(segment, nullptr, now) == 0) return;
  cancel_syn();
  cancel_ack();
  syn_went_out(now);
}

}  // namespace sluice::tcp
