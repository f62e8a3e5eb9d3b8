#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/policy/cross_traffic_policies.hpp"

namespace sluice::proxy {

/// Active queue management of UEs' uplinks. The queue is in the UE's modem, so the proxy cannot hold packets in it. But
/// the timestamps of TCP ACKs show how long a packet has waited there (TimestampOneWayDelay). While this wait stays
/// above a target, the AQM drops or marks packets of the largest uploads, at the times of CoDel (RFC 8289). ACKs, calls
/// and pings of the UE then no longer wait behind an upload. A UE that falsifies its timestamps can only cause drops of
/// its own packets. Work per packet is constant. The functions need only be called while
/// ActivePolicies::controls_uplink() is true. Thread: the shard's.
class UplinkAqm {
 public:
  explicit UplinkAqm(const ShardContext& shard) : shard_(shard) {}

  /// Selects whether a packet may be dropped or marked, or only counts as part of the uplink's load.
  enum class Kind : std::uint8_t {
    controlled,  ///< the packet may be dropped or marked, if it is data of a large upload
    counted      ///< its loss could disturb a handshake or a handback to the hosts
  };
  /// Decides about a packet from a UE that belongs to no split connection. Returns false if the packet is dropped, and
  /// counts it. May set a CE mark instead.
  [[nodiscard, gnu::noinline]] bool pass(RxPacket& rx, Kind kind);
  /// Congestion signal to the sender of a packet.
  enum class Signal : std::uint8_t { none, mark, drop };
  /// Returns the congestion signal that the sender of a segment shall get, and counts it. The segment is data of the
  /// split connection `id`, which belongs to `bearer`.
  [[nodiscard, gnu::noinline]] Signal signal_for(const packet::Parsed& segment, FlowId id, Bearer& bearer, Instant now);
  /// Counts segments of the split connection `id`, which belongs to `bearer`, as load of the uplink. Requires
  /// bearer.has_uplink().
  [[gnu::noinline]] static void count(Bearer& bearer, FlowId id, std::span<const packet::Parsed> segments, Instant now);
  /// Returns how long the newest ACK of the UE has waited for the uplink, if that was known within the last second.
  /// `bearer` has an ACK-based controller.
  [[nodiscard]] static std::optional<Duration> wait_of(const Bearer& bearer, Instant now);

 private:
  [[nodiscard]] Bearer* find_measuring(const IpAddress& ue);
  [[nodiscard]] static UplinkState* congested_uplink(Bearer& bearer, Instant now);
  [[nodiscard]] static Signal choose_signal(UplinkState& uplink, std::uint8_t ecn, Instant now);
  [[nodiscard]] bool count_if_observed(const PolicySettings& settings, const Bearer& bearer);

  const ShardContext shard_;
  CrossTrafficPolicies policies_;
};

}  // namespace sluice::proxy
