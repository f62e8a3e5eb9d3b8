#pragma once

#include <cstdint>

#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/state.hpp"
#include "dataplane/units/time.hpp"

// State of an Endpoint, one struct per group of functions. The value `{}` of each is that of a new connection.

namespace sluice::tcp {

/// The one timer that is armed, in order of escalation (RFC 8985 section 8). From `reorder` on, data is outstanding.
enum class Timer : std::uint8_t { none, persist, time_wait, reorder, probe, retransmit };
enum class Recovery : std::uint8_t { none, fast, timeout };
/// Progress of the test whether a retransmission was spurious. `none`: no test runs. `retransmission_due`: nothing was
/// retransmitted yet. `retransmission_sent`: the first retransmission was sent. `retransmission_answered`: the first
/// retransmission was acknowledged (RFC 5682, after timeouts only).
enum class Doubt : std::uint8_t { none, retransmission_due, retransmission_sent, retransmission_answered };

/// Counters of one endpoint. All except `retransmitted` saturate.
struct EndpointCounters {
  std::uint32_t retransmitted = 0;    ///< segments retransmitted
  std::uint16_t duplicate_acks = 0;   ///< duplicate ACKs received
  std::uint16_t out_of_order = 0;     ///< number of segments received out of order
  std::uint16_t discarded = 0;        ///< segments with data that was old, beyond the window or beyond memory
  std::uint16_t timeouts = 0;         ///< retransmission timeouts
  std::uint16_t fast_recoveries = 0;  ///< loss recoveries without a timeout
  std::uint16_t tail_probes = 0;      ///< tail loss probes sent (RFC 8985 section 7)
};

/// Send sequence variables (RFC 9293 section 3.3.1).
struct SendState {
  SeqNum una;
  SeqNum nxt;
  SeqNum end;                   ///< sequence number after the last byte written, which is that of the FIN
  SeqNum wl1;                   ///< sequence number of the segment that last updated the window
  std::uint32_t wnd = 0;        ///< peer's window, bytes
  std::uint32_t max_wnd = 0;    ///< largest window of the peer so far (`wnd`), bytes
  std::uint32_t last_sent = 0;  ///< time of the last new data segment, tick::ms
};

/// Receive sequence variables (RFC 9293 section 3.3.1) and the delayed-ACK timer.
struct ReceiveState {
  Instant ack_deadline = never;  ///< deadline of a delayed ACK
  SeqNum nxt;
  SeqNum adv;            ///< right edge of the window advertised to the peer
  SeqNum last_ack_sent;  ///< acknowledgement number sent last; if acks_deferred is set, the limit that the owner allows
  std::uint32_t unread = 0;
  std::uint32_t ts_recent = 0;
  std::uint32_t newest_ts = 0;
};

/// State of loss recovery.
struct LossRecovery {
  /// RecoveryPoint of RFC 6675; if tail_out is set, SND.NXT when the tail loss probe was sent.
  SeqNum point;
  std::uint16_t duplicate_acks = 0;  ///< number of consecutive duplicate ACKs

  /// Number of retransmissions of the last recovery that are not known to be spurious, with SACK. Without SACK, under
  /// an allowance: number of segments from SND.UNA on that are retransmitted at once; see
  /// Endpoint::retransmit_missing().
  std::uint8_t retransmissions = 0;
  std::uint8_t retries = 0;  ///< number of consecutive transmissions without an answer
};

/// Limits of the segment size, in bytes of payload.
struct PathMtuState {
  std::uint16_t mss = 536;          ///< effective segment size
  std::uint16_t full_mss = 536;     ///< segment size that the handshake agreed on and the local port carries
  std::uint16_t port = UINT16_MAX;  ///< segment size that the local port carries, whatever the handshake agreed on
  std::uint16_t local_mss = 536;    ///< MSS that this endpoint announces
};

/// Flags and small numbers of all groups, packed into 10 bytes because separate bit-fields per group leave padding. The
/// order keeps every field inside one byte.
struct EndpointBits {
  // Connection and negotiated options.
  State state : 4 = State::closed;
  Timer timer : 3 = Timer::none;
  bool on_fast_path : 1 = false;  ///< true if the fast paths apply, see update_fast_path()
  bool use_timestamps : 1 = false;
  bool use_sack : 1 = false;
  bool use_scale : 1 = false;
  bool use_ecn : 1 = false;
  std::uint8_t snd_shift : 4 = 0;  ///< peer's window scale
  std::uint8_t rcv_shift : 4 = 0;  ///< window scale of this endpoint

