#pragma once

#include <cstdint>
#include <optional>

#include "control/fallback.hpp"
#include "control/feedback/report.hpp"
#include "control/in_flight.hpp"
#include "control/smvs.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flow.hpp"
#include "proxy/report_arrival.hpp"
#include "proxy/shard_config.hpp"

namespace sluice::proxy {

/// All connections of one UE: they share one radio queue, so SMVS runs here and its allowance is theirs together. A law
/// of windows runs in each flow (GovernedFlow); here is what it is told of the queue. Thread: its shard's.
class Bearer {
 public:
  enum class Verdict : std::uint8_t {
    stale,    ///< older than what was applied: ignored
    applied,  ///< the allowance is new
  };

  Bearer(const Treatment& treatment, const IpAddress& ue);

  [[nodiscard]] const IpAddress& ue() const { return ue_; }

  /// IP bytes that were just handed to the radio port for this UE, whatever they were. `data`: part of the allowance.
  void injected(Instant now, Bytes bytes) { in_flight_.injected(now, bytes); }

  /// Applies a report: runs the law, or takes the Node-B's allowance. What is left of the last allowance is forfeited
  /// but for the fraction of a packet that could not be sent.
  Verdict on_report(const ReportArrival& report, Instant now);

  /// Looks at the time: bridges a report that is missing with one more step at the mean rate, and gives up steering
  /// when reports are late. True when flows may send because of it or must change their window source.
  bool on_deadline(Instant now);
  [[nodiscard]] Instant deadline() const;

  [[nodiscard]] bool in_use() const { return flow_count + guests > 0; }
  /// Each flow has a window of its own instead of a part of an allowance, while feedback steers.
  [[nodiscard]] bool windowed() const { return windowed_; }
  /// The law of those windows. Requires a mode that has one.
  [[nodiscard]] control::WindowLaw window_law() const { return *window_law_of(treatment_->mode); }
  [[nodiscard]] const Treatment& treatment() const { return *treatment_; }
  /// The UE's queue as a law of windows is told of it.
  [[nodiscard]] control::QueueView queue_view(Instant now);
  /// Reports taken so far; a flow looks whether there is a newer one.
  [[nodiscard]] std::uint32_t reports() const { return reports_; }
  /// IP bytes sent towards the radio, and how many of them have reached and have left the queue as of the last report.
  [[nodiscard]] std::uint64_t sent_total() const { return in_flight_.total(); }
  [[nodiscard]] std::uint64_t arrived_total() const { return arrived_total_; }
  [[nodiscard]] std::uint64_t left_total() const { return left_total_; }
  /// A packet of a flow passed: it counts as one of N.
  void seen(Instant now, control::ActiveFlows::Mark& mark) { count_.seen(now, mark); }
  void left(control::ActiveFlows::Mark& mark) { count_.left(mark); }

  /// Feedback decides what the radio leg sends right now; never outside a mode that needs feedback.
  [[nodiscard]] bool steered() const {
    return needs_feedback(treatment_->mode) && fallback_.steering() == control::Steering::feedback;
  }
  /// What stands in for the congestion window. A law of windows leaves it in force and bounds what is in flight
  /// besides, as the window of an ACK does in its paper.
  [[nodiscard]] tcp::WindowSource window_source() const;
  /// What the radio leg may send now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance() const;
  void spend(Bytes bytes);
  /// What was granted at the last step; for observers.
  [[nodiscard]] Bytes granted() const { return granted_; }

  /// The window that congestion control starts from when steering is given up.
  [[nodiscard]] Bytes seed_window(Duration srtt) const { return fallback_.seed_window(srtt); }
  /// Mean rate of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const;

  [[nodiscard]] control::feedback::BearerStatus status(Bytes backlog) const;
  [[nodiscard]] const control::feedback::BearerReport& last_report() const { return last_.bearer; }
  [[nodiscard]] bool reported() const { return reported_; }
  [[nodiscard]] Instant last_report_time() const { return report_time_; }
  [[nodiscard]] std::uint64_t falls() const { return fallback_.falls(); }
  [[nodiscard]] const control::Smvs* law() const { return law_ ? &*law_ : nullptr; }

  /// The bearer's flows: a ring through Flow::bearer_next, entered at the flow that was served least recently.
  FlowId first_flow = no_id;
  std::uint32_t flow_count = 0;
  std::uint32_t guests = 0;             ///< regulated connections of the UE
  std::uint32_t first_holding = no_id;  ///< of these, list of those that hold ACKs
  Instant wheel_deadline = never;       ///< when the timer wheel will look at it
  Bytes backlog{};                      ///< kept by the shard: unsent bytes of all flows at the last service
  std::uint32_t backlogged_flows = 0;   ///< … and how many have any
  bool status_changed = true;
  Instant empty_since{};  ///< when its last flow went

 private:
  void grant(Bytes allowance);
  Bytes granted_in_advance(const ReportArrival& report);
  Bytes run_law(const ReportArrival& report, Bytes in_flight, Instant now);

  void look_at_queue(const ReportArrival& report, Bytes under_way, Instant now);
  void set_steering();

  const Treatment* treatment_;
  IpAddress ue_;
  control::Fallback fallback_;
  control::InFlight in_flight_;
  std::optional<control::Smvs> law_;
  std::optional<control::ClampPriceAgent> price_;  ///< where the Node-B tells no price
  control::GwaFlowCount count_;                    ///< N
  control::QueueView view_;
  control::SlidingExtremes rates_;  ///< service rate, bytes/s
  std::uint64_t arrived_total_ = 0;
  std::uint64_t left_total_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint32_t reports_ = 0;
  bool windowed_ = false;
  ReportArrival last_{};
  Instant report_time_{};
  Instant bridge_at_ = never;
  std::uint64_t applied_sequence_ = 0;
  Bytes allowance_{};
  Bytes granted_{};
  std::uint64_t bridges_ = 0;  ///< since the newest report
  bool reported_ = false;
};

}  // namespace sluice::proxy
