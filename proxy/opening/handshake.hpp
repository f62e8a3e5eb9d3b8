#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/link_limit.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/opening/newcomers.hpp"
#include "proxy/shard/config.hpp"

namespace sluice::proxy::handshake {

/// What the endpoints of a connection are configured by, and what their ports carry; by the Side that each faces.
struct LegConfigs {
  std::array<const tcp::EndpointConfig*, 2> tcp{};
  std::array<packet::LinkLimit, 2> ports{};
};

/// What a segment of a connection that is not yet split means for it. The segment is forwarded untouched in every case:
/// the handshake stays the endpoints' own, so refusals, time-outs and options are end to end true.
enum class Step : std::uint8_t {
  unrelated,  ///< its numbers are not the handshake's: it changes nothing
  go_on,      ///< it is of the handshake, which proceeds
  answered,   ///< this is the SYN-ACK
  complete,   ///< this is the ACK that completes it: split the connection now
  refused,    ///< a reset ended it: forget the flow
  give_up     ///< something a split could not carry (options, data on a SYN-ACK): forget the flow, forward from now on
};

/// Remembers the first SYN of a flow that is new.
void begin(Flow& flow, const FirstSyn& syn);

/// Its numbers can be of this handshake, or of what follows it and was not seen: they lie behind the first ones of
/// their hosts by no more than a window that is not scaled. Of SYNs only those that carry such an acknowledgement.
[[nodiscard]] bool is_plausible(const Flow& flow, Side from, const tcp::Segment& segment);

/// Follows a segment that came in on `from`. `splittable`: its options are all understood.
[[nodiscard]] Step follow(Flow& flow, Side from, const tcp::Segment& segment, bool splittable, Instant now);

/// Puts both endpoints where the hosts are after `ack`, the segment that completed the handshake. Its window field is
/// what the responder was, or will be, told. The configurations are by the Side that an endpoint faces.
void split_at_handshake(Flow& flow, const tcp::Segment& ack, const LegConfigs& configs, Instant now);

/// What a handshake that is complete but for its last ACK tells whoever follows the connection end to end.
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// Where both endpoints are to stand.
struct SplitPoint {
  tcp::EstablishedState to_initiator;  ///< the leg that faces it, in the responder's name
  tcp::EstablishedState to_responder;
};

/// Puts both endpoints there; from now on the connection is split.
void split(Flow& flow, const SplitPoint& legs, const LegConfigs& configs, Instant now);

}  // namespace sluice::proxy::handshake
