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

/// Configurations of both TCP endpoints of a split connection, and the length limits of their ports, indexed by the
/// Side that each one faces.
struct LegConfigs {
  std::array<const tcp::EndpointConfig*, 2> tcp{};
  std::array<packet::LinkLimit, 2> ports{};
};

/// Result of tracking a segment of a handshake. The segment is forwarded unchanged in every case. So the hosts
/// themselves negotiate options, and detect refusals and timeouts.
enum class Step : std::uint8_t {
  unrelated,  ///< the segment's numbers do not match the handshake, so its state is unchanged
  go_on,      ///< the segment belongs to the handshake, which continues
  answered,   ///< the segment is the SYN-ACK
  complete,   ///< the segment is the ACK that completes the handshake: split the connection now
  refused,    ///< the segment is a RST that ends the handshake: remove the flow
  give_up  ///< the segment has something that a split cannot support (options, data on a SYN-ACK): remove the flow and
           ///< forward
};

/// Initialises a new flow from the first SYN of its connection.
void begin(Flow& flow, const FirstSyn& syn);

/// True if the segment's numbers can belong to this handshake, or to later segments that were not seen. Such numbers
/// are at most one unscaled window after the hosts' initial sequence numbers. A SYN is plausible only with a matching
/// ACK.
[[nodiscard]] bool is_plausible(const Flow& flow, Side from, const tcp::Segment& segment);

/// Tracks a segment that arrived on `from`. `splittable` is true if the proxy knows all options of the segment.
[[nodiscard]] Step follow(Flow& flow, Side from, const tcp::Segment& segment, bool splittable, Instant now);

/// Establishes both endpoints in the states that the hosts have after `ack`, the segment that completed the handshake.
/// The window field of `ack` must be the one that the responder has received, or will receive. `configs` are indexed by
/// the Side that an endpoint faces.
void split_at_handshake(Flow& flow, const tcp::Segment& ack, const LegConfigs& configs, Instant now);

/// Returns the state for tracking the connection without splitting it, when only the last ACK of the handshake is
/// missing.
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// States in which both TCP endpoints of a split connection start.
struct SplitPoint {
  /// State of the endpoint that faces the initiator and acts on behalf of the responder.
  tcp::EstablishedState to_initiator;

  /// State of the endpoint that faces the responder and acts on behalf of the initiator.
  tcp::EstablishedState to_responder;
};

/// Establishes both endpoints of the flow in the states `legs`, so that the connection is split.
void split(Flow& flow, const SplitPoint& legs, const LegConfigs& configs, Instant now);

}  // namespace sluice::proxy::handshake
