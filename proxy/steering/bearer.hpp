#pragma once

#include <cstdint>
#include <optional>

#include "control/feedback/report.hpp"
#include "control/framing.hpp"
#include "dataplane/tcp/tick.hpp"
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
#include "proxy/steering/bearer_parts.hpp"
#include "proxy/steering/report_stream.hpp"

namespace sluice::proxy {

/// All connections of one UE under one policy. They share one radio queue, so SMVS runs here and its allowance is
/// theirs together; a law of windows runs in each flow (GovernedFlow), and here is what it is told of the queue. A UE
/// whose connections match several policies has a bearer for each: siblings, in a ring, that all hear its reports and
/// all know of everything that is sent to it, since they share its queue.
///
/// Small, because there are many: what it keeps of reports, of the law by acknowledgements, of a law of windows and of
/// what is under way are parts from pools, each made when there is first something to keep. Until then the bearer is as
/// one whose parts are as new. Thread: its shard's.
class Bearer : public RingMember<Bearer> {
 public:
  enum class Verdict : std::uint8_t {
    stale,       ///< older than what was applied: ignored
    distrusted,  ///< the UE's acknowledgements contradict it: ignored
    applied,     ///< the allowance is new
  };

  /// `treatment` and `parts` outlive it. `ordinary`: the UE is of the control group, and nothing steers it.
  Bearer(const Treatment& treatment, const IpAddress& ue, BearerParts& parts, bool ordinary = false);
  ~Bearer();
  Bearer(const Bearer&) = delete;
  Bearer& operator=(const Bearer&) = delete;

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
    count_sent(now, bytes, whose);
    for (Bearer* other = &sibling(); other != this; other = &other->sibling())
      [[unlikely]] other->count_sent(now, bytes, Whose::others);
  }
  /// Some bearer of the UE wants to know what goes to the radio.
  [[nodiscard]] bool counts() const { return counts_; }
  /// IP bytes sent towards the radio.
  [[nodiscard]] std::uint64_t sent_total() const { return sent_of_late_ ? sent_of_late_->bytes.total() : sent_; }
  /// A while after the last of it, only the sum of what was sent matters: what else is kept of it goes.
  void let_sent_rest(Instant now);

  /// The reports about the UE; on_report() takes those that it accepts.
  [[nodiscard]] const ReportStream& reports() const { return reported_ ? reported_->reports : no_reports(); }
  /// Applies a report that is accepted: runs the law, or takes the Node-B's allowance. Of several bearers under SMVS
  /// each is granted its `share` of what the law gives for the whole queue.
  Verdict on_report(const ReportArrival& report, Instant now, double share = 1);
  /// The sender of its last report leaves out UEs of which nothing has changed: the report may hold still.
  void on_left_out(const LeavingSender& sender);
  /// … and has just spoken of this one: where nothing is to be sent, no further report is missed until it is its turn.
  void rest(const LeavingSender& sender);
  /// … and speaks of this UE again, whose report on_report() is given next: in between the law has stood still.
  void on_named_again(const LeavingSender& sender, const ReportArrival& next);
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
  [[nodiscard]] RadioQueue& queue() { return queue_ ? *queue_ : queue_.make(parts_->queues, *treatment_); }

