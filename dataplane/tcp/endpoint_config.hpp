#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/packet/segment.hpp"
#include "dataplane/packet/seq.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Selects the limit of the bytes in flight that applies in addition to the peer's window.
enum class WindowSource : std::uint8_t {
  congestion_control,  ///< cwnd limits the bytes in flight

  /// The caller's allowance in emit() limits the bytes in flight. Losses are still retransmitted, and cwnd is not used.
  allowance
};

/// Distance that the right edge must be able to move before a pure window update is sent.
enum class WindowUpdates : std::uint8_t {
  /// A window update is sent if the right edge can move by two segments. Smaller moves are advertised with the next
  /// ACK.
  sparing,

  /// A window update is sent if the right edge can move by a quarter of the window that the peer can still use. This
  /// distance is at least one segment and at most two. Used where the window controls the peer's rate, so that a late
  /// update delays the peer.
  prompt,
  /// A window update is sent if the right edge can move by a quarter of the window that the peer can still use. This
  /// distance is at least one segment and at most eight. So there are fewer updates than with WindowUpdates::prompt.
  /// That suffices, because the ACK of every second segment also carries the window.
  prompt_for_its_size
};
inline constexpr std::uint32_t prompt_share = 4;
inline constexpr std::uint32_t prompt_segments = 2;
inline constexpr std::uint32_t prompt_segments_for_its_size = 8;

struct PacedSender;
class AccurateEcn;
class RecoveryStatePool;

/// Configuration shared by many endpoints. Must outlive them.
struct EndpointConfig {
  CongestionAlgorithm congestion = CongestionAlgorithm::cubic;
  /// Lower bound of the RTO's variation term (4 * RTTVAR), and thereby of the RTO.
  Duration min_rto = std::chrono::milliseconds(200);
  Duration max_rto = std::chrono::seconds(60);
  Duration delayed_ack = std::chrono::milliseconds(40);
  Duration time_wait = std::chrono::seconds(1);
  std::uint32_t initial_window_segments = 10;  ///< initial window in segments (RFC 6928)

  /// Number of retransmissions in a row after which the connection is closed (RFC 1122 section 4.2.3.5, R2). The reason
  /// is then `timed_out`.
  std::uint32_t max_retransmissions = 15;
  bool tail_loss_probes = true;  ///< true: sends tail loss probes (RFC 8985 section 7)

  /// True if the sender spreads cwnd over the round trip; model-based congestion controls pace in any case.
  bool pacing = false;
  /// Largest number of packets stored out of order for reassembly, at most Reassembly::capacity. A small offered window
  /// lowers this number.
  std::uint32_t max_out_of_order = UINT16_MAX;
  /// True for Reno as in RFC 2001, for comparison with measurements from before 1999. A partial acknowledgement then
  /// ends fast recovery (no RFC 6582). The first two duplicate ACKs send nothing (no RFC 3042), and no reduction is
  /// undone (no RFC 3522 or 5682). Intended for connections without SACK.
  bool classic_reno = false;
  /// True if cwnd is restored after a spurious retransmission (RFC 3522, 3708, 5682). If false, a pause of the radio
  /// link reduces cwnd, as in hosts and simulators before 2003.
  bool takes_back = true;
  /// True if an ACK of a segment that was sent once ends the backoff of the RTO in a recovery without SACK, as in
  /// Linux. Three duplicate ACKs without SACK end it, too. If false, the backoff lasts until an RTT sample (RFC 6298
  /// section 5), of which such a recovery has none. If the caller's allowance (bytes permitted to send) replaces cwnd,
  /// the ACK of a segment that was sent once always ends the backoff.
  bool ends_backoff_in_recovery = false;
  /// True: the endpoint answers keep-alives. False: the code that owns the endpoint answers them, see take_keepalive().
  bool answers_keepalives = true;

  /// True if a written payload is copied into the buffer of the queued payload before it, provided that one segment can
  /// carry both. The number of buffers is then in proportion to bytes, even if the endpoint's owner writes small
  /// payloads. Intended for connections that relay segments of another connection.
  bool joins_payloads = false;
  /// State of a paced connection. A configuration with such state belongs to one connection only (see PacedEndpoint).
  /// If null, there is no pacing, and CUBIC replaces a model-based congestion control.
  PacedSender* paced = nullptr;
  /// Counters of a connection that may agree on accurate ECN feedback; a configuration with counters belongs to one
  /// connection only. If null, the SYN does not offer accurate feedback, and classic ECN is accepted instead.
  AccurateEcn* accurate_ecn = nullptr;
  /// Pool for the state of connections in recovery or with reordering; null: the heap.
  RecoveryStatePool* recovery_states = nullptr;

  /// Secret from which the sender computes where it moves the boundary between two segments, so that a peer cannot
  /// guess where a segment ends (segment_boundary.cpp). With 0 no boundary is moved, and ACKs that end inside a segment
  /// are not counted.
  std::uint64_t boundary_secret = 0;

  /// True if a connection with this configuration needs a PacedEndpoint.
  [[nodiscard]] bool wants_pacing() const {
    return pacing || uses_model(congestion) || congestion == CongestionAlgorithm::prague;
  }
};

/// State of an established connection that this endpoint continues, such as one that two hosts opened and that the
/// proxy then splits.
struct EstablishedState {
  /// Sequence number of the next byte to send (SND.NXT), in the stream of the host that this endpoint impersonates.
  SeqNum snd_nxt;
  SeqNum rcv_nxt;                ///< sequence number of the next byte expected from the peer
  SeqNum rcv_adv;                ///< right edge of the window already advertised to the peer
  SynOptions local;              ///< SYN options of the host that this endpoint impersonates
  SynOptions remote;             ///< SYN options of the peer
  std::uint32_t snd_window = 0;  ///< window of the peer in bytes, after scaling
  std::uint32_t ts_recent = 0;   ///< newest TSval received from the peer
  /// True if the peer has acknowledged everything before `snd_nxt`, so that SND.UNA equals SND.NXT. If false, SND.UNA
  /// is `snd_nxt` - 1.
  bool snd_una_is_acked = true;
  Duration rtt{};  ///< round-trip time of the handshake between this endpoint and the peer; zero if not measured

  /// MSS that fits the local port: its MTU less IP and TCP headers without options. No segment is larger, whatever the
  /// peer has announced.
  std::uint16_t port_mss = UINT16_MAX;
};

}  // namespace sluice::tcp
