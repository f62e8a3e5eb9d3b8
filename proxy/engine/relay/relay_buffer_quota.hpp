#pragma once

#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/segment.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/flow/receive_buffer_demand.hpp"

namespace sluice::proxy {

/// Decides how many bytes each direction of a split connection may hold and advertise: its quota. Also decides which
/// payload is refused when packet memory is low. Thread: the shard's.
class RelayBufferQuota {
 public:
  /// Keeps references to `config` and `budget`, which outlive the object.
  RelayBufferQuota(const ShardConfig& config, BufferPoolBudget& budget);

  /// Reads the number of free buffers in the pool if that is due. Returns true if it was read.
  bool look(Instant now);
  /// True if so few buffers are left that new connections pass unsplit (limits.refuse_flows_at).
  [[nodiscard]] bool refuses_flows() const { return refuses_flows_; }
  /// Returns the default quota of a direction whose demand is unknown: the bytes that it may hold and have advertised.
  /// It shrinks with the free buffers.
  [[nodiscard]] Bytes default_quota() const { return default_quota_; }

  /// Returns the quota of the direction that arrives on `in` and holds `held` bytes: the number of bytes that it may
  /// hold and advertise in total. The quota follows the measured demand within the budget, and exceeds it while memory
  /// is plentiful. At least two segments are always granted, because the direction would stall otherwise.
  [[nodiscard]] Bytes limit(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now);
  /// True if the measured demand of the direction that arrives on `in` exceeds the default quota. The direction's quota
  /// then follows the demand.
  [[nodiscard]] bool follows_demand(const Flow& flow, Side in) const {
    return flow.demands != no_id && demand_of(flow, in).bytes() > quota_cap_;
  }
  /// True if the demand of the direction that arrives on `in` was measured so recently that limit() need not be called
  /// again. Until the next measurement the window opens by the bytes that the other host acknowledges.
  [[nodiscard]] bool limit_is_fresh(const Flow& flow, Side in, Instant now) const {
    return flow.demands != no_id && demand_of(flow, in).is_fresh(now);
  }
  /// Returns the measured demand for buffer of the direction that arrives on `in`, limited by the budget.
  [[nodiscard]] Bytes need(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now);
  /// Returns the quota (bytes that may be held and advertised) of a direction of a new connection, for which nothing is
  /// measured.
  [[nodiscard]] Bytes first_limit(const Bearer& bearer) const;

  /// Records in the memory budget the windows that the flow has advertised. `events` are the events of its two streams
  /// since the last call. Returns the bytes that it holds and has advertised in both directions.
  [[nodiscard]] std::uint32_t record(Flow& flow, StreamEvents events);
  /// Records in the memory budget the window just advertised to the leg's host, if only that window has changed.
  void record_advertised(Leg& leg) {
    budget_.reserve(leg.reservation, static_cast<std::uint32_t>(leg.endpoint.advertised().count()));
  }
  /// Releases the flow's reservations (advertised windows) and its demand record, because the flow ends.
  void forget(Flow& flow);

  /// True if received payload is to be kept. If memory is low, out-of-order data is refused, because it may be held for
  /// long. If the budget is exhausted, connections that already hold two segments are refused too. Once half of the
  /// reserve is used, all connections are refused. Refused payload is never acknowledged, so its sender retransmits it.
  [[nodiscard]] bool accepts_payload(const Flow& flow, Side in, const tcp::Segment& segment) const {
    return !budget_.is_low() || accepts_payload_though_low(flow, in, segment);
  }

 private:
  /// Upper limit of the default quota, which a direction gets without measured demand.
  static constexpr Bytes max_default_quota{1024 * 1024};

  /// Returns the buffer demand of the direction that arrives on `in`. Requires that the flow has a demand record.
  [[nodiscard]] const ReceiveBufferDemand& demand_of(const Flow& flow, Side in) const {
    return demands_[flow.demands][static_cast<std::size_t>(opposite(in))];
  }
  /// Returns the quota of a direction that holds and has advertised `own` bytes in total. `shown` is its measured
  /// demand; `without_demand` is its quota without a measured demand.
  [[nodiscard]] Bytes bounded_need(Bytes own, Bytes shown, Bytes without_demand) const;
  /// Returns the buffer demand of the direction that arrives on `in`, updated by the bytes that its receiver has
  /// acknowledged until `now`.
  [[nodiscard]] Bytes need_of(Flow& flow, const Bearer& bearer, Side in, Instant now);
  /// Returns the bytes that the direction arriving on `in` holds and has advertised. Records its window in the budget
  /// if data arrived (`fed`).
  template <Side in>
  [[nodiscard]] std::uint32_t record_direction(Flow& flow, bool fed);
  /// Decides accepts_payload() while the buffer budget is low.
  [[nodiscard, gnu::cold, gnu::noinline]] bool accepts_payload_though_low(const Flow& flow, Side in,
                                                                          const tcp::Segment& segment) const;

  const ShardConfig& config_;
  BufferPoolBudget& budget_;
  flow::Slab<ReceiveBufferDemands> demands_;  ///< demand records of both directions, for flows that carry much data
  Bytes default_quota_;                       ///< default quota for the present number of free buffers
  Bytes quota_cap_;  ///< upper limit of the default quota, by max_default_quota and limits.relay_buffer
  bool refuses_flows_ = false;
};

}  // namespace sluice::proxy
