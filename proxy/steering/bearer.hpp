#pragma once

#include <cstdint>
#include <optional>

#include "control/fallback.hpp"
#include "control/feedback/report.hpp"
#include "control/framing.hpp"
#include "control/in_flight.hpp"
#include "control/smvs.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/bearer_load.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/shard/report_arrival.hpp"
#include "proxy/steering/ack_steering.hpp"

namespace sluice::proxy {

/// All connections of one UE under one policy. They share one radio queue, so SMVS runs here and its allowance is
/// theirs together; a law of windows runs in each flow (GovernedFlow), and here is what it is told of the queue. A UE
/// whose connections match several policies has a bearer for each: siblings, that all hear its reports and all know of
/// everything that is sent to it, since they share its queue. Thread: its shard's.
class Bearer {
 public:
  enum class Verdict : std::uint8_t {
    stale,    ///< older than what was applied: ignored
    applied,  ///< the allowance is new
  };

  /// `treatment` outlives it. `ordinary`: the UE is of the control group, and nothing steers it.
  Bearer(const Treatment& treatment, const IpAddress& ue, bool ordinary = false);
  Bearer(const Bearer&) = delete;
  Bearer& operator=(const Bearer&) = delete;

  /// Goes on from what another bearer of the same UE has measured: a sibling, or the one before a switch of the law.
  void inherit(const Bearer& before, Instant now);
  /// Enters the ring of its UE's bearers, of which `other` is one; leaves it.
  void join_ring(Bearer& other);
  void leave_ring();
  /// The next of the UE's bearers; itself when it is the only one.
  [[nodiscard]] Bearer& sibling() { return *sibling_; }
  [[nodiscard]] const Bearer& sibling() const { return *sibling_; }
  [[nodiscard]] bool ordinary() const { return ordinary_; }

  [[nodiscard]] const IpAddress& ue() const { return ue_; }

  /// IP bytes that were just handed to the radio port for this UE, whatever they were. `data`: part of the allowance.
  void injected(Instant now, Bytes bytes) {
    in_flight_.injected(now, bytes);
    for (Bearer* other = sibling_; other != this; other = other->sibling_)
      [[unlikely]] other->in_flight_.injected(now, bytes);
  }
  /// Such a packet of one of its split connections had `payload` > 0.
  void carried(Bytes payload, Bytes packet) { framing_.sent(payload, control::OnWire(packet)); }
  /// Of the data of its split connections, as far as somebody counts what goes to the radio.
  [[nodiscard]] const control::Framing& framing() const { return framing_; }
  /// Some bearer of the UE wants to know what goes to the radio.
  [[nodiscard]] bool counts() const { return counts_; }

  /// Whether a report is by the Node-B that serves the UE. Another one than the last becomes it when it says that the
  /// UE is with it (state normal) after the last one has said that it is not (handover, outage, released), or has been
  /// silent for two periods, or for the longest silence that is borne. Until then, and in what of its own comes late
  /// afterwards, nobody listens to it.
  [[nodiscard]] bool accepts_report(const ReportArrival& report, Instant now) const;
  /// Whether a report that it accepts is by another Node-B than the last.
  [[nodiscard]] bool changes_reporter(const ReportArrival& report) const {
    return reported_ && report.sender != last_.sender;
  }
  /// Applies a report that it accepts: runs the law, or takes the Node-B's allowance. What is left of the last
  /// allowance is forfeited but for the fraction of a packet that could not be sent. Of several bearers under SMVS each
  /// is granted its `share` of what the law gives for the whole queue.
  Verdict on_report(const ReportArrival& report, Instant now, double share = 1);

  /// Looks at the time: bridges a report that is missing with one more step at the mean rate, and gives up steering
  /// when reports are late. True when flows may send because of it or must change their window source.
  bool on_deadline(Instant now);
  [[nodiscard]] Instant deadline() const;

  [[nodiscard]] bool in_use() const { return flow_count + end_to_end_count > 0; }
  /// Each flow has a window of its own instead of a part of an allowance, while there is feedback.
  [[nodiscard]] bool windowed() const { return windowed_; }
  /// … and it bounds what a split connection sends.
  [[nodiscard]] bool bounds() const { return windowed_ && !treatment_->observes(); }
  /// The law of those windows. Requires a mode that has one.
  [[nodiscard]] control::WindowLaw window_law() const { return *window_law_of(treatment_->law()); }
  [[nodiscard]] const Treatment& treatment() const { return *treatment_; }
  /// The UE's queue as a law of windows is told of it.
  [[nodiscard]] const control::QueueView& queue_view(Instant now);
  /// Reports taken so far; a flow looks whether there is a newer one.
  [[nodiscard]] std::uint32_t reports() const { return reports_; }
  /// IP bytes sent towards the radio, and how many of them have reached and have left the queue as of the last report.
  [[nodiscard]] std::uint64_t sent_total() const { return in_flight_.total(); }
  [[nodiscard]] std::uint64_t arrived_total() const { return arrived_total_; }
  [[nodiscard]] std::uint64_t left_total() const { return left_total_; }
  /// A packet of a flow passed: it counts as one of N.
  void seen(Instant now, control::ActiveFlows::Mark& mark) {
    count_.seen(now, mark);
    counted_ = never;
  }
  void left(control::ActiveFlows::Mark& mark) {
    count_.left(mark);
    counted_ = never;
  }

