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

/// Phase of a connection that the proxy does not split.
enum class EndToEndPhase : std::uint8_t {
  syn,      ///< only the first SYN was seen
  syn_ack,  ///< the SYN-ACK was seen, so both window scales are known
  open,     ///< the initiator has acknowledged the SYN-ACK, so it exists and its SYN was not forged
  closing   ///< both hosts have sent a FIN
};

/// Reason why the window advertised to a sender opens only gradually, although the receiving host offers more. An
/// advertised window cannot be retracted, and the sender may have a large congestion window that it has never used.
enum class Opening : std::uint8_t {
  no,            ///< the window does not open gradually: only the controller limits it
  reports_late,  ///< the window opens by the acknowledged bytes, as in slow start, because Node-B reports are late
  switched  ///< the window opens by 1/8 of the bytes acknowledged, because another controller applied before or the
            ///< connection was split
};

/// State of one direction of a connection that is not split, derived from its segments.
struct DataWay {
  control::StreamPosition position{0};
  control::AdvertisedWindow window{0};  ///< window of the receiving host, as forwarded in its ACKs
  Bytes sent;                           ///< position after the last data byte that was seen
  Bytes acked;  ///< position acknowledged by the receiver, whether or not the ACK was forwarded yet
};

/// Smallest MSS in bytes that the controllers use, because they count in segments; a host may announce less.
inline constexpr std::uint16_t min_segment = 88;

/// Sequence number, window and options of a host's SYN or SYN-ACK.
struct SynNote {
  tcp::SeqNum isn;
  std::uint16_t window = 0;
  tcp::SynOptions options;
};

/// State of a connection that is needed to begin tracking after its handshake.
struct KnownConnection {
  flow::FlowKey key;
  BearerId bearer = no_id;
  Side initiator = Side::radio;
  std::uint8_t dscp = 0;        ///< DSCP of the connection's SYN
  std::uint8_t fins = 0;        ///< bit per Side, set if the host behind that side has sent a FIN
  std::uint8_t unfinished = 0;  ///< bit per Side, set if the host's SYN had an unfinished checksum, left to an offload

  /// true if data has passed already
  bool running = false;
  std::array<SynNote, 2> syns;      ///< contents of both hosts' SYNs, indexed by the Side of the sending host
  std::array<tcp::SeqNum, 2> next;  ///< sequence number, indexed by receiving Side, before which all data is
                                    ///< acknowledged or is delivered by the proxy

  /// right edge of a window, indexed by receiving Side, that was advertised to the sender, or a later one
  std::array<tcp::SeqNum, 2> edge;
  Duration round_trip{};  ///< round-trip time of the handshake; zero while unknown

  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
};

/// Connection that is not split. Windows in its ACKs are rewritten, and some ACKs are delayed. Its state may be
/// discarded at any time, because no advertised window exceeds the windows that the hosts offer.
struct EndToEndFlow {
  flow::FlowKey key;
  std::array<DataWay, 2> ways;  ///< state of both directions, indexed by the Side towards which the data flows
  std::array<SynNote, 2> syns;  ///< contents of both hosts' SYNs, indexed by the Side of the sending host
  std::optional<ControlledFlow> controller;  ///< per-flow window controller, if the bearer uses one
  Bytes opening_at;                          ///< acknowledged position when the gradual opening of the window started
  Bytes opening_window;                      ///< window in bytes when the gradual opening of the window started
  packet::Queue held;                        ///< delayed ACKs of the UE, oldest first
  Instant last_activity{};
  /// Time at which the newest segment of the handshake arrived; valid only during the handshake.
  Instant handshake{};
  Duration round_trip{};  ///< round-trip time of the handshake; zero while unknown
  Duration core_trip{};   ///< part of `round_trip` between the proxy and the server; zero while unknown
  BearerId bearer = no_id;
  EndToEndId holding_next = no_id;  ///< next flow in the bearer's list of flows with delayed ACKs
  EndToEndId holding_previous = no_id;
  std::uint32_t tracked = no_id;  ///< index of the flow's tracking state in SplitCandidates, if the flow is to be split

  /// index of the flow's state in EndToEndAckControl, if its segments are passed to the ACK-based controller
  std::uint32_t ack_control = no_id;
  /// Serial number among the handshakes in progress; it shows whether the flow's id was reused.
  std::uint32_t ticket = 0;
  std::uint16_t held_count = 0;  ///< number of delayed ACKs
  std::uint16_t segment = 536;   ///< largest payload of a segment to the UE, by the MSS of the UE's SYN
  std::uint8_t duplicate_acks = 0;
  std::uint8_t fins = 0;        ///< bit per Side, set if the host behind that side has sent a FIN
  std::uint8_t dscp = 0;        ///< DSCP of the connection's SYN
  std::uint8_t unfinished = 0;  ///< bit per Side, set if the host's SYN had an unfinished checksum, left to an offload
  Opening opening = Opening::no;

  /// True if data passed before the current controller was created, so that the controller starts from measured values.
  bool running = false;

  /// true while the split connection that this one replaces is still being handed back, so that lookups find the split
  /// one
  bool successor = false;
  EndToEndPhase phase = EndToEndPhase::syn;
  Side initiator = Side::radio;
  bool splittable = true;    ///< true if the proxy knows all options of both SYNs
  bool was_split = false;    ///< true if the connection was split before the policies changed
  bool to_be_split = false;  ///< true if the policy splits the connection as soon as both directions are idle

  /// Records the initial sequence number, window and options of a host's SYN or SYN-ACK.
  void record_syn(Side in, const SynNote& reported);
  /// Updates the handshake from a SYN or SYN-ACK with matching numbers; others are ignored.
  void learn_syn(Side in, const tcp::Segment& seen, Instant now);
  /// Records whether the checksum of a SYN or SYN-ACK of this connection was unfinished. Segments with other sequence
  /// numbers are ignored.
  void record_checksum(Side in, const tcp::Segment& syn, bool is_unfinished);
  /// True if the sequence numbers of the SYN or SYN-ACK are those of this connection.
  [[nodiscard]] bool is_own_syn(Side in, const tcp::Segment& syn) const;
  /// True if the RST ends the handshake of this connection, because its numbers match exactly (RFC 9293 section
  /// 3.10.7.3, RFC 5961 section 3.2).
  [[nodiscard]] bool is_refused_by(Side in, const tcp::Segment& reset) const;
  /// Starts to track both directions of a connection whose window scales and sequence numbers are known.
  void begin(const KnownConnection& known);
  /// Starts to open the window gradually after position `ack`, from the window that is already advertised. The start
  /// value is at least `at_least` and ten segments, because a smaller window might never open.
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
