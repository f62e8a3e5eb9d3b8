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
  syn,      ///< only the first SYN has been seen
  syn_ack,  ///< the SYN-ACK has been seen, but not the ACK that completes the handshake
  split,    ///< both endpoints are established, and the proxy relays data between them
  /// the connection is being handed back to its hosts; the proxy only delivers bytes that it has already acknowledged
  handing_back,
};

/// Set of events on a flow's two byte streams (to the UE, to the server) that the proxy has not processed yet.
enum class StreamEvents : std::uint8_t {
  none = 0,
  data_to_radio = 1,   ///< data from the server arrived that must be sent to the UE
  data_to_core = 2,    ///< data from the UE arrived that must be sent to the server
  acked_by_radio = 4,  ///< the UE acknowledged data, so that the window advertised to the server may be opened
  acked_by_core = 8,   ///< the server acknowledged data, so that the window advertised to the UE may be opened
  acked = acked_by_radio | acked_by_core,
  to_radio = data_to_radio | acked_by_radio,  ///< all events of the stream to the UE
  to_core = data_to_core | acked_by_core,     ///< all events of the stream to the server
  all = to_radio | to_core,
  due_to_ue = 16,      ///< an ACK must be sent to the UE, and nothing else must be done
  due_to_server = 32,  ///< an ACK must be sent to the server, and nothing else must be done
};
[[nodiscard]] constexpr StreamEvents operator|(StreamEvents a, StreamEvents b) {
  return static_cast<StreamEvents>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
/// True if `set` contains at least one of the events in `wanted`.
[[nodiscard]] constexpr bool contains(StreamEvents set, StreamEvents wanted) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(wanted)) != 0;
}
/// Returns the event "data arrived that must be sent to the host behind `out`".
[[nodiscard]] constexpr StreamEvents data_to(Side out) {
  return out == Side::radio ? StreamEvents::data_to_radio : StreamEvents::data_to_core;
}
/// Returns the event "an ACK must be sent to the host behind `side`, and nothing else must be done".
[[nodiscard]] constexpr StreamEvents due_to(Side side) {
  return side == Side::radio ? StreamEvents::due_to_ue : StreamEvents::due_to_server;
}
/// Returns the event "the host behind `side` acknowledged data".
[[nodiscard]] constexpr StreamEvents acked_by(Side side) {
  return side == Side::radio ? StreamEvents::acked_by_radio : StreamEvents::acked_by_core;
}

/// One leg of a split connection: the TCP endpoint that faces one host and acts in the name of the other host.
struct Leg {
  tcp::Endpoint endpoint;
  /// frame headers of packets to the host; they are copied from packets of the other host, in whose name the leg acts
  packet::HeaderTemplate headers;
  std::uint16_t ip_id = 0;  ///< next value of the IPv4 identification field for packets with DF set

  /// Time of the host's last progress, in tick::ms268 (units of 0.27 s). Progress means that the host has acknowledged
  /// new data, or that data for it arrived while the proxy held none. See relay::stall_time().
  std::uint16_t progress = 0;

  /// true if the host must get a RST after it has received every byte that was acknowledged to the other host
  bool reset_pending : 1 = false;
  bool passed_by : 1 = false;  ///< true if segments of the host were forwarded unchanged while the connection was
                               ///< handed back to its hosts
  /// true if the host's keep-alive was forwarded and the other host has not answered yet
  bool keepalive_passed : 1 = false;
  bool has_sent_data : 1 = false;  ///< true if the host has sent data

  /// true if the path MTU is below the minimum segment size; DF is then not set, so that routers can fragment
  bool allows_fragmentation : 1 = false;

  /// True if the window advertised to the host is the whole default buffer quota (bytes that a direction may hold and
  /// advertise). In that case neither a rate controller nor the measured need of the connection determines the window
  /// (see ReceiveWindowControl).
  bool limited_by_quota : 1 = false;
  /// true if ACKs of the other host have opened the window advertised to this host since the buffer quota was last
  /// computed
  bool space_added : 1 = false;
  Reservation reservation;  ///< reservation in the buffer budget for the window advertised to the host
};

