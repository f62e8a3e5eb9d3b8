#include "proxy/engine/bearer/radio_queue.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Returns the parameters with which Generalized Window Advertising (GWA) counts the number N of active flows in a
/// radio queue.
control::GwaParameters counting_of(const PolicySettings& settings) {
  control::GwaParameters parameters;
  const std::optional<control::FlowControllerKind> law = flow_controller_of(settings.law());
  const control::FlowCounting how = law ? control::counting(*law, settings.laws) : control::FlowCounting{};
  parameters.decay = how.decay;
  parameters.interval = how.interval;
  if (how.by_use) parameters.policy = control::GwaPolicy::bandwidth_aware;
  return parameters;
}

/// Buffer size B of the radio queue in bytes that is assumed if neither the configuration nor Node-B reports state it.
constexpr Bytes usual_buffer{64 * 1024};

}  // namespace

RadioQueue::RadioQueue(const PolicySettings& settings)
    : settings_(&settings), count_(counting_of(settings)), rates_(std::chrono::seconds(1)) {
  view_.buffer = settings.laws.buffer > Bytes{} ? settings.laws.buffer : usual_buffer;
}

void RadioQueue::inherit(const RadioQueue& before, bool same_path) {
  rates_ = before.rates_;
  if (!same_path) return;
  arrived_total_ = before.arrived_total_;
  left_total_ = before.left_total_;
}

void RadioQueue::restart(std::uint64_t dropped) {
  rates_.clear();
  dropped_ = dropped;
}

void RadioQueue::on_report(const control::feedback::BearerReport& queue, std::uint64_t sent_total,
                           Bytes bytes_in_flight, Instant now) {
  ++reports_;
  // The queue is taken in IP bytes, as the proxy counts, because the report's own figure may be in radio frames.
  view_.queue = std::min(control::feedback::waiting(queue), control::feedback::max_plausible);
  view_.mean_rate = queue.mean_service_rate;
  rates_.add(now, queue.service_rate.bytes_per_second());
  view_.best_rate = Rate::bytes_per_second(rates_.range(now).value_or(control::WindowedRange::Range{}).high);
  view_.dropped = reports_ > 1 && queue.dropped > dropped_;
  dropped_ = queue.dropped;
  if (settings_->laws.buffer <= Bytes{} && queue.buffer > Bytes{}) view_.buffer = queue.buffer;
  view_.advertised = queue.gwa_window.value_or(Bytes::max());
  arrived_total_ = sent_total - static_cast<std::uint64_t>(bytes_in_flight.count());
  const auto waiting = static_cast<std::uint64_t>(view_.queue.count());
  left_total_ = std::max(left_total_, arrived_total_ - std::min(waiting, arrived_total_));
  find_price(queue, now);
}

/// Sets the congestion price that CLAMP (a per-flow window controller) uses: the price in the Node-B report, or else
/// the price that this object computes from the queue length.
void RadioQueue::find_price(const control::feedback::BearerReport& queue, Instant now) {
  if (queue.clamp) {
    view_.price = queue.clamp->price;
  } else if (settings_->law() == Mode::clamp) {
    if (!price_) price_.emplace(settings_->laws.price);
    price_->on_arrival(now, view_.queue);
    view_.price = price_->price(view_.mean_rate).price;
  }
}

const control::QueueView& RadioQueue::view(Instant now) {
  if (counted_ != now) {
    view_.flows = count_.count(now);
    counted_ = now;
  }
  return view_;
}

}  // namespace sluice::proxy
