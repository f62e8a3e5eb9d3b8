#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/packet/link_limit.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/policy/policy.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Bounds on the memory of a shard. The memory is allocated at start and never grows.
struct ShardLimits {
  /// Maximum number of split connections and handshakes together, 1 … 16 777 216. As many end-to-end connections are
  /// possible in addition.
  std::uint32_t max_flows = 65'536;
  std::uint32_t max_bearers = 16'384;
  /// Maximum number of payload bytes that the proxy holds for one direction of a connection, plus those that its
  /// advertised window permits. A byte is held from its arrival until the receiving host acknowledges it. The actual
  /// limit (RelayBufferQuota) is lower if few packet buffers are free or the connection needs less. At least 64 KiB,
  /// because the proxy forwards the hosts' SYN-ACKs, which can advertise up to 64 KiB.
  Bytes relay_buffer{16 * 1024 * 1024};
  /// Maximum number of bytes that the proxy has acknowledged to one host and that the other host has not acknowledged.
  /// exposure_per_flow applies to each direction of a connection, exposure_per_bearer to all connections of a UE under
  /// one policy together. With 0, the proxy acknowledges only what the other host has acknowledged. If not set, only
  /// relay_buffer limits these bytes.
  std::optional<Bytes> exposure_per_flow;
  std::optional<Bytes> exposure_per_bearer;
  /// Share (0 … 1) of the packet buffers, without those in port_buffers, that is kept free of relayed payload. Segments
  /// can thus always be received, acknowledged and forwarded.
  double reserve = 0.0625;
  /// Number of packet buffers that the receive and transmit queues of the ports may occupy. Payload cannot use them, so
  /// the proxy advertises no window for them.
  std::uint32_t port_buffers = 0;
  /// number of shards that share one packet pool; each may use an equal part of it
  std::uint32_t pool_sharers = 1;
  /// Share (0 … 1) of the payload buffers (pool minus port_buffers and reserve) that all connections of one UE together
  /// may hold and advertise as windows.
  double ue_share = 0.6;
  /// Threshold (0 … 1) of the share of the payload buffers (pool minus port_buffers and reserve) that payload occupies
  /// or advertised windows may fill. Below it, a connection may advertise a larger window than its measured throughput
  /// needs.
  double shrink_windows_at = 0.5;
  /// Threshold (0 … 1) of the share of packet buffers in use, without those in port_buffers. Above it, new connections
  /// are not split.
  double refuse_flows_at = 0.75;
  /// Threshold (0 … 1) of the share of packet buffers in use, without those in port_buffers. Above it, split
  /// connections without queued packets are handed back to their hosts.
  double release_flows_at = 0.875;
};

/// Times without progress after which the shard discards a handshake or out-of-order data, resets a connection, or
/// hands it back to its hosts.
struct ShardTimeouts {
  Duration handshake = std::chrono::seconds(75);  ///< time after which an incomplete handshake is discarded

  /// Time without packets after which a split connection that holds no bytes is handed back to its hosts. From then on
  /// its packets are forwarded unchanged. It is also the time for which the state of an end-to-end connection without
  /// packets is kept, and that of a bearer without connections.
  Duration idle = std::chrono::seconds(300);
  /// Time after which a connection is reset because a host has acknowledged nothing of the data that the proxy holds
  /// for it. At most 4 hours, because Leg::progress stores the time of the last progress in 16 bits.
  Duration stalled = std::chrono::hours(1);

  /// Time after which a connection is reset because a host has acknowledged nothing of the data that the proxy holds
  /// for it. It applies instead of timeouts.stalled if the host that sent the data has reset the connection or is gone.
  Duration orphaned = std::chrono::minutes(3);

  /// time after which out-of-order segments are dropped if the gap before them is not filled
  Duration out_of_order = std::chrono::minutes(1);
};

/// Configuration with which a shard starts. The base class PolicySettings contains the settings of connections that
/// match none of `policies`.
struct ShardConfig : PolicySettings {
  std::vector<Policy> policies;  ///< policies in order of precedence: the first one that matches a connection applies
  double control_group = 0;      ///< share (0 … 1) of all UEs that form the control group, which no rate controller
                                 ///< limits
  tcp::EndpointConfig tcp;
  ShardLimits limits;
  ShardTimeouts timeouts;

  /// prefixes of UE addresses; if empty, every source address on the radio port is a UE
  std::vector<IpPrefix> ue_prefixes;
  /// Prefixes of UE addresses. The UEs of one prefix share one radio queue, for example that of an access point, and
  /// are controlled together like a single UE.
  std::vector<IpPrefix> shared_queues;
  /// True to accept segments whose checksum the sender's kernel left unfinished for an offload (veth, TAP). Indexed by
  /// the Side on which they arrive. The SYN of the host must have had an unfinished checksum too, or the device must
  /// vouch for the data (ChecksumState::partial_verified).
  std::array<bool, 2> accept_partial_checksums{};
  /// True to lower the MSS that SYNs announce to what both ports carry, in all modes (MSS clamping). Signed SYNs keep
  /// their MSS.
  bool clamp_mss = false;
  /// Maximum frame length of each port, indexed by the Side of the port; see Shard::set_port().
  std::array<packet::LinkLimit, 2> ports{};
  /// True to forward in-order data of loss-free connections at once in the frame in which it was received
  /// (cut-through). If false, the proxy receives each segment and builds a new one. Tests and benchmarks compare both
  /// ways.
  bool cut_through = true;

  [[nodiscard]] bool accepts_partial_checksums(Side in) const {
    return accept_partial_checksums[static_cast<std::size_t>(in)];
  }
  /// Returns the policies, which can be replaced while the shard is running, unlike the rest of the configuration.
  [[nodiscard]] Policies policy_set() const {
    const PolicySettings& by_default = *this;
    tcp::EndpointConfig legs = tcp;
    legs.answers_keepalives = false;  // because the other host answers them
    legs.joins_payloads = true;
    legs.ends_backoff_in_recovery = true;
    return {by_default, policies, control_group, legs};
  }
};

}  // namespace sluice::proxy
