#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/segment.hpp"
#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// State of one host of a connection that is not split, derived from its segments.
struct TrackedHost {
  tcp::SeqNum next;  ///< SND.NXT: sequence number after the last byte that the host was seen to send

  /// sequence number up to which untracked data may have passed, so that retransmissions of it look new
  tcp::SeqNum unseen;
  tcp::SeqNum acked;  ///< newest acknowledgement number that the host has sent
  /// Right edge of the widest window that the host has advertised, or that was advertised on its behalf.
  tcp::SeqNum edge;
  std::uint32_t window = 0;    ///< window of the host in bytes, counted from `acked`
  std::uint32_t ts_value = 0;  ///< newest timestamp of the host, valid if `timed`
  std::uint32_t rtt = 0;       ///< round-trip time between the proxy and the host in tick::us; 0 while unknown
  bool timed = false;
  bool seen = false;       ///< true if a segment of the host was seen since tracking started
  bool unsettled = false;  ///< true if the host's last segment had URG, ECE or CWR set
};

/// Connection that can be split when it is idle. Idle means that everything sent is acknowledged, and the next segment
/// continues where the last one ended. The options of its SYNs must be known. Thread: its shard's.
struct TrackedConnection {
  Handshake handshake;

  /// frame headers of packets to the host behind each Side, see Leg::headers
  std::array<packet::HeaderTemplate, 2> headers;
  std::array<TrackedHost, 2> hosts;  ///< state of both hosts, indexed by the Side behind which the host is
  Side initiator = Side::radio;
  /// True while sequence numbers are unknown, because an earlier run of the program had split the connection.
  bool adrift = false;

  /// Result of tracking a segment of a connection.
  enum class Tracked : std::uint8_t {
    nothing,  ///< the segment's numbers do not match this connection, because it is forged, reordered or older
    more,     ///< the segment belongs to this connection, which is still open
    the_end   ///< the segment ends this connection: FIN or RST
  };
  /// Updates the state from a forwarded segment. Returns whether the segment belongs to the connection or ends it.
  Tracked track(Side in, const tcp::Segment& segment);
  /// True if the segment's numbers belong to this connection. The segment lies in the window that the other host has
  /// granted, or not far below the sequence number that the other host has acknowledged. Its ACK lies in the window of
  /// the host that sent it. An RST must be at a number that the other host expects (RFC 5961 section 3.2).
  [[nodiscard]] bool is_plausible(Side in, const tcp::Segment& segment) const;
  /// Handles the first fragment of a segment of unknown length. Until the other host has acknowledged all data that the
  /// segment may contain, a retransmission of that data looks new.
  void record_unseen(Side in, const tcp::Segment& segment);
  /// True if the connection can be split before this segment, which carries data and was not tracked, is processed.
  [[nodiscard]] bool may_be_split(Side in, const tcp::Segment& segment) const;
  /// Initialises `flow` as a split connection in the state before `segment`, which the split connection will process
  /// first.
  void restore(Side in, const tcp::Segment& segment, Flow& flow, const handshake::LegConfigs& configs,
               Instant now) const;

  [[nodiscard]] TrackedHost& host(Side side) { return hosts[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const TrackedHost& host(Side side) const { return hosts[static_cast<std::size_t>(side)]; }

 private:
  /// Records the sequence numbers, window and timestamp of a segment.
  void record(Side in, const tcp::Segment& segment);
  /// Determines sequence numbers from segments until both hosts agree on them.
  [[nodiscard]] Tracked find_position(Side in, const tcp::Segment& segment);
  /// True if the segment lies in the window of the receiving host, or not far below the window.
  [[nodiscard]] bool is_in_window(Side in, const tcp::Segment& segment) const;
  [[nodiscard]] const tcp::SynOptions& options_of(Side side) const {
    return side == initiator ? handshake.initiator_options : handshake.responder_options;
  }
  /// Returns the window in bytes that a segment of the host behind `side` advertises.
  [[nodiscard]] std::uint32_t window_of(Side side, const tcp::Segment& segment) const;
};

}  // namespace sluice::proxy
