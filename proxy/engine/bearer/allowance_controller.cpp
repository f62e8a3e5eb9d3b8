// SMVS law of a UE bearer: grants bytes by the Node-B's allowance, or computes them from reported measurements (section
// 5 of the paper, control/smvs/smvs.hpp). Bearer calls it for each accepted report. Time is the sender's clock, because
// network jitter must not look like a change of rate.
#include "proxy/engine/bearer/allowance_controller.hpp"

#include <algorithm>

#include "control/decision_log/decision_log.hpp"

namespace sluice::proxy {
namespace {

using SmvsCalls = control::RecordedController<control::Smvs>;
using NodeBCalls = control::RecordedController<control::NodeBAllowance>;

/// Shortest and longest controller step that is derived from the period of Node-B reports. The step is limited, because
/// a report may announce any period.
constexpr Duration shortest_period = std::chrono::milliseconds(1);
constexpr Duration longest_period = std::chrono::seconds(2);

}  // namespace

AllowanceController::AllowanceController(const PolicySettings& settings, control::DecisionLog* const* trace)
    : controller_(make_controller(settings)), trace_(trace) {}

AllowanceController::~AllowanceController() {
  end_recording();
}

AllowanceController::Controller AllowanceController::make_controller(const PolicySettings& settings) {
  if (settings.law() != Mode::smvs) return NodeBController{};
  // With the ACK-based controller configured, reports that have less feedback delay run the law here.
  if (settings.smvs.law == ControllerLocation::nodeb) return NodeBController{};
  const bool fits = settings.smvs.law == ControllerLocation::acks;
  return ProxyController{control::Smvs(settings.smvs.parameters), fits ? &settings.smvs.parameters : nullptr, {}};
}

template <typename Call, typename... Arguments>
auto AllowanceController::ask(control::Smvs& law, const Arguments&... arguments) {
  const auto identify = [&] { return control::ControllerIdentity{{(*trace_)->selection().ue}, law.parameters()}; };
  return control::traced<Call>(*trace_, law, identify, arguments...);
}

/// Ends the recording of this controller in the decision log, because the controller is about to be destroyed or
/// replaced. Entries already written stay.
void AllowanceController::end_recording() const {
  if (*trace_ == nullptr) return;
  if (const auto* const here = std::get_if<ProxyController>(&controller_)) (*trace_)->left(&here->law);
  if (const auto* const there = std::get_if<NodeBController>(&controller_)) (*trace_)->left(there);
}

Bytes AllowanceController::on_report(const ReportArrival& report, Bytes in_flight, Duration period,
                                     double reference_factor) {
  return std::visit([&](auto& controller) { return granted(controller, report, in_flight, period, reference_factor); },
                    controller_);
}

Bytes AllowanceController::granted(NodeBController& controller, const ReportArrival& report, Bytes /*in_flight*/,
                                   Duration period, double /*reference_factor*/) {
  if (report.bearer.allowance) applied_sequence_ = report.sequence;
  const auto identify = [this] {
    return control::ControllerIdentity<NodeBCalls::Origin>{{(*trace_)->selection().ue}, {}};
  };
  const control::AllowanceReport granted{report.bearer.allowance, report.bearer.mean_service_rate, period};
  return control::traced<NodeBCalls::OnReport>(*trace_, controller, identify, granted);
}

void AllowanceController::fit(ProxyController& controller, Duration period) {
  controller.period = period;
  const auto fitted = control::in_steps_of(*controller.fits, std::clamp(period, shortest_period, longest_period));
  if (!fitted) return;
  const Rate mean = controller.law.state().mean_rate;
  end_recording();
  controller.law = control::Smvs(*fitted);
  ask<SmvsCalls::Seed>(controller.law, mean);
}

Bytes AllowanceController::granted(ProxyController& controller, const ReportArrival& report, Bytes in_flight,
                                   Duration period, double reference_factor) {
  if (controller.fits != nullptr && period != controller.period) fit(controller, period);
  // The observation carries the sender's time, because network jitter must not look like a change of rate.
  control::SmvsObservation observation;
  observation.now = Instant(report.sender_time);
  observation.queue = report.bearer.queue;
  observation.arrived = report.bearer.arrived;
  observation.served = report.bearer.transmitted;
  observation.in_flight = in_flight;
  observation.reference_factor = reference_factor;
  return ask<SmvsCalls::Step>(controller.law, observation);
}

/// Runs one controller step for the whole time in which the Node-B omitted the UE from its reports. `last` is the
/// report before that time, and `until` the end of that time by the Node-B's clock. The result equals that of many
/// single steps, because the UE was unchanged.
void AllowanceController::on_omitted(const ReportArrival& last, Duration until) {
  auto* const here = std::get_if<ProxyController>(&controller_);
  if (here == nullptr || until <= last.sender_time) return;
  control::SmvsObservation observation;
  observation.now = Instant(until);
  observation.queue = last.bearer.queue;
  observation.arrived = last.bearer.arrived;
  observation.served = last.bearer.transmitted;
  ask<SmvsCalls::Step>(here->law, observation);
}

void AllowanceController::restart() {
  applied_sequence_ = 0;
  if (auto* const here = std::get_if<ProxyController>(&controller_)) ask<SmvsCalls::Restart>(here->law);
}

void AllowanceController::seed(Rate rate) {
  if (auto* const here = std::get_if<ProxyController>(&controller_)) ask<SmvsCalls::Seed>(here->law, rate);
}

double AllowanceController::predicted_error() const {
  const auto* const here = std::get_if<ProxyController>(&controller_);
  return here != nullptr ? here->law.state().predicted_error : 0;
}

}  // namespace sluice::proxy
