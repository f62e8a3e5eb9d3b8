#include "proxy/bearer/lead.hpp"

namespace sluice::proxy {

Lead::Lead(const Treatment& treatment, bool ordinary)
    : steerable_(!ordinary && needs_feedback(treatment.mode)),
      needs_reports_(treatment.needs_reports()),
      listens_(!ordinary && treatment.listens()) {
  settle(treatment);
}

void Lead::heed_reports(const Treatment& treatment, bool in_time) {
  heeds_reports_ = in_time;
  settle(treatment);
}

void Lead::compare(const Treatment& treatment, Duration by_reports, Duration by_acks, bool doubted) {
  if (needs_reports_ || !listens_ || treatment.regulates()) return;
  // Hysteresis: reports must be a third faster to be selected, and are kept while they are a fifth faster.
  const Duration enough = reports_sooner_ ? by_acks * 4 / 5 : by_acks * 2 / 3;
  reports_sooner_ = by_acks > Duration::zero() && by_reports < enough && !doubted;
  settle(treatment);
}

void Lead::settle(const Treatment& treatment) {
  led_by_reports_ = heeds_reports_ && (needs_reports_ || reports_sooner_);
  has_feedback_ = steerable_ && (!needs_reports_ || listens_ || led_by_reports_);
  steered_ = has_feedback_ && !treatment.observes();
  clocked_ = listens_ && !led_by_reports_;
  const auto law = window_law_of(treatment.law());
  windowed_ = has_feedback_ && law.has_value();
  both_ways_ = windowed_ && control::text_of(*law).both_ways;
  bounds_ = windowed_ && !treatment.observes();
}

}  // namespace sluice::proxy
