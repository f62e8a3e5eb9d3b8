#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/bearer_load.hpp"
#include "proxy/flows/memory_budget.hpp"
#include "proxy/handback/release_reason.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::proxy {

using FlowId = std::uint32_t;
using BearerId = std::uint32_t;
using EndToEndId = std::uint32_t;
inline constexpr std::uint32_t no_id = UINT32_MAX;

/// Where a connection stands between its first SYN and its end.
enum class FlowPhase : std::uint8_t {
  syn,           ///< a SYN went by
  syn_ack,       ///< and its SYN-ACK
  split,         ///< split: two endpoints and the relay between them
  handing_back,  ///< going back to its hosts: ours is only what was acknowledged before
};

/// What has happened to the two streams of bytes through a relay since they were served; a set.
enum class StreamEvents : std::uint8_t {
  none = 0,
  data_to_radio = 1,   ///< the server has sent bytes that are to be relayed
  data_to_core = 2,    ///< the UE has
  acked_by_radio = 4,  ///< the UE has acknowledged some: less is held, and the server may send more
  acked_by_core = 8,   ///< the server has
  acked = acked_by_radio | acked_by_core,
  to_radio = data_to_radio | acked_by_radio,  ///< whatever there is of the stream to the UE
  to_core = data_to_core | acked_by_core,
  all = to_radio | to_core,
  due_to_ue = 16,      ///< nothing is left to be done but to send the UE the acknowledgement that is due to it
  due_to_server = 32,  ///< … or the server
};
[[nodiscard]] constexpr StreamEvents operator|(StreamEvents a, StreamEvents b) {
  return static_cast<StreamEvents>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
/// Any of `wanted`.
[[nodiscard]] constexpr bool contains(StreamEvents set, StreamEvents wanted) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(wanted)) != 0;
}
[[nodiscard]] constexpr StreamEvents data_to(Side out) {
  return out == Side::radio ? StreamEvents::data_to_radio : StreamEvents::data_to_core;
}
[[nodiscard]] constexpr StreamEvents due_to(Side side) {
  return side == Side::radio ? StreamEvents::due_to_ue : StreamEvents::due_to_server;
}
[[nodiscard]] constexpr StreamEvents acked_by(Side side) {
  return side == Side::radio ? StreamEvents::acked_by_radio : StreamEvents::acked_by_core;
}

/// One side of a split connection: the endpoint that talks to the host behind a port, in the other host's name.
struct Leg {
  tcp::Endpoint endpoint;
  packet::HeaderTemplate headers;  ///< of the host we stand for, learned from its own packets
  std::uint16_t ip_id = 0;
  /// When the host last acknowledged something new, or something came to be held for it where nothing was;
  /// tick::coarse. See relay::stalled_for().
  std::uint16_t progress = 0;
  bool reset_pending : 1 = false;     ///< a reset waits until the host has every byte acknowledged to the other side
  bool passed_by : 1 = false;         ///< bytes of the host passed while the connection was handed back
  bool keepalive_passed : 1 = false;  ///< the host asks whether the other one is there, and that one was asked
  bool heard : 1 = false;             ///< the host has sent data
  bool routers_cut : 1 = false;       ///< the path is too small even for the least segments: DF stays clear
  bool at_limit : 1 = false;          ///< its window is what memory had for it unasked, and no law's (ReceiveWindows)
  bool regained : 1 = false;          ///< … and since then the other host has made room for more
  Commitment commitment;              ///< the window that the host was told, as the budget knows it
};

