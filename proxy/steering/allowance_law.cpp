#include "proxy/steering/allowance_law.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Reports may announce any period; the law is not run in shorter or longer steps.
constexpr Duration shortest_period = std::chrono::milliseconds(1);
constexpr Duration longest_period = std::chrono::seconds(2);

}  // namespace

AllowanceLaw::AllowanceLaw(const Treatment& treatment) : place_(place_of(treatment)) {}

AllowanceLaw::Place AllowanceLaw::place_of(const Treatment& treatment) {
  if (treatment.law() != Mode::smvs) return AtNodeB{};
  // By acknowledgements: where reports are soon enough to lead, the law runs here.
  if (treatment.smvs.law == LawPlace::nodeb) return AtNodeB{};
  const bool fits = treatment.smvs.law == LawPlace::acks;
  return AtProxy{control::Smvs(treatment.smvs.parameters), fits ? &treatment.smvs.parameters : nullptr, {}};
}

Bytes AllowanceLaw::on_report(const ReportArrival& report, Bytes in_flight, Duration period) {
  return std::visit([&](auto& place) { return granted(place, report, in_flight, period); }, place_);
}

Bytes AllowanceLaw::granted(AtNodeB& /*place*/, const ReportArrival& report, Bytes /*in_flight*/, Duration period) {
  if (report.bearer.allowance) {
    applied_sequence_ = report.sequence;
    return *report.bearer.allowance;
  }
  // A Node-B that computes no allowance: its mean rate is the best that is known.
  return report.bearer.mean_service_rate.in(period);
}

void AllowanceLaw::fit(AtProxy& place, Duration period) {
  place.period = period;
  const auto fitted = control::in_steps_of(*place.fits, std::clamp(period, shortest_period, longest_period));
  if (!fitted) return;
  const Rate mean = place.law.state().mean_rate;
  place.law = control::Smvs(*fitted);
  place.law.seed(mean);
}

Bytes AllowanceLaw::granted(AtProxy& place, const ReportArrival& report, Bytes in_flight, Duration period) {
  if (place.fits != nullptr && period != place.period) fit(place, period);
  // The observation is dated by the sender's clock: the network's jitter must not look like a change of rate.
  control::SmvsObservation observation;
  observation.now = Instant(report.sender_time);
  observation.queue = report.bearer.queue;
  observation.arrived = report.bearer.arrived;
  observation.served = report.bearer.transmitted;
  observation.in_flight = in_flight;
  return place.law.step(observation);
}

void AllowanceLaw::restart() {
  applied_sequence_ = 0;
  if (auto* const here = std::get_if<AtProxy>(&place_)) here->law.restart();
}

void AllowanceLaw::seed(Rate rate) {
  if (auto* const here = std::get_if<AtProxy>(&place_)) here->law.seed(rate);
}

Rate AllowanceLaw::mean_rate(Rate reported) const {
  const auto* const here = std::get_if<AtProxy>(&place_);
  return here != nullptr && here->law.state().steps > 0 ? here->law.state().mean_rate : reported;
}

double AllowanceLaw::predicted_error() const {
  const auto* const here = std::get_if<AtProxy>(&place_);
  return here != nullptr ? here->law.state().predicted_error : 0;
}

}  // namespace sluice::proxy
