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
#include "proxy/policy/policy.hpp"
#include "proxy/policy/treatment.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::proxy {

/// Bounds on what a shard holds. Taken at start; nothing grows beyond them.
struct ShardLimits {
  std::uint32_t max_flows = 65'536;  ///< 1 … 16 777 216
  std::uint32_t max_bearers = 16'384;
  /// Payload bytes that one direction of one connection may hold here at most: received and acknowledged, not yet
  /// acknowledged by the other side (the ack exposure), or advertised as window. How much it is depends on what the
  /// connection needs and on the packet buffers left (MemoryBudget).
  /// At least 64 KiB, which is what a SYN-ACK may advertise in the host's own name.
  Bytes relay_buffer{16 * 1024 * 1024};
  /// Bytes acknowledged to one host and not yet by the other one: of one direction of a connection, and of all
  /// connections of a UE together. 0 acknowledges nothing before the other host has; not set: relay_buffer is all.
  std::optional<Bytes> exposure_per_flow;
  std::optional<Bytes> exposure_per_bearer;
  /// Share of the packet buffers that relayed payload never takes: they receive, acknowledge and forward.
  double reserve = 0.0625;
  /// Packet buffers that the ports keep for themselves, whatever happens: no window is made of them.
  std::uint32_t port_buffers = 0;
  /// Shards that take from the same pool; each has an equal part of it.
  std::uint32_t pool_sharers = 1;
  /// Share of the others that the connections of one UE may hold and advertise together.
  double ue_share = 0.6;
  /// Share of them up to which windows may be wider than the connection has shown to need.
  double shrink_windows_at = 0.5;
  /// Share of all packet buffers in use from which new connections go unsplit.
  double refuse_flows_at = 0.75;
  /// … and from which connections that hold no packet go back to plain forwarding.
  double release_flows_at = 0.875;
};

/// How long things may last.
struct ShardTimeouts {
  Duration handshake = std::chrono::seconds(75);  ///< a SYN that leads nowhere is forgotten
  Duration idle = std::chrono::seconds(300);  ///< a silent connection with an empty relay goes back to plain forwarding
  /// A host that takes nothing of what is held for it for so long, alive or not, loses the connection; at most 4 h.
  Duration stalled = std::chrono::hours(1);
  Duration orphaned = std::chrono::minutes(3);      ///< the same where the host that sent it has reset or is gone
  Duration out_of_order = std::chrono::minutes(1);  ///< segments whose turn does not come are forgotten
};

/// Everything a shard is told at its start. What it has of Treatment is the default of its policies.
struct ShardConfig : Treatment {
  std::vector<Policy> policies;  ///< the first that matches decides
  double control_group = 0;      ///< share of the UEs that stay on ordinary TCP
  tcp::EndpointConfig tcp;
  ShardLimits limits;
  ShardTimeouts timeouts;
  std::vector<IpPrefix> ue_prefixes;  ///< empty: every source address on the radio port is a UE
  /// The UEs of such a prefix are behind one queue, an access point's, and share a bearer.
  std::vector<IpPrefix> shared_queues;
  /// By the Side they come in at: take segments whose checksum a kernel left to an offload (veth, TAP), of hosts whose
  /// SYN had such a checksum.
  std::array<bool, 2> accept_partial_checksums{};
  /// By Side: how long frames may be that leave there; see Shard::set_port().
  std::array<packet::LinkLimit, 2> ports{};
  /// Data of undisturbed connections leaves at once, in the frame in which it came. Off: every segment is received and
  /// written anew, which is what the other way is compared with.
  bool cut_through = true;

  [[nodiscard]] bool accepts_partial_checksums(Side in) const {
    return accept_partial_checksums[static_cast<std::size_t>(in)];
  }
  /// The part that can be exchanged while the shard runs.
  [[nodiscard]] Policies treatments() const {
    const Treatment& by_default = *this;
    tcp::EndpointConfig legs = tcp;
    legs.answers_keepalives = false;  // what they ask for is the other host's to answer
    legs.joins_payloads = true;
    return {by_default, policies, control_group, legs};
  }
};

}  // namespace sluice::proxy
