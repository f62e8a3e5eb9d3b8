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

/// Phase of an end-to-end connection, which the proxy does not split.
enum class EndToEndPhase : std::uint8_t {
  syn,      ///< only the first SYN was seen
  syn_ack,  ///< the SYN-ACK was seen, so both window scales are known
  open,     ///< the initiator has acknowledged the SYN-ACK, which shows that its SYN was not forged
  closing   ///< both hosts have sent a FIN
};

/// Reason why the window advertised to the server grows only gradually, although the UE offers more. The server may
/// have a large congestion window that it has never used, and an advertised window cannot be withdrawn. A large window
/// could therefore cause a large burst.
enum class Opening : std::uint8_t {
  no,  ///< the window advertised to the server does not grow gradually; only the controller limits it
  /// the window advertised to the server grows by the acknowledged bytes, as in slow start, because Node-B reports are
  /// late
  reports_late,
  /// The connection was split before, or its controller has changed. The window advertised to the server then grows by
  /// 1/8 of the acknowledged bytes. The growth ends at the UE's own receive window or the controller's window.
  switched
};

/// State of one direction of a connection that is not split, derived from the segments that pass the proxy.
struct DataWay {
  control::StreamPosition position{0};
  control::AdvertisedWindow window{0};  ///< window that the receiving host advertises, as the proxy forwards it in ACKs
  /// End of the data that the proxy has seen, in bytes from the start of the stream.
  Bytes sent;
  /// Bytes from the start of the stream that the receiver has acknowledged, even if the proxy still delays the ACK.
  Bytes acked;
};

/// Minimum MSS in bytes with which controllers compute, even if a host announces a smaller one. Controllers count
/// windows in segments, so a tiny MSS would give tiny windows.
inline constexpr std::uint16_t min_segment = 88;

/// Sequence number, window and options of a host's SYN or SYN-ACK.
struct SynNote {
  tcp::SeqNum isn;
  std::uint16_t window = 0;
  tcp::SynOptions options;
};

/// State that the proxy must know to track a connection that began earlier, such as one that was split before.
struct KnownConnection {
  flow::FlowKey key;
  BearerId bearer = no_id;
  Side initiator = Side::radio;
  std::uint8_t dscp = 0;  ///< DSCP of the connection's SYN
  std::uint8_t fins = 0;  ///< bit set of the Sides whose host has sent a FIN
  /// bit set of the Sides whose host sent a SYN with a checksum left unfinished for an offload
  std::uint8_t unfinished = 0;

  /// true if the connection has carried data already
  bool running = false;
  std::array<SynNote, 2> syns;  ///< contents of both hosts' SYNs, indexed by the Side of the sending host
  /// For each receiving Side: sequence number of the first byte that passes directly between the hosts. The receiving
  /// host has acknowledged all bytes before it, or the proxy still delivers them.
  std::array<tcp::SeqNum, 2> next;

  /// For each receiving Side: farthest right edge that was advertised to the sender. If the connection was split, the
  /// edge of the proxy's receive room counts if it is farther, because an ACK may still advertise it.
  std::array<tcp::SeqNum, 2> edge;
  Duration round_trip{};  ///< round-trip time of the handshake; zero while unknown

  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
};

/// Connection that is not split. The proxy rewrites windows in its ACKs, and delays some ACKs. No rewritten window is
/// larger than the one that the host offers, so the proxy may discard this state at any time without harm.
struct EndToEndFlow {
  flow::FlowKey key;
  std::array<DataWay, 2> ways;  ///< state of both directions, indexed by the Side towards which the data flows
  std::array<SynNote, 2> syns;  ///< contents of both hosts' SYNs, indexed by the Side of the sending host
  std::optional<ControlledFlow> controller;  ///< per-flow window controller; not set if the bearer uses none
  /// Number of bytes of the stream to the UE that were acknowledged when the window advertised to the server started to
  /// grow gradually.
  Bytes opening_at;
  Bytes opening_window;  ///< window advertised to the server, in bytes, when it started to grow gradually
  packet::Queue held;    ///< delayed ACKs of the UE, oldest first
  Instant last_activity{};
  /// arrival time of the newest segment of the handshake; valid only during the handshake
  Instant handshake{};
  Duration round_trip{};  ///< round-trip time of the handshake; zero while unknown
  /// part of the handshake's round-trip time between the proxy and the server; zero while unknown
  Duration core_trip{};
  BearerId bearer = no_id;
  EndToEndId holding_next = no_id;  ///< next flow in the bearer's list of flows with delayed ACKs
  EndToEndId holding_previous = no_id;
  /// index of the flow's tracking state in SplitCandidates; no_id if the flow is not to be split
  std::uint32_t tracked = no_id;

