// Active queue management of UEs' uplinks by the delay of their ACKs. If a policy permits it, Forwarder calls pass()
// for each packet from a UE. SplitFlows calls signal_for() for the first of the data segments that it processes
// together. Invariant: only data packets of large uploads are dropped or marked. Handshakes, ICMP, fragments,
// acknowledgements and flows that send little are not. CoDel is RFC 8289.
#include "proxy/engine/rate_control/uplink_aqm.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/packet/ecn_field.hpp"
#include "proxy/engine/rate_control/packet_kind.hpp"

namespace sluice::proxy {
namespace {

/// Smallest target of CoDel, and its ratio to the interval. They are those of the proxy's queue of cross traffic, for
/// the same reason: such a queue keeps a loss-based sender busy on a link whose rate varies. The interval of 200 ms
/// covers a round trip to a distant server and through the radio.
constexpr Duration min_uplink_target = std::chrono::milliseconds(50);
constexpr std::int64_t intervals_per_target = 4;
/// Largest target of CoDel, however slow the uplink is.
constexpr Duration max_uplink_target = std::chrono::milliseconds(500);
/// Bytes whose transmission time is the least target. On a slow uplink a shorter queue would not keep the link busy
/// (RFC 8290 section 5.2).
constexpr Bytes least_uplink_queue{2 * 1500};
/// Wait for the uplink from which on each ECT(1) packet of a large upload gets a CE mark. Its sender expects early
/// marks (RFC 9331). A scheduled uplink takes about as long for a grant and for repeated blocks.
constexpr Duration l4s_threshold = min_uplink_target / 2;
/// Number of packets of large uploads of which at most one is dropped or marked by CoDel. At this share of losses the
/// window of a loss-based sender is 1.22 · √8 = 3.5 segments (RFC 5348 section 3.1). A larger share could hardly make
/// it smaller.
constexpr std::uint32_t packets_per_signal = 8;
/// Time for which a known wait for the uplink is used.
constexpr Duration wait_valid_for = std::chrono::seconds(1);
/// Time for which a long wait is assumed to last while ACKs are missing or their delay is unknown.
constexpr Duration wait_kept_for = std::chrono::seconds(10);
/// Time without a long wait after which the flows of an uplink are no longer measured.
constexpr Duration kept_for = std::chrono::seconds(10);

/// True for a packet with data of UDP, TCP or another protocol. Acknowledgements are short, and a fragment alone is
/// useless, so neither is dropped.
bool is_upload_data(const RxPacket& rx) {
  if (Bytes(rx.parsed.ip_length) <= max_answer || is_handshake(rx)) return false;
  return rx.result == packet::ParseResult::udp || rx.result == packet::ParseResult::not_tcp ||
         rx.result == packet::ParseResult::tcp;
}

/// Returns the parameters of CoDel for an uplink with the rate `rate`; zero: unknown.
CodelParameters uplink_codel(Rate rate) {
  const Duration needed = rate > Rate() ? rate.time_for(least_uplink_queue) : Duration::zero();
  const Duration target = std::clamp(needed, min_uplink_target, max_uplink_target);
  return {target, intervals_per_target * target};
}

}  // namespace

std::optional<Duration> UplinkAqm::wait_of(const Bearer& bearer, Instant now) {
  const control::DelayBasedController& law = bearer.ack_controller().law();
  const Instant known_at = law.ack_delay_known_at();
  if (known_at == Instant{} || now - known_at > wait_valid_for) return std::nullopt;
  return law.ack_delay();
}

/// Returns the bearer whose ACK-based controller measures the UE's uplink. Returns null if the UE has none, or is in
/// the control group.
Bearer* UplinkAqm::find_measuring(const IpAddress& ue) {
  const BearerId id = shard_.registry.find_bearer(ue);
  if (id == flow::no_flow) return nullptr;
  Bearer* bearer = &shard_.registry.bearer(id);
  if (bearer->in_control_group()) return nullptr;
  while (!bearer->rate_control().uses_ack_feedback()) {
    bearer = &bearer->sibling();
    if (bearer->id == id) return nullptr;
  }
  return bearer;
}

/// Returns the uplink's state if its UE's packets wait long for it, or did so recently. Returns null otherwise. Updates
/// UplinkState::wait.
UplinkState* UplinkAqm::congested_uplink(Bearer& bearer, Instant now) {
  const std::optional<Duration> wait = wait_of(bearer, now);
  const bool is_long = wait && *wait >= l4s_threshold;
  if (!bearer.has_uplink() && !is_long) return nullptr;
  UplinkState& uplink = bearer.has_uplink() ? bearer.uplink() : bearer.make_uplink();
  if (wait) {
    uplink.wait = *wait;
    uplink.wait_at = now;
  } else {
    // An ACK that waits longer than a second has no known delay, or is still in the queue.
    const bool is_awaited = uplink.wait >= min_uplink_target && now - uplink.wait_at <= wait_kept_for &&
                            bearer.ack_controller().flight() > Bytes{};
    uplink.wait = is_awaited ? std::max(uplink.wait, wait_valid_for) : Duration::zero();
  }
  if (is_long) uplink.long_at = now;
  if (now - uplink.long_at <= kept_for) return &uplink;
  bearer.drop_uplink();
  return nullptr;
}

bool UplinkAqm::pass(RxPacket& rx, Kind kind) {
  Bearer* const bearer = rx.parsed.ip_version != 0 ? find_measuring(rx.parsed.src) : nullptr;
  if (bearer == nullptr) return true;
  UplinkState* const uplink = congested_uplink(*bearer, rx.now);
  if (uplink == nullptr) return true;
  const auto flow = static_cast<std::uint32_t>(rx.tag);
  if (!is_upload_data(rx)) {
    uplink->flows.add_other(Bytes(rx.parsed.ip_length), rx.now);
    return true;
  }
  uplink->flows.add(flow, Bytes(rx.parsed.ip_length), rx.now);
  if (kind == Kind::counted || !uplink->flows.is_large(flow)) return true;
  const PolicySettings& settings = policies_.settings_of(shard_.registry.policies(), rx.tag, rx.key(), view_of(rx));
  if (!controls_uplink(settings)) return true;
  std::uint8_t* const ip = rx.packet.data() + rx.parsed.ip_offset;
  const Signal signal = choose_signal(*uplink, packet::ecn_field(ip), rx.now);
  if (signal == Signal::none || count_if_observed(settings, *bearer)) return true;
  if (signal == Signal::mark) {
    packet::mark_congestion_experienced(ip);
    shard_.counters.add(Counter::uplink_marked);
    return true;
  }
  shard_.counters.add(Counter::drop_uplink_delay);
  rx.packet.reset();
  return false;
}

void UplinkAqm::count(Bearer& bearer, FlowId id, std::span<const packet::Parsed> segments, Instant now) {
  UplinkFlows& flows = bearer.uplink().flows;
  for (const packet::Parsed& segment : segments) {
    const Bytes bytes(segment.ip_length);
    if (segment.segment.payload_len != 0) {
      flows.add(UplinkFlows::hash_of(id), bytes, now);
    } else {
      flows.add_other(bytes, now);
    }
  }
}

UplinkAqm::Signal UplinkAqm::signal_for(const packet::Parsed& segment, FlowId id, Bearer& bearer, Instant now) {
  const tcp::Flags flags = segment.segment.flags;
  if (Bytes(segment.ip_length) <= max_answer || flags.fin() || flags.rst()) return Signal::none;
  if (!controls_uplink(bearer.settings()) || !bearer.rate_control().uses_ack_feedback()) return Signal::none;
  UplinkState* const uplink = congested_uplink(bearer, now);
  if (uplink == nullptr || !uplink->flows.is_large(UplinkFlows::hash_of(id))) return Signal::none;
  const Signal signal = choose_signal(*uplink, segment.tos & 3U, now);
  if (signal == Signal::none || count_if_observed(bearer.settings(), bearer)) return Signal::none;
  shard_.counters.add(signal == Signal::mark ? Counter::uplink_marked : Counter::drop_uplink_delay);
  return signal;
}

/// Returns whether a packet of a large upload is dropped, marked, or left. `ecn` is its ECN field.
UplinkAqm::Signal UplinkAqm::choose_signal(UplinkState& uplink, std::uint8_t ecn, Instant now) {
  const CodelParameters parameters = uplink_codel(uplink.flows.rate(now));
  // Packets that arrive after a pause do not show that the queue was long throughout the pause.
  const bool is_first = now - std::exchange(uplink.judged_at, now) > parameters.interval;
  if (is_first) static_cast<void>(uplink.codel.should_drop(parameters, Duration::zero(), Bytes::max(), now));
  ++uplink.since_signal;
  const bool is_l4s = ecn == packet::EcnField::ect1;
  const Duration early = parameters.target > min_uplink_target ? parameters.target : l4s_threshold;
  const Duration queued = uplink.uncontrolled.controlled_part(uplink.wait, is_l4s ? early : parameters.target, now);
  const bool may_signal = queued < parameters.target || uplink.since_signal >= packets_per_signal;
  const bool is_congested = may_signal && uplink.codel.should_drop(parameters, queued, Bytes::max(), now);
  if (is_congested) uplink.since_signal = 0;
  const bool is_early = is_l4s && queued >= early;
  if (ecn == packet::EcnField::congestion_experienced || (!is_congested && !is_early)) return Signal::none;
  uplink.uncontrolled.on_signal();
  ++uplink.signals;
  return ecn == packet::EcnField::not_ect ? Signal::drop : Signal::mark;
}

/// True in mode observe, in which the packet is only counted.
bool UplinkAqm::count_if_observed(const PolicySettings& settings, const Bearer& bearer) {
  if (!settings.observes() && !bearer.settings().observes()) return false;
  shard_.counters.add(Counter::uplink_observed);
  return true;
}

}  // namespace sluice::proxy
