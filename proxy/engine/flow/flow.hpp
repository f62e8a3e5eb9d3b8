#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/release_reason.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/flow/bearer_load.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"

namespace sluice::proxy {

using FlowId = std::uint32_t;
using BearerId = std::uint32_t;
using EndToEndId = std::uint32_t;
/// Id that stands for no object.
inline constexpr std::uint32_t no_id = UINT32_MAX;

/// Phase of a flow, from its first SYN to its end.
enum class FlowPhase : std::uint8_t {
  syn,           ///< only the first SYN was seen
  syn_ack,       ///< the SYN-ACK was seen, and the ACK that answers it is missing
  split,         ///< two endpoints are established, with the relay between them
  handing_back,  ///< being handed back to the hosts: the proxy delivers only the bytes that it has already acknowledged
};

/// Bit set of the events of a flow's two byte streams (to the UE, to the server) since its last service.
enum class StreamEvents : std::uint8_t {
  none = 0,
  data_to_radio = 1,   ///< data from the server arrived, to be sent to the UE
  data_to_core = 2,    ///< data from the UE arrived, to be sent to the server
  acked_by_radio = 4,  ///< the UE acknowledged data, so the server's window may open
  acked_by_core = 8,   ///< the server acknowledged data, so the UE's window may open
  acked = acked_by_radio | acked_by_core,
  to_radio = data_to_radio | acked_by_radio,  ///< any event of the stream to the UE
  to_core = data_to_core | acked_by_core,     ///< any event of the stream to the server
  all = to_radio | to_core,
  due_to_ue = 16,      ///< only an ACK to the UE remains to be sent
  due_to_server = 32,  ///< only an ACK to the server remains to be sent
};
[[nodiscard]] constexpr StreamEvents operator|(StreamEvents a, StreamEvents b) {
  return static_cast<StreamEvents>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
/// True if the set contains any of the `wanted` events.
[[nodiscard]] constexpr bool contains(StreamEvents set, StreamEvents wanted) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(wanted)) != 0;
}
/// Returns the event for received data that must be sent to the host behind `out`.
[[nodiscard]] constexpr StreamEvents data_to(Side out) {
  return out == Side::radio ? StreamEvents::data_to_radio : StreamEvents::data_to_core;
}
/// Returns the event of an ACK that is due to the host behind `side`.
[[nodiscard]] constexpr StreamEvents due_to(Side side) {
  return side == Side::radio ? StreamEvents::due_to_ue : StreamEvents::due_to_server;
}
/// Returns the event of an ACK received from the host behind `side`.
[[nodiscard]] constexpr StreamEvents acked_by(Side side) {
  return side == Side::radio ? StreamEvents::acked_by_radio : StreamEvents::acked_by_core;
}

/// One leg of a split connection: the TCP endpoint that faces one host and acts in the other host's name.
struct Leg {
  tcp::Endpoint endpoint;
  /// Frame headers of packets to the host, learned from packets of the host that the leg represents.
  packet::HeaderTemplate headers;
  std::uint16_t ip_id = 0;  ///< next value of the IPv4 identification field for packets with DF set

  /// Time of the host's last progress in tick::ms268. Progress is an ACK of new data, or the arrival of data while
  /// nothing was held for the host. See relay::stall_time().
  std::uint16_t progress = 0;

  /// true if a RST is sent once the host has received every byte acknowledged to the other side
  bool reset_pending : 1 = false;
  bool passed_by : 1 = false;         ///< true if segments from the host were forwarded unchanged during the handback
  bool keepalive_passed : 1 = false;  ///< true if the host's keep-alive was forwarded, and the other host has to answer
  bool has_sent_data : 1 = false;     ///< true if the host has sent data

  /// true if the path MTU is below the minimum segment, so that routers fragment and DF stays clear
  bool routers_cut : 1 = false;

  /// True if the window of the host is set by the default buffer quota, and not by a rate controller
  /// (ReceiveWindowControl).
  bool at_limit : 1 = false;
  bool space_added : 1 = false;  ///< true if the other host has acknowledged data since the buffer quota was read
  Reservation reservation;       ///< window advertised to the host, as recorded in the memory budget
};

