#pragma once

#include <cstdint>

#include "control/framing.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/bearer/bearer_parts.hpp"
#include "proxy/bearer/lead.hpp"
#include "proxy/bearer/pooled_part.hpp"
#include "proxy/bearer/report_stream.hpp"
#include "proxy/bearer/sent_to_ue.hpp"
#include "proxy/bearer/young_wait.hpp"
#include "proxy/flows/bearer_load.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/flows/ring_member.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/shard/report_arrival.hpp"

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
  /// It has a connection that a law may learn from: what was learned is kept for a while when its last flow goes.
  void use() { used_ = true; }
  [[nodiscard]] bool used() const { return used_; }

  /// Whose bytes go to the UE: of its connections under this bearer's law, or anything else, which stands in the same
  /// queue.
  enum class Whose : std::uint8_t { ours, others };
  /// IP bytes that were just handed to the radio port for this UE.
  void injected(Instant now, Bytes bytes, Whose whose = Whose::ours) {
    count_sent(now, bytes, whose);
    for_each_sibling([&](Bearer& other) { other.count_sent(now, bytes, Whose::others); });
  }
  /// Some bearer of the UE wants to know what goes to the radio.
  [[nodiscard]] bool counts() const { return counts_; }
  [[nodiscard]] SentToUe& sent() { return sent_; }
  [[nodiscard]] const SentToUe& sent() const { return sent_; }

  /// Who decides what the radio leg sends.
  [[nodiscard]] const Lead& lead() const { return lead_; }
  /// What the radio leg may send now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance(Instant now) const {
    if (lead_.window_source() != tcp::WindowSource::allowance) return Bytes::max();
    if (lead_.clocked()) return ack_clock().room(now);
    return reported_ ? reported_->grant.left() : Bytes{};
  }
  /// Something was to be sent, and so much was. True when the deadline is another one for it.
  bool spend(Bytes bytes, Instant now);
  /// Looks at the time: bridges a report that is missing with one more step at the mean rate, and gives up steering
  /// when reports are late. True when flows may send because of it or must change their window source.
  bool on_deadline(Instant now);
  [[nodiscard]] Instant deadline(Instant now) const;
  /// The window that congestion control starts from when steering is given up.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;

  /// The reports about the UE; on_report() takes those that it accepts.
  [[nodiscard]] const ReportStream& reports() const;
  /// What came of them; null while there was none, and nothing was observed.
  [[nodiscard]] const Reported* reported() const { return reported_ ? &*reported_ : nullptr; }
  [[nodiscard]] Reported* reported() { return reported_ ? &*reported_ : nullptr; }
  /// Applies a report that is accepted: runs the law, or takes the Node-B's allowance. Of several bearers under SMVS
  /// each is granted its `share` of what the law gives for the whole queue.
  Verdict on_report(const ReportArrival& report, Instant now, double share = 1);
  /// The sender of its last report leaves out UEs of which nothing has changed: the report may hold still.
  void on_left_out(const LeavingSender& sender);
  /// … and has just spoken of this one: where nothing is to be sent, no further report is missed until it is its turn.
  void rest(const LeavingSender& sender);
  /// In mode observe: a law's decision beside what was in flight, or sent. `waited`: the ACK would have.
  void observe(Bytes decided, Bytes actual, bool waited) { make_reported().observed.add(decided, actual, waited); }
  /// Asks the processor to fetch what on_report() looks at, but for the law; that, once the bearer itself is there.
  void prefetch() const;
  void prefetch_law() const;

  /// The law by acknowledgements, about to be told something. Requires that the bearer listens.
  [[nodiscard]] AckClock& ack_clock() { return clock_ ? *clock_ : make_clock(); }
  /// … or only to be asked. Valid until the next call for any bearer.
  [[nodiscard]] const AckClock& ack_clock() const { return clock_ ? *clock_ : parts_->fresh_clock(*treatment_); }
  /// The UE's queue as a law of windows is told of it.
  [[nodiscard]] RadioQueue& queue() { return queue_ ? *queue_ : queue_.make(parts_->queues, *treatment_); }

  /// Somebody waits for a connection of the UE that is young: one begins, or goes on.
  void expect_young(Instant now) {
    if (!minds_young_) return;
    young_wait_.begin(now);
    for_each_sibling([now](Bearer& other) { other.young_wait_.begin(now); });
  }
  /// It is not young any more. Where none is, nobody waits.
  void end_young(Instant now);
  /// What is to be left of a law's reference: all, but while a young connection is waited for beside a download.
  [[nodiscard]] double reference_part(Instant now) const {
    if (load.older_moving_flows == 0 || !young_wait_.lasts(now)) [[likely]]
      return 1;
    return treatment_->smvs.young_reference;
  }

  /// Mean rate of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const {
    if (lead_.clocked()) return ack_clock().law().rate();
    return reported_ ? reported_->mean_rate() : Rate();
  }

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
  [[nodiscard]] Reported& make_reported() {
    return reported_ ? *reported_ : reported_.make(parts_->reported, *treatment_, &trace);
  }
  [[gnu::cold, gnu::noinline]] AckClock& make_clock();
  void count_sent(Instant now, Bytes bytes, Whose whose) {
    if (!sent_.count(now, bytes)) [[unlikely]]
      count_first(now, bytes);
    if (whose == Whose::others && lead_.listens()) count_others(bytes);
  }
  [[gnu::noinline]] void count_first(Instant now, Bytes bytes) { sent_.count_first(now, bytes, sent_place()); }
  [[gnu::noinline]] void count_others(Bytes bytes);
  [[nodiscard]] SentOfLatePlace sent_place() const {
    return {parts_->sent_of_late, 2 * treatment_->smvs.parameters.one_way_delay, id};
  }
  [[nodiscard]] control::InFlight& in_flight() { return sent_.in_flight(sent_place()); }
  void inherit_reports(const Bearer& before, Instant now);
  void change_reporter(const ReportArrival& report);
  void grant_by(const ReportArrival& report, Bytes under_way, Bytes in_advance, double share, Instant now);
  [[nodiscard]] bool rests() const;
  void settle_lead();

  const Treatment* treatment_;
  BearerParts* parts_;
  IpAddress ue_;
  bool ordinary_ : 1;
  bool minds_young_ : 1;  ///< Treatment::minds_young()
  bool used_ : 1 = false;
  bool counts_;
  Lead lead_;
  YoungWait young_wait_;
  std::uint32_t others_ = 0;  ///< IP bytes that others have sent, until there is a clock_; no more than it can hold
  SentToUe sent_;
  PooledPart<AckClock> clock_;
  PooledPart<Reported> reported_;
  PooledPart<RadioQueue> queue_;
};
static_assert(sizeof(Bearer) <= 224, "one for each UE");

}  // namespace sluice::proxy
