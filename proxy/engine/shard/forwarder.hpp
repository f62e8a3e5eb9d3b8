#pragma once

#include "proxy/engine/end_to_end/end_to_end_flows.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/passing_traffic.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/rate_control/cross_traffic_sender.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"

namespace sluice::proxy {

/// Forwards packets that are not processed by a split connection: untouched, or as segments of an end-to-end connection
/// whose windows are rewritten. Thread: the shard's.
class Forwarder {
 public:
  /// Keeps references to its arguments, which outlive the forwarder.
  Forwarder(const ShardContext& shard, EndToEndFlows& end_to_end, CrossTrafficSender& cross_traffic,
            const RelayBufferQuota& buffer_quota, PassingTraffic& passing)
      : shard_(shard),
        end_to_end_(end_to_end),
        cross_traffic_(cross_traffic),
        buffer_quota_(buffer_quota),
        passing_(passing) {}

  /// Makes forward() count the packets to each UE, because some policy uses a rate controller.
  void count_radio() { radio_counted_ = true; }
  /// Selects how forward() treats a checksum that a kernel may have left unfinished.
  enum class Checksum : std::uint8_t {
    /// An unfinished checksum is computed if the port accepts such checksums, because no later device would do it.
    finish,
    keep  ///< the checksum is left as received: the host finishes its checksums, so the segment is damaged
  };
  /// Forwards a frame, counted under `reason`, and changes nothing but its checksum. For frames without a tracked
  /// handshake (UDP, bypass, connections older than the proxy), only the port's setting determines how unfinished
  /// checksums are treated. On a veth or TAP, every datagram of a host with offloads arrives unfinished and would
  /// otherwise be lost. On a physical interface no datagram does, so a damaged frame stays damaged.
  [[gnu::noinline]] void forward(RxPacket& rx, Counter reason, Checksum checksum = Checksum::finish);
  /// Forwards a segment of an end-to-end connection, now or later, with the window that its rate controller allows.
  void pass_end_to_end(RxPacket& rx, EndToEndId id);

 private:
  [[gnu::noinline]] void forward_unusual(RxPacket& rx, Counter reason, Checksum checksum);
  [[nodiscard]] bool is_too_long(RxPacket& rx);
  [[gnu::cold, gnu::noinline]] void drop_too_long(RxPacket& rx);
  [[nodiscard, gnu::noinline]] bool pass_to_ue(RxPacket& rx, Counter reason);

  const ShardContext shard_;
  EndToEndFlows& end_to_end_;
  CrossTrafficSender& cross_traffic_;
  const RelayBufferQuota& buffer_quota_;
  bool radio_counted_ = false;
  PassingTraffic& passing_;
};

}  // namespace sluice::proxy
