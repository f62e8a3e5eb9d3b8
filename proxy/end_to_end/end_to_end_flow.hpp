#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "control/advertised_window.hpp"
#include "control/stream_position.hpp"
#include "dataplane/flow/flow_key.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/segment.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/steering/governed_flow.hpp"

namespace sluice::proxy {

/// Where a regulated connection stands.
enum class EndToEndPhase : std::uint8_t {
  syn,      ///< a SYN went by …
  syn_ack,  ///< … and its SYN-ACK: both sides' windows can be read …
  open,     ///< … and an ACK by which its initiator knows of it: this is no forged SYN
  closing   ///< both sides have sent a FIN
};

/// Why a window opens by and by only, whatever is offered: all at once would be advertised for good, and its sender may
/// have a congestion window that it was never let use.
enum class Opening : std::uint8_t {
  no,
  reports_late,  ///< until they are back: by what is acknowledged, as slow start would
  switched       ///< another law was in force, or it was split: by an eighth of that
};

/// One direction of the data of a connection that passes end to end, as its segments show it.
struct DataWay {
  control::StreamPosition position{0};
  control::AdvertisedWindow window{0};  ///< of the host that the data goes to, in what it acknowledges
  Bytes sent;                           ///< up to here the data has passed
  Bytes acked;                          ///< up to here it is acknowledged, whether or not the ACK has gone on
};

/// A UE that asks for smaller segments is taken to mean this: laws count in segments.
inline constexpr std::uint16_t least_segment = 88;

/// What one side said in its SYN.
struct SynNote {
  tcp::SeqNum isn;
  std::uint16_t window = 0;
  tcp::SynOptions options;
};

/// What must be known of a connection to track it from its middle on.
struct KnownConnection {
  flow::FlowKey key;
  BearerId bearer = no_id;
  Side initiator = Side::radio;
  std::uint8_t dscp = 0;            ///< of its SYN
  std::uint8_t fins = 0;            ///< who has sent a FIN: bits by Side
  std::uint8_t unfinished = 0;      ///< as Handshake::unfinished
  bool running = false;             ///< data has passed
  std::array<SynNote, 2> syns;      ///< by the Side that said it
  std::array<tcp::SeqNum, 2> next;  ///< by the Side that the data goes to: all before is acknowledged, or in our care
  std::array<tcp::SeqNum, 2> edge;  ///< … and the right edge that its sender was told, or more
  Duration round_trip{};            ///< of the handshake; zero while unknown

  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
};

/// A connection that stays end to end while the windows in its ACKs are rewritten and some ACKs wait. Whatever is known
/// of it may be forgotten at any moment: what its hosts offer is never less than what was written in their names.
struct EndToEndFlow {
  flow::FlowKey key;
  std::array<DataWay, 2> ways;  ///< by the Side that the data goes to
  std::array<SynNote, 2> syns;  ///< by the Side that said it
  std::optional<GovernedFlow> governed;
  Bytes opening_at;      ///< what was acknowledged when the window began to open
  Bytes opening_window;  ///< and what window there was
  packet::Queue held;    ///< ACKs of the UE, oldest first
  Instant last_activity{};
  Instant handshake{};  ///< while it is half open: when the newest segment of its handshake passed
  Duration round_trip{};
  Duration core_trip{};  ///< of that, between here and the server; zero while unknown
  BearerId bearer = no_id;
  EndToEndId holding_next = no_id;  ///< list of the bearer's flows that hold ACKs
  EndToEndId holding_previous = no_id;
  std::uint32_t tracked = no_id;  ///< where what must be known to split it is kept, once that is begun
  std::uint32_t clocked = no_id;  ///< where it is watched for the law by acknowledgements, while it is (ClockedAcks)
  std::uint32_t ticket = 0;       ///< of its handshake among those half open
  std::uint16_t held_count = 0;
  std::uint16_t segment = 536;  ///< largest payload towards the UE, by the UE's SYN
  std::uint8_t duplicate_acks = 0;
  std::uint8_t fins = 0;        ///< bits by Side
  std::uint8_t dscp = 0;        ///< of its SYN
  std::uint8_t unfinished = 0;  ///< as Handshake::unfinished
  Opening opening = Opening::no;
  bool running = false;    ///< there was data before its law: that goes on from what is measured
  bool successor = false;  ///< it is still being handed back by a split connection, under whose name it is found
  EndToEndPhase phase = EndToEndPhase::syn;
  Side initiator = Side::radio;
  bool splittable = true;    ///< the options of its SYNs are all understood
  bool was_split = false;    ///< until the policies changed
  bool to_be_split = false;  ///< it passes end to end although its policy splits, until both directions are quiet

  /// What a host has said in its SYN, or SYN-ACK.
  void note_syn(Side in, const SynNote& said);
  /// What the SYN, or SYN-ACK, of its handshake says; others teach nothing.
  void learn_syn(Side in, const tcp::Segment& seen, Instant now);
  /// Notes whether the checksum of its SYN, or SYN-ACK, was left unfinished; others show nothing.
  void note_checksum(Side in, const tcp::Segment& syn, bool is_unfinished);
  /// The SYN, or SYN-ACK, is one of its own by the numbers.
  [[nodiscard]] bool is_own_syn(Side in, const tcp::Segment& syn) const;
  /// The reset that ends its handshake is exact (RFC 9293 section 3.10.7.3, RFC 5961 section 3.2).
  [[nodiscard]] bool is_refused_by(Side in, const tcp::Segment& reset) const;
  /// Both sides have said how their windows are to be read, and the data stands there.
  void begin(const KnownConnection& known);
  /// The window opens from what was advertised behind `ack`; with less than a connection may begin with nothing might
  /// come that opens it.
  void begin_opening(Opening why, Bytes ack, Bytes at_least);
  /// Its handshake is under way, and may never come to an end.
  [[nodiscard]] bool half_open() const { return phase == EndToEndPhase::syn || phase == EndToEndPhase::syn_ack; }
  [[nodiscard]] DataWay& towards(Side side) { return ways[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const DataWay& towards(Side side) const { return ways[static_cast<std::size_t>(side)]; }
  [[nodiscard]] SynNote& syn_of(Side side) { return syns[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const SynNote& syn_of(Side side) const { return syns[static_cast<std::size_t>(side)]; }
};
static_assert(sizeof(EndToEndFlow) <= 1024, "about what a split connection takes");

}  // namespace sluice::proxy
