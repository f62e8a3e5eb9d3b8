#pragma once

#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/segment.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/flow/receive_buffer_demand.hpp"

namespace sluice::proxy {

/// Decides how many bytes each direction of a split connection may hold and advertise (its quota). Also decides which
/// payload is refused if packet buffers are scarce. Thread: the shard's.
class RelayBufferQuota {
 public:
  /// Stores references to `config` and `budget`, which must outlive the object.
  RelayBufferQuota(const ShardConfig& config, BufferPoolBudget& budget);

  /// Reads the number of free packet buffers, and computes the default quota from it. Does nothing and returns false if
  /// the last reading is too recent (BufferPoolBudget::look()).
  bool look(Instant now);
  /// True if so few packet buffers are free that new connections are not split (limits.refuse_flows_at).
  [[nodiscard]] bool refuses_flows() const { return refuses_flows_; }
  /// Returns the quota of a direction without measured demand: the maximum number of bytes that it holds and has
  /// advertised together. The fewer buffers are free, the smaller is this quota.
  [[nodiscard]] Bytes default_quota() const { return default_quota_; }

  /// Returns the quota of a direction: the maximum number of bytes that it holds and has advertised together. Its data
  /// arrives on `in`, and it holds `held` bytes now. The quota follows the measured demand within the budget, and is
  /// larger while memory is plentiful. It is never less than two segments, because the direction would stall otherwise.
  [[nodiscard]] Bytes limit(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now);
  /// True if the measured demand of the direction whose data arrives on `in` exceeds the largest default quota (bytes
  /// that it may hold and advertise). Its quota then follows the demand.
  [[nodiscard]] bool follows_demand(const Flow& flow, Side in) const {
    return flow.demands != no_id && demand_of(flow, in).bytes() > quota_cap_;
  }
  /// True if the demand of the direction whose data arrives on `in` was measured less than 10 ms ago. limit() need not
  /// be called then. Until the next measurement the window opens by the bytes that the other host acknowledges.
  [[nodiscard]] bool limit_is_fresh(const Flow& flow, Side in, Instant now) const {
    return flow.demands != no_id && demand_of(flow, in).is_fresh(now);
  }
  /// True if a new measurement may increase the demand of the direction whose data arrives on `in`, although no data
  /// has arrived. That is so if bytes were delivered that were not measured yet.
  [[nodiscard]] bool demand_may_rise(const Flow& flow, Side in, Instant now) const {
    const tcp::SeqNum delivered = flow.leg(opposite(in)).endpoint.snd_una();
    return flow.demands != no_id ? demand_of(flow, in).may_rise(delivered, now)
                                 : flow.sent_from(in, delivered) >= ReceiveBufferDemand::first;
  }
  /// Returns the measured demand of the direction whose data arrives on `in`, in bytes. It is at least 64 KiB for an
  /// initial burst, and limited by the buffer budget. The direction holds `held` bytes now.
  [[nodiscard]] Bytes need(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now);
  /// Returns how many bytes one direction of a new connection may hold and advertise while its demand is not measured.
  [[nodiscard]] Bytes first_limit(const Bearer& bearer) const;

  /// Records the flow's advertised windows in the buffer budget. `events` are the events on its two streams since the
  /// last call. Returns the bytes that the flow holds and has advertised in both directions.
  [[nodiscard]] std::uint32_t record(Flow& flow, StreamEvents events);
  /// Records the window that was just advertised to the leg's host in the buffer budget. Requires that the flow's other
  /// windows and held bytes have not changed since record().
  void record_advertised(Leg& leg) {
    budget_.reserve(leg.reservation, static_cast<std::uint32_t>(leg.endpoint.advertised().count()));
  }
  /// Removes the flow's window reservations and its measured demands, because the flow ends.
  void forget(Flow& flow);

  /// True if received payload may be kept. If packet buffers are scarce, out-of-order data is refused, because it may
  /// be held for long. If the packet buffers for payload (the budget) are used up, the payload of a direction that
  /// already holds two segments is refused too. If payload also occupies half of the buffers that are reserved for
  /// receiving and forwarding, all payload is refused. Refused payload is not acknowledged, so its sender retransmits
  /// it.
  [[nodiscard]] bool accepts_payload(const Flow& flow, Side in, const tcp::Segment& segment) const {
    return !budget_.is_low() || accepts_payload_though_low(flow, in, segment);
  }

 private:
  /// Upper limit of the default quota: the bytes that a direction may hold and advertise even if its measured demand is
  /// smaller.
  static constexpr Bytes max_default_quota{1024 * 1024};

  /// Returns the measured demand of the direction whose data arrives on `in`. Requires that flow.demands is set.
  [[nodiscard]] const ReceiveBufferDemand& demand_of(const Flow& flow, Side in) const {
    return demands_[flow.demands][static_cast<std::size_t>(opposite(in))];
  }
  /// Returns how many bytes a direction with the measured demand `shown` needs. If that is less than 64 KiB, it needs
  /// 64 KiB for an initial burst, but at most `without_demand`, the limit without measured demand. The result is
  /// limited by limits.relay_buffer and by the buffer budget. `own` is the number of bytes that the direction holds and
  /// has advertised now.
  [[nodiscard]] Bytes bounded_need(Bytes own, Bytes shown, Bytes without_demand) const;
  /// Updates and returns the receive-buffer demand in bytes of the direction whose data arrives on `in`. The update
  /// measures how fast the receiving host acknowledges this data.
  [[nodiscard]] Bytes need_of(Flow& flow, const Bearer& bearer, Side in, Instant now);
  /// Returns the bytes that the direction whose data arrives on `in` holds and has advertised. `fed` is true if data of
  /// this direction has arrived or was acknowledged since the last call. The advertised window is then also recorded in
  /// the buffer budget, provided that the sending host has sent data.
  template <Side in>
  [[nodiscard]] std::uint32_t record_direction(Flow& flow, bool fed);
  /// True if received payload may be kept while packet buffers are scarce. The payload must be in order. If the packet
  /// buffers for payload are used up, the direction must hold less than two segments. In addition, less than half of
  /// the buffers reserved for receiving and forwarding may be used by payload.
  [[nodiscard, gnu::cold, gnu::noinline]] bool accepts_payload_though_low(const Flow& flow, Side in,
                                                                          const tcp::Segment& segment) const;

  const ShardConfig& config_;
  BufferPoolBudget& budget_;
  /// Measured receive-buffer demands of both directions, for flows of which a direction has delivered 64 KiB
  /// (ReceiveBufferDemand::first).
  flow::Slab<ReceiveBufferDemands> demands_;
  /// Default quota (bytes that a direction may hold and advertise), computed from the current number of free buffers.
  Bytes default_quota_;
  /// Upper limit of the default quota (bytes that a direction may hold and advertise): the smaller of max_default_quota
  /// and limits.relay_buffer.
  Bytes quota_cap_;
  bool refuses_flows_ = false;
};

}  // namespace sluice::proxy
