#pragma once

#include <cstddef>
#include <cstdint>

#include "control/ack_clocked_window.hpp"
#include "control/peer_clock.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/bearer/ack_clock.hpp"
#include "proxy/flows/flow.hpp"

namespace sluice::proxy {

class Bearer;

/// What one flow may send in its turn while others of the bearer wait.
inline constexpr Bytes turn{2 * 1500};
/// What young flows have together of a window while older ones wait, too: those that have sent less than
/// SmvsMode::short_flow.
inline constexpr double share_of_the_young = 0.8;

/// The part of a window that one of `waiting` flows has, of which `young` are young. All of one age have the same, and
/// no young one has less than an older one. Requires that itself it is among them.
[[nodiscard]] Bytes part_of(Bytes window, std::uint32_t waiting, std::uint32_t young, bool is_young);

/// Connections of a bearer that have a use for more of its window: those that are split and have a backlog, and those
/// that pass end to end and whose servers it holds back.
struct Contenders {
  std::uint32_t all = 0;
  std::uint32_t young = 0;  ///< … of these
};
[[nodiscard]] Contenders contenders_for(const Bearer& bearer);
/// What every acknowledgement of a bearer's UE tells alike; the rest is the connection's. Requires that it listens.
[[nodiscard]] control::Acknowledged news_of(const Bearer& bearer, Instant now);

/// Returns how much later than at best the newest segment of a peer has come by `clock`, negative where that is
/// unknown: PeerClock::late(), but for a lateness that the round trip refutes. A peer whose clock was set back says
/// that each of its acknowledgements has waited for so much longer, for minutes, and the law would keep as much more in
/// the radio queue, before everybody who shares it. Such a clock begins again, as one of which nothing is known.
/// Refuted is a wait for the uplink that is longer than the round trip of which it is a part. `round_trip`: zero where
/// unknown.
[[nodiscard]] Duration possible_lateness(control::PeerClock& clock, const control::AckClockedWindow& law, Instant now,
                                         std::uint32_t ticks, Duration round_trip);

/// Feeds the law of each bearer from the acknowledgements of its connections, and shares its window among them: none
/// that waits has more than its part while another one wants it. The young have the larger part: what somebody waits
/// for is short more often than not. Knows what of a bearer's flight is each flow's. Thread: the shard's.
class AckSteering {
 public:
  explicit AckSteering(std::size_t most_flows) : shares_(most_flows) {}

  /// What the flow has under way has changed, perhaps: an acknowledgement, a loss, a timeout, a segment sent.
  [[gnu::noinline]] void sync(const Flow& flow, FlowId id, Bearer& bearer);
  /// The UE has acknowledged. Requires that the bearer listens.
  [[gnu::noinline]] void hear(Flow& flow, FlowId id, Bearer& bearer, const tcp::AckNews& news, Instant now);
  /// What the flow may send now. `beyond_its_part`: nobody else has a use for it.
  [[nodiscard, gnu::noinline]] Bytes room(const Flow& flow, FlowId id, Bearer& bearer, bool beyond_its_part,
                                          Instant now);
  /// The same for data that has just come and goes on at once, if there is room for a segment of `least` IP bytes: it
  /// is one of those who wait. Where there is, note_passed() follows.
  [[nodiscard]] Bytes room_to_pass(const Flow& flow, FlowId id, Bearer& bearer, Bytes least, Instant now);
  /// It has gone on, and nothing of the flow waits to.
  void note_passed(const Flow& flow, FlowId id, Bearer& bearer);
  /// The flow waits, and is young.
  [[nodiscard]] bool young_waits(FlowId id) { return shares_[id].young_waits != 0; }
  /// The flow leaves its bearer.
  void forget(FlowId id, Bearer& bearer);

 private:
  static constexpr std::uint32_t most_flight = (1U << 30) - 1;

  struct Share {
    std::uint32_t flight : 30 = 0;      ///< IP bytes
    std::uint32_t waits : 1 = 0;        ///< it counts in AckClock::waiting() …
    std::uint32_t young_waits : 1 = 0;  ///< … and in AckClock::young_waiting()
    std::uint32_t payload = 0;          ///< what `flight` was worked out from
    control::PeerClock clock;
  };
  static void follow_flight(Share& share, const Flow& flow, AckClock& clock);
  static void follow_waits(Share& share, bool waits, const Flow& flow, const Bearer& bearer, AckClock& clock);
  [[nodiscard]] static Bytes room_elsewhere(const Share& share, const Flow& flow, const Bearer& bearer,
                                            const AckClock& clock);
  [[nodiscard, gnu::noinline]] static Bytes room_beside_others(const Share& share, const Flow& flow,
                                                               const AckClock& clock);
  static Bytes follow(Share& share, const Flow& flow, const Bearer& bearer, AckClock& clock);
  [[nodiscard]] static Bytes part_of_room(const Share& share, Bytes room, Contenders contenders, std::uint32_t waiting,
                                          const Flow& flow, const AckClock& clock, Instant now);
  flow::LazyArray<Share> shares_;  ///< by FlowId; no memory where no bearer listens
};

}  // namespace sluice::proxy
