#include "proxy/governed_flow.hpp"

#include <algorithm>

namespace sluice::proxy {

GovernedFlow::GovernedFlow(const Bearer& bearer, const control::LawStart& start)
    : law_(bearer.window_law(), bearer.treatment().laws, start),
      marks_(bearer.sent_total()),
      round_trip_(start.round_trip) {}

void GovernedFlow::on_sent(const Bearer& bearer, Bytes end) {
  if (end <= sent_) return;
  sent_ = end;
  marks_.sent(bearer.sent_total(), end);
  law_.on_data(end);
}

/// What the UE has acknowledged has left the queue, whatever the last report could know.
control::FlowView GovernedFlow::view(const Bearer& bearer) {
  control::FlowView view;
  view.sent = std::max(sent_, acked_);
  view.left = std::max(marks_.passed(bearer.left_total()), acked_);
  view.arrived = std::max(marks_.passed(bearer.arrived_total(), false), view.left);
  view.round_trip = round_trip_;
  return view;
}

control::AckRelease GovernedFlow::on_ack(Bearer& bearer, const control::AckView& ack) {
  bearer.seen(ack.now, mark_);
  acked_ = std::max(acked_, ack.ack);
  return law_.on_ack(ack, bearer.queue_view(ack.now), view(bearer));
}

control::AckRelease GovernedFlow::on_report(Bearer& bearer, Instant now) {
  if (reports_ == bearer.reports()) return {Bytes{}, 0};
  reports_ = bearer.reports();
  return law_.on_queue(bearer.queue_view(now), view(bearer));
}

Bytes GovernedFlow::window(Bearer& bearer, Bytes ack, Instant now) {
  return law_.window(ack, bearer.queue_view(now), view(bearer));
}

void GovernedFlow::measured(Duration round_trip) {
  if (round_trip <= Duration::zero()) return;
  if (round_trip_ <= Duration::zero() || round_trip < round_trip_) round_trip_ = round_trip;
}

}  // namespace sluice::proxy