/// State that is collected from the segments of a connection's three-way handshake.
struct Handshake {
  /// Values that are needed only until the connection is split.
  struct Newest {
    std::uint32_t last_rx = 0;       ///< arrival time of the newest segment of the handshake, in tick::us (about 1 µs)
    std::uint32_t responder_ts = 0;  ///< TSval of the SYN-ACK (RFC 7323); 0 without the option
  };
  union {
    Newest newest{};  ///< valid before the split
    /// For each sending Side: sequence number after the last byte that its host has sent and that the other host may
    /// have received. Valid while the connection is handed back to its hosts.
    std::array<std::uint32_t, 2> end_of_sent;
  };
  tcp::SeqNum initiator_isn;
  tcp::SeqNum responder_isn;
  tcp::SynOptions initiator_options;
  tcp::SynOptions responder_options;
  /// round-trip time between the proxy and the initiator in tick::us (about 1 µs); zero while unknown
  std::uint32_t initiator_rtt = 0;
  /// round-trip time between the proxy and the responder in tick::us (about 1 µs); zero while unknown
  std::uint32_t responder_rtt = 0;
  /// serial number of the handshake; if an EvictionQueue entry has another number, it is about an earlier handshake
  /// with this id
  std::uint32_t ticket = 0;
  std::uint16_t responder_window = 0;  ///< window field of the SYN-ACK, which is never scaled
  /// true if a SYN or SYN-ACK was retransmitted; round-trip times are then ambiguous (Karn's algorithm)
  bool retransmitted : 1 = false;
  std::uint8_t syn_ecn : 2 = 0;           ///< ECN field of the SYN's IP header
  std::uint8_t syn_ecn_reported : 2 = 0;  ///< ECN field of the SYN as the SYN-ACK reports it
  std::uint8_t syn_ack_ecn : 2 = 0;       ///< ECN field of the SYN-ACK's IP header
  /// bit set of the Sides whose host left the checksum of every SYN unfinished for an offload
  std::uint8_t unfinished = 0;

  /// True if both hosts agree on timestamps (RFC 7323).
  [[nodiscard]] bool agrees_on_timestamps() const {
    return initiator_options.timestamps && responder_options.timestamps;
  }
  /// True if both hosts agree on accurate ECN feedback (RFC 9768).
  [[nodiscard]] bool agrees_on_accurate_ecn() const {
    return initiator_options.accurate_ecn && responder_options.accurate_ecn;
  }
  /// True if every SYN of the host behind `side` had an unfinished checksum (left to an offload). Later segments of
  /// that host may then have one, too.
  [[nodiscard]] bool leaves_unfinished(Side side) const { return (unfinished & bit(side)) != 0; }
  /// Records in a bit of `unfinished` whether a segment of the handshake has an unfinished checksum (left to an
  /// offload). `first` is true for the first SYN of the host behind `side`; only that segment can set the bit. A
  /// segment with a finished checksum clears it, so that one damaged segment has no lasting effect.
  void record_checksum(Side side, bool is_unfinished, bool first) {
    if (!is_unfinished) {
      unfinished = static_cast<std::uint8_t>(unfinished & ~bit(side));
    } else if (first) {
      unfinished = static_cast<std::uint8_t>(unfinished | bit(side));
    }
  }
};

/// State of a TCP connection in the shard: a handshake or a split connection. The struct is small, because there are
/// many. The connection's key is stored in the registry's table.
struct Flow {
  std::array<Leg, 2> legs;  ///< both legs, indexed by the Side that the leg faces
  Handshake handshake;
  BearerId bearer = no_id;
  Instant last_activity{};
  Instant deadline = never;    ///< time at which the flow's timer in the timer wheel expires
  FlowId bearer_next = no_id;  ///< next flow in the circular list of the flows of the bearer
  FlowId bearer_previous = no_id;
  FlowPhase phase : 4 = FlowPhase::syn;
  Side initiator : 4 = Side::radio;
  /// events that must be processed before the burst ends; if there are any, PendingFlows contains the flow
  StreamEvents events = StreamEvents::none;

