#include "proxy/engine/bearer/rate_control_mode.hpp"

namespace sluice::proxy {
namespace {

FeedbackInput input_of(const PolicySettings& settings, bool in_control_group) {
  if (in_control_group || !needs_feedback(settings.mode)) return FeedbackInput::none;
  if (settings.uses_ack_feedback())
    return settings.needs_reports() ? FeedbackInput::reports_else_acks : FeedbackInput::acks_or_reports;
  return settings.needs_reports() ? FeedbackInput::reports : FeedbackInput::configured_buffer;
}

}  // namespace

RateControlMode::RateControlMode(const PolicySettings& settings, bool in_control_group)
    : input_(input_of(settings, in_control_group)) {
  controller_ = select(settings);
}

void RateControlMode::set_timely_reports(const PolicySettings& settings, bool in_time) {
  has_timely_reports_ = in_time;
  controller_ = select(settings);
}

void RateControlMode::compare(const PolicySettings& settings, Duration by_reports, Duration by_acks,
                              bool is_contradicted) {
  if (input_ != FeedbackInput::acks_or_reports || settings.controls_end_to_end()) return;
  // Hysteresis: reports must be a third faster to be selected, and are kept while they are a fifth faster.
  const Duration enough = reports_are_faster_ ? by_acks * 4 / 5 : by_acks * 2 / 3;
  const bool faster = by_acks > Duration::zero() ? by_reports < enough : reports_are_faster_;
  reports_are_faster_ = faster && !is_contradicted;
  controller_ = select(settings);
}

Controller RateControlMode::select(const PolicySettings& settings) const {
  const bool observes = settings.observes();
  const bool by_reports = has_timely_reports_ && (needs_reports() || reports_are_faster_);
  if (!can_be_controlled() || (input_ == FeedbackInput::reports && !by_reports)) return Controller::congestion_control;
  if (const auto law = flow_controller_of(settings.law())) {
    if (control::text_of(*law).both_ways)
      return observes ? Controller::observed_flow_windows_both_ways : Controller::flow_windows_both_ways;
    return observes ? Controller::observed_flow_windows : Controller::flow_windows;
  }
  if (by_reports) return observes ? Controller::observed_reports : Controller::reports;
  return observes ? Controller::observed_acks : Controller::acks;
}

}  // namespace sluice::proxy
