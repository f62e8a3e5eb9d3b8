#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/segment.hpp"
#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// State of one host of a connection that passes end to end, as its segments show it.
struct TrackedHost {
  tcp::SeqNum next;    ///< SND.NXT: sequence number behind the last byte seen
  tcp::SeqNum unseen;  ///< up to here data may have passed that was not tracked, so a retransmission of it looks new
  tcp::SeqNum acked;   ///< newest acknowledgement number it has sent
  tcp::SeqNum edge;    ///< right edge of the widest window that it has granted, or that was granted in its name
  std::uint32_t window = 0;    ///< its window in bytes, from `acked`
  std::uint32_t ts_value = 0;  ///< its newest timestamp, valid if `timed`
  std::uint32_t rtt = 0;       ///< round trip between the proxy and the host in tick::us; 0 while unknown
  bool timed = false;
  bool seen = false;       ///< a segment of it was seen since tracking started
  bool unsettled = false;  ///< its last segment had URG, ECE or CWR set
};

/// Connection that passes from host to host and is tracked, so that it can be split when it is idle. Idle means that
/// everything sent is acknowledged and the next segment continues where the last one ended. The options of its SYNs
/// must be known. Thread: its shard's.
struct TrackedConnection {
  Handshake handshake;
  std::array<packet::HeaderTemplate, 2> headers;  ///< frame headers by Side, see Leg::headers
  std::array<TrackedHost, 2> hosts;               ///< hosts by the Side that they are behind
  Side initiator = Side::radio;
  bool adrift = false;  ///< sequence numbers are unknown, because an earlier run of the program had split it

  /// Result of tracking a segment.
  enum class Tracked : std::uint8_t {
    nothing,  ///< does not belong to this connection by its numbers: forged, reordered, or of an older connection
    more,     ///< belongs to this connection, which continues
    the_end   ///< ends this connection: FIN or RST
  };
  /// Updates the state from a segment that passes, and reports what the segment is.
  Tracked track(Side in, const tcp::Segment& segment);
  /// True if the segment's numbers belong to this connection. It lies in the window that the other host has granted, or
  /// not far behind what that host has acknowledged. Its ACK lies in its own host's window. An RST must be at a number
  /// that the other host expects (RFC 5961 section 3.2).
  [[nodiscard]] bool is_plausible(Side in, const tcp::Segment& segment) const;
  /// Handles the first fragment of a segment of unknown length. Until the other host has acknowledged all data that it
  /// may contain, a retransmission of that data looks new.
  void record_unseen(Side in, const tcp::Segment& segment);
  /// True if the connection can be split from this segment on, which carries data and was not tracked.
  [[nodiscard]] bool may_be_split(Side in, const tcp::Segment& segment) const;
  /// Initialises `flow` as a split connection in the state before that segment.
  void restore(Side in, const tcp::Segment& segment, Flow& flow, const handshake::LegConfigs& configs,
               Instant now) const;

  [[nodiscard]] TrackedHost& host(Side side) { return hosts[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const TrackedHost& host(Side side) const { return hosts[static_cast<std::size_t>(side)]; }

 private:
  /// Records the numbers, window and timestamp of a segment.
  void record(Side in, const tcp::Segment& segment);
  /// Takes sequence numbers from segments until both hosts agree.
  [[nodiscard]] Tracked find_position(Side in, const tcp::Segment& segment);
  /// True if the segment lies in the window of the receiving host, or not far behind it.
  [[nodiscard]] bool is_in_window(Side in, const tcp::Segment& segment) const;
  [[nodiscard]] const tcp::SynOptions& options_of(Side side) const {
    return side == initiator ? handshake.initiator_options : handshake.responder_options;
  }
  /// Returns the segment's window in bytes.
  [[nodiscard]] std::uint32_t window_of(Side side, const tcp::Segment& segment) const;
};

}  // namespace sluice::proxy
