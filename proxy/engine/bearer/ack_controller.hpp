#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/ack_based/report_check.hpp"
#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {
class LawTrace;
}

namespace sluice::proxy {

/// ACK-based controller of one UE bearer (all connections of a UE under one policy), which needs no Node-B reports.
/// Holds the bytes that these connections have in flight to the UE, and computes the window for them. Thread: the
/// shard's.
class AckController {
 public:
  /// Creates a controller without samples. `trace` points to the owner's pointer to the decision log, which is null
  /// unless the UE is recorded.
  explicit AckController(const control::DelayBasedParameters& parameters, control::LawTrace* const* trace = &no_trace)
      : law_(parameters), trace_(trace) {}
  ~AckController();
  AckController(const AckController&) = delete;
  AckController& operator=(const AckController&) = delete;

  /// Returns how many IP bytes may be sent now: the window minus the bytes in flight.
  [[nodiscard]] Bytes budget(Instant now) const { return std::max(law_.window(now) - flight_, Bytes{}); }
  /// Returns when the window allows a waiting flow to send although no further ACK arrives. `never` if no flow waits,
  /// or if only an ACK can open the window.
  [[nodiscard]] Instant budget_available_at(Instant now) const {
    return waiting_ + cross_traffic_flows > 0 ? law_.budget_available_at(now, flight_) : never;
  }
  /// Returns the IP bytes that all flows of the bearer have in flight to the UE.
  [[nodiscard]] Bytes flight() const { return flight_; }
  /// Adds `change` to the bytes in flight; negative when bytes are acknowledged or lost.
  void add_flight(Bytes change) { flight_ += change; }
  /// Returns the number of flows that wait for the bearer's window: their own windows would allow more.
  [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
  /// Updates the number of waiting flows (those that the bearer's window limits) for one flow whose state changes from
  /// `before` to `now`.
  void count_waiting(bool before, bool now) { waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// Returns how many of the flows that wait for the window are short, i.e. have sent less than smvs.short_flow.
  [[nodiscard]] std::uint32_t short_flows_waiting() const { return short_flows_waiting_; }
  /// Updates the number of waiting short flows for one flow that waited or not (`before`) and now waits or not (`now`).
  void count_short_flows(bool before, bool now) { short_flows_waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// Numbers of end-to-end connections whose servers are limited by the window of the bearer (the UE's connections).
  struct EndToEndFlowCount {
    std::uint32_t waiting = 0;
    std::uint32_t short_flows = 0;  ///< number of short flows among `waiting`
  };
  EndToEndFlowCount end_to_end;
  /// Flows of cross traffic (such as QUIC) whose packets wait for the bearer's window.
  std::uint32_t cross_traffic_flows = 0;
  /// Adds cross traffic: IP bytes sent to the UE that this window does not limit.
  void add_cross_traffic(Bytes bytes) { cross_traffic_ += bytes; }
  /// Passes an ACK sample to the controller, after adding the cross traffic since the last sample.
  void on_ack(control::AckSample ack_sample);
  /// Passes a Node-B report of the UE's queue to the controller. Returns false if ACKs contradict the report, which
  /// must then be discarded.
  bool on_report(Instant now, const control::feedback::BearerReport& report);
  /// Notifies the controller that bytes are about to be sent, if none are in flight.
  void resume(Instant now) {
    if (flight_ <= Bytes{}) notify_resumed(now);
  }
  /// Sets the initial link rate of the controller to a rate that was measured before.
  void seed(Instant now, Rate rate);
  /// Raises the window during slow start to at least `in_flight`, the bytes that a new connection may already have in
  /// flight.
  void adopt_in_flight(Bytes in_flight);
  /// Continues with the values that another controller of the UE has measured. Has no effect if its parameters differ.
  void adopt(const AckController& before) {
    if (before.law_.parameters() == law_.parameters()) law_ = before.law_;
  }
  /// Restarts the plausibility check of Node-B reports, because another Node-B sends them from now on.
  void change_reporter() { check_.restart(); }
  /// True if recent ACKs of the UE have contradicted the Node-B reports.
  [[nodiscard]] bool suspects_reports() const { return check_.is_suspected(); }
  /// Returns the bytes in flight to the UE minus the window; negative while more may be sent.
  [[nodiscard]] Bytes excess() const { return flight_ - law_.window(); }
  [[nodiscard]] const control::DelayBasedController& law() const { return law_; }
  /// Returns the bytes that have left the radio queue since the last call, which are bytes sent and no longer in
  /// flight. `sent` is the number of all bytes sent so far. The first call returns zero.
  [[nodiscard]] Bytes take_arrived(Bytes sent) {
    const Bytes arrived = std::max(sent - flight_, Bytes{});
    const Bytes before = std::exchange(arrived_, std::max(arrived, arrived_));
    return before < Bytes{} ? Bytes{} : std::max(arrived - before, Bytes{});
  }

 private:
  static constexpr control::LawTrace* no_trace = nullptr;  ///< no trace receiver

  /// Calls the controller and records the call in the decision log, if there is one.
  template <typename Call, typename... Arguments>
  void ask(const Arguments&... arguments);
  /// Notifies the controller that sending resumes after all bytes in flight were acknowledged or lost.
  void notify_resumed(Instant now);

  control::DelayBasedController law_;
  control::ReportCheck check_;
  control::LawTrace* const* trace_;
  Bytes flight_;         ///< IP bytes in flight to the UE
  Bytes cross_traffic_;  ///< IP bytes of cross traffic since the last ACK sample
  std::uint32_t waiting_ = 0;
  std::uint32_t short_flows_waiting_ = 0;
  /// Number of all bytes that had left the radio queue at the last take_arrived(); negative before the first call.
  Bytes arrived_{-1};
};

}  // namespace sluice::proxy
