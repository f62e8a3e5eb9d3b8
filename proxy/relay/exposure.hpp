#pragma once

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/by_value.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/relay/relay.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/histogram.hpp"

namespace sluice::proxy {

/// What is acknowledged to one host before the other one has it: capped where that is configured. Thread: any; holds
/// nothing but its limits.
class Exposure {
 public:
  /// `limits` outlives it.
  explicit Exposure(const ShardLimits& limits) : limits_(limits) {}

  /// The flow's acknowledgements wait for allow(). What is acknowledged of a connection that drains can only become
  /// less, so that a stop which breaks nothing at one moment breaks nothing at the next.
  [[nodiscard]] bool caps(const Flow& flow) const {
    return configured() || flow.release_reason == ReleaseReason::released_drain;
  }
  /// Sees to it that acknowledgements wait, or do not, as caps() says.
  void hold(Flow& flow) const;
  /// Advertises `room` more bytes to the host behind `in`, and no more than may be acknowledged.
  void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) const {
    relay::open_window(flow, in, configured() ? lesser(room, capped_room(flow, in)) : room, updates);
  }
  /// Its acknowledgements wait, whatever has become of the reason since: a flow that drains may be handed back for
  /// another one.
  [[nodiscard]] static bool waits(const Flow& flow) { return flow.legs[0].endpoint.holds_acknowledgements(); }
  /// Lets acknowledgements go as far as the caps of the flow and of its bearer allow. Requires waits().
  void allow(Flow& flow, Bearer& bearer) const;

 private:
  [[nodiscard, gnu::cold, gnu::noinline]] Bytes capped_room(const Flow& flow, Side in) const;
  [[nodiscard]] bool configured() const {
    return limits_.exposure_per_flow.has_value() || limits_.exposure_per_bearer.has_value();
  }

  const ShardLimits& limits_;
};

/// How many bytes are acknowledged and not delivered, of each direction of the flows that were looked at. Thread: the
/// shard's.
class ExposureSample {
 public:
  /// Looks at up to `most` flows; others have their turn next.
  void take(const flow::Slab<Flow>& flows, std::uint32_t most);
  [[nodiscard]] const Histogram& bytes() const { return bytes_; }

 private:
  Histogram bytes_;
  FlowId next_ = 0;
};

}  // namespace sluice::proxy
