#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "control/window_laws/advertised_window.hpp"
#include "control/window_laws/stream_position.hpp"
#include "dataplane/flow/flow_key.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/segment.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/rate_control/controlled_flow.hpp"

namespace sluice::proxy {

/// State of an end-to-end connection.
enum class EndToEndPhase : std::uint8_t {
  syn,      ///< a SYN was seen
  syn_ack,  ///< the SYN-ACK was seen, so both window scales are known
  open,     ///< the initiator has acknowledged the SYN-ACK, so the SYN was not forged
  closing   ///< both hosts have sent a FIN
};

/// Why a window opens only gradually, whatever the host offers. A window cannot be taken back, and the sender may have
/// a large congestion window that it has never used.
enum class Opening : std::uint8_t {
  no,            ///< the window opens freely
  reports_late,  ///< reports are late: the window opens by what is acknowledged, as in slow start
  switched  ///< another controller was in force, or the connection was split: it opens by 1/8 of what is acknowledged
};

/// One direction of the data of an end-to-end connection, as its segments show it.
struct DataWay {
  control::StreamPosition position{0};
  control::AdvertisedWindow window{0};  ///< window of the receiving host, as forwarded in its ACKs
  Bytes sent;                           ///< position behind the last data byte that passed
  Bytes acked;  ///< position acknowledged by the receiver, whether or not the ACK was forwarded yet
};

/// Minimum MSS that is assumed for the controllers, because they count in segments.
inline constexpr std::uint16_t min_segment = 88;

/// Contents of a host's SYN or SYN-ACK.
struct SynNote {
  tcp::SeqNum isn;
  std::uint16_t window = 0;
  tcp::SynOptions options;
};

/// State needed to track a connection from its middle on.
struct KnownConnection {
  flow::FlowKey key;
  BearerId bearer = no_id;
  Side initiator = Side::radio;
  std::uint8_t dscp = 0;        ///< DSCP of its SYN
  std::uint8_t fins = 0;        ///< bit per Side: the host has sent a FIN
  std::uint8_t unfinished = 0;  ///< bit per Side, see Handshake::unfinished
  bool running = false;         ///< data has passed already
  std::array<SynNote, 2> syns;  ///< SYNs by the Side of the sending host
  std::array<tcp::SeqNum, 2>
      next;  ///< sequence number by receiving Side: everything before it is acknowledged, or delivered by the proxy
  std::array<tcp::SeqNum, 2> edge;  ///< right edge by receiving Side that was advertised to the sender, or beyond
  Duration round_trip{};            ///< round trip of the handshake; zero while unknown

  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
};

/// A connection that stays end to end, with windows in its ACKs rewritten and some ACKs delayed. Its state may be
/// dropped at any time, because no window was advertised beyond what the hosts offer.
struct EndToEndFlow {
  flow::FlowKey key;
  std::array<DataWay, 2> ways;               ///< data state by the Side that the data goes to
  std::array<SynNote, 2> syns;               ///< SYNs by the Side of the sending host
  std::optional<ControlledFlow> controller;  ///< per-flow window controller, if the bearer uses one
  Bytes opening_at;                          ///< position acknowledged when the gradual opening started
  Bytes opening_window;                      ///< window when the gradual opening started
  packet::Queue held;                        ///< delayed ACKs of the UE, oldest first
  Instant last_activity{};
  Instant handshake{};    ///< during the handshake: when its newest segment passed
  Duration round_trip{};  ///< round trip of the handshake; zero while unknown
  Duration core_trip{};   ///< part of round_trip between the proxy and the server; zero while unknown
  BearerId bearer = no_id;
  EndToEndId holding_next = no_id;  ///< next in the list of the bearer's flows with delayed ACKs
  EndToEndId holding_previous = no_id;
  std::uint32_t tracked = no_id;  ///< index of the state for splitting it (SplitCandidates), if any
  std::uint32_t ack_control =
      no_id;                     ///< index of its state in EndToEndAckControl, if the ACK-based controller observes it
  std::uint32_t ticket = 0;      ///< serial number among the handshakes in progress
  std::uint16_t held_count = 0;  ///< number of delayed ACKs
  std::uint16_t segment = 536;   ///< largest payload to the UE, by the MSS of its SYN
  std::uint8_t duplicate_acks = 0;
  std::uint8_t fins = 0;        ///< bit per Side: the host has sent a FIN
  std::uint8_t dscp = 0;        ///< DSCP of its SYN
  std::uint8_t unfinished = 0;  ///< bit per Side, see Handshake::unfinished
  Opening opening = Opening::no;
  bool running = false;    ///< data passed before the present controller, which therefore starts from measured values
  bool successor = false;  ///< the handback of its split connection is in progress, and lookups still find that one
  EndToEndPhase phase = EndToEndPhase::syn;
  Side initiator = Side::radio;
  bool splittable = true;    ///< all options of its SYNs are known
  bool was_split = false;    ///< the connection was split before the policies changed
  bool to_be_split = false;  ///< the policy splits; the connection waits for both directions to be idle

  /// Records the SYN or SYN-ACK of a host.
  void record_syn(Side in, const SynNote& reported);
  /// Updates the handshake from a SYN or SYN-ACK with matching numbers; others are ignored.
  void learn_syn(Side in, const tcp::Segment& seen, Instant now);
  /// Records whether the checksum of its SYN or SYN-ACK was unfinished; segments with other numbers are ignored.
  void record_checksum(Side in, const tcp::Segment& syn, bool is_unfinished);
  /// True if the SYN or SYN-ACK belongs to this connection by its numbers.
  [[nodiscard]] bool is_own_syn(Side in, const tcp::Segment& syn) const;
  /// True if the RST ends its handshake: its numbers are exact (RFC 9293 section 3.10.7.3, RFC 5961 section 3.2).
  [[nodiscard]] bool is_refused_by(Side in, const tcp::Segment& reset) const;
  /// Starts tracking of both directions, whose window scales and sequence numbers are known.
  void begin(const KnownConnection& known);
  /// Starts the gradual opening of the window from what was advertised behind `ack`. The start value is no less than
  /// `at_least` and ten segments, because a smaller window might never open.
  void begin_opening(Opening why, Bytes ack, Bytes at_least);
  /// True during the handshake, which may never complete.
  [[nodiscard]] bool half_open() const { return phase == EndToEndPhase::syn || phase == EndToEndPhase::syn_ack; }
  [[nodiscard]] DataWay& towards(Side side) { return ways[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const DataWay& towards(Side side) const { return ways[static_cast<std::size_t>(side)]; }
  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const SynNote& syn_of(Side side) const { return syns[static_cast<std::size_t>(side)]; }
};
static_assert(sizeof(EndToEndFlow) <= 1024, "about what a split connection takes");

}  // namespace sluice::proxy
