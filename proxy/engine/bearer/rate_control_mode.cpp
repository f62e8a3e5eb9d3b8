#include "proxy/engine/bearer/rate_control_mode.hpp"

namespace sluice::proxy {

RateControlMode::RateControlMode(const PolicySettings& settings, bool ordinary)
    : can_be_controlled_(!ordinary && needs_feedback(settings.mode)),
      needs_reports_(settings.needs_reports()),
      uses_ack_feedback_(!ordinary && settings.uses_ack_feedback()) {
  update(settings);
}

void RateControlMode::set_timely_reports(const PolicySettings& settings, bool in_time) {
  has_timely_reports_ = in_time;
  update(settings);
}

void RateControlMode::compare(const PolicySettings& settings, Duration by_reports, Duration by_acks, bool doubted) {
  if (needs_reports_ || !uses_ack_feedback_ || settings.controls_end_to_end()) return;
  // Hysteresis: reports must be a third faster to be selected, and are kept while they are a fifth faster.
  const Duration enough = reports_are_faster_ ? by_acks * 4 / 5 : by_acks * 2 / 3;
  const bool faster = by_acks > Duration::zero() ? by_reports < enough : reports_are_faster_;
  reports_are_faster_ = faster && !doubted;
  update(settings);
}

void RateControlMode::update(const PolicySettings& settings) {
  is_report_based_ = has_timely_reports_ && (needs_reports_ || reports_are_faster_);
  has_feedback_ = can_be_controlled_ && (!needs_reports_ || uses_ack_feedback_ || is_report_based_);
  is_rate_controlled_ = has_feedback_ && !settings.observes();
  is_ack_based_ = uses_ack_feedback_ && !is_report_based_;
  const auto law = flow_controller_of(settings.law());
  has_flow_windows_ = has_feedback_ && law.has_value();
  has_flow_windows_both_ways_ = has_flow_windows_ && control::text_of(*law).both_ways;
  limits_inflight_ = has_flow_windows_ && !settings.observes();
}

}  // namespace sluice::proxy