  // Settings of the owner, kept for the next connection.
  WindowUpdates window_updates : 2 = WindowUpdates::sparing;
  WindowSource window_source : 1 = WindowSource::congestion_control;
  // Sending.
  bool urgent_out : 1 = false;  ///< true if urgent data up to RecoveryState::snd_up is not acknowledged yet
  bool cwnd_limited : 1 = false;
  bool syn_due : 1 = false;
  bool probe_due : 1 = false;
  /// True if a part of a segment must be sent because the peer's window stays small (SWS override).
  bool split_due : 1 = false;
  bool cwr_due : 1 = false;  ///< true if the next new data must carry CWR

  /// True if the window was reduced for an ECN echo; it is not reduced again before RecoveryPoint.
  bool reduced : 1 = false;
  // Receiving.
  bool ack_now : 1 = false;
  bool acks_deferred : 1 = false;         ///< true if the owner decides which data is acknowledged
  std::uint8_t unacked_segments : 6 = 0;  ///< data segments received since the last acknowledgement
  bool ece_due : 1 = false;               ///< true while every ACK carries ECE, until the peer answers with CWR
  bool urgent_in : 1 = false;             ///< true if the peer has announced urgent data that was not read yet
  std::uint8_t duplicates_due : 5 = 0;    ///< number of duplicate ACKs due for out-of-order segments, without SACK
  bool keepalive_pending : 1 = false;     ///< true if the owner must answer a keep-alive or window probe of the peer

  // Loss recovery.
  Recovery recovery : 2 = Recovery::none;
  Doubt doubt : 2 = Doubt::none;
  bool retransmit_first : 1 = false;    ///< true if the next retransmission ignores cwnd
  std::uint8_t backoff : 5 = 0;         ///< number of doublings of the RTO or persist timer, at most backoff_limit
  bool partially_acked : 1 = false;     ///< true if a fast recovery without SACK has received a partial acknowledgement
  bool peer_responded : 1 = false;      ///< true if the peer has sent a segment since the retransmission timer expired
  bool tail_due : 1 = false;            ///< true if a tail loss probe is due (RFC 8985 section 7)
  bool tail_out : 1 = false;            ///< true if a tail loss probe was sent and is not answered
  bool tail_retransmitted : 1 = false;  ///< true if the tail loss probe retransmitted old data

  // Closing.
  CloseReason close_reason : 3 = CloseReason::none;
  bool fin_wanted : 1 = false;
  bool fin_sent : 1 = false;
  bool fin_due_again : 1 = false;  ///< true if the FIN must be retransmitted
  bool fin_known : 1 = false;      ///< true if the peer's FIN was received, perhaps out of order
  bool fin_received : 1 = false;   ///< true if the peer's FIN was received in order
  bool reset_due : 1 = false;
  // Path MTU discovery.
  bool trying_larger : 1 = false;  ///< true if a probe segment larger than mss is in flight (path MTU search)
  bool small_path : 1 = false;     ///< true if queued payloads may exceed one segment and are cut when they are sent

  /// Step of the search for a larger segment size; step n tries 1/2^n of the distance.
  std::uint8_t search_step : 2 = 0;
  std::uint8_t shrunk_at : 6 = 0;  ///< time at which segments became smaller or the last search ended, tick::s137
};
static_assert(sizeof(EndpointBits) == 10);

}  // namespace sluice::tcp