/// State collected from the three segments of a connection's handshake.
struct Handshake {
  tcp::SeqNum initiator_isn;
  tcp::SeqNum responder_isn;
  tcp::SynOptions initiator_options;
  tcp::SynOptions responder_options;
  std::uint32_t last_rx = 0;        ///< time when the newest segment of the handshake was seen, in tick::us
  std::uint32_t initiator_rtt = 0;  ///< round-trip time between proxy and initiator in tick::us; zero while unknown
  std::uint32_t responder_rtt = 0;  ///< round-trip time between proxy and responder in tick::us; zero while unknown
  std::uint32_t ticket = 0;  ///< serial number among all tracked handshakes, which shows whether a flow id was reused
  std::uint16_t responder_window = 0;  ///< window of the SYN-ACK, which is never scaled
  bool retransmitted = false;  ///< true if a SYN or SYN-ACK was retransmitted, so round-trip times are ambiguous (Karn)
  std::uint8_t unfinished = 0;  ///< bit per Side, set if the host's SYN had an unfinished checksum, left to an offload

  /// True if every SYN of the host behind `side` had an unfinished checksum. Its further segments may have one, too.
  [[nodiscard]] bool leaves_unfinished(Side side) const { return (unfinished & bit(side)) != 0; }
  /// Records the checksum state of a handshake segment. Only the `first` SYN of a host can set the bit, and any
  /// finished checksum clears it. So a single damaged segment has no lasting effect.
  void record_checksum(Side side, bool is_unfinished, bool first) {
    if (!is_unfinished) {
      unfinished = static_cast<std::uint8_t>(unfinished & ~bit(side));
    } else if (first) {
      unfinished = static_cast<std::uint8_t>(unfinished | bit(side));
    }
  }
};

/// A TCP connection with state in the shard: a handshake or a split connection. The struct is small because there are
/// many; the key is in the registry's table.
struct Flow {
  std::array<Leg, 2> legs;  ///< both legs, indexed by the Side that the leg faces
  Handshake handshake;
  BearerId bearer = no_id;
  Instant last_activity{};
  Instant deadline = never;    ///< time at which the flow's timer in the timer wheel expires
  FlowId bearer_next = no_id;  ///< next flow in the circular list of the bearer's flows
  FlowId bearer_previous = no_id;
  FlowPhase phase : 4 = FlowPhase::syn;
  Side initiator : 4 = Side::radio;
  /// Reasons for the next service of the flow; if there is any, the flow is scheduled.
  StreamEvents events = StreamEvents::none;

  /// reason for which the flow is to be handed back to its hosts; none if it is not
  ReleaseReason release_reason : 4 = ReleaseReason::none;

  /// Reason for which the proxy resets the connection; `none` if it does not.
  ResetReason reset_reason : 4 = ResetReason::none;
  /// True if the flow's journal entry states that bytes are acknowledged which the other host does not have
  /// (`exposed`).
  bool journaled : 1 = false;

  /// true if both hosts have closed the connection, so it is in TIME-WAIT (TimeWaitQueue)
  bool in_time_wait : 1 = false;
  /// Number of times that the connection was handed back to its hosts because of segments that cannot be split.
  std::uint8_t unsplittable_seen : 4 = 0;
  /// Index of the receive-window controller that sets the server's window, or no_id.
  std::uint32_t window_loop = no_id;
  std::uint32_t controller = no_id;  ///< index of the flow's per-flow window controller, or no_id

  /// end-to-end connection that replaces the flow when the handback is complete, or no_id
  EndToEndId successor = no_id;
  FlowShare share;  ///< contribution of the flow to the sums of its bearer (UE)
  /// Index of the flow's receive-buffer demand record, or no_id before the flow has carried much data.
  std::uint32_t demands = no_id;
  Bytes sent_to_radio{};  ///< IP bytes of data sent to the UE, retransmissions included

  /// Returns the sequence number of the first payload byte of the host behind `side`.
  [[nodiscard]] tcp::SeqNum first_byte_from(Side side) const {
    return tcp::SeqNum(side == initiator ? handshake.initiator_isn.raw() : handshake.responder_isn.raw()) + 1;
  }

  /// Returns the number of bytes that the host behind `side` has sent up to sequence number `up_to`. The result is
  /// modulo 4 GiB, because sequence differences of 2 GiB or more are negative.
  [[nodiscard]] Bytes sent_from(Side side, tcp::SeqNum up_to) const {
    return Bytes(static_cast<std::uint32_t>(up_to - first_byte_from(side)));
  }

  /// True if the proxy terminates the connection, so that both of its endpoints exist.
  [[nodiscard]] bool terminated() const { return phase >= FlowPhase::split; }
  [[nodiscard]] Leg& leg(Side side) { return legs[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const Leg& leg(Side side) const { return legs[static_cast<std::size_t>(side)]; }
};

static_assert(sizeof(Flow) <= 672 + 2 * sizeof(packet::HeaderTemplate),
              "with its place in table and wheel an idle pair takes 48 bytes more");

}  // namespace sluice::proxy
