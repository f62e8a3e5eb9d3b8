// Windows and delays of the ACKs of connections that pass end to end. EndToEndFlows calls it for each ACK, HeldAcks
// when a delayed one is forwarded. Invariants: a right edge never moves left (RFC 7323 section 2.4), and a window never
// exceeds what the host offers.
#include "proxy/engine/end_to_end/ack_rewriter.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"

namespace sluice::proxy {
namespace {

/// Number of delayed ACKs, oldest first, that each arriving ACK releases while Node-B reports are late. If all were
/// released at once, the server would send a burst into a radio queue of unknown length.
constexpr std::size_t per_ack_without_reports = 2;

}  // namespace

void AckRewriter::begin_controller(EndToEndFlow& flow, Bearer& bearer, Instant now) {
  const DataWay& way = flow.towards(Side::radio);
  flow.controller.emplace(bearer, flow.key, control::FlowControllerStart{flow.round_trip, Bytes(flow.segment)});
  const bool running = flow.running || way.acked > Bytes{};
  if (running && flow.round_trip > Duration::zero()) {
    const control::QueueView& queue = bearer.queue().view(now);
    const auto window = static_cast<double>(bearer.seed_window(flow.round_trip).count());
    flow.controller->seed(bearer, Bytes(window / queue.flows), queue);
  }
  flow.controller->on_released(bearer, way.acked, way.window.edge() - way.acked);
  flow.controller->on_sent(bearer, way.sent);
}

control::AckRelease AckRewriter::pass_to_controller(EndToEndFlow& flow, Bearer& bearer, const control::AckView& ack) {
  if (!flow.controller) return control::AckRelease::all();
  if (!bearer.rate_control().has_flow_windows()) return {Bytes(-1), per_ack_without_reports};
  static_cast<void>(flow.controller->on_report(bearer, ack.now));
  return flow.controller->on_ack(bearer, ack);
}

void AckRewriter::observe(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, std::uint16_t offered, bool waits,
                          Instant now) {
  DataWay& way = flow.towards(in);
  const std::uint16_t field = way.window.field(ack, offered, Bytes::max());
  if (in == Side::radio && EndToEndAckControl::watches(flow) && bearer.rate_control().is_ack_based())
    bearer.observe_ack_controller();
  if (in != Side::radio || !flow.controller || !bearer.rate_control().has_flow_windows()) return;
  const Bytes window = controller_window(flow, bearer, in, ack, now);
  bearer.observe(std::min(window, way.window.in_bytes(offered)), way.sent - way.acked, waits);
  flow.controller->on_released(bearer, ack, way.window.in_bytes(field));
}

void AckRewriter::rewrite(EndToEndFlow& flow, Side in, packet::Packet& packet, std::uint16_t l4_offset, Bytes ack,
                          Instant now) {
  constexpr std::uint16_t window_at = 14;
  constexpr std::uint16_t checksum_at = 16;
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  DataWay& way = flow.towards(in);
  std::uint8_t* const header = packet.data() + l4_offset;
  const std::uint16_t offered = packet::load_be16(header + window_at);
  Bytes window = Bytes::max();
  if (in == Side::radio) {
    window = window_towards_radio(flow, bearer, ack, way.window.in_bytes(offered), now);
  } else if (flow.controller && bearer.rate_control().has_flow_windows_both_ways()) {
    window = controller_window(flow, bearer, in, ack, now);
  }
  const bool updates = in == Side::radio && EndToEndAckControl::watches(flow) && EndToEndAckControl::uses_sack(flow);
  const std::uint16_t field = way.window.field(
      ack, offered, window,
      updates ? control::AdvertisedWindow::Duplicates::update : control::AdvertisedWindow::Duplicates::repeat);
  if (in == Side::radio && flow.controller) flow.controller->on_released(bearer, ack, way.window.in_bytes(field));
  if (in == Side::radio && EndToEndAckControl::watches(flow))
    ack_control_.on_window(flow, bearer, way.window.edge(), window, way.window.in_bytes(offered), now);
  if (field == offered) return;
  const std::uint16_t before = packet::load16(header + window_at);
  packet::store_be16(header + window_at, field);
  const std::uint16_t after = packet::load16(header + window_at);
  packet::store16(header + checksum_at, packet::update_checksum(packet::load16(header + checksum_at), before, after));
  parts_.counters.add(Counter::windows_rewritten);
}

bool AckRewriter::has_active_controller(const EndToEndFlow& flow, const Bearer& bearer) {
  return EndToEndAckControl::watches(flow) || (flow.controller && bearer.rate_control().has_flow_windows());
}

/// Returns the controller's window for an ACK of stream position `ack`, counted in bytes from the start of the stream.
/// The window is at least two segments, because receivers delay the ACK of a single segment. These two segments are
/// rounded up to the unit of the window scale, because the window field is rounded down.
Bytes AckRewriter::controller_window(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, Instant now) {
  const Bytes least = flow.towards(in).window.rounded_up(Bytes(flow.segment) * min_window_segments);
  const bool controlled = EndToEndAckControl::watches(flow);
  return std::max(controlled ? ack_control_.window(flow, bearer) : flow.controller->window(bearer, ack, now), least);
}

/// Returns the window for an ACK to the server, in bytes after stream position `ack`, which the ACK acknowledges. The
/// controller limits the window. While Node-B reports are late, the window grows only by the acknowledged bytes. After
/// a change of controller it grows by 1/8 of them, up to `offered`, the UE's own receive window.
Bytes AckRewriter::window_towards_radio(EndToEndFlow& flow, Bearer& bearer, Bytes ack, Bytes offered, Instant now) {
  const bool law = has_active_controller(flow, bearer);
  if (law && flow.opening == Opening::reports_late) flow.opening = Opening::no;
  if (!law && flow.controller && flow.opening == Opening::no) {
    flow.begin_opening(Opening::reports_late, ack, bearer.seed_window(flow.round_trip));
  }
  const Bytes window = law ? controller_window(flow, bearer, Side::radio, ack, now) : Bytes::max();
  if (flow.opening == Opening::no) return window;
  const std::int64_t slowness = flow.opening == Opening::switched ? 8 : 1;
  const Bytes open = flow.opening_window + std::max(ack - flow.opening_at, Bytes{}) / slowness;
  if (flow.opening == Opening::switched && open >= std::min(window, offered)) flow.opening = Opening::no;
  return std::min(window, open);
}

}  // namespace sluice::proxy
