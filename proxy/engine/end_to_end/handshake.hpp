#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/link_limit.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/syn_cache.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy::handshake {

/// Configurations of both TCP endpoints of a split connection, and frame length limits of their ports. Indexed by the
/// Side that an endpoint faces.
struct LegConfigs {
  std::array<const tcp::EndpointConfig*, 2> tcp{};
  std::array<packet::LinkLimit, 2> ports{};
};

/// Result of tracking a segment of a handshake. The caller forwards the segment unchanged in any case. Therefore the
/// hosts negotiate options themselves, and themselves detect refusals and timeouts.
enum class Step : std::uint8_t {
  unrelated,  ///< the segment's numbers do not match the handshake, so its state is unchanged
  continues,  ///< the segment belongs to the handshake, which continues
  answered,   ///< the segment is the SYN-ACK
  complete,   ///< the segment is the ACK that completes the handshake: split the connection now
  refused,    ///< the segment is a RST that ends the handshake: remove the flow
  /// The connection cannot be split: a segment has unsupported options or data beside a SYN, or shows that the proxy
  /// has missed other segments. The flow must be removed, and the segment forwarded.
  give_up,
  give_up_ecn  ///< equal to give_up, but the reason is that the hosts' agreement on accurate ECN is unclear
};

/// Initialises a new flow from the first SYN of its connection.
void begin(Flow& flow, const FirstSyn& syn);

/// True if the segment's numbers match this handshake, even if earlier segments were not seen. Sequence and
/// acknowledgement numbers must lie at most one unscaled window (64 KiB) after the initial sequence numbers. A segment
/// with SYN must be the SYN-ACK of the responder.
[[nodiscard]] bool is_plausible(const Flow& flow, Side from, const tcp::Segment& segment);

/// Tracks a segment that arrived on `from`, and returns what it means for the handshake. `splittable` is true if the
/// proxy supports all options of the segment.
[[nodiscard]] Step follow(Flow& flow, Side from, const tcp::Segment& segment, bool splittable, Instant now);

/// Creates both endpoints of a split connection in the states that the hosts have after `ack`, the segment that
/// completes the handshake. The window field of `ack` must be the one that the responder receives, because the proxy
/// may have reduced it. `configs` are indexed by the Side that an endpoint faces.
void split_at_handshake(Flow& flow, const tcp::Segment& ack, const LegConfigs& configs, Instant now);

/// Returns the state of the connection directly after its handshake, from which it can be tracked without a split. The
/// handshake must be complete, except that its last ACK may be missing.
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// Initial states of both TCP endpoints of a split connection.
struct SplitPoint {
  /// state of the endpoint that faces the initiator and acts in the name of the responder
  tcp::EstablishedState to_initiator;

  /// state of the endpoint that faces the responder and acts in the name of the initiator
  tcp::EstablishedState to_responder;
};

/// Creates both endpoints of the flow in the states `legs`, which splits the connection.
void split(Flow& flow, const SplitPoint& legs, const LegConfigs& configs, Instant now);

}  // namespace sluice::proxy::handshake
