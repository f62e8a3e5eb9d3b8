#pragma once

#include <cstdint>
#include <optional>

#include "control/fallback.hpp"
#include "control/feedback/report.hpp"
#include "control/framing.hpp"
#include "control/in_flight.hpp"
#include "control/step_watch.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/bearer_load.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/flows/ring_member.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/shard/report_arrival.hpp"
#include "proxy/steering/ack_steering.hpp"
#include "proxy/steering/allowance_law.hpp"
#include "proxy/steering/grant.hpp"
#include "proxy/steering/radio_queue.hpp"
#include "proxy/steering/report_stream.hpp"

namespace sluice::proxy {

/// All connections of one UE under one policy. They share one radio queue, so SMVS runs here and its allowance is
/// theirs together; a law of windows runs in each flow (GovernedFlow), and here is what it is told of the queue. A UE
/// whose connections match several policies has a bearer for each: siblings, in a ring, that all hear its reports and
/// all know of everything that is sent to it, since they share its queue. Thread: its shard's.
class Bearer : public RingMember<Bearer> {
 public:
  enum class Verdict : std::uint8_t {
    stale,       ///< older than what was applied: ignored
    distrusted,  ///< the UE's acknowledgements contradict it: ignored
    applied,     ///< the allowance is new
  };

  /// `treatment` outlives it. `ordinary`: the UE is of the control group, and nothing steers it.
  Bearer(const Treatment& treatment, const IpAddress& ue, bool ordinary = false);

  /// Goes on from what another bearer of the same UE has measured: a sibling, or the one before a switch of the law.
  void inherit(const Bearer& before, Instant now);
  /// The ring has got, or lost, a member: whether anybody in it counts is found out anew, for all of them.
  void settle_ring();
  [[nodiscard]] bool ordinary() const { return ordinary_; }
  [[nodiscard]] const IpAddress& ue() const { return ue_; }
  [[nodiscard]] const Treatment& treatment() const { return *treatment_; }
  [[nodiscard]] bool in_use() const { return flow_count + end_to_end_count > 0; }

  /// Whose bytes go to the UE: of its connections under this bearer's law, or anything else, which stands in the same
  /// queue.
  enum class Whose : std::uint8_t { ours, others };
  /// IP bytes that were just handed to the radio port for this UE.
  void injected(Instant now, Bytes bytes, Whose whose = Whose::ours) {
    in_flight_.injected(now, bytes);
    if (whose == Whose::others && clock_) clock_->add_others(bytes);
    for (Bearer* other = &sibling(); other != this; other = &other->sibling()) [[unlikely]] {
        other->in_flight_.injected(now, bytes);
        if (other->clock_) other->clock_->add_others(bytes);
      }
  }
  /// Some bearer of the UE wants to know what goes to the radio.
  [[nodiscard]] bool counts() const { return counts_; }
  /// IP bytes sent towards the radio.
  [[nodiscard]] std::uint64_t sent_total() const { return in_flight_.total(); }

  /// The reports about the UE; on_report() takes those that it accepts.
  [[nodiscard]] const ReportStream& reports() const { return reports_; }
  /// Applies a report that is accepted: runs the law, or takes the Node-B's allowance. Of several bearers under SMVS
  /// each is granted its `share` of what the law gives for the whole queue.
  Verdict on_report(const ReportArrival& report, Instant now, double share = 1);
  /// Asks the processor to fetch what on_report() looks at, but for the law; that, once the bearer itself is there.
  void prefetch() const;
  void prefetch_law() const;
  /// Looks at the time: bridges a report that is missing with one more step at the mean rate, and gives up steering
  /// when reports are late. True when flows may send because of it or must change their window source.
  bool on_deadline(Instant now);
  [[nodiscard]] Instant deadline(Instant now) const;

  /// Each flow has a window of its own instead of a part of an allowance, while there is feedback.
  [[nodiscard]] bool windowed() const { return windowed_; }
  /// … which goes into the ACKs towards the UE, too.
  [[nodiscard]] bool windowed_both_ways() const { return both_ways_; }
  /// … and it bounds what a split connection sends.
  [[nodiscard]] bool bounds() const { return windowed_ && !treatment_->observes(); }
  /// The law of those windows. Requires a mode that has one.
  [[nodiscard]] control::WindowLaw window_law() const { return *window_law_of(treatment_->law()); }
  /// The UE's queue as a law of windows is told of it.
  [[nodiscard]] RadioQueue& queue() { return queue_; }
  [[nodiscard]] const RadioQueue& queue() const { return queue_; }