  /// Feedback decides what the radio leg sends right now; never outside a mode that needs feedback.
  [[nodiscard]] bool steered() const { return has_feedback() && !treatment_->observes(); }
  /// What stands in for the congestion window. A law of windows leaves it in force and bounds what is in flight
  /// besides, as the window of an ACK does in its paper.
  [[nodiscard]] tcp::WindowSource window_source() const;
  /// The law by acknowledgements, where the bearer listens to them; null elsewhere.
  [[nodiscard]] AckClock* by_acks() { return clock_ ? &*clock_ : nullptr; }
  /// … and it decides what is sent now.
  [[nodiscard]] bool clocked() const {
    return clock_ && (!treatment_->needs_reports() || fallback_.source() != control::ControlSource::feedback);
  }
  /// What the radio leg may send now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance() const;
  void spend(Bytes bytes);
  /// What was granted at the last step; for observers.
  [[nodiscard]] Bytes granted() const { return granted_; }
  /// What mode observe has recorded.
  [[nodiscard]] const Observed& observed() const { return observed_; }
  /// A law's window beside what was in flight; `waits`: the ACK would have waited.
  void observe(Bytes decided, Bytes actual, bool waits);

  /// The window that congestion control starts from when steering is given up.
  [[nodiscard]] Bytes seed_window(Duration srtt) const { return fallback_.seed_window(srtt); }
  /// Mean rate of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const;
  /// What is in the radio queue and on the way there, less what belongs there: b̄ over the round trip to the Node-B and
  /// the reference of SMVS. Of this instant, by what the last report said; nothing under other laws.
  [[nodiscard]] control::OnWire<Bytes> radio_error() const;

  [[nodiscard]] control::feedback::BearerStatus status(Bytes backlog) const;
  [[nodiscard]] const control::feedback::BearerReport& last_report() const { return last_.bearer; }
  [[nodiscard]] bool reported() const { return reported_; }
  /// Sender id of the Node-B that serves the UE, as of the last report.
  [[nodiscard]] std::uint64_t reporter() const { return last_.sender; }
  [[nodiscard]] std::uint64_t falls() const { return fallback_.falls(); }
  [[nodiscard]] const control::Smvs* law() const { return law_ ? &*law_ : nullptr; }

  /// The bearer's flows: a ring through Flow::bearer_next, entered at the flow that was served least recently.
  BearerId id = no_id;
  PolicyIndex policy = 0;
  std::uint16_t generation = 0;  ///< of the policies that it belongs to
  FlowId first_flow = no_id;
  std::uint32_t flow_count = 0;
  std::uint32_t end_to_end_count = 0;   ///< regulated connections of the UE
  std::uint32_t first_holding = no_id;  ///< of these, list of those that hold ACKs
  Instant wheel_deadline = never;       ///< when the timer wheel will look at it
  BearerLoad load;                      ///< of its split connections at their last service
  bool status_changed = true;
  bool used = false;      ///< had a split connection: what was learned is kept for a while when its last flow goes
  Instant empty_since{};  ///< when its last flow went

 private:
  void follow(const ReportArrival& report);
  void grant(Bytes allowance);
  Bytes granted_in_advance(const ReportArrival& report);
  Bytes run_law(const ReportArrival& report, Bytes in_flight, Instant now);

  void look_at_queue(const ReportArrival& report, Bytes under_way, Instant now);
  void set_steering();
  [[nodiscard]] bool steerable() const { return !ordinary_ && needs_feedback(treatment_->mode); }
  void settle_ring();
  /// Reports come, or none are needed, and a law makes something of it.
  [[nodiscard]] bool has_feedback() const {
    if (!steerable()) return false;
    return !treatment_->needs_reports() || clock_ || fallback_.source() == control::ControlSource::feedback;
  }

  const Treatment* treatment_;
  Bearer* sibling_ = this;
  IpAddress ue_;
  bool ordinary_;
  bool counts_;
  control::Fallback fallback_;
  control::InFlight in_flight_;
  control::Framing framing_;
  std::optional<control::Smvs> law_;
  std::optional<AckClock> clock_;
  std::optional<control::ClampPriceAgent> price_;  ///< where the Node-B tells no price
  control::GwaFlowCount count_;                    ///< N
  Instant counted_ = never;                        ///< when it was counted, where that still holds
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
  Observed observed_;
  std::uint64_t sent_at_report_ = 0;
  Bytes allowance_{};
  Bytes granted_{};
  Bytes radio_load_{};         ///< queue and in flight, as of the last report
  std::uint64_t bridges_ = 0;  ///< since the newest report
  bool reported_ = false;
};

}  // namespace sluice::proxy