/// What is remembered of the three segments of a handshake.
struct Handshake {
  tcp::SeqNum initiator_isn;
  tcp::SeqNum responder_isn;
  tcp::SynOptions initiator_options;
  tcp::SynOptions responder_options;
  std::uint32_t heard = 0;          ///< when the newest segment of it went by, tick::micro
  std::uint32_t initiator_rtt = 0;  ///< between here and the initiator, tick::micro; zero while unknown
  std::uint32_t responder_rtt = 0;
  std::uint32_t ticket = 0;            ///< its number, among all that were tracked
  std::uint16_t responder_window = 0;  ///< of the SYN-ACK, never scaled
  bool repeated = false;               ///< a SYN or SYN-ACK came twice: times prove nothing (Karn)
  std::uint8_t unfinished = 0;         ///< bits by Side: whose kernel leaves checksums to an offload, by its SYN

  /// Returns whether every SYN of the host behind `side` had an unfinished checksum. Its further segments can have one.
  [[nodiscard]] bool leaves_unfinished(Side side) const { return (unfinished & bit(side)) != 0; }
  /// Notes what a segment of the handshake shows. Only the `first` SYN of a host can show that it leaves checksums
  /// unfinished, and any that is finished shows the opposite, so that one damaged segment changes nothing for long.
  void note_checksum(Side side, bool is_unfinished, bool first) {
    if (!is_unfinished) {
      unfinished = static_cast<std::uint8_t>(unfinished & ~bit(side));
    } else if (first) {
      unfinished = static_cast<std::uint8_t>(unfinished | bit(side));
    }
  }
};

/// A TCP connection that passes through. Lives in the shard's slab; small, because there are many. Who it is, the
/// registry knows.
struct Flow {
  std::array<Leg, 2> legs;  ///< by the side they face
  Handshake handshake;
  BearerId bearer = no_id;
  Instant last_activity{};
  Instant deadline = never;    ///< when the timer wheel is to look at it
  FlowId bearer_next = no_id;  ///< ring of the bearer's flows
  FlowId bearer_previous = no_id;
  FlowPhase phase : 4 = FlowPhase::syn;
  Side initiator : 4 = Side::radio;
  StreamEvents events = StreamEvents::none;  ///< to serve before the burst ends; when any, it is on the list of flows
  ReleaseReason release_reason : 4 = ReleaseReason::none;  ///< it is to go, and why
  ResetReason reset_reason : 4 = ResetReason::none;        ///< the proxy ends it by resets, and why
  bool journaled : 1 = false;                              ///< the journal has it as exposed
  bool waits_out : 1 = false;                              ///< both hosts have closed it (WaitingOut)
  std::uint8_t unsplittable_seen : 4 = 0;  ///< so often it was released because of what cannot be split (Released)
  std::uint32_t window_loop = no_id;       ///< its second loop, where it has one
  std::uint32_t governed = no_id;          ///< its law of windows, where it has one
  EndToEndId successor = no_id;   ///< the same connection as it goes on end to end once its handback is complete
  FlowShare share;                ///< of the bearer's load
  std::uint32_t demands = no_id;  ///< what its directions need, once one of them carries much
  Bytes sent_to_radio{};          ///< IP bytes of data, retransmissions included

  /// First byte of payload that the host behind `side` can send.
  [[nodiscard]] tcp::SeqNum first_byte_from(Side side) const {
    return tcp::SeqNum(side == initiator ? handshake.initiator_isn.raw() : handshake.responder_isn.raw()) + 1;
  }

  /// What the host behind `side` has sent when its stream has come to `up_to`. Modulo 4 GiB, and from half of that on
  /// the difference of two sequence numbers is negative.
  [[nodiscard]] Bytes sent_from(Side side, tcp::SeqNum up_to) const {
    return Bytes(static_cast<std::uint32_t>(up_to - first_byte_from(side)));
  }

  /// Its endpoints live.
  [[nodiscard]] bool terminated() const { return phase >= FlowPhase::split; }
  [[nodiscard]] Leg& leg(Side side) { return legs[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const Leg& leg(Side side) const { return legs[static_cast<std::size_t>(side)]; }
};

static_assert(sizeof(Flow) <= 736, "with its place in table and wheel an idle pair takes 784 bytes");

}  // namespace sluice::proxy