  /// Feedback decides what the radio leg sends right now; never outside a mode that needs feedback.
  [[nodiscard]] bool steered() const { return has_feedback() && !treatment_->observes(); }
  /// What stands in for the congestion window. A law of windows leaves it in force and bounds what is in flight
  /// besides, as the window of an ACK does in its paper.
  [[nodiscard]] tcp::WindowSource window_source() const;
  /// The law by acknowledgements, where the bearer listens to them; null elsewhere.
  [[nodiscard]] AckClock* by_acks() { return clock_ ? &*clock_ : nullptr; }
  [[nodiscard]] const AckClock* by_acks() const { return clock_ ? &*clock_ : nullptr; }
  /// … and it decides what is sent now.
  [[nodiscard]] bool clocked() const { return clock_ && !led_by_reports(); }
  /// What the radio leg may send now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance(Instant now) const;
  void spend(Bytes bytes);
  /// What was granted at the last step; for observers.
  [[nodiscard]] Bytes granted() const { return grant_.given(); }
  /// ŝ of the law that runs here, bytes; for observers.
  [[nodiscard]] double predicted_error() const { return law_.predicted_error(); }

  /// The window that congestion control starts from when steering is given up.
  [[nodiscard]] Bytes seed_window(Duration srtt) const { return fallback_.seed_window(srtt); }
  /// Mean rate of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const;
  /// What is in the radio queue and on the way there, less what belongs there: b̄ over the round trip to the Node-B and
  /// the reference of SMVS. Of this instant, by what the last report said; nothing under other laws.
  [[nodiscard]] control::OnWire<Bytes> radio_error() const;

  [[nodiscard]] control::feedback::BearerStatus status(Bytes backlog) const;
  [[nodiscard]] std::uint64_t falls() const { return fallback_.falls(); }

  /// Who wants to know what the laws of this bearer and of its connections decide; null mostly.
  control::LawTrace* trace = nullptr;
  /// The bearer's flows: a ring through Flow::bearer_next, entered at the flow that was served least recently.
  BearerId id = no_id;
  PolicyIndex policy = 0;
  std::uint16_t generation = 0;  ///< of the policies that it belongs to
  FlowId first_flow = no_id;
  std::uint32_t flow_count = 0;
  std::uint32_t end_to_end_count = 0;   ///< connections of the UE that pass end to end
  std::uint32_t first_holding = no_id;  ///< of these, list of those that hold ACKs
  Instant wheel_deadline = never;       ///< when the timer wheel will look at it
  BearerLoad load;                      ///< of its split connections at their last service
  control::Framing framing;             ///< of the data of its split connections, as far as anybody counts it
  control::StepWatch step_watch;        ///< told of every report that steers by SMVS
  Observed observed;                    ///< what mode observe has recorded
  bool used = false;      ///< had a split connection: what was learned is kept for a while when its last flow goes
  Instant empty_since{};  ///< when its last flow went

 private:
  void grant_by(const ReportArrival& report, Bytes in_flight, Bytes in_advance, double share);
  void settle_windowed();
  void settle_lead();
  [[nodiscard]] bool steerable() const { return !ordinary_ && needs_feedback(treatment_->mode); }
  /// Reports decide what is sent: they are needed and come, or they tell of the queue sooner than acknowledgements do.
  [[nodiscard]] bool led_by_reports() const {
    return (needs_reports_ || reports_lead_) && fallback_.source() == control::ControlSource::feedback;
  }
  /// Reports come, or none are needed, and a law makes something of it.
  [[nodiscard]] bool has_feedback() const { return steerable() && (!needs_reports_ || clock_ || led_by_reports()); }

  const Treatment* treatment_;
  IpAddress ue_;
  bool ordinary_;
  bool counts_;
  bool needs_reports_;
  bool reports_lead_ = false;  ///< where none is needed: reports close the loop sooner than acknowledgements
  bool windowed_ = false;
  bool both_ways_ = false;
  ReportStream reports_;
  RadioQueue queue_;
  control::Fallback fallback_;
  control::InFlight in_flight_;
  AllowanceLaw law_;
  std::optional<AckClock> clock_;
  Grant grant_;
  ReportBridge bridge_;
  std::uint64_t sent_at_report_ = 0;
  Bytes radio_load_{};  ///< queue and in flight, as of the last report
};

}  // namespace sluice::proxy
