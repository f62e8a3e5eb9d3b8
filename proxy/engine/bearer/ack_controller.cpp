// Calls the ACK-based controller of a bearer, and sums the ACKs of a fast link. BudgetSharing, EndToEndAckControl and
// Bearer call it. Invariant: a sum never contains ACKs from before a pause, or ACKs that the controller must see alone.
#include "proxy/engine/bearer/ack_controller.hpp"

#include <utility>

#include "control/decision_log/decision_log.hpp"

namespace sluice::proxy {
namespace {

using AcksCalls = control::RecordedController<control::DelayBasedController>;

}  // namespace

template <typename Call, typename... Arguments>
void AckController::ask(const Arguments&... arguments) {
  const auto identify = [this] { return control::ControllerIdentity{{(*trace_)->selection().ue}, law_.parameters()}; };
  control::traced<Call>(*trace_, law_, identify, arguments...);
}

AckController::~AckController() {
  if (*trace_ != nullptr) (*trace_)->left(&law_);
}

void AckController::notify_resumed(Instant now) {
  sum_ = {};  // ACKs before a loss of all bytes in flight do not show that the link transmits
  ask<AcksCalls::OnResumed>(now);
}

void AckController::seed(Instant now, Rate rate) {
  ask<AcksCalls::Seed>(now, rate);
}

void AckController::adopt_in_flight(Bytes in_flight) {
  ask<AcksCalls::TakeOver>(in_flight);
}

inline void AckController::give(const control::AckSample& ack) {
  control::AckSample ack_sample = ack;
  if (has_other_traffic()) [[unlikely]]
    move_other_traffic_to(ack_sample);
  if (*trace_ != nullptr) [[unlikely]] {
    // A copy: a reference to the sample itself would force the compiler to store every sample in memory.
    const control::AckSample recorded = ack_sample;
    return ask<AcksCalls::OnAcknowledged>(recorded);
  }
  law_.on_acknowledged(ack_sample);
}

void AckController::on_ack(const control::AckSample& ack) {
  if (check_ != nullptr) [[unlikely]]
    check_->on_acknowledged(ack.delivered, ack.round_trip);
  const Duration longest = law_.summing_time(ack.window_limited);
  if (longest > Duration::zero() || sum_.delivered > Bytes{}) [[unlikely]] {
    // A copy: a reference to the sample itself would force the compiler to store every sample in memory.
    const control::AckSample summed = ack;
    return add_to_sum(summed, longest);
  }
  give(ack);
}

void AckController::add_to_sum(const control::AckSample& ack, Duration longest) {
  // ACKs before a pause are a sample of their own, so that the controller sees the pause.
  if (sum_.delivered > Bytes{} && ack.now - sum_.newest_at >= longest) {
    control::AckSample earlier = ack;
    earlier.now = sum_.newest_at;
    earlier.in_flight = sum_.in_flight;
    earlier.lost = Bytes{};
    give_sum(earlier);
  }
  const auto bytes = static_cast<double>(ack.delivered.count());
  sum_.delivered += ack.delivered;
  sum_.squares += bytes * bytes;
  sum_.in_flight = ack.in_flight;
  sum_.newest_at = ack.now;
  if (ack.round_trip > Duration::zero() || sum_.round_trip <= Duration::zero()) {
    sum_.round_trip = ack.round_trip;
    sum_.ack_delay = ack.ack_delay;
  }
  const bool continues_sum =
      ack.now - law_.newest_sample_at() < longest && ack.in_flight > Bytes{} && ack.lost <= Bytes{};
  if (!continues_sum) give_sum(ack);
}

void AckController::give_sum(const control::AckSample& ack) {
  control::AckSample sample = ack;
  sample.delivered = sum_.delivered;
  const auto bytes = static_cast<double>(sum_.delivered.count());
  sample.ack_stretch = bytes > 0 ? Bytes(sum_.squares / bytes) : Bytes{};
  sample.round_trip = sum_.round_trip;
  sample.ack_delay = sum_.ack_delay;
  sum_ = {};
  give(sample);
}

bool AckController::on_report(Instant now, const control::feedback::BearerReport& report, control::ReportCheck& check) {
  check_ = &check;
  check.on_report(now, report.transmitted, law_.min_time_in_queue(report.queue));
  if (!check.trusted()) return false;
  ask<AcksCalls::OnReport>(now, report.queue);
  return true;
}

}  // namespace sluice::proxy
