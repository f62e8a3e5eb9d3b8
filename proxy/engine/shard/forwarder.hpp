#pragma once

#include "proxy/engine/end_to_end/end_to_end_flows.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/passing_traffic.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/policy/cross_traffic_policies.hpp"
#include "proxy/engine/rate_control/cross_traffic_sender.hpp"
#include "proxy/engine/rate_control/uplink_aqm.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/shard/scone_advisor.hpp"

namespace sluice::proxy {

/// Forwards packets that no split connection processes. Rewrites windows in segments of end-to-end connections. Other
/// packets stay unchanged, except for unfinished checksums and the rate signals of SCONE packets. Thread: the shard's.
class Forwarder {
 public:
  /// Stores references to its arguments, which must outlive the forwarder.
  Forwarder(const ShardContext& shard, EndToEndFlows& end_to_end, CrossTrafficSender& cross_traffic,
            const RelayBufferQuota& buffer_quota, PassingTraffic& passing, UplinkAqm& uplink)
      : shard_(shard),
        end_to_end_(end_to_end),
        cross_traffic_(cross_traffic),
        buffer_quota_(buffer_quota),
        passing_(passing),
        scone_(shard),
        uplink_(uplink) {}

  /// Makes forward() count the packets to each UE from now on, because some policy uses a rate controller.
  void count_radio() { radio_counted_ = true; }
  /// True if forward() counts the packets to each UE. Cross traffic (packets of no tracked connection, such as QUIC)
  /// may then wait until the UE's rate controller allows it.
  [[nodiscard]] bool counts_radio() const { return radio_counted_; }
  /// Selects what forward() does with a checksum that the sender's kernel may have left unfinished.
  enum class Checksum : std::uint8_t {
    /// completes an unfinished checksum if the port accepts such checksums, because no later device would complete it
    finish,
    /// Leaves the checksum as received: the host is known to complete its checksums, so a wrong one shows that the
    /// segment is damaged.
    keep
  };
  /// Forwards a frame and counts it under `reason`. Changes nothing but an unfinished checksum, and the rate signal of
  /// a SCONE packet if a policy advises a rate. Without a tracked handshake (UDP, bypass, older connections), the
  /// port's setting decides whether unfinished checksums are completed. By default they are completed on a veth or TAP,
  /// because hosts with offloads leave them unfinished. On a physical interface they are not: a wrong checksum there
  /// shows damage, and the receiver must see it.
  [[gnu::noinline]] void forward(RxPacket& rx, Counter reason, Checksum checksum = Checksum::finish);
  /// Forwards a segment of an end-to-end connection, at once or later. Rewrites its window to the one that the
  /// connection's rate controller allows. `kind` states whether the uplink's AQM may drop the segment.
  void pass_end_to_end(RxPacket& rx, EndToEndId id, UplinkAqm::Kind kind = UplinkAqm::Kind::controlled);

 private:
  [[gnu::noinline]] void forward_unusual(RxPacket& rx, Counter reason, Checksum checksum);
  [[nodiscard]] bool is_too_long(RxPacket& rx);
  [[gnu::cold, gnu::noinline]] void drop_too_long(RxPacket& rx);
  [[nodiscard, gnu::noinline]] bool pass_to_ue(RxPacket& rx, Counter reason);
  [[nodiscard]] bool may_wait(const RxPacket& rx, Counter reason);
  /// True if forward() must examine each packet to a UE, because bearers count packets, or because policies advise
  /// rates to SCONE senders.
  [[nodiscard]] bool examines_radio() const { return radio_counted_ || shard_.registry.policies().advises_rates(); }

  const ShardContext shard_;
  EndToEndFlows& end_to_end_;
  CrossTrafficSender& cross_traffic_;
  const RelayBufferQuota& buffer_quota_;
  bool radio_counted_ = false;
  PassingTraffic& passing_;
  CrossTrafficPolicies cross_traffic_policies_;
  SconeAdvisor scone_;
  UplinkAqm& uplink_;
};

}  // namespace sluice::proxy
