// Declares the keys that limit a shard's memory and the timeouts of its connections. Also computes the payload for
// which the configured packet buffers suffice.
#include <algorithm>
#include <string>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/rss.hpp"
#include "dataplane/packet/pool_memory.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/describe_parts.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"

namespace sluice::proxy {
namespace {

using config::Section;
using namespace std::chrono_literals;

/// Returns the number of packet buffers that the receive queues of both ports hold.
std::uint32_t port_buffers(const Config& config) {
  const auto held_by = [](const PortSettings& port) {
    return dpdk::buffers_held(port.device, port.receive_descriptors);
  };
  return config.shards.count * (held_by(config.ports.radio) + held_by(config.ports.core));
}

}  // namespace

std::uint16_t buffer_room_for(const Config& config) {
  return std::max(packet::PacketPool::default_room,
                  dpdk::buffer_room(std::max(config.ports.radio.mtu, config.ports.core.mtu)));
}

PacketMemory packet_memory(const Config& config) {
  ShardLimits limits = config.shard.limits;
  limits.pool_sharers = config.shards.count;
  limits.port_buffers = port_buffers(config);
  const Bytes shard = BufferPoolBudget::whole(limits, config.pool.buffers);
  return {shard, Bytes(static_cast<double>(shard.count()) * limits.ue_share),
          BufferPoolBudget::largest(limits, config.pool.buffers)};
}

Bytes memory_for(const Config& config) {
  const std::uint64_t needed = packet::pool_footprint(config.pool.buffers, buffer_room_for(config)) +
                               dpdk::RssSteering::footprint(config.shards.count);
  constexpr std::uint64_t mib = 1 << 20;
  return Bytes(static_cast<std::int64_t>((needed / mib + 64) * mib));  // descriptors and driver memory
}

void check_memory(Section& s, const Config& config) {
  const std::uint32_t held = port_buffers(config);
  s.check(config.pool.buffers >= held + 1024, "pool",
          "at least " + std::to_string(held + 1024) + " buffers: what the ports' receive queues hold and 1024 more",
          std::to_string(config.pool.buffers));
  const Bytes wanted = config.shard.limits.relay_buffer;
  const Bytes reach = packet_memory(config).connection;
  s.advise(wanted == ShardLimits{}.relay_buffer || wanted <= reach, "limits",
           "relay_buffer of at most " + config::Scalar<Bytes>::format(reach) +
               ", which is what pool.buffers and limits.ue_share leave to one connection",
           config::Scalar<Bytes>::format(wanted));
  const Bytes needed = memory_for(config);
  s.check(!config.eal.memory || *config.eal.memory >= needed, "eal",
          "memory of at least " + config::Scalar<Bytes>::format(needed) + " for pool.buffers",
          config.eal.memory ? config::Scalar<Bytes>::format(*config.eal.memory) : "");
}

void describe(Section& s, ShardLimits& limits) {
  s.value("max_flows", limits.max_flows, {1, 16'777'216},
          "tracked connections per shard; further ones are forwarded unsplit");
  s.value("max_bearers", limits.max_bearers, {1, 1'048'576},
          "UEs per shard; connections of further UEs are forwarded unsplit");
  s.value("relay_buffer", limits.relay_buffer, {Bytes(64 * 1024), Bytes(1 << 30)},
          "most bytes that one direction of a connection holds (acknowledged to the sender, not by the receiver) or "
          "advertises as window; the actual limit depends on its demand and on free packet buffers");
  s.value("exposure_per_flow", limits.exposure_per_flow, {Bytes(0), Bytes(1 << 30)},
          "most bytes of one direction of a connection that are acknowledged to the sender and not yet by the "
          "receiver; 0B: every byte is acknowledged by the receiver first; not set: relay_buffer is the limit");
  s.value("exposure_per_bearer", limits.exposure_per_bearer, {Bytes(0), Bytes(1 << 30)},
          "most bytes acknowledged to senders and not yet by receivers, over all connections of a UE");
  s.value("reserve", limits.reserve, {0.02, 0.5},
          "share of the packet buffers that relayed payload never uses; they serve reception, ACKs and forwarding");
  s.value("ue_share", limits.ue_share, {0.01, 1},
          "share of the relay buffers (those beyond the reserve) that the connections of one UE may hold and advertise "
          "together");
  s.value("shrink_windows_at", limits.shrink_windows_at, {0, 1},
          "share of the relay buffers, held or advertised, above which each connection gets only its measured demand");
  s.value("refuse_flows_at", limits.refuse_flows_at, {0, 1},
          "share of the packet buffers in use above which new connections are forwarded unsplit");
  s.value("release_flows_at", limits.release_flows_at, {0, 1},
          "share of the packet buffers in use above which connections that hold none return to plain forwarding");
  // Each threshold of used packet buffers starts a stronger measure than the threshold below it, so their order is
  // fixed.
  s.check(limits.shrink_windows_at <= limits.refuse_flows_at, "refuse_flows_at",
          "at least shrink_windows_at, " + config::Scalar<double>::format(limits.shrink_windows_at),
          config::Scalar<double>::format(limits.refuse_flows_at));
  s.check(limits.refuse_flows_at <= limits.release_flows_at, "release_flows_at",
          "at least refuse_flows_at, " + config::Scalar<double>::format(limits.refuse_flows_at),
          config::Scalar<double>::format(limits.release_flows_at));
}

void describe(Section& s, ShardTimeouts& timeouts) {
  s.value("handshake", timeouts.handshake, {1s, 10min}, "time after which an incomplete handshake is discarded");
  s.value("idle", timeouts.idle, {1s, 24h}, "time after which an idle connection returns to plain forwarding");
  s.value("stalled", timeouts.stalled, {1s, 4h},
          "time after which a connection is reset on both sides because a host acknowledged none of the data held for "
          "it, for example with a closed window, even if it answers");
  s.value("orphaned", timeouts.orphaned, {1s, 4h},
          "time after which a connection is reset if a host acknowledged none of the held data, and the sender of that "
          "data has reset the connection or is gone");
  s.value("out_of_order", timeouts.out_of_order, {1s, 4h},
          "time after which out-of-order segments are dropped because missing data has not arrived; their sender "
          "retransmits them");
}

}  // namespace sluice::proxy
