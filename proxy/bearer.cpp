#include "proxy/bearer.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// A grant smaller than a packet must be able to add up to one, or low rates would never send.
constexpr Bytes packet_size{1500};

}  // namespace

Bearer::Bearer(const ShardConfig& config, const IpAddress& ue)
    : config_(&config), ue_(ue), fallback_(config.smvs.fallback), in_flight_(config.smvs.parameters.one_way_delay * 2) {
  if (config.mode == Mode::smvs && config.smvs.law == LawPlace::proxy) law_.emplace(config.smvs.parameters);
}

Bearer::Verdict Bearer::on_report(const ReportArrival& report, Instant now) {
  const bool restarted = reported_ && report.epoch != last_.epoch;
  if (reported_ && !restarted && report.sequence <= last_.sequence) return Verdict::stale;

  const Bytes in_flight = in_flight_.on_report(now, report.bearer.arrived);
  const Bytes advanced = granted_in_advance(report);
  last_ = report;
  reported_ = true;
  report_time_ = now;
  bridge_at_ = now + report.period + report.period / 2;
  status_changed = true;
  if (config_->mode != Mode::smvs) return Verdict::applied;

  grant(run_law(report, in_flight, now) - advanced);
  radio_error_ = Bytes(control::smvs_error(config_->smvs.parameters, report.bearer.queue, in_flight, mean_rate()));
  fallback_.on_report(now, report.period, report.bearer.state, mean_rate());
  return Verdict::applied;
}

/// Bridges stood in for reports that were lost or only late. What was granted for a late one is part of what it grants.
Bytes Bearer::granted_in_advance(const ReportArrival& report) {
  const std::uint64_t lost = report.sequence > last_.sequence ? report.sequence - last_.sequence - 1 : 0;
  const std::uint64_t late = bridges_ > lost ? bridges_ - lost : 0;
  bridges_ = 0;
  return mean_rate().in(last_.period) * static_cast<std::int64_t>(late);
}

Bytes Bearer::run_law(const ReportArrival& report, Bytes in_flight, Instant now) {
  if (law_) {
    // The observation is dated by the sender's clock: the network's jitter must not look like a change of rate.
    control::SmvsObservation observation;
    observation.now = Instant(report.sender_time);
    observation.queue = report.bearer.queue;
    observation.arrived = report.bearer.arrived;
    observation.served = report.bearer.transmitted;
    observation.in_flight = in_flight;
    static_cast<void>(now);
    return law_->step(observation);
  }
  if (report.bearer.allowance) {
    applied_sequence_ = report.sequence;
    return *report.bearer.allowance;
  }
  // A Node-B that computes no allowance: its mean rate is the best that is known.
  return report.bearer.mean_service_rate.in(report.period);
}

void Bearer::grant(Bytes allowance) {
  const Bytes carried = std::min(std::max(allowance_, Bytes{}), backlog > Bytes{} ? packet_size : Bytes{});
  granted_ = std::max(allowance, Bytes{});
  allowance_ = granted_ + carried;
}

bool Bearer::on_deadline(Instant now) {
  if (config_->mode != Mode::smvs) return false;
  const bool steered = fallback_.steering() == control::Steering::feedback;
  const bool fell = steered && fallback_.check(now) == control::Steering::congestion_control;
  if (fell) bridge_at_ = never;
  if (!steered || fell) return fell;
  if (now < bridge_at_) return false;
  // One report is missing. The law would have granted about what the link carries; the next report corrects the rest,
  // because what was injected meanwhile shows in the bytes in flight.
  bridge_at_ += last_.period;
  ++bridges_;
  grant(last_.bearer.state == control::feedback::RadioState::normal ? mean_rate().in(last_.period) : Bytes{});
  return true;
}

Instant Bearer::deadline() const {
  if (window_source() == tcp::WindowSource::congestion_control) return never;
  return std::min(bridge_at_, fallback_.deadline());
}

tcp::WindowSource Bearer::window_source() const {
  const bool steered = config_->mode == Mode::smvs && fallback_.steering() == control::Steering::feedback;
  return steered ? tcp::WindowSource::allowance : tcp::WindowSource::congestion_control;
}

Bytes Bearer::allowance() const {
  return window_source() == tcp::WindowSource::allowance ? allowance_ : Bytes::max();
}

void Bearer::spend(Bytes bytes) {
  if (window_source() == tcp::WindowSource::allowance) allowance_ -= bytes;
}

Rate Bearer::mean_rate() const {
  return law_ && law_->state().steps > 0 ? law_->state().mean_rate : last_.bearer.mean_service_rate;
}

control::feedback::BearerStatus Bearer::status(Bytes unsent) const {
  control::feedback::BearerStatus status;
  status.ue = ue_;
  status.injected = in_flight_.total();
  status.applied_sequence = applied_sequence_;
  status.backlog = unsent;
  status.allowance_left = std::max(allowance_, Bytes{});
  status.active_flows = flow_count;
  return status;
}

}  // namespace sluice::proxy
