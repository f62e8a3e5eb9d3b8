#include "proxy/engine/bearer/ack_controller.hpp"

#include <utility>

#include "control/decision_log/law_trace.hpp"

namespace sluice::proxy {
namespace {

using AcksCalls = control::TracedLaw<control::DelayBasedController>;

}  // namespace

template <typename Call, typename... Arguments>
void AckController::ask(const Arguments&... arguments) {
  const auto identify = [this] { return control::LawIdentity{{(*trace_)->wanted().ue}, law_.parameters()}; };
  control::traced<Call>(*trace_, law_, identify, arguments...);
}

AckController::~AckController() {
  if (*trace_ != nullptr) (*trace_)->left(&law_);
}

void AckController::notify_resumed(Instant now) {
  ask<AcksCalls::OnResumed>(now);
}

void AckController::seed(Instant now, Rate rate) {
  ask<AcksCalls::Seed>(now, rate);
}

void AckController::adopt_in_flight(Bytes in_flight) {
  ask<AcksCalls::TakeOver>(in_flight);
}

void AckController::on_ack(control::AckSample ack_sample) {
  ack_sample.cross_traffic = std::exchange(cross_traffic_, Bytes{});
  check_.on_acknowledged(ack_sample.delivered, ack_sample.round_trip);
  ask<AcksCalls::OnAcknowledged>(ack_sample);
}

bool AckController::on_report(Instant now, const control::feedback::BearerReport& report) {
  check_.on_report(now, report.transmitted, law_.min_time_in_queue(report.queue));
  if (!check_.trusted()) return false;
  ask<AcksCalls::OnReport>(now, report.queue);
  return true;
}

}  // namespace sluice::proxy