  /// Feedback decides what the radio leg sends right now; never outside a mode that needs feedback.
  [[nodiscard]] bool steered() const {
    return steerable() && (acks_alone_ || (has_feedback() && !treatment_->observes()));
  }
  /// What stands in for the congestion window. A law of windows leaves it in force and bounds what is in flight
  /// besides, as the window of an ACK does in its paper.
  [[nodiscard]] tcp::WindowSource window_source() const {
    return steered() && !windowed_ ? tcp::WindowSource::allowance : tcp::WindowSource::congestion_control;
  }
  /// A law listens to the acknowledgements of the UE.
  [[nodiscard]] bool listens() const { return listens_; }
  /// That law, about to be told something. Requires that the bearer listens.
  [[nodiscard]] AckClock& ack_clock() { return clock_ ? *clock_ : make_clock(); }
  /// … or only to be asked. Valid until the next call for any bearer.
  [[nodiscard]] const AckClock& ack_clock() const { return clock_ ? *clock_ : parts_->fresh_clock(*treatment_); }
  /// … and it decides what is sent now.
  [[nodiscard]] bool clocked() const { return listens_ && (acks_alone_ || !led_by_reports()); }
  /// What the radio leg may send now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance(Instant now) const {
    if (window_source() != tcp::WindowSource::allowance) return Bytes::max();
    if (clocked()) return ack_clock().room(now);
    return reported_ ? reported_->grant.left() : Bytes{};
  }
  /// Something was to be sent, and so much was. True when the deadline is another one for it.
  bool spend(Bytes bytes, Instant now);
  /// It has a connection that a law may learn from: what was learned is kept for a while when its last flow goes.
  void use() { used_ = true; }
  [[nodiscard]] bool used() const { return used_; }
  /// What was granted at the last step; for observers.
  [[nodiscard]] Bytes granted() const { return reported_ ? reported_->grant.given() : Bytes{}; }
  /// Somebody waits for a connection of the UE that is young: one begins, or goes on.
  void expect_young(Instant now) {
    if (!minds_young_) return;
    young_until_ = tcp::tick::fine(now) + tcp::tick::fine(patience);
    for (Bearer* other = &sibling(); other != this; other = &other->sibling())
      [[unlikely]] other->young_until_ = young_until_;
  }
  /// It is not young any more. Where none is, nobody waits.
  void end_young(Instant now);
  /// What is to be left of a law's reference: all, but while a young connection is waited for beside a download.
  [[nodiscard]] double reference_part(Instant now) const {
    if (load.older_moving_flows == 0 || young_until_ - tcp::tick::fine(now) > tcp::tick::fine(patience)) [[likely]]
      return 1;
    return treatment_->smvs.young_reference;
  }
  /// ŝ of the law that runs here, bytes; for observers.
  [[nodiscard]] double predicted_error() const { return reported_ ? reported_->law.predicted_error() : 0; }

  /// The window that congestion control starts from when steering is given up.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;
  /// Mean rate of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const {
    if (clocked()) return ack_clock().law().rate();
    return reported_ ? reported_->law.mean_rate(reported_->reports.last().bearer.mean_service_rate) : Rate();
  }
  /// What the second loop goes by.
  struct RadioView {
    control::OnWire<Bytes> error;  ///< in the radio queue and on the way there, less what belongs there
    control::OnWire<Rate> mean;    ///< mean_rate()
    control::OnWire<Rate> best;    ///< the highest of the last seconds, where acknowledgements tell; zero elsewhere
  };
  [[nodiscard]] RadioView radio_view() const {
    if (!clocked()) return {control::OnWire(reported_error()), control::OnWire(mean_rate()), {}};
    const AckClock& clock = ack_clock();
    return {control::OnWire(clock.excess()), control::OnWire(clock.law().rate()),
            control::OnWire(clock.law().best_rate())};
  }

  [[nodiscard]] control::feedback::BearerStatus status(Bytes backlog) const;
  [[nodiscard]] std::uint64_t falls() const { return reported_ ? reported_->fallback.falls() : 0; }
  /// Told of every report that steers by SMVS. Requires that there was a report.
  [[nodiscard]] control::StepWatch& step_watch() { return reported_->step_watch; }
  /// Likewise.
  [[nodiscard]] control::VariationWatch& variation() { return reported_->variation; }
  /// In mode observe: a law's decision beside what was in flight, or sent. `waited`: the ACK would have.
  void observe(Bytes decided, Bytes actual, bool waited) { reported().observed.add(decided, actual, waited); }
  /// What was recorded of them.
  [[nodiscard]] Observed observed() const { return reported_ ? reported_->observed : Observed{}; }

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
  Instant empty_since{};                ///< when its last flow went

 private:
  /// Who has heard nothing for so long sends its first segment again (RFC 6298 section 2): what comes later is waited
  /// for by itself, and not for a queue.
  static constexpr Duration patience = std::chrono::seconds(1);

  static const ReportStream& no_reports();
  [[nodiscard]] Reported& reported() {
    return reported_ ? *reported_ : reported_.make(parts_->reported, *treatment_, &trace);
  }
  [[gnu::cold, gnu::noinline]] AckClock& make_clock();
  void count_sent(Instant now, Bytes bytes, Whose whose) {
    if (sent_of_late_) [[likely]] {
      sent_of_late_->bytes.injected(now, bytes);
    } else {
      count_first(now, bytes);
    }
    if (whose == Whose::others && listens_) count_others(bytes);
  }
  [[gnu::noinline]] void count_first(Instant now, Bytes bytes);
  [[gnu::noinline]] void count_others(Bytes bytes);
  [[nodiscard]] control::InFlight& in_flight() { return (sent_of_late_ ? *sent_of_late_ : make_sent_of_late()).bytes; }
  [[gnu::noinline]] SentOfLate& make_sent_of_late();
  void inherit_sent(const Bearer& before);
  void inherit_reports(const Bearer& before, Instant now);
  void change_reporter(const ReportArrival& report);
  void grant_by(const ReportArrival& report, Bytes under_way, Bytes in_advance, double share, Instant now);
  /// What is in the radio queue and on the way there, less what belongs there: b̄ over the round trip to the Node-B and
  /// the reference of SMVS. Of this instant, by what the last report said; nothing under other laws.
  [[nodiscard]] Bytes reported_error() const;
  void settle_windowed();
  [[nodiscard]] bool rests() const;
  void settle_lead();
  [[nodiscard]] bool steerable() const { return steerable_; }
  /// Reports come in time.
  [[nodiscard]] bool heeds_reports() const {
    return reported_ && reported_->fallback.source() == control::ControlSource::feedback;
  }
  /// Reports decide what is sent: they are needed and come, or they tell of the queue sooner than acknowledgements do.
  [[nodiscard]] bool led_by_reports() const { return (needs_reports_ || reports_lead_) && heeds_reports(); }
  /// Reports come, or none are needed, and a law makes something of it.
  [[nodiscard]] bool has_feedback() const { return steerable() && (!needs_reports_ || listens_ || led_by_reports()); }

  const Treatment* treatment_;
  BearerParts* parts_;
  IpAddress ue_;
  bool ordinary_;
  bool steerable_;  ///< what the Node-B reports, or the UE acknowledges, may decide what is sent
  bool counts_;
  bool needs_reports_;
  bool listens_;
  bool reports_lead_ = false;  ///< where none is needed: reports close the loop sooner than acknowledgements
  bool used_ = false;
  bool acks_alone_ : 1;   ///< acknowledgements lead, whether reports come or not
  bool minds_young_ : 1;  ///< Treatment::minds_young()
  bool windowed_ : 1 = false;
  bool both_ways_ : 1 = false;
  std::uint32_t young_until_ = 0;  ///< a young connection is waited for, tick::fine
  std::uint32_t sent_last_ = 0;    ///< IP bytes of `sent_`, all at one time
  Instant sent_at_{};              ///< … and when; before, nothing was sent for longer than matters
  std::uint64_t sent_ = 0;         ///< IP bytes towards the radio, until there is sent_of_late_
  Bytes others_{};                 ///< IP bytes that others have sent, until there is a clock_
  PooledPart<SentOfLate> sent_of_late_;
  PooledPart<AckClock> clock_;
  PooledPart<Reported> reported_;
  PooledPart<RadioQueue> queue_;
};
static_assert(sizeof(Bearer) <= 224, "one for each UE");

}  // namespace sluice::proxy
