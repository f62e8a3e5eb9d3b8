// Windows advertised to uploading UEs. ReceiveWindowControl asks for them, and SplitFlows counts arriving segments.
// Invariant: ue_of_[bearer] is set exactly while an Upload of that bearer exists, so that bearers can reuse ids.
#include "proxy/engine/rate_control/upload_limits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dataplane/units/by_value.hpp"

namespace sluice::proxy {
namespace {

/// Shortest round trip. A shorter one would make the window so small that rounding decides it.
constexpr Duration min_round_trip = std::chrono::milliseconds(1);
/// Longest known wait in the queue of the downlink. The controller of the downloads keeps it shorter. A longer round
/// trip contains a part of the wait for the uplink, because AckSample::ack_delay is at most a second.
constexpr Duration max_downlink_wait = std::chrono::milliseconds(100);

/// Returns how long packets to the UE wait in the queue of the downlink. Requires the UE's timestamps, because without
/// them the round trips of its connections contain the wait of ACKs for the uplink.
Duration downlink_wait(const Bearer& bearer) {
  const control::DelayBasedController& law = bearer.ack_controller().law();
  return std::clamp(law.srtt() - law.base_delay(), Duration::zero(), max_downlink_wait);
}

/// Returns the size of a full segment of the UE, which the MSS in the server's SYN limits.
Bytes segment_of_ue(const Flow& flow) {
  const Handshake& seen = flow.handshake;
  const tcp::SynOptions& server = flow.initiator == Side::core ? seen.initiator_options : seen.responder_options;
  return greater(Bytes(server.mss), Bytes(flow.leg(Side::radio).endpoint.effective_mss()));
}

/// True if a connection of the UE has data for it, under this policy or another one.
bool has_download(const Bearer& bearer) {
  bool found = bearer.load.transferring_flows > 0;
  bearer.for_each_sibling([&](const Bearer& other) { found = found || other.load.transferring_flows > 0; });
  return found;
}

}  // namespace

UploadLimits::Upload* UploadLimits::make(const Flow& flow, Instant now) {
  const tcp::Endpoint& ue = flow.leg(Side::radio).endpoint;
  const std::uint32_t made = uploads_.emplace(Upload(no_id, ue.rcv_nxt()));
  if (made == no_id) return nullptr;
  const Duration base_delay = greater(ue.min_rtt(), min_round_trip);
  std::uint32_t& of_ue = ue_of_[flow.bearer];
  if (of_ue != 0) {
    ues_[of_ue - 1].window.on_handshake(now, base_delay);
  } else {
    // There is space, because each element of ues_ belongs to at least one element of uploads_.
    of_ue = 1 + ues_.emplace(UeUploads{.window = control::UploadWindow(now, segment_of_ue(flow), base_delay)});
  }
  ++ues_[of_ue - 1].flows;
  uploads_[made].ue = of_ue - 1;
  upload_of_[registry_.id_of(flow)] = made + 1;
  return &uploads_[made];
}

bool UploadLimits::count_limited(Upload& upload, Bytes bytes, Instant now) {
  UeUploads& of_ue = ues_[upload.ue];
  of_ue.window.on_received(now, bytes);
  const std::int64_t second = now.time_since_epoch() / std::chrono::seconds(1);
  if (second != of_ue.second) {
    of_ue.was_active = second == of_ue.second + 1 ? of_ue.active : 0;
    of_ue.active = 0;
    of_ue.second = second;
  }
  if (std::exchange(upload.active_second, second) != second) ++of_ue.active;
  return now - of_ue.download_at < limited_for && of_ue.window.keeps_queue_short();
}

Bytes UploadLimits::window(const Flow& flow, const Bearer& bearer, Instant now) {
  const tcp::Endpoint& ue = flow.leg(Side::radio).endpoint;
  const std::uint32_t place = upload_of_[registry_.id_of(flow)];
  if (place == 0 && flow.sent_from(Side::radio, ue.rcv_nxt()) < limited_from) return first_window;
  Upload* const upload = place != 0 ? &uploads_[place - 1] : make(flow, now);
  if (upload == nullptr) return Bytes::max();
  UeUploads& of_ue = ues_[upload->ue];
  if (has_download(bearer)) of_ue.download_at = now;
  const Duration wait = downlink_wait(bearer);
  if (ue.reassembling()) upload->round_trip.cancel();
  // Unsigned, because more than 2 GiB may have arrived while no window was asked for.
  const Bytes received(static_cast<std::uint32_t>(ue.rcv_nxt() - std::exchange(upload->counted, ue.rcv_nxt())));
  if (const std::optional<Duration> round_trip = upload->round_trip.on_received(now, received))
    of_ue.window.on_round_trip(now, greater(*round_trip - wait, min_round_trip));
  const bool limited = now - of_ue.download_at < limited_for;
  const std::optional<Bytes> all = limited ? of_ue.window.window(now, wait) : std::nullopt;
  if (!all) {
    upload->round_trip.cancel();
    return limited_from + first_window + upload->round_trip.received();
  }
  const Bytes segment = segment_of_ue(flow);
  const Bytes own = greater(*all / std::int64_t{std::max({of_ue.active, of_ue.was_active, 1U})}, segment * 2);
  const Bytes unused(ue.rcv_adv() - ue.rcv_nxt());
  if (unused > own * 2) of_ue.window.on_excess();
  if (own >= unused + segment && !ue.reassembling()) upload->round_trip.on_larger_window(now, unused);
  return own;
}

void UploadLimits::forget(const Flow& flow) {
  const std::uint32_t place = std::exchange(upload_of_[registry_.id_of(flow)], 0);
  if (place == 0) return;
  const std::uint32_t of_ue = uploads_[place - 1].ue;
  uploads_.erase(place - 1);
  if (--ues_[of_ue].flows > 0) return;
  ues_.erase(of_ue);
  ue_of_[flow.bearer] = 0;
}

}  // namespace sluice::proxy
