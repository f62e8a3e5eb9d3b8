#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/tcp/seq.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// What decides how much may be outstanding beside the peer's window.
enum class WindowSource : std::uint8_t {
  congestion_control,  ///< cwnd
  allowance            ///< the caller's allowance in emit(); loss is still repaired, cwnd is not consulted
};

/// How far the right edge must be able to move before a segment is sent for it alone.
enum class WindowUpdates : std::uint8_t {
  sparing,  ///< two segments: what the reader frees is told with the acknowledgements
  /// A quarter of what the peer may still send, from one segment to two: the window is what steers the peer, and what
  /// it is late for is missing later.
  prompt,
  prompt_for_its_size  ///< the same, up to eight segments: what comes meanwhile is acknowledged by twos, and tells
};
inline constexpr std::uint32_t prompt_share = 4;
inline constexpr std::uint32_t prompt_segments = 2;
inline constexpr std::uint32_t prompt_segments_for_its_size = 8;

struct PacedSender;
class AccurateEcn;
class DisturbanceStore;

/// What many endpoints have in common. Outlives them.
struct EndpointConfig {
  CongestionAlgorithm congestion = CongestionAlgorithm::cubic;
  Duration min_rto = std::chrono::milliseconds(200);  ///< lower bound of the RTO's variation term, hence of the RTO
  Duration max_rto = std::chrono::seconds(60);
  Duration delayed_ack = std::chrono::milliseconds(40);
  Duration time_wait = std::chrono::seconds(1);
  std::uint32_t initial_window_segments = 10;  ///< RFC 6928
  std::uint32_t max_retransmissions = 15;      ///< in a row, then the connection has timed out (RFC 1122 4.2.3.5 R2)
  bool tail_loss_probes = true;                ///< RFC 8985 section 7
  bool pacing = false;  ///< spread the window over the round trip; models of the path do in any case
  /// Packets held for reassembly, at most Reassembly::capacity; nor more than the window offered may need.
  std::uint32_t max_out_of_order = UINT16_MAX;
  /// Reno as it was before 1999 (RFC 2001), to compare with what was measured then: a partial acknowledgement ends a
  /// fast recovery and repairs nothing (without RFC 6582), the first two duplicates send nothing (without RFC 3042),
  /// and no repair is ever taken back (without RFC 3522 and 5682). For connections without SACK.
  bool classic_reno = false;
  /// A repair that nothing was lost for is taken back (RFC 3522, 3708, 5682). False: as hosts and simulators of before
  /// 2003 have it, where a pause of the radio costs the window.
  bool takes_back = true;
  bool answers_keepalives = true;  ///< false: the owner does, see take_keepalive()
  /// Payload that waits to be sent is copied behind what waits before it while one segment can carry both, so that
  /// buffers are in proportion to bytes however small the writes are. For connections that relay others' segments.
  bool joins_payloads = false;
  /// Where a paced connection keeps what others need not have; the configuration is then that connection's own (see
  /// PacedEndpoint). Without it there is neither pacing nor a model of the path: CUBIC takes its place.
  PacedSender* paced = nullptr;
  /// Where a connection counts that may agree on accurate ECN feedback; the configuration is then that connection's
  /// own. Without it the SYN's offer of it is not made, and classic ECN agreed to where it comes.
  AccurateEcn* accurate_ecn = nullptr;
  /// Where what a disturbed connection needs comes from; null: from the heap.
  DisturbanceStore* disturbances = nullptr;

  /// A connection under this needs a PacedEndpoint.
  [[nodiscard]] bool wants_pacing() const {
    return pacing || is_modelled(congestion) || congestion == CongestionAlgorithm::prague;
  }
};

/// The state of a connection that was opened by others and goes on here.
struct EstablishedState {
  SeqNum snd_nxt;                ///< next byte we send (impersonating the other side)
  SeqNum rcv_nxt;                ///< next byte we expect
  SeqNum rcv_edge;               ///< right edge of the window already advertised to the peer
  SynOptions local;              ///< the SYN options of the host we stand for
  SynOptions remote;             ///< the peer's
  std::uint32_t snd_window = 0;  ///< the peer's window in bytes (scaled)
  std::uint32_t ts_recent = 0;   ///< newest timestamp heard from the peer
  bool snd_una_is_acked = true;  ///< the peer has acknowledged all before snd_nxt
  Duration rtt{};                ///< of the handshake on this leg; zero when not measured
  /// The MSS that fits our own port: its MTU less IP and TCP headers without options. No segment is larger, whatever
  /// the peer has announced.
  std::uint16_t port_mss = UINT16_MAX;
};

}  // namespace sluice::tcp
