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
  tcp::SeqNum next;  ///< SND.NXT as seen from segments: the sequence number after the last byte that the host has sent

  /// Sequence number after the last data of the host that may have passed without being tracked. A retransmission of
  /// such data would look like new data.
  tcp::SeqNum unseen;
  tcp::SeqNum acked;  ///< newest acknowledgement number that the host has sent
  /// rightmost window edge that the host has advertised, or that the proxy has advertised in its name
  tcp::SeqNum edge;
  std::uint32_t window = 0;    ///< window that the host advertises, in bytes after its newest acknowledgement number
  std::uint32_t ts_value = 0;  ///< TSval of the host's newest segment; valid if the host has sent timestamps
  /// round-trip time between the proxy and the host in tick::us (about 1 µs); 0 while unknown
  std::uint32_t rtt = 0;
  bool timed = false;
  bool seen = false;  ///< true if a segment of the host was seen since the tracking started
  /// true if the last segment of the host had URG, ECE or CWR set; the connection is not split in that state
  bool unsettled = false;
};

/// State of a connection that can be split while it is idle. The connection is idle if all data is acknowledged and the
/// next segment carries the byte that its receiver expects next. The options of both SYNs must be known. Thread: the
/// shard's.
struct TrackedConnection {
  Handshake handshake;

  /// frame headers of packets to the host behind each Side; see Leg::headers
  std::array<packet::HeaderTemplate, 2> headers;
  std::array<TrackedHost, 2> hosts;  ///< state of both hosts, indexed by the Side of the host
  Side initiator = Side::radio;
  /// true while sequence numbers are unknown, because an earlier run of the program had split the connection
  bool numbers_unknown = false;

  /// Result of tracking a segment of a connection.
  enum class Tracked : std::uint8_t {
    /// the segment's numbers do not match this connection: it is forged, reordered or from an older connection
    nothing,
    more,            ///< the segment belongs to this connection, which is still open
    ends_connection  ///< the segment is a FIN or RST, which ends this connection
  };
  /// Updates the state with a segment that is forwarded between the hosts. Returns whether the segment belongs to the
  /// connection, and whether it ends the connection.
  Tracked track(Side in, const tcp::Segment& segment);
  /// True if the segment's numbers match this connection. The segment must lie in or near the window of the receiving
  /// host, see is_in_window(). It must acknowledge at least as much as earlier ones. It may acknowledge at most 64 KiB
  /// beyond the right edge that its sender has advertised. A RST must have a number that the receiving host expects
  /// (RFC 5961 section 3.2).
  [[nodiscard]] bool is_plausible(Side in, const tcp::Segment& segment) const;
  /// Handles the first fragment of a segment, whose length is unknown. The segment may contain data that is not
  /// tracked. A retransmission of that data would look new, so the connection is not split until the data is
  /// acknowledged.
  void record_unseen(Side in, const tcp::Segment& segment);
  /// True if the connection can be split just before this segment is processed. The connection must be idle and must
  /// not use accurate ECN (RFC 9768). The segment must carry its sender's next data, have no flags but ACK and PSH and
  /// no SACK blocks, and not have been tracked.
  [[nodiscard]] bool may_be_split(Side in, const tcp::Segment& segment) const;
  /// Initializes `flow` as a split connection in the state just before `segment`. The split connection must process
  /// `segment` first.
  void restore(Side in, const tcp::Segment& segment, Flow& flow, const handshake::LegConfigs& configs,
               Instant now) const;

  [[nodiscard]] TrackedHost& host(Side side) { return hosts[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const TrackedHost& host(Side side) const { return hosts[static_cast<std::size_t>(side)]; }

 private:
  /// Records the sequence numbers, window and timestamp of a segment.
  void record(Side in, const tcp::Segment& segment);
  /// Determines the sequence numbers of both directions from segments. Returns whether the segment belongs to the
  /// connection, and whether it ends the connection.
  [[nodiscard]] Tracked find_position(Side in, const tcp::Segment& segment);
  /// True if the segment lies in or near the window of the receiving host. It may begin at most 1 MiB before what that
  /// host has acknowledged. It may end at most 64 KiB beyond the right edge of the window.
  [[nodiscard]] bool is_in_window(Side in, const tcp::Segment& segment) const;
  [[nodiscard]] const tcp::SynOptions& options_of(Side side) const {
    return side == initiator ? handshake.initiator_options : handshake.responder_options;
  }
  /// Returns the window in bytes that a segment of the host behind `side` advertises.
  [[nodiscard]] std::uint32_t window_of(Side side, const tcp::Segment& segment) const;
};

}  // namespace sluice::proxy
