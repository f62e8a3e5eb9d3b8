// Cross traffic of UEs: packets that no split connection sends. Forwarder offers each packet; bursts, reports and
// timers make the sender release waiting packets. Invariants: the bytes of a bearer's DeliveryLedger are part of the
// controller's bytes in flight. A packet is counted by its reason when it leaves.
#include "proxy/engine/rate_control/cross_traffic_sender.hpp"

#include <algorithm>
#include <utility>

#include "proxy/engine/rate_control/budget_sharing.hpp"
#include "proxy/engine/rate_control/packet_kind.hpp"

namespace sluice::proxy {
namespace {

/// Time without an ACK after which the length of the radio queue counts as unknown, although bytes of a connection are
/// in flight. Before that, missing ACKs are attributed to a stall of the radio link. Cross traffic (packets of no
/// tracked connection, such as QUIC) then keeps waiting, so that the queue does not grow.
constexpr Duration max_stall = std::chrono::seconds(10);
/// Time without an ACK after which the length of the radio queue counts as unknown, if no connection has bytes in
/// flight. It is shorter than `max_stall`, because no ACK is due then.
constexpr Duration max_silence = std::chrono::seconds(1);
/// Bytes that all sparse flows of a UE together may send per round trip beyond the controller's window or the last
/// Node-B report's grant. A flow is sparse until it has sent 1500 bytes since its first waiting packet was queued.
constexpr Bytes sparse_overdraft{2 * 1500};
/// Maximum number of bytes of a datagram download that wait in the proxy's queue for the UE. It applies until the UE's
/// answers have shown the rate of the link. Answers are the short datagrams with which the UE acknowledges the
/// download.
constexpr Bytes max_learning_queued{128 * 1500};
/// Time without an answer, or without a datagram of the download, after which the proxy stops counting the UE's answers
/// to the download. Answers are short datagrams that acknowledge it.
constexpr Duration max_clock_silence = std::chrono::seconds(10);
/// Minimum length of the period in which sparse flows may send `sparse_overdraft` bytes beyond the controller's window
/// or the last Node-B report's grant. A flow is sparse if it sends little. The period is one round trip if that is
/// longer. If Node-B reports control the UE, the round trip is unknown and this minimum applies.
constexpr Duration min_overdraft_period = std::chrono::milliseconds(20);
/// Limit of the bytes that one flow of cross traffic may have waiting: as many as its part of the link's rate delivers
/// in this time. If no connection of the UE has data, `max_sole_queued_time` applies instead. Then only waiting bytes
/// keep the link busy while the flow's sender recovers from a loss.
constexpr Duration max_queued_time = std::chrono::milliseconds(80);
constexpr Duration max_sole_queued_time = 4 * max_queued_time;
/// Number of bytes of one flow that may always wait in the proxy's queue for the UE, even on a slow link.
constexpr Bytes min_queued{8 * 1500};
/// Limit of the bytes that one flow may have in the proxy's queue for the UE when a packet of the flow's handshake
/// arrives. It is larger than that for other packets, so that handshakes are rarely dropped.
constexpr Bytes max_handshake_queued{64 << 10};

/// True if cross traffic (packets of no tracked connection, such as QUIC) has the link to itself: no split connection
/// of the UE has unsent data, and no end-to-end connection exists. In addition, Node-B reports or counted answers
/// (short datagrams that acknowledge a QUIC download) must limit the UE.
bool is_sole(const Bearer& bearer) {
  bool sole =
      !bearer.rate_control().is_ack_based() || (bearer.has_cross_traffic_queue() && bearer.cross_traffic_queue().clock);
  const auto look = [&sole](const Bearer& each) {
    sole = sole && each.load.backlogged_flows == 0 && each.end_to_end_count == 0;
  };
  look(bearer);
  bearer.for_each_sibling(look);
  return sole;
}

/// Subtracts cross traffic (packets of no tracked connection, such as QUIC) from the bytes in flight of the ACK-based
/// controller. Called because that controller does not limit the UE now, so that later ACKs do not subtract these
/// bytes. Also stops counting the UE's answers to a download (short datagrams that acknowledge it).
void forget_flight(Bearer& bearer) {
  AckController& controller = bearer.ack_controller();
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  controller.add_flight(-cross.in_flight());
  cross.sent.clear();
  bearer.drop_answer_clock();
  controller.cross_traffic_flows = 0;
}

/// True if the window of the ACK-based controller has no space for another segment.
bool is_window_full(const Bearer& bearer, Instant now) {
  const AckController& controller = bearer.ack_controller();
  return controller.flight() + bearer.settings().smvs.acks.segment > controller.law().window(now);
}

/// Holds back the packets of one QUIC download while its AnswerClock demands a pause, and releases them afterwards. The
/// AnswerClock counts the UE's answers, which are short datagrams that acknowledge the download. In the pause the radio
/// queue empties, which shows how many datagrams one answer acknowledges. Returns true if the queue has packets that
/// may be sent.
bool apply_hold(CrossTrafficQueue& cross) {
  if (cross.is_holding()) {
    cross.queue.hold(cross.clocked_slot);
  } else {
    cross.queue.release();
  }
  return cross.queue.any_ready();
}

/// True if the proxy's queue contains datagrams of the download for which it counts answers. Answers are the UE's short
/// datagrams that acknowledge the download.
bool clocked_flow_waits(const CrossTrafficQueue& cross) {
  return cross.queue.bytes_of({.slot = cross.clocked_slot}) > Bytes{};
}

/// True if packets with the hash `slot` use the same FIFO as the download for which answers (short acknowledging
/// datagrams) are counted. Several flows may share a FIFO, so such a packet may belong to another flow.
bool shares_clocked_fifo(const CrossTrafficQueue& cross, std::uint32_t slot) {
  return cross.clock && slot % FlowQueue::slots == cross.clocked_slot % FlowQueue::slots;
}

/// Returns the parameters of CoDel for the flows of cross traffic (packets of no tracked connection, such as QUIC). The
/// interval is at least 200 ms, for a round trip to a distant server and through the radio; 400 ms if no connection of
/// the UE has data. It is also at least two round trips to the UE. The target is a quarter of the interval: such a
/// queue keeps a loss-based sender busy on a link whose rate varies.
CodelParameters codel_of(const Bearer& bearer) {
  const Duration usual = std::chrono::milliseconds(is_sole(bearer) ? 400 : 200);
  const Duration interval = std::max(usual, 2 * bearer.ack_controller().law().srtt());
  return {interval / 4, interval};
}

/// Returns the maximum number of bytes that one flow of cross traffic may have in the proxy's queue for the UE. Cross
/// traffic consists of packets of no tracked connection, such as QUIC. `handshake` is true if the arriving packet
/// belongs to the flow's handshake.
Bytes max_queued_of(const Bearer& bearer, bool handshake) {
  if (handshake) return max_handshake_queued;
  if (bearer.has_cross_traffic_queue()) {
    const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
    if (cross.clock && (!cross.clock->counts() || bearer.mean_rate() <= Rate())) return max_learning_queued;
  }
  const std::uint32_t own = bearer.has_cross_traffic_queue() ? bearer.cross_traffic_queue().queue.flows() : 0;
  const std::uint32_t flows = std::max(
      bearer.rate_control().is_ack_based() ? competitors_for(bearer).all : bearer.load.backlogged_flows + own, 1U);
  return std::max(bearer.mean_rate().in(is_sole(bearer) ? max_sole_queued_time : max_queued_time) / flows, min_queued);
}

}  // namespace

Bytes take_delivered_cross_traffic(Bearer& bearer, Bytes acked, Duration round_trip, Instant now) {
  if (round_trip <= Duration::zero()) return Bytes{};
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  cross.ack_at = now;
  const Bytes delivered = cross.sent.take_until(now - round_trip);
  cross.record_share(delivered, acked);
  bearer.ack_controller().add_flight(-delivered);
  return delivered;
}

bool CrossTrafficSender::is_limited(const Bearer& bearer, Instant now) {
  if (bearer.rate_control().window_source() != tcp::WindowSource::allowance) return false;
  if (!bearer.rate_control().is_ack_based()) return true;  // reports come in time
  if (bearer.has_cross_traffic_queue() && bearer.cross_traffic_queue().clock) return true;
  const AckController& controller = bearer.ack_controller();
  if (controller.law().base_delay() <= Duration::zero()) return false;
  if (!bearer.has_cross_traffic_queue()) return controller.flight() > Bytes{};
  const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  return now - cross.ack_at < (cross.awaits_acks(controller.flight()) ? max_stall : max_silence);
}

bool CrossTrafficSender::offer(RxPacket& rx, Bearer& bearer, Counter reason) {
  if (bearer.settings().smvs.cross_traffic == CrossTraffic::forward || ended_) return false;
  if (!is_limited(bearer, rx.now) || shard_.budget.is_low()) {
    if (bearer.has_cross_traffic_queue()) flush(bearer, rx.now);
    return false;
  }
  if (!bearer.has_cross_traffic_queue()) bearer.make_cross_traffic_queue().ack_at = rx.now;
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (cross.is_clocked(static_cast<std::uint32_t>(rx.tag))) {
    clocks_until_ = rx.now + max_clock_silence;
    if (!bearer.in_use()) bearer.empty_since = rx.now;
  }
  const QueuedPacket about{static_cast<std::uint32_t>(rx.tag), rx.parsed.ip_length, rx.parsed.ip_offset,
                           is_handshake(rx), static_cast<std::uint16_t>(reason)};
  if (cross.queue.bytes_of(about) >= max_queued_of(bearer, about.keep)) {
    shard_.counters.add(Counter::drop_queue_full);
    if (shares_clocked_fifo(cross, about.slot)) cross.clock->on_dropped();
    if (cross.queue.must_keep_head(about)) {
      rx.packet.reset();
      return true;
    }
    cross.queue.drop_oldest(about);
  }
  const std::uint32_t before = cross.queue.packets();
  cross.queue.push(std::move(rx.packet), about, rx.now);
  serve(bearer, Occasion::other, rx.now);
  if (bearer.has_cross_traffic_queue() && bearer.cross_traffic_queue().queue.packets() > before) {
    shard_.counters.add(Counter::cross_traffic_queued);
    shard_.budget.on_taken();
  }
  return true;
}

CrossTrafficSender::SharedWindow CrossTrafficSender::shared_window(const Bearer& bearer, Instant now) {
  const AckController& controller = bearer.ack_controller();
  const Competitors competitors = competitors_for(bearer);
  return {controller.law().window(now), competitors.all - controller.cross_traffic_flows, competitors.short_flows};
}

/// Returns how many bytes of cross traffic (packets of no tracked connection, such as QUIC) the ACK-based controller's
/// window still allows. Each flow of cross traffic gets the same part of this window as a waiting connection.
/// Connections that exceed their part do not reduce this part, because servers of end-to-end connections slow down only
/// a round trip later. If no connection waits, cross traffic may use the whole window. While an AnswerClock pauses a
/// download to empty the radio queue, other flows do not get the part of that download.
Bytes CrossTrafficSender::window_left(const Bearer& bearer, const SharedWindow& shared) {
  const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (cross.is_holding()) {
    const std::uint32_t ready = cross.queue.ready_flows();
    const Bytes part =
        part_of(shared.window, shared.others + ready + 1, shared.short_flows, false) * std::int64_t{ready};
    return std::max(part, bearer.settings().smvs.acks.segment) - cross.sent.total();
  }
  const std::uint32_t own = cross.queue.flows();
  const Bytes part =
      part_of(shared.window, std::max(shared.others, 1U) + own, shared.short_flows, false) * std::int64_t{own};
  const Bytes left_of_part = std::max(part, bearer.settings().smvs.acks.segment) - cross.in_flight();
  if (shared.others > 0) return left_of_part;
  return std::max(left_of_part, shared.window - bearer.ack_controller().flight());
}

/// Returns how many bytes of cross traffic may be sent from the grant, the bytes that the last Node-B report allows.
/// Directly after a report, each flow of cross traffic gets the same part as each waiting connection. At other times,
/// cross traffic may use the grant only if no connection waits.
Bytes CrossTrafficSender::grant_left(const Bearer& bearer, Occasion occasion, Instant now) {
  const Bytes left = bearer.allowance(now);
  const std::uint32_t others = bearer.load.backlogged_flows;
  if (others == 0) return left;
  const std::uint32_t own = bearer.cross_traffic_queue().queue.flows();
  return occasion == Occasion::report ? left * std::int64_t{own} / (own + others) : Bytes{};
}

void CrossTrafficSender::serve(Bearer& bearer, Occasion occasion, Instant now) {
  if (!is_limited(bearer, now)) {
    flush(bearer, now);
    return;
  }
  const bool is_ack_based = bearer.rate_control().is_ack_based();
  if (is_ack_based) {
    expire_without_acks(bearer, now);
  } else if (bearer.rate_control().uses_ack_feedback()) {
    forget_flight(bearer);
  }
  SharedWindow shared = is_ack_based ? shared_window(bearer, now) : SharedWindow{};
  Bytes grant = is_ack_based ? Bytes{} : grant_left(bearer, occasion, now);
  FlowQueue& queue = bearer.cross_traffic_queue().queue;
  const CodelParameters codel = codel_of(bearer);
  while (apply_hold(bearer.cross_traffic_queue())) {
    const Bytes size = queue.next_bytes();
    if (is_ack_based ? !may_release(bearer, shared, size, now) : grant < size && !may_overdraw(bearer, size, now))
      break;
    const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
    const bool is_unlimited = is_ack_based && cross.clock && !cross.clock->counts();
    FlowQueue::Popped popped = is_unlimited ? queue.pop_untested() : queue.pop(codel, now);
    if (popped.dropped) {
      shard_.counters.add(Counter::drop_queue_delay);
      if (shares_clocked_fifo(cross, popped.about.slot)) bearer.cross_traffic_queue().clock->on_dropped();
      continue;
    }
    grant -= size;
    const bool resumes = is_ack_based && bearer.ack_controller().flight() <= Bytes{};
    send(bearer, std::move(popped), now);
    if (resumes) shared = shared_window(bearer, now);  // the first packet after a pause may change the window
  }
  update(bearer, now);
}

/// True if the next waiting packet, which has `size` IP bytes, may be sent now under the ACK-based controller.
bool CrossTrafficSender::may_release(Bearer& bearer, const SharedWindow& shared, Bytes size, Instant now) const {
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (cross.clock) {
    const bool is_clocked = shares_clocked_fifo(cross, cross.queue.next_slot());
    if (!cross.clock->counts() || (is_clocked && cross.clock->probes() > 0)) return true;
  }
  return window_left(bearer, shared) >= size || may_overdraw(bearer, size, now);
}

/// True if the next packet of cross traffic may be sent although the controller's window or the last Node-B report's
/// grant is used up. `bytes` is the packet's number of IP bytes, which are counted if the result is true. The packet's
/// flow must be sparse (have sent little). All sparse flows together may send `sparse_overdraft` such bytes per period
/// (a round trip, at least 20 ms). A call or game beside a download thus need not wait while the download uses the
/// window.
bool CrossTrafficSender::may_overdraw(const Bearer& bearer, Bytes bytes, Instant now) {
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (!cross.queue.next_is_sparse()) return false;
  const bool is_ack_based = bearer.rate_control().is_ack_based();
  const Duration srtt = is_ack_based ? bearer.ack_controller().law().srtt() : Duration::zero();
  if (now - cross.overdrawn_since > std::max(srtt, min_overdraft_period)) {
    cross.overdrawn_since = now;
    cross.overdrawn = Bytes{};
  }
  if (cross.overdrawn + bytes > sparse_overdraft) return false;
  cross.overdrawn += bytes;
  return true;
}

/// Counts cross traffic (packets of no tracked connection, such as QUIC) as delivered one round trip after it was sent.
/// Does nothing while a connection has bytes in flight, because the ACKs of these bytes will show the delivery.
/// Counting bytes as delivered makes space in the controller's window, so cross traffic continues at the last measured
/// rate without ACKs.
void CrossTrafficSender::expire_without_acks(Bearer& bearer, Instant now) {
  AckController& controller = bearer.ack_controller();
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (cross.awaits_acks(controller.flight())) return;
  controller.add_flight(-cross.sent.take_until(now - controller.law().srtt()));
}

/// Counts the packet and its bytes as forwarded without control. Called only when the packet leaves the queue, because
/// a packet that still waits may be dropped.
void CrossTrafficSender::count_passed(FlowQueue::Popped& popped, Instant now) {
  const auto reason = static_cast<Counter>(popped.about.reason);
  shard_.counters.add(reason);
  shard_.counters.add_passed_bytes(reason, popped.packet.size());
  if (!passing_.count_bytes(popped.packet.size())) [[likely]]
    return;
  packet::Parsed parsed;
  const packet::ParseResult result = packet::parse(popped.packet, parsed);
  passing_.sample({Side::core, popped.packet, result, parsed, flow::KeyTag{}, now}, reason);
}

/// Hands the packet to the radio port and counts it. Returns false if it is dropped, because the
/// port's MTU has become smaller.
bool CrossTrafficSender::transmit(FlowQueue::Popped&& popped, Instant now) {
  if (!shard_.queue.carries(Side::radio, popped.packet)) {
    shard_.counters.add(Counter::drop_too_long);
    return false;
  }
  count_passed(popped, now);
  shard_.queue.push(Side::radio, std::move(popped.packet), now);
  return true;
}

void CrossTrafficSender::send(Bearer& bearer, FlowQueue::Popped&& popped, Instant now) {
  const Bytes bytes(popped.about.bytes);
  const bool marked = popped.marked;
  const std::uint32_t slot = popped.about.slot;
  if (!transmit(std::move(popped), now)) return;
  if (bearer.rate_control().is_ack_based()) {
    AckController& controller = bearer.ack_controller();
    CrossTrafficQueue& cross = bearer.cross_traffic_queue();
    const Bytes before = cross.in_flight();
    if (!cross.clock || cross.clock->counts()) controller.resume(now);
    if (shares_clocked_fifo(cross, slot)) {
      cross.clock->on_sent(now, bytes);
    } else if (!cross.clock || cross.clock->counts()) {
      cross.sent.add(now, bytes);
    }
    controller.add_flight(cross.in_flight() - before);
  } else if (bearer.spend(bytes, now)) {
    shard_.registry.timers().schedule(bearer, bearer.deadline(now));
  }
  bearer.on_sent(now, bytes);
  if (marked) shard_.counters.add(Counter::cross_traffic_marked);
}

void CrossTrafficSender::update(Bearer& bearer, Instant now) {
  if (!bearer.rate_control().is_ack_based()) return;
  AckController& controller = bearer.ack_controller();
  const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  controller.cross_traffic_flows = cross.queue.flows();
  // If the window is not used up, the part of the other flows limits the cross traffic, and an ACK will wake it.
  const bool window_full = is_window_full(bearer, now);
  const Instant opens = window_full ? controller.budget_available_at(now) : never;
  shard_.registry.timers().schedule(bearer, std::min(opens, deadline(bearer)));
}

void CrossTrafficSender::serve_woken(Instant now) {
  shard_.registry.take_cross_traffic_woken([&](Bearer& bearer) {
    if (bearer.has_cross_traffic_queue()) serve(bearer, Occasion::other, now);
  });
}

void CrossTrafficSender::flush(Bearer& bearer, Instant now) {
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (bearer.rate_control().uses_ack_feedback()) forget_flight(bearer);
  cross.queue.release();
  while (!cross.queue.empty()) {
    FlowQueue::Popped popped = cross.queue.pop_untested();
    const Bytes bytes(popped.about.bytes);
    if (transmit(std::move(popped), now) && bearer.counts()) bearer.on_sent(now, bytes, Bearer::Traffic::cross);
  }
  bearer.drop_cross_traffic_queue();
}

BearerId CrossTrafficSender::find_download(const RxPacket& rx, BearerId id) {
  if (ended_ || !shard_.registry.policies().counts_answers()) return id;
  const Bearer* const known = id == flow::no_flow ? nullptr : &shard_.registry.bearer(id);
  if (known != nullptr && (known->has_cross_traffic_queue() || is_limited(*known, rx.now))) return id;
  if (!downloads_.on_datagram(rx.tag, Bytes(rx.parsed.ip_length), rx.now)) return id;
  if (known == nullptr) id = open_for_answers(rx);
  if (id == flow::no_flow) return id;
  Bearer& bearer = shard_.registry.bearer(id);
  const bool is_sole = &bearer.sibling() == &bearer;
  if (!is_sole || bearer.in_control_group() || !counts_answers(bearer.settings()) || bearer.has_cross_traffic_queue() ||
      !bearer.rate_control().is_ack_based() || is_limited(bearer, rx.now) || shard_.budget.is_low())
    return id;
  CrossTrafficQueue& cross = bearer.make_cross_traffic_queue();
  cross.ack_at = rx.now;
  bearer.make_answer_clock(rx.now);
  cross.clocked_slot = static_cast<std::uint32_t>(rx.tag);
  clocks_until_ = rx.now + max_clock_silence;
  bearer.empty_since = rx.now;
  shard_.registry.timers().schedule(bearer, deadline(bearer));
  shard_.counters.add(Counter::answer_clocks_started);
  return id;
}

/// Creates a bearer for the UE to which a download goes, so that the UE's answers can be counted. Returns no_flow if
/// the UE's policy does not permit that, or if packet buffers or bearers are short. Also returns no_flow if the UE is
/// in the control group, which no rate controller limits.
BearerId CrossTrafficSender::open_for_answers(const RxPacket& rx) {
  const Policies& policies = shard_.registry.policies().current();
  const PolicyIndex policy = policies.choose(view_of(rx));
  if (!counts_answers(policies.settings(policy)) || shard_.budget.is_low()) return flow::no_flow;
  return shard_.registry.bearer_without_connection(rx.parsed.dst, policy, rx.now);
}

void CrossTrafficSender::on_answer(const RxPacket& rx) {
  if (Bytes(rx.parsed.ip_length) > max_answer) return;
  const BearerId id = shard_.registry.find_bearer(rx.parsed.src);
  if (id == flow::no_flow) return;
  Bearer& bearer = shard_.registry.bearer(id);
  if (!bearer.has_cross_traffic_queue() || !bearer.rate_control().is_ack_based()) return;
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (!cross.is_clocked(static_cast<std::uint32_t>(rx.tag))) return;
  const bool was_known = cross.clock->counts();
  const Bytes before = cross.in_flight();
  const control::AnswerClock::Delivery delivery = cross.clock->on_answer(rx.now, clocked_flow_waits(cross));
  AckController& controller = bearer.ack_controller();
  controller.add_flight(cross.in_flight() - before);
  cross.ack_at = rx.now;
  if (cross.clock->has_given_up()) return give_up(bearer, rx.now);
  if (cross.clock->counts() && !was_known) {
    shard_.counters.add(Counter::answer_clocks_known);
    controller.seed(rx.now, cross.clock->drained_rate());
  }
  record_answer(bearer, delivery, rx.now);
  serve(bearer, Occasion::other, rx.now);
}

/// Passes the bytes that an answer acknowledges (`delivery`) to the ACK-based controller as an ACK sample. An answer is
/// a short datagram of the UE in a download's flow.
void CrossTrafficSender::record_answer(Bearer& bearer, const control::AnswerClock::Delivery& delivery, Instant now) {
  if (delivery.delivered <= Bytes{}) return;
  const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  const bool is_paused = cross.clock->holds() || cross.clock->probes() > 0;
  const Bytes others = take_delivered_cross_traffic(bearer, delivery.delivered, delivery.round_trip, now);
  control::AckSample sample = make_ack_sample(bearer, bearer.ack_controller(), now);
  sample.delivered = delivery.delivered + others;
  sample.round_trip = delivery.round_trip;
  sample.window_limited = sample.window_limited && !is_paused;
  bearer.ack_controller().on_ack(sample);
}

/// Stops counting the answers to a download (short datagrams that acknowledge it), because they do not show what was
/// delivered. From now on the download is forwarded at once.
void CrossTrafficSender::give_up(Bearer& bearer, Instant now) {
  shard_.counters.add(Counter::answer_clocks_given_up);
  downloads_.exclude(flow::KeyTag{bearer.cross_traffic_queue().clocked_slot}, now);
  flush(bearer, now);
}

/// Advances the AnswerClock to the time `now`. The AnswerClock counts the UE's short datagrams that acknowledge a
/// download. Returns false if counting has ended, so that nothing limits the UE's cross traffic any more.
bool CrossTrafficSender::advance_clock(Bearer& bearer, Instant now) {
  CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  AckController& controller = bearer.ack_controller();
  const bool is_blocked = clocked_flow_waits(cross) && is_window_full(bearer, now);
  const Bytes before = cross.in_flight();
  cross.clock->on_time(now, is_blocked);
  controller.add_flight(cross.in_flight() - before);
  const bool is_silent = now - cross.ack_at >= max_clock_silence;
  if (!is_silent && !cross.clock->has_given_up()) return true;
  if (is_silent && cross.clock->counts()) {
    flush(bearer, now);  // the download has ended
  } else {
    give_up(bearer, now);
  }
  return false;
}

void CrossTrafficSender::on_due(Bearer& bearer, Instant now) {
  const bool is_clocked = bearer.cross_traffic_queue().clock && bearer.rate_control().is_ack_based();
  if (is_clocked && !advance_clock(bearer, now)) return;
  serve(bearer, Occasion::other, now);
  if (!bearer.has_cross_traffic_queue()) return;
  const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  if (!cross.clock && cross.queue.empty() && cross.sent.total() == Bytes{}) bearer.drop_cross_traffic_queue();
}

Instant CrossTrafficSender::deadline(const Bearer& bearer) {
  if (!bearer.has_cross_traffic_queue() || !bearer.rate_control().is_ack_based()) return never;
  const CrossTrafficQueue& cross = bearer.cross_traffic_queue();
  const AckController& controller = bearer.ack_controller();
  if (cross.clock) {
    const Instant ends = std::min(cross.clock->deadline(), cross.ack_at + max_clock_silence);
    // While ACKs are expected, expire_without_acks() removes no sent bytes, so their due time would stay in the past.
    const bool others_wait =
        cross.queue.any_ready() && cross.sent.total() > Bytes{} && !cross.awaits_acks(controller.flight());
    return others_wait ? std::min(ends, cross.sent.oldest() + controller.law().srtt()) : ends;
  }
  if (cross.awaits_acks(controller.flight())) return cross.ack_at + max_stall;
  const Instant ends = cross.ack_at + max_silence;
  if (cross.queue.empty() || cross.sent.total() == Bytes{}) return ends;
  return std::min(ends, cross.sent.oldest() + controller.law().srtt());
}

void CrossTrafficSender::flush_all(Instant now) {
  shard_.registry.bearers().for_each([&](BearerId, Bearer& bearer) {
    if (bearer.has_cross_traffic_queue()) flush(bearer, now);
  });
}

}  // namespace sluice::proxy
