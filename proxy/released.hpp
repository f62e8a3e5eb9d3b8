#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/units/ip_address.hpp"
#include "proxy/age_ring.hpp"
#include "proxy/flow.hpp"
#include "proxy/handshake.hpp"

namespace sluice::proxy {

/// One host of a connection that passes, as its segments show it.
struct FollowedHost {
  tcp::SeqNum next;            ///< behind the last byte it has sent, as far as is known
  tcp::SeqNum acked;           ///< what it has acknowledged
  tcp::SeqNum edge;            ///< right edge of the widest window it has granted, or was granted in its name
  std::uint32_t window = 0;    ///< its window in bytes, from `acked`
  std::uint32_t ts_value = 0;  ///< its newest timestamp
  std::uint32_t rtt = 0;       ///< between here and it when it was let go, tick::micro; 0 while unknown
  bool heard = false;          ///< since it was let go
  bool unsettled = false;      ///< its last segment was urgent or told of congestion
};

/// A connection that was split and is its hosts' again.
struct ReleasedFlow {
  flow::FlowKey key;
  Handshake handshake;
  std::array<packet::HeaderTemplate, 2> headers;  ///< as Leg::headers
  std::array<FollowedHost, 2> hosts;              ///< by the side they are behind
  std::uint32_t ticket = 0;
  Side initiator = Side::radio;
  bool wanted = false;  ///< it is to be taken up again when it can be

  [[nodiscard]] FollowedHost& host(Side side) { return hosts[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const FollowedHost& host(Side side) const { return hosts[static_cast<std::size_t>(side)]; }
};
static_assert(sizeof(ReleasedFlow) <= 256);

/// The connections that were let go, followed while they pass untouched, so that one can be split again when it is
/// quiet: everything that either host has sent is acknowledged, and the next segment begins where the last one ended.
/// Of a connection that was never split here the options are not known, and it is not among them. The oldest are
/// forgotten when there are too many; all memory at construction. Thread: its shard's.
class Released {
 public:
  static constexpr std::uint32_t none = no_id;

  Released(std::uint32_t max_flows, std::uint64_t seed);

  /// The flow is let go. It is wanted back by itself unless an operator or a surprise has sent it away.
  void add(const Flow& flow);
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return size() == 0 ? none : table_.find(key); }
  void forget(std::uint32_t id);
  /// Those of the UE (of all) are wanted back. Looks at every one.
  void want(const std::optional<IpAddress>& ue);

  /// A segment has passed. False when it ends the connection.
  [[nodiscard]] bool follow(std::uint32_t id, Side in, const tcp::Segment& segment);
  /// The connection is wanted, and may be split from this segment on, which brings data and was not followed.
  [[nodiscard]] bool may_return(std::uint32_t id, Side in, const tcp::Segment& segment) const;
  /// Puts the connection into `flow`, split, as it stands before that segment.
  void restore(std::uint32_t id, Side in, const tcp::Segment& segment, Flow& flow, const handshake::LegConfigs& configs,
               Instant now) const;

  [[nodiscard]] std::uint32_t size() const { return flows_.size(); }

 private:
  flow::Slab<ReleasedFlow> flows_;
  flow::FlowTable table_;
  AgeRing ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
