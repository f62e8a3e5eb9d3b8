#pragma once

#include <cstdint>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/tcp/state.hpp"
#include "dataplane/units/time.hpp"

// What an Endpoint keeps, by owner. Each part is as a new connection wants it when it is `{}`.

namespace sluice::tcp {

/// From `reorder` on something is outstanding (RFC 8985 section 8: one timer, in this order as things get worse).
enum class Timer : std::uint8_t { none, persist, time_wait, reorder, probe, retransmit };
enum class Recovery : std::uint8_t { none, fast, timeout };
/// Whether a repair was needed: no doubt, or no longer; nothing was repeated yet; the first copy was sent; it was
/// answered (RFC 5682, after timeouts only).
enum class Doubt : std::uint8_t { none, copy_due, copy_sent, copy_answered };

/// What one endpoint counts. All but `retransmitted` stop at their limit.
struct EndpointCounters {
  std::uint32_t retransmitted = 0;    ///< segments sent again
  std::uint16_t duplicate_acks = 0;   ///< received
  std::uint16_t out_of_order = 0;     ///< segments that came before their turn
  std::uint16_t discarded = 0;        ///< segments whose data was old, beyond the window or beyond memory
  std::uint16_t timeouts = 0;         ///< retransmission timeouts
  std::uint16_t fast_recoveries = 0;  ///< loss recoveries that did not need the timer
  std::uint16_t tail_probes = 0;      ///< segments sent to learn of a lost tail (RFC 8985 section 7)
};

/// Sending (RFC 9293 section 3.3.1).
struct SendState {
  SeqNum una;
  SeqNum nxt;
  SeqNum end;                   ///< of what was written; the FIN's place
  SeqNum wl1;                   ///< sequence number of the segment that last updated the window
  std::uint32_t wnd = 0;        ///< peer's window, bytes
  std::uint32_t max_wnd = 0;    ///< largest it ever was
  std::uint32_t last_sent = 0;  ///< last new data segment, tick::fine
};

/// Receiving (RFC 9293 section 3.3.1), and when the peer is to be acknowledged.
struct ReceiveState {
  Instant ack_deadline = never;  ///< of an acknowledgement that is delayed
  SeqNum nxt;
  SeqNum edge;           ///< right edge of the window advertised
  SeqNum last_ack_sent;  ///< with acks_held as far as the owner lets
  std::uint32_t unread = 0;
  std::uint32_t ts_recent = 0;
  std::uint32_t newest_ts = 0;
};

/// Repairing what was lost.
struct RepairState {
  SeqNum point;                      ///< RFC 6675 RecoveryPoint; with tail_out the end of what the probe asks for
  std::uint16_t duplicate_acks = 0;  ///< in a row
  /// With SACK: copies sent by the last repair and not known to have been duplicates. Without, under an allowance: how
  /// many segments from the front on are repeated at a time; see Endpoint::repeat_what_is_missing().
  std::uint8_t copies = 0;
  std::uint8_t retries = 0;  ///< transmissions in a row without an answer
};

/// How large segments may be.
struct PathMtuState {
  std::uint16_t mss = 536;          ///< effective
  std::uint16_t full_mss = 536;     ///< what the handshake agreed on and our own port carries
  std::uint16_t port = UINT16_MAX;  ///< payload that our own port carries, whatever was agreed on
  std::uint16_t local_mss = 536;    ///< what we announce
};

/// Flags and small numbers of all owners. Bits of one owner would not fill their bytes: together they fit ten. No
/// number lies across the end of a byte: the order sees to that.
struct EndpointBits {
  // The connection, and what was agreed on.
  State state : 4 = State::closed;
  Timer timer : 3 = Timer::none;
  bool on_fast_path : 1 = false;  ///< the fast paths apply, see settle()
  bool use_timestamps : 1 = false;
  bool use_sack : 1 = false;
  bool use_scale : 1 = false;
  bool use_ecn : 1 = false;
  std::uint8_t snd_shift : 4 = 0;  ///< peer's window scale
  std::uint8_t rcv_shift : 4 = 0;  ///< ours
  // The owner's wishes, which a new connection keeps.
  WindowUpdates window_updates : 2 = WindowUpdates::sparing;
  WindowSource window_source : 1 = WindowSource::congestion_control;
  // Sending.
  bool urgent_out : 1 = false;  ///< urgent data up to Disturbance::snd_up is not acknowledged yet
  bool cwnd_limited : 1 = false;
  bool syn_due : 1 = false;
  bool probe_due : 1 = false;
  bool split_due : 1 = false;  ///< SWS override: send what the small window takes
  bool cwr_due : 1 = false;    ///< the next new data carries CWR
  bool reduced : 1 = false;    ///< the window was reduced for an echo; up to the recovery point no second time
  // Receiving.
  bool ack_now : 1 = false;
  bool acks_held : 1 = false;             ///< the owner decides what is acknowledged
  std::uint8_t unacked_segments : 6 = 0;  ///< data segments received since the last acknowledgement
  bool ece_due : 1 = false;               ///< the peer is told of congestion until it answers with CWR
  bool urgent_in : 1 = false;             ///< the peer has announced urgent data that was not read yet
  std::uint8_t duplicates_due : 5 = 0;    ///< acknowledgements owed, without SACK, for segments out of order
  bool keepalive_pending : 1 = false;     ///< the peer's keep-alive waits for the owner
  // Repairing.
  Recovery recovery : 2 = Recovery::none;
  Doubt doubt : 2 = Doubt::none;
  bool retransmit_first : 1 = false;  ///< the next retransmission does not wait for cwnd
  std::uint8_t backoff : 5 = 0;       ///< doublings of the RTO or persist timer, at most backoff_limit
  bool partially_acked : 1 = false;   ///< a fast recovery without SACK has seen a partial acknowledgement
  bool heard : 1 = false;             ///< the peer was, since the retransmission timer expired
  bool tail_due : 1 = false;          ///< a loss probe is to be sent (RFC 8985 section 7)
  bool tail_out : 1 = false;          ///< and it was, and was not answered
  bool tail_repeated : 1 = false;     ///< it repeated old data
  // Closing.
  CloseReason close_reason : 3 = CloseReason::none;
  bool fin_wanted : 1 = false;
  bool fin_sent : 1 = false;
  bool fin_due_again : 1 = false;  ///< the FIN must be retransmitted
  bool fin_known : 1 = false;      ///< the peer's FIN was seen, perhaps before its turn
  bool fin_received : 1 = false;   ///< and taken in order
  bool reset_due : 1 = false;
  // Path MTU discovery.
  bool trying_larger : 1 = false;    ///< a segment larger than mss is out, to see whether it arrives
  bool small_path : 1 = false;       ///< what waits may be larger than a segment: it is cut when it is sent
  std::uint8_t search_step : 2 = 0;  ///< of the search for a larger size: by how much of the way it is tried
  std::uint8_t shrunk_at : 6 = 0;    ///< when segments became smaller or the last search ended, tick::slow
};
static_assert(sizeof(EndpointBits) == 10);

}  // namespace sluice::tcp
