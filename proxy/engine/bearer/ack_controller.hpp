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
class DecisionLog;
}

namespace sluice::proxy {

/// ACK-based controller of one bearer, that is, of all connections of a UE under one policy. It needs no Node-B
/// reports. It counts the bytes that these connections have in flight to the UE, and computes the window (limit of
/// these bytes) that they share. Thread: the shard's.
class AckController {
 public:
  /// Creates a controller that has measured nothing yet. `parameters` must outlive it. `trace` points to the owner's
  /// pointer to the decision log; that pointer is null while the log does not record this UE.
  explicit AckController(const control::DelayBasedParameters& parameters,
                         control::DecisionLog* const* trace = &no_trace)
      : trace_(trace), law_(parameters) {}
  explicit AckController(control::DelayBasedParameters&& temporary,
                         control::DecisionLog* const* trace = &no_trace) = delete;
  ~AckController();
  AckController(const AckController&) = delete;
  AckController& operator=(const AckController&) = delete;

  /// Returns the number of IP bytes that may be sent now: the controller's window minus the bytes in flight of all
  /// flows of the bearer.
  [[nodiscard]] Bytes budget(Instant now) const { return greater(law_.window(now) - flight_, Bytes{}); }
  /// Returns when the controller's window will have grown enough for a waiting flow to send, provided that no ACK
  /// arrives earlier. Returns `never` if no flow waits, or if only an ACK can open the window.
  [[nodiscard]] Instant budget_available_at(Instant now) const {
    return waiting_ + cross_traffic_flows > 0 ? law_.budget_available_at(now, flight_) : never;
  }
  /// Returns the number of IP bytes that all flows of the bearer together have in flight to the UE.
  [[nodiscard]] Bytes flight() const { return flight_; }
  /// Adds `change` to the number of bytes in flight. `change` is negative when bytes were acknowledged or lost.
  void add_flight(Bytes change) { flight_ += change; }
  /// Returns the number of split flows that wait for the controller's window, although their congestion and receive
  /// windows would allow them to send.
  [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
  /// Updates the number of split flows that wait for the controller's window. One flow changes: it waited if `before`
  /// is true, and waits if `now` is true.
  void count_waiting(bool before, bool now) { waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// Returns how many of the split flows that wait for the controller's window are short. A flow is short if it has
  /// sent less than smvs.short_flow.
  [[nodiscard]] std::uint32_t short_flows_waiting() const { return short_flows_waiting_; }
  /// Updates the number of short split flows (less than smvs.short_flow sent) that wait for the controller's window.
  /// One flow changes: it waited if `before` is true, and waits if `now` is true.
  void count_short_flows(bool before, bool now) { short_flows_waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// Numbers of end-to-end connections, by what limits them.
  struct EndToEndFlowCount {
    std::uint32_t waiting = 0;  ///< connections whose server must wait for the controller's window before it may send
    /// Number of those waiting connections that are short (have sent less than smvs.short_flow).
    std::uint32_t short_flows = 0;
    /// Number of connections that have data in flight and do not wait for the controller's window. The UE's receive
    /// window, the server or another bottleneck limits them.
    std::uint32_t limited_elsewhere = 0;
  };
  EndToEndFlowCount end_to_end;
  /// number of flows of cross traffic (packets of no split or end-to-end connection, such as QUIC) that wait for the
  /// controller's window
  std::uint32_t cross_traffic_flows = 0;
  /// IP bytes in flight of the end-to-end connections that the controller's window does not limit
  /// (EndToEndFlowCount::limited_elsewhere).
  Bytes flight_elsewhere;
  /// Records cross traffic: IP bytes that were sent to the UE and that the controller's window does not limit.
  void add_cross_traffic(Bytes bytes) { cross_traffic_ += bytes; }
  /// Records IP bytes of data that the UE has sent, because an upload delays the ACKs of downloads. Only an ACK sample
  /// that is taken later than `now` includes them. The order of segments that arrive at the same time therefore does
  /// not matter.
  void add_uploaded(Bytes bytes, Instant now) {
    settle_uploaded(now);
    uploaded_now_ += bytes;
  }
  /// Passes an ACK to the controller as a sample, together with the UE's upload and the cross traffic since the last
  /// sample. Cross traffic is traffic to the UE that the controller's window does not limit. On a fast link, the ACKs
  /// of up to 1 ms form one sample (DelayBasedController::summing_time()).
  void on_ack(const control::AckSample& ack);
  /// Passes a Node-B report of the UE's radio queue to the controller. Returns false if the report must be discarded,
  /// because the UE's ACKs have contradicted the reports for some seconds. `check` compares the reports with the ACKs
  /// that arrive after the first call. It must outlive this object and be the same in all calls.
  bool on_report(Instant now, const control::feedback::BearerReport& report, control::ReportCheck& check);
  /// Must be called before bytes are sent. If no bytes are in flight, notifies the controller that sending resumes
  /// after a pause.
  void resume(Instant now) {
    if (flight_ <= Bytes{}) notify_resumed(now);
  }
  /// Sets the controller's initial estimate of the link rate to a rate that was measured earlier.
  void seed(Instant now, Rate rate);
  /// During slow start, raises the controller's window to at least `in_flight`: the bytes that a newly tracked
  /// connection may already have in flight.
  void adopt_in_flight(Bytes in_flight);
  /// Copies the measured values of `before`, an earlier controller of the same UE. Has no effect if the parameters of
  /// the two controllers differ.
  void adopt(const AckController& before) {
    if (before.law_.parameters() != law_.parameters()) return;
    law_.adopt(before.law_);
    sum_ = {};
  }
  /// Restarts the plausibility check of Node-B reports, because another Node-B now sends them.
  void change_reporter() {
    if (check_ != nullptr) check_->restart();
  }
  /// True if recent ACKs of the UE have contradicted the Node-B reports.
  [[nodiscard]] bool suspects_reports() const { return check_ != nullptr && check_->is_suspected(); }
  /// Returns by how many IP bytes the data in flight to the UE exceeds the controller's window; negative if more may be
  /// sent.
  [[nodiscard]] Bytes excess() const { return flight_ - law_.window(); }
  [[nodiscard]] const control::DelayBasedController& law() const { return law_; }
  /// Returns how many bytes to the UE have left the radio queue since the last call. Bytes have left it if they were
  /// sent and are no longer in flight. `sent` is the total number of bytes sent so far. The first call returns zero.
  [[nodiscard]] Bytes take_delivered(Bytes sent) {
    const Bytes arrived = std::max(sent - flight_, Bytes{});
    const Bytes before = std::exchange(delivered_total_, std::max(arrived, delivered_total_));
    return before < Bytes{} ? Bytes{} : std::max(arrived - before, Bytes{});
  }

 private:
  /// default of the constructor's `trace`: refers to no decision log, so that nothing is recorded
  static constexpr control::DecisionLog* no_trace = nullptr;

  /// Sum of the ACKs that were not passed to the controller yet. On a fast link, several ACKs form one sample.
  struct AckSum {
    /// Sum over the ACKs of the square of the bytes that each ACK acknowledges. Divided by `delivered`, it gives the
    /// ACK stretch: the mean number of bytes per ACK, weighted by bytes.
    double squares = 0;
    Bytes in_flight;        ///< bytes in flight after the newest summed ACK
    Instant newest_at{};    ///< time of the newest summed ACK
    Duration round_trip{};  ///< newest round trip that a summed ACK has measured; zero if none has
    /// delay at the UE of the ACK that measured `round_trip`, or of the newest ACK if none did; negative while unknown
    Duration ack_delay{-1};
    Bytes delivered;  ///< bytes that the summed ACKs acknowledge; zero if the sum contains no ACK
  };
  /// Adds an ACK to the sum, and passes the sum to the controller if it is complete. The sum is complete if the
  /// controller's last sample is at least `longest` old, if no bytes are in flight, or if bytes were lost. A sum whose
  /// newest ACK is at least `longest` old is passed before, as a sample of its own.
  [[gnu::noinline]] void add_to_sum(const control::AckSample& ack, Duration longest);
  /// Passes the summed ACKs to the controller as one sample. Values that are no sums, such as the time, are taken from
  /// `ack`.
  void give_sum(const control::AckSample& ack);
  /// Passes an ACK sample to the controller, after adding the UE's upload and the cross traffic since the last sample.
  /// Cross traffic is traffic to the UE that the controller's window does not limit.
  void give(const control::AckSample& ack);

  /// Calls the controller function that the type `Call` names, and records the call in the decision log, if there is
  /// one.
  template <typename Call, typename... Arguments>
  void ask(const Arguments&... arguments);
  /// Notifies the controller that sending resumes after all bytes that were in flight were acknowledged or lost.
  void notify_resumed(Instant now);

  /// Moves the recorded bytes of cross traffic to the UE and of the UE's upload into the ACK sample. The controller's
  /// window limits neither of them.
  void move_other_traffic_to(control::AckSample& ack_sample) {
    ack_sample.cross_traffic = std::exchange(cross_traffic_, Bytes{});
    settle_uploaded(ack_sample.now);
    ack_sample.uploaded = std::exchange(uploaded_, Bytes{});
  }
  /// True if cross traffic was sent or the UE has sent data since the last ACK sample.
  [[nodiscard]] bool has_other_traffic() const {
    return (cross_traffic_.count() | uploaded_.count() | uploaded_now_.count()) != 0;
  }
  /// Moves the recorded upload bytes from `uploaded_now_` to `uploaded_`, if they were recorded at an earlier time than
  /// `now`.
  void settle_uploaded(Instant now) {
    if (now == uploaded_at_) return;
    uploaded_ += std::exchange(uploaded_now_, Bytes{});
    uploaded_at_ = now;
  }

  // Each ACK reads `delivered` of the sum, and the members from there to the first ones of `law_`.
  AckSum sum_;
  control::ReportCheck* check_ = nullptr;  ///< plausibility check of Node-B reports; null before the first report
  control::DecisionLog* const* trace_;
  Bytes flight_;  ///< IP bytes in flight to the UE
  /// IP bytes of cross traffic, which the controller's window does not limit, that were sent to the UE since the last
  /// ACK sample.
  Bytes cross_traffic_;
  /// IP bytes of data that the UE has sent before `uploaded_at_`, and that no ACK sample contains yet
  Bytes uploaded_;
  Bytes uploaded_now_;  ///< IP bytes of data that the UE has sent at the time `uploaded_at_`
  /// time of the newest data from the UE, or of a later ACK sample
  Instant uploaded_at_{};
  std::uint32_t waiting_ = 0;
  std::uint32_t short_flows_waiting_ = 0;
  /// total number of bytes that had left the radio queue at the last call of take_delivered(); negative before the
  /// first call
  Bytes delivered_total_{-1};
  control::DelayBasedController law_;
};
static_assert(sizeof(AckController) <= 1040, "one for each bearer that uses ACK feedback");

}  // namespace sluice::proxy
