#include "proxy/bearer/rate_control_mode.hpp"

namespace sluice::proxy {

RateControlMode::RateControlMode(const Treatment& treatment, bool ordinary)
    : can_be_controlled_(!ordinary && needs_feedback(treatment.mode)),
      needs_reports_(treatment.needs_reports()),
      uses_ack_feedback_(!ordinary && treatment.uses_ack_feedback()) {
  update(treatment);
}

void RateControlMode::set_timely_reports(const Treatment& treatment, bool in_time) {
  has_timely_reports_ = in_time;
  update(treatment);
}

void RateControlMode::compare(const Treatment& treatment, Duration by_reports, Duration by_acks, bool doubted) {
  if (needs_reports_ || !uses_ack_feedback_ || treatment.regulates()) return;
  // Hysteresis: reports must be a third faster to be selected, and are kept while they are a fifth faster.
  const Duration enough = reports_are_faster_ ? by_acks * 4 / 5 : by_acks * 2 / 3;
  reports_are_faster_ = by_acks > Duration::zero() && by_reports < enough && !doubted;
  update(treatment);
}

void RateControlMode::update(const Treatment& treatment) {
  is_report_based_ = has_timely_reports_ && (needs_reports_ || reports_are_faster_);
  has_feedback_ = can_be_controlled_ && (!needs_reports_ || uses_ack_feedback_ || is_report_based_);
  is_rate_controlled_ = has_feedback_ && !treatment.observes();
  is_ack_based_ = uses_ack_feedback_ && !is_report_based_;
  const auto law = flow_controller_of(treatment.law());
  has_flow_windows_ = has_feedback_ && law.has_value();
  has_flow_windows_both_ways_ = has_flow_windows_ && control::text_of(*law).both_ways;
  limits_inflight_ = has_flow_windows_ && !treatment.observes();
}

}  // namespace sluice::proxy
