#include "proxy/engine/rate_control/radio_view.hpp"

#include "control/reference.hpp"

namespace sluice::proxy {

Bytes reported_error(const Bearer& bearer) {
  if (bearer.settings().law() != Mode::smvs) return {};
  const control::SmvsParameters& parameters = bearer.settings().smvs.parameters;
  const ReportState* const report_state = bearer.report_state();
  const Bytes load = report_state != nullptr ? report_state->radio_load : Bytes{};
  const std::uint64_t sent_before = report_state != nullptr ? report_state->sent_at_report : 0;
  const double part = report_state != nullptr ? report_state->reference_factor : 1;
  const Bytes sent_since(static_cast<std::int64_t>(bearer.sent().total() - sent_before));
  const Rate mean = bearer.mean_rate();
  return load + sent_since - mean.in(2 * parameters.one_way_delay) -
         Bytes(control::smvs_reference(parameters, mean, part));
}

}  // namespace sluice::proxy
