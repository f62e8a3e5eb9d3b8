#include "proxy/steering/governed_flow.hpp"

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

void GovernedFlow::carried(Bytes payload, Bytes packet) {
  if (payload < payload_ || packet <= payload) return;
  payload_ = payload;
  packet_ = packet;
}

/// The queue in what positions count: a buffer of 20 packets holds 20 segments and not the bytes of their headers too.
control::QueueView GovernedFlow::queue(Bearer& bearer, Instant now) const {
  control::QueueView view = bearer.queue().view(now);
  if (packet_ == payload_) return view;
  const double share = static_cast<double>(payload_.count()) / static_cast<double>(packet_.count());
  view.counted_share = share;
  for (Bytes* const amount : {&view.queue, &view.buffer, &view.advertised}) {
    if (*amount != Bytes::max()) *amount = Bytes(static_cast<double>(amount->count()) * share);
  }
  for (Rate* const rate : {&view.mean_rate, &view.best_rate}) {
    *rate = Rate::bytes_per_second(rate->bytes_per_second() * share);
  }
  return view;
}

/// What the UE has acknowledged has left the queue, whatever the last report could know.
control::FlowView GovernedFlow::view(const Bearer& bearer) {
  control::FlowView view;
  view.sent = std::max(sent_, acked_);
  view.left = std::max(marks_.passed(bearer.queue().left_total()), acked_);
  view.arrived = std::max(marks_.passed(bearer.queue().arrived_total(), false), view.left);
  view.round_trip = round_trip_;
  return view;
}

control::AckRelease GovernedFlow::on_ack(Bearer& bearer, const control::AckView& ack) {
  bearer.queue().seen(ack.now, mark_);
  acked_ = std::max(acked_, ack.ack);
  return law_.on_ack(ack, queue(bearer, ack.now), view(bearer));
}

control::AckRelease GovernedFlow::on_report(Bearer& bearer, Instant now) {
  if (reports_ == bearer.queue().reports()) return {Bytes{}, 0};
  reports_ = bearer.queue().reports();
  return law_.on_queue(queue(bearer, now), view(bearer));
}

Bytes GovernedFlow::window(Bearer& bearer, Bytes ack, Instant now) {
  return law_.window(ack, queue(bearer, now), view(bearer));
}

void GovernedFlow::measured(Duration round_trip) {
  if (round_trip <= Duration::zero()) return;
  if (round_trip_ <= Duration::zero() || round_trip < round_trip_) round_trip_ = round_trip;
}

}  // namespace sluice::proxy
