#pragma once

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/by_value.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/base/histogram.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {

/// Limits the bytes acknowledged to one host that the other host has not acknowledged (limits.exposure_per_flow,
/// limits.exposure_per_bearer). Thread: any, because it holds only a reference to the limits.
class UndeliveredAckLimit {
 public:
  /// Keeps a reference to `limits`, which outlives it.
  explicit UndeliveredAckLimit(const ShardLimits& limits) : limits_(limits) {}

  /// True if the flow's ACKs must be withheld until allow(). A connection that is drained (handed back to its hosts) is
  /// always limited, because its exposure must not grow. If a stop of the proxy would lose no data now, it must lose
  /// none later.
  [[nodiscard]] bool caps(const Flow& flow) const {
    return configured() || flow.release_reason == ReleaseReason::released_drain;
  }
  /// Starts or stops the withholding of ACKs on both legs, depending on caps().
  void hold(Flow& flow) const;
  /// Advertises `room` more bytes to the host behind `in`, but no more than the proxy may acknowledge.
  void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) const {
    relay::open_window(flow, in, configured() ? lesser(room, capped_room(flow, in)) : room, updates);
  }
  /// True if the flow's ACKs are withheld, whatever its release reason is now. A flow that is drained (handed back to
  /// its hosts) may meanwhile be released for another reason.
  [[nodiscard]] static bool waits(const Flow& flow) { return flow.legs[0].endpoint.defers_acks(); }
  /// Releases withheld ACKs as far as the limits of the flow and of its UE allow. Requires waits().
  void allow(Flow& flow, Bearer& bearer) const;

 private:
  /// Returns the window for the host behind `in` if a limit is configured.
  [[nodiscard, gnu::cold, gnu::noinline]] Bytes capped_room(const Flow& flow, Side in) const;
  /// True if any limit on acknowledged and undelivered bytes is configured.
  [[nodiscard]] bool configured() const {
    return limits_.exposure_per_flow.has_value() || limits_.exposure_per_bearer.has_value();
  }

  const ShardLimits& limits_;
};

/// Samples the ACK exposure of flows into a histogram: the bytes acknowledged to one host and not by the other one.
/// Each direction is a value. Thread: the shard's.
class ExposureSample {
 public:
  /// Samples the ACK exposure of up to `most` flows. The next call continues with the next flows.
  void take(const flow::Slab<Flow>& flows, std::uint32_t most);
  [[nodiscard]] const Histogram& bytes() const { return bytes_; }

 private:
  Histogram bytes_;
  FlowId next_ = 0;  ///< id of the flow with which the next call continues
};

}  // namespace sluice::proxy
