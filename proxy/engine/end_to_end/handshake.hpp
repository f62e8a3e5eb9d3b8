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

/// Endpoint configurations and link limits of a connection's two legs, by the Side that each leg faces.
struct LegConfigs {
  std::array<const tcp::EndpointConfig*, 2> tcp{};
  std::array<packet::LinkLimit, 2> ports{};
};

/// Result of tracking a segment of a handshake. The segment is forwarded unchanged in every case, so the hosts
/// negotiate options, refusals and timeouts end to end.
enum class Step : std::uint8_t {
  unrelated,  ///< the numbers do not match the handshake, and the state is unchanged
  go_on,      ///< the segment belongs to the handshake, which continues
  answered,   ///< SYN-ACK
  complete,   ///< ACK that completes the handshake: split the connection now
  refused,    ///< a RST ended the handshake: remove the flow
  give_up     ///< a split cannot support it (options, data on a SYN-ACK): remove the flow and forward
};

/// Initialises a new flow from the first SYN of its connection.
void begin(Flow& flow, const FirstSyn& syn);

/// True if the segment's numbers can belong to this handshake or to unseen segments after it. They lie within one
/// unscaled window behind the hosts' initial sequence numbers. A SYN is plausible only with a matching ACK.
[[nodiscard]] bool is_plausible(const Flow& flow, Side from, const tcp::Segment& segment);

/// Tracks a segment that arrived on `from`. `splittable`: all of its options are known.
[[nodiscard]] Step follow(Flow& flow, Side from, const tcp::Segment& segment, bool splittable, Instant now);

/// Establishes both endpoints in the hosts' state after `ack`, the segment that completed the handshake. Its window
/// field is what the responder has received, or will receive. Configurations are by the Side that an endpoint faces.
void split_at_handshake(Flow& flow, const tcp::Segment& ack, const LegConfigs& configs, Instant now);

/// Returns the state for tracking the connection end to end, when only the last ACK of the handshake is missing.
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// State in which both endpoints are established.
struct SplitPoint {
  tcp::EstablishedState to_initiator;  ///< state of the leg that faces the initiator, in the responder's name
  tcp::EstablishedState to_responder;  ///< state of the leg that faces the responder, in the initiator's name
};

/// Establishes both endpoints in that state, which makes the connection split.
void split(Flow& flow, const SplitPoint& legs, const LegConfigs& configs, Instant now);

}  // namespace sluice::proxy::handshake