  /// reason why the flow is, or is to be, released (handed back to its hosts); `none` if it is not
  ReleaseReason release_reason : 4 = ReleaseReason::none;

  /// reason why the proxy resets the connection; `none` if it does not
  ResetReason reset_reason : 4 = ResetReason::none;
  /// True if the flow's journal entry has state `exposed`: the proxy has acknowledged bytes to one host that the other
  /// host has not acknowledged.
  bool journaled : 1 = false;

  /// true if both hosts have closed the connection, so that it is in TIME-WAIT (see TimeWaitQueue)
  bool in_time_wait : 1 = false;
  /// True if the bottleneck of the flow is another link than the radio link, such as a link behind the UE.
  /// BudgetSharing detects this by the round trips.
  bool limited_elsewhere : 1 = false;
  /// Number of times that the connection was handed back to its hosts because a segment arrived that the proxy cannot
  /// process on a split connection.
  std::uint8_t unsplittable_seen : 4 = 0;
  /// Index of the controller that computes the window advertised to the server (ReceiveWindowControl::Loop); no_id if
  /// there is none.
  std::uint32_t window_loop = no_id;
  /// index of the per-flow window controller, which limits the bytes in flight to the UE; no_id if there is none
  std::uint32_t controller = no_id;

  /// End-to-end connection that replaces this flow once its handback to the hosts is complete; no_id if there is none.
  EndToEndId successor = no_id;
  FlowShare share;  ///< values of the flow that are included in the sums of its bearer
  /// Index of the flow's measured receive-buffer demands (bytes to hold and advertise, see ReceiveBufferDemand). no_id
  /// until a direction has delivered 64 KiB (ReceiveBufferDemand::first).
  std::uint32_t demands = no_id;
  Bytes sent_to_radio{};  ///< number of IP bytes of data sent to the UE, including retransmissions

  /// Returns the sequence number of the first payload byte that the host behind `side` sends.
  [[nodiscard]] tcp::SeqNum first_byte_from(Side side) const {
    return tcp::SeqNum(side == initiator ? handshake.initiator_isn.raw() : handshake.responder_isn.raw()) + 1;
  }

  /// Returns how many bytes the host behind `side` has sent before sequence number `up_to`, modulo 4 GiB. Unlike a
  /// difference of sequence numbers, the result is not negative from 2 GiB on.
  [[nodiscard]] Bytes sent_from(Side side, tcp::SeqNum up_to) const {
    return Bytes(static_cast<std::uint32_t>(up_to - first_byte_from(side)));
  }

  /// True if the proxy terminates TCP for the connection, so that both endpoints exist.
  [[nodiscard]] bool terminated() const { return phase >= FlowPhase::split; }
  [[nodiscard]] Leg& leg(Side side) { return legs[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const Leg& leg(Side side) const { return legs[static_cast<std::size_t>(side)]; }
  /// Returns the sequence number after the last byte that the host behind `side` has sent, as far as the other host may
  /// have received it. Valid while the connection is handed back to its hosts.
  [[nodiscard]] tcp::SeqNum end_of_sent(Side side) const {
    return tcp::SeqNum(handshake.end_of_sent[static_cast<std::size_t>(side)]);
  }
  /// Sets the result of end_of_sent().
  void set_end_of_sent(Side side, tcp::SeqNum end) {
    handshake.end_of_sent[static_cast<std::size_t>(side)] = end.raw();
  }
};

static_assert(sizeof(Flow) <= 672 + 2 * sizeof(packet::HeaderTemplate),
              "with its place in table and wheel an idle pair takes 48 bytes more");

}  // namespace sluice::proxy
