// Buffer quota of split connections: how many bytes each direction may hold and advertise. ReceiveWindowControl calls
// limit() before it advertises a window, rx_path.cpp calls accepts_payload() before payload is stored. Invariant:
// refused payload was never acknowledged. ReceiveBufferDemand is measured as in dynamic right-sizing
// (flow/receive_buffer_demand.hpp).
#include "proxy/engine/relay/relay_buffer_quota.hpp"

#include <algorithm>

#include "dataplane/units/by_value.hpp"
#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {
RelayBufferQuota::RelayBufferQuota(const ShardConfig& config, BufferPoolBudget& budget)
    : config_(config),
      budget_(budget),
      demands_(config.limits.max_flows),
      default_quota_(config.limits.relay_buffer),
      quota_cap_(std::min(max_default_quota, config.limits.relay_buffer)) {}

bool RelayBufferQuota::look(Instant now) {
  if (!budget_.look(now)) return false;
  default_quota_ = std::clamp(budget_.max_without_demand(Bytes{}), relay::min_window, quota_cap_);
  refuses_flows_ = budget_.used() > config_.limits.refuse_flows_at;
  return true;
}

/// Returns the quota of the direction whose data arrives on `in`: the maximum number of bytes held and advertised
/// together. The direction holds `held` bytes now. While memory is plentiful, the quota is at least `quota_cap_`, the
/// largest default quota.
Bytes RelayBufferQuota::limit(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now) {
  const Bytes shown = need_of(flow, bearer, in, now);
  if (shown <= quota_cap_ && budget_.is_ample(quota_cap_, bearer.load.reserved)) return quota_cap_;
  const Bytes own = held + flow.leg(in).endpoint.advertised();
  const Bytes without_demand = budget_.max_without_demand(own);
  const Bytes needed = greater(bounded_need(own, shown, without_demand), lesser(quota_cap_, without_demand));
  return greater(lesser(needed, budget_.max_quota_of_ue(bearer.load.reserved, own)), relay::min_window);
}

Bytes RelayBufferQuota::need(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now) {
  const Bytes own = held + flow.leg(in).endpoint.advertised();
  return bounded_need(own, need_of(flow, bearer, in, now), budget_.max_without_demand(own));
}

/// Returns how many bytes a direction with the measured demand `shown` needs. If that is less than 64 KiB, it needs 64
/// KiB for an initial burst, but at most `without_demand`, the limit without measured demand. The result is limited by
/// limits.relay_buffer and by the buffer budget. `own` is the number of bytes that the direction holds and has
/// advertised now.
inline Bytes RelayBufferQuota::bounded_need(Bytes own, Bytes shown, Bytes without_demand) const {
  const Bytes burst = lesser(ReceiveBufferDemand::first, without_demand);
  return lesser(lesser(greater(shown, burst), config_.limits.relay_buffer), budget_.max_quota(own));
}

Bytes RelayBufferQuota::first_limit(const Bearer& bearer) const {
  return std::clamp(budget_.max_quota_of_ue(bearer.load.reserved, Bytes{}), relay::min_window, default_quota_);
}

/// Updates and returns the receive-buffer demand in bytes of the direction whose data arrives on `in`. It is
/// ReceiveBufferDemand::first (64 KiB) until the direction has delivered that many bytes.
Bytes RelayBufferQuota::need_of(Flow& flow, const Bearer& bearer, Side in, Instant now) {
  const Leg& to = flow.leg(opposite(in));
  const tcp::SeqNum delivered = to.endpoint.snd_una();
  if (flow.demands == no_id) {
    if (flow.sent_from(in, delivered) < ReceiveBufferDemand::first) return ReceiveBufferDemand::first;
    flow.demands = demands_.emplace();
    if (flow.demands == no_id) return ReceiveBufferDemand::first;  // cannot happen: there is a place for every flow
    for (const Side out : {Side::radio, Side::core}) {
      demands_[flow.demands][static_cast<std::size_t>(out)] =
          ReceiveBufferDemand(flow.leg(out).endpoint.snd_una(), now);
    }
  }
  ReceiveBufferDemand& demand = demands_[flow.demands][static_cast<std::size_t>(opposite(in))];
  if (demand.is_fresh(now)) return demand.bytes();
  // Data for the UE is held until its ACK arrives, and the ACK may be delayed for long by an upload on the uplink.
  const Duration late = in == Side::core && bearer.rate_control().is_ack_based()
                            ? bearer.ack_controller().law().max_ack_delay()
                            : Duration{};
  demand.follow(delivered, flow.leg(in).endpoint.srtt() + to.endpoint.min_rtt() + late, now);
  return demand.bytes();
}

/// Returns the bytes that the direction whose data arrives on `in` holds and has advertised. `fed` is true if data of
/// this direction has arrived or was acknowledged since the last call. The advertised window is then also recorded in
/// the buffer budget, provided that the sending host has sent data.
template <Side in>
inline std::uint32_t RelayBufferQuota::record_direction(Flow& flow, bool fed) {
  Leg& leg = flow.leg(in);
  const auto advertised = static_cast<std::uint32_t>(leg.endpoint.advertised().count());
  // The window of a host that has sent nothing is not recorded, because it is unlikely to be used.
  if (fed && leg.has_sent_data) budget_.reserve(leg.reservation, advertised);
  return advertised + static_cast<std::uint32_t>(relay::held_towards(flow, opposite(in)).count());
}

std::uint32_t RelayBufferQuota::record(Flow& flow, StreamEvents events) {
  return record_direction<Side::radio>(flow, contains(events, StreamEvents::to_core)) +
         record_direction<Side::core>(flow, contains(events, StreamEvents::to_radio));
}

void RelayBufferQuota::forget(Flow& flow) {
  for (Leg& leg : flow.legs) budget_.forget(leg.reservation);
  if (flow.demands != no_id) demands_.erase(flow.demands);
  flow.demands = no_id;
}

bool RelayBufferQuota::accepts_payload_though_low(const Flow& flow, Side in, const tcp::Segment& segment) const {
  if (segment.seq > flow.leg(in).endpoint.rcv_nxt()) return false;
  if (!budget_.is_exhausted()) return true;
  return !budget_.reserve_touched() && relay::held_towards(flow, opposite(in)) < relay::min_window;
}

}  // namespace sluice::proxy
