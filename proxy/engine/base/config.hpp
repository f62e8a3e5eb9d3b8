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
  std::uint32_t max_flows = 65'536;  ///< Largest number of connections, 1 … 16 777 216.
  std::uint32_t max_bearers = 16'384;
  /// Maximum payload bytes of one direction of a connection that the relay holds or has advertised. Held bytes are
  /// received and not acknowledged by the other host; advertised bytes are the window beyond them. BufferPoolBudget
  /// reduces the bound according to the connection's demand and the free packet buffers. The bound is at least 64 KiB,
  /// because a SYN-ACK in the host's name may advertise this window.
  Bytes relay_buffer{16 * 1024 * 1024};
  /// Largest number of bytes that are acknowledged to one host but not by the other one. One limit applies to each
  /// direction of a connection, another one to all connections of a UE together. With 0 nothing is acknowledged before
  /// the other host has acknowledged it. If not set, only relay_buffer limits these bytes.
  std::optional<Bytes> exposure_per_flow;
  std::optional<Bytes> exposure_per_bearer;
  /// Share of the packet buffers that relayed payload never occupies, so that segments can still be received,
  /// acknowledged and forwarded.
  double reserve = 0.0625;
  /// Number of packet buffers that the queues of the ports may occupy. Advertised windows never count on these buffers.
  std::uint32_t port_buffers = 0;
  /// number of shards that allocate from one packet pool; each may use an equal part
  std::uint32_t pool_sharers = 1;
  /// Share of the payload buffers (pool minus port_buffers and reserve) that the connections of one UE may hold and
  /// advertise in total.
  double ue_share = 0.6;
  /// Share of the payload buffers in use up to which a connection's window may exceed the demand measured for it.
  double shrink_windows_at = 0.5;
  /// Share of all packet buffers in use above which new connections are not split.
  double refuse_flows_at = 0.75;
  /// Share of all packet buffers in use above which split connections without queued packets are no longer split, and
  /// pass unchanged.
  double release_flows_at = 0.875;
};

/// Times without progress after which a connection is ended, handed back to its hosts, or cleaned up.
struct ShardTimeouts {
  Duration handshake = std::chrono::seconds(75);  ///< time for a handshake to complete

  /// Time without packets after which a split connection that holds no bytes is no longer split, and passes unchanged.
  Duration idle = std::chrono::seconds(300);
  /// Time after which a connection is reset if a host acknowledges none of the bytes that are held for it; at most 4 h.
  Duration stalled = std::chrono::hours(1);

  /// time limit like `stalled`, if the sending host has reset the connection or is gone
  Duration orphaned = std::chrono::minutes(3);

  /// time after which out-of-order segments are dropped if the gap before them is not filled
  Duration out_of_order = std::chrono::minutes(1);
};

/// Configuration of a shard at its start. The base class PolicySettings contains the settings of connections that no
/// policy matches.
struct ShardConfig : PolicySettings {
  std::vector<Policy> policies;  ///< policies in order: the first one that matches a connection applies
  double control_group = 0;      ///< share of the UEs, the control group, whose connections no rate controller limits
  tcp::EndpointConfig tcp;
  ShardLimits limits;
  ShardTimeouts timeouts;

  /// prefixes of UE addresses; if empty, every source address on the radio port is a UE
  std::vector<IpPrefix> ue_prefixes;
  /// Prefixes whose UEs are behind one queue, for example that of an access point. The UEs of such a prefix are
  /// controlled together, as one UE.
  std::vector<IpPrefix> shared_queues;
  /// True to accept segments with the unfinished checksum that a kernel leaves to an offload (veth, TAP); indexed by
  /// the Side on which they arrive. The SYN of the host must have had such a checksum.
  std::array<bool, 2> accept_partial_checksums{};
  /// Maximum frame length of the port to each Side; see Shard::set_port().
  std::array<packet::LinkLimit, 2> ports{};
  /// True to forward in-order data of loss-free connections at once, in the received frame (cut-through). False: every
  /// segment is received and rebuilt, as a reference for tests and benchmarks.
  bool cut_through = true;

  [[nodiscard]] bool accepts_partial_checksums(Side in) const {
    return accept_partial_checksums[static_cast<std::size_t>(in)];
  }
  /// Returns the part of the configuration that can be replaced while the shard (the packet-processing object of a
  /// thread) runs.
  [[nodiscard]] Policies policy_set() const {
    const PolicySettings& by_default = *this;
    tcp::EndpointConfig legs = tcp;
    legs.answers_keepalives = false;  // because the other host answers them
    legs.joins_payloads = true;
    return {by_default, policies, control_group, legs};
  }
};

}  // namespace sluice::proxy
