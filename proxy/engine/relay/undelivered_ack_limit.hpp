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

/// Limits the ACK exposure: the bytes acknowledged to one host that the other host has not acknowledged
/// (limits.exposure_per_flow, limits.exposure_per_bearer). Thread: any, because the object only contains a reference to
/// the limits.
class UndeliveredAckLimit {
 public:
  /// Stores a reference to `limits`, which must outlive the object.
  explicit UndeliveredAckLimit(const ShardLimits& limits) : limits_(limits) {}

  /// True if ACKs of the flow must be withheld until allow() releases them. One reason is a configured limit of the ACK
  /// exposure (bytes acknowledged to one host and not by the other). The other reason is a drain, in which the flow is
  /// handed back to its hosts. The exposure then never grows. If a stop of the proxy would lose no data now, it loses
  /// none later.
  [[nodiscard]] bool caps(const Flow& flow) const {
    return configured() || flow.release_reason == ReleaseReason::released_drain;
  }
  /// Withholds ACKs on both legs from now on if caps() is true; otherwise stops withholding them.
  void hold(Flow& flow) const;
  /// Advertises a window of `room` bytes to the host behind `in`. If a limit of the ACK exposure (bytes acknowledged to
  /// one host and not by the other) is configured, the limit also bounds the window. `updates` selects by how much the
  /// right edge must move so that a separate ACK advertises it.
  void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) const {
    relay::open_window(flow, in, configured() ? lesser(room, capped_room(flow, in)) : room, updates);
  }
  /// True if ACKs of the flow are withheld now. May be true although caps() is false, because the flow's release reason
  /// may have changed since the last call of hold().
  [[nodiscard]] static bool waits(const Flow& flow) { return flow.legs[0].endpoint.defers_acks(); }
  /// Releases withheld ACKs as far as the limits of the ACK exposure (bytes acknowledged to one host and not by the
  /// other) allow. One limit is for the flow, another one for its UE. Requires waits().
  void allow(Flow& flow, Bearer& bearer) const;

 private:
  /// Returns the largest window that may be advertised to the host behind `in`: the window that the other host has
  /// advertised. If exposure_per_flow is configured alone, that limit is added. Requires that a limit of the ACK
  /// exposure is configured.
  [[nodiscard, gnu::cold, gnu::noinline]] Bytes capped_room(const Flow& flow, Side in) const;
  /// True if a limit of the ACK exposure (bytes acknowledged to one host and not by the other) is configured.
  [[nodiscard]] bool configured() const {
    return limits_.exposure_per_flow.has_value() || limits_.exposure_per_bearer.has_value();
  }

  const ShardLimits& limits_;
};

/// Samples the ACK exposure of flows into a histogram, which status displays show. The exposure is the number of bytes
/// acknowledged to one host and not by the other, which a crash of the proxy would lose. Each direction gives one
/// value. Thread: the shard's.
class ExposureSample {
 public:
  /// Adds the ACK exposure (bytes acknowledged to one host and not by the other) of the next `most` flows to the
  /// histogram. A call continues after the flow at which the last call stopped.
  void take(const flow::Slab<Flow>& flows, std::uint32_t most);
  [[nodiscard]] const Histogram& bytes() const { return bytes_; }

 private:
  Histogram bytes_;
  FlowId next_ = 0;  ///< id of the flow at which the next call starts
};

}  // namespace sluice::proxy
