#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/segment.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/opening/handshake.hpp"

namespace sluice::proxy {

/// One host of a connection that passes, as its segments show it.
struct TrackedHost {
  tcp::SeqNum next;            ///< behind the last byte it has sent, as far as is known
  tcp::SeqNum unseen;          ///< up to here it may have sent what was not tracked; what repeats it looks new
  tcp::SeqNum acked;           ///< what it has acknowledged
  tcp::SeqNum edge;            ///< right edge of the widest window it has granted, or was granted in its name
  std::uint32_t window = 0;    ///< its window in bytes, from `acked`
  std::uint32_t ts_value = 0;  ///< its newest timestamp, where `timed`
  std::uint32_t rtt = 0;       ///< between here and it, tick::micro; 0 while unknown
  bool timed = false;
  bool heard = false;      ///< since it is tracked
  bool unsettled = false;  ///< its last segment was urgent or told of congestion
};

/// A connection whose segments pass from host to host, tracked so that it can be split when it is quiet: everything
/// that either host has sent is acknowledged, and the next segment begins where the last one ended. Its options must be
/// known from its SYNs. Thread: its shard's.
struct TrackedConnection {
  Handshake handshake;
  std::array<packet::HeaderTemplate, 2> headers;  ///< as Leg::headers
  std::array<TrackedHost, 2> hosts;               ///< by the side they are behind
  Side initiator = Side::radio;
  bool adrift = false;  ///< where its hosts stand is not known yet: an earlier run had split it

  /// What a segment that has passed is to those who follow.
  enum class Heard : std::uint8_t {
    nothing,  ///< its numbers are not this connection's: forged, overtaken by others, or of an older one
    more,     ///< it is of this connection
    the_end   ///< and ends it
  };
  Heard track(Side in, const tcp::Segment& segment);
  /// Its numbers are this connection's: it lies in the window that the other host has granted, or not far behind what
  /// that one has acknowledged, and acknowledges within the window that its own host has granted. A reset: at a number
  /// that the other host expects (RFC 5961 section 3.2).
  [[nodiscard]] bool is_plausible(Side in, const tcp::Segment& segment) const;
  /// The beginning of a segment has passed whose end is not known, nor what becomes of it: until the other host has
  /// acknowledged all that it may have brought, a repetition of it looks new.
  void note_unseen(Side in, const tcp::Segment& segment);
  /// It may be split from this segment on, which brings data and was not tracked.
  [[nodiscard]] bool may_be_split(Side in, const tcp::Segment& segment) const;
  /// Puts the connection into `flow`, split, as it stands before that segment.
  void restore(Side in, const tcp::Segment& segment, Flow& flow, const handshake::LegConfigs& configs,
               Instant now) const;

  [[nodiscard]] TrackedHost& host(Side side) { return hosts[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const TrackedHost& host(Side side) const { return hosts[static_cast<std::size_t>(side)]; }

 private:
  void note(Side in, const tcp::Segment& segment);
  [[nodiscard]] Heard find_position(Side in, const tcp::Segment& segment);
  [[nodiscard]] bool is_in_window(Side in, const tcp::Segment& segment) const;
  [[nodiscard]] const tcp::SynOptions& options_of(Side side) const {
    return side == initiator ? handshake.initiator_options : handshake.responder_options;
  }
  [[nodiscard]] std::uint32_t window_of(Side side, const tcp::Segment& segment) const;
};

}  // namespace sluice::proxy