  /// index of the flow's state in EndToEndAckControl; no_id if its segments are not passed to the ACK-based controller
  std::uint32_t ack_control = no_id;
  /// Serial number of the flow's handshake. If a queue entry (EvictionQueue) contains the flow's id but another serial
  /// number, it belongs to an earlier flow with this id.
  std::uint32_t ticket = 0;
  std::uint16_t held_count = 0;  ///< number of delayed ACKs
  std::uint16_t segment = 536;   ///< maximum payload of a segment to the UE, from the MSS in the UE's SYN
  std::uint8_t duplicate_acks = 0;
  std::uint8_t fins = 0;  ///< bit set of the Sides whose host has sent a FIN
  std::uint8_t dscp = 0;  ///< DSCP of the connection's SYN
  /// bit set of the Sides whose host sent a SYN with a checksum left unfinished for an offload
  std::uint8_t unfinished = 0;
  Opening opening = Opening::no;

  /// True if the connection carried data before its current controller was created. The controller then starts from
  /// measured values.
  bool running = false;

  /// True if this connection replaces a split one whose handback to the hosts is not complete yet. Until then lookups
  /// find the split connection.
  bool successor = false;
  EndToEndPhase phase = EndToEndPhase::syn;
  Side initiator = Side::radio;
  bool splittable = true;  ///< true if the proxy supports all options in both SYNs, so that the connection can be split
  bool was_split = false;  ///< true if the connection was split before the policies changed
  bool to_be_split = false;  ///< true if the policy requires a split, which happens as soon as both directions are idle

  /// Records the initial sequence number, the window and the options in a host's SYN or SYN-ACK.
  void record_syn(Side in, const SynNote& reported);
  /// Updates the handshake from a SYN or SYN-ACK whose sequence numbers match; ignores other ones. If the segment
  /// repeats an earlier one, only its MSS is used, and only if it is smaller.
  void learn_syn(Side in, const tcp::Segment& seen, Instant now);
  /// Records whether the sender's kernel left the checksum of a SYN or SYN-ACK unfinished for an offload. Ignores
  /// segments with sequence numbers of another connection, and those after the handshake.
  void record_checksum(Side in, const tcp::Segment& syn, bool is_unfinished);
  /// True if the SYN or SYN-ACK has the sequence numbers of this connection.
  [[nodiscard]] bool is_own_syn(Side in, const tcp::Segment& syn) const;
  /// True if the segment repeats the SYN or SYN-ACK of a handshake whose SYN-ACK was seen and that is not complete.
  [[nodiscard]] bool is_repeated(Side in, const tcp::Segment& syn) const;
  /// True if the segment repeats the SYN-ACK with other options, and the SYN has offered at least one of those that
  /// differ. It is then unknown which options the hosts use.
  [[nodiscard]] bool leaves_options_unclear(Side in, const tcp::Segment& syn) const;
  /// True if the RST ends this connection's handshake. The numbers of the RST must match the handshake exactly (RFC
  /// 9293 section 3.10.7.3, RFC 5961 section 3.2).
  [[nodiscard]] bool is_refused_by(Side in, const tcp::Segment& reset) const;
  /// Initialises the tracking of both directions of a connection. `known` contains its sequence numbers and right
  /// edges; the window scales are those in the SYNs.
  void begin(const KnownConnection& known);
  /// Makes the window advertised to the server grow only gradually from now on, for the reason `why`. `ack` is the
  /// number of bytes of the stream that are acknowledged now. The growth starts from the window already advertised, but
  /// at least from `at_least` bytes and ten segments. With a closed window the server could send nothing, and no ACK
  /// would open the window.
  void begin_opening(Opening why, Bytes ack, Bytes at_least);
  /// True until the initiator has acknowledged the SYN-ACK. A handshake may remain in this state, for example after a
  /// forged SYN.
  [[nodiscard]] bool half_open() const { return phase == EndToEndPhase::syn || phase == EndToEndPhase::syn_ack; }
  [[nodiscard]] DataWay& towards(Side side) { return ways[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const DataWay& towards(Side side) const { return ways[static_cast<std::size_t>(side)]; }
  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const SynNote& syn_of(Side side) const { return syns[static_cast<std::size_t>(side)]; }
};
static_assert(sizeof(EndToEndFlow) <= 1024, "about what a split connection takes");

}  // namespace sluice::proxy
