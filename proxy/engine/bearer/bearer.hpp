#pragma once

#include <cstdint>

#include "control/smvs/framing.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/circular_list_hook.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "proxy/engine/bearer/bearer_pools.hpp"
#include "proxy/engine/bearer/pooled.hpp"
#include "proxy/engine/bearer/rate_control_mode.hpp"
#include "proxy/engine/bearer/report_sequencer.hpp"
#include "proxy/engine/bearer/short_flow_timer.hpp"
#include "proxy/engine/bearer/ue_send_history.hpp"
#include "proxy/engine/flow/bearer_load.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// State of one UE bearer: all connections of one UE under one policy, which share one radio queue. SMVS and the
/// ACK-based controller run per bearer, and all its flows share the bytes that they may send. A per-flow window
/// controller runs in each flow (ControlledFlow) instead, and the bearer only supplies its view of the queue. A UE
/// whose connections match several policies has one bearer for each: siblings, linked in a ring. Each sibling receives
/// every report about the UE and counts every byte sent to it, because siblings share the UE's queue.
///
/// The object is small because there is one for each UE. The state of reports, the ACK-based controller, the view of
/// the queue and the bytes in flight are in pools. Each of them is created on first use. Until then the bearer behaves
/// as if it were default-constructed. Thread: its shard's.
class Bearer : public CircularListHook<Bearer> {
 public:
  /// Result of on_report().
  enum class Verdict : std::uint8_t {
    stale,       ///< the Node-B report is no newer than the last applied one: ignored
    distrusted,  ///< the UE's ACKs contradict the Node-B report, which is ignored
    applied,     ///< the Node-B report is recorded and the send budget updated
  };

  /// Creates a bearer without flows. `settings` (the policy's settings) and `pools` outlive it. `ordinary`: true if the
  /// UE belongs to the control group, whose connections no rate controller limits.
  Bearer(const PolicySettings& settings, const IpAddress& ue, BearerPools& pools, bool ordinary = false);
  ~Bearer();
  Bearer(const Bearer&) = delete;
  Bearer& operator=(const Bearer&) = delete;

  /// Copies the measurements of another bearer of the same UE: of one under another policy, or of the bearer before a
  /// policy change.
  void inherit(const Bearer& before, Instant now);
  /// Recomputes for all bearers of the UE (groups of its connections by policy) whether sent bytes are counted: true if
  /// a feedback-based controller may limit any of them. Call it after a bearer was added or removed.
  void recompute_counting();
  /// True if the UE belongs to the control group.
  [[nodiscard]] bool ordinary() const { return ordinary_; }
  [[nodiscard]] const IpAddress& ue() const { return ue_; }
  [[nodiscard]] const PolicySettings& settings() const { return *settings_; }
  /// True while any flow, split or end to end, belongs to the bearer.
  [[nodiscard]] bool in_use() const { return flow_count + end_to_end_count > 0; }
  /// Records that a connection has been established. The bearer and its measurements are then kept for timeouts.idle
  /// after its last flow ends. A bearer that only had handshakes is removed at once.
  void use() { used_ = true; }
  [[nodiscard]] bool used() const { return used_; }

  /// Origin of bytes sent to the UE: controlled by this bearer, or cross traffic that shares the radio queue with it.
  enum class Traffic : std::uint8_t { controlled, cross };
  /// Records `bytes` IP bytes just queued on the radio port for this UE. The UE's other bearers count them as cross
  /// traffic.
  [[gnu::always_inline]] void on_sent(Instant now, Bytes bytes, Traffic traffic = Traffic::controlled) {
    count_sent(now, bytes, traffic);
    for_each_sibling([&](Bearer& other) { other.count_sent(now, bytes, Traffic::cross); });
  }
  /// True if bytes sent to the UE must be counted, because a feedback-based controller may limit some bearer of the UE.
  [[nodiscard]] bool counts() const { return counts_; }
  /// Returns the history of IP bytes sent to the UE.
  [[nodiscard]] UeSendHistory& sent() { return sent_; }
  [[nodiscard]] const UeSendHistory& sent() const { return sent_; }

  /// Returns which controller limits the radio leg at present.
  [[nodiscard]] const RateControlMode& rate_control() const { return rate_control_; }
  /// Returns how many IP bytes may be sent to the UE now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance(Instant now) const {
    if (rate_control_.window_source() != tcp::WindowSource::allowance) return Bytes::max();
    if (rate_control_.is_ack_based()) return ack_controller().budget(now);
    return report_state_ ? report_state_->grant.left() : Bytes{};
  }
  /// Subtracts `bytes` just sent from the grant of the last Node-B report. Returns true if deadline() has changed,
  /// because the first bytes restart a suspended missing-report timer.
  bool spend(Bytes bytes, Instant now);
  /// Handles the bearer's timer at `now`. A missing Node-B report is replaced by one more controller step at the mean
  /// rate; if reports are late, congestion control takes over. Returns true if flows may send now or must change their
  /// window source.
  bool on_deadline(Instant now);
  /// Returns when on_deadline() is due next; `never` without Node-B reports or ACKs as input.
  [[nodiscard]] Instant deadline(Instant now) const;
  /// Returns the congestion window to start from when Node-B reports or ACKs stop: last measured rate × `srtt`, at
  /// least the initial window.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;

  /// Returns the sequence of Node-B reports about the UE. Only reports that ReportSequencer::accepts() may be passed to
  /// on_report().
  [[nodiscard]] const ReportSequencer& reports() const;
  /// Returns the state that Node-B reports have produced; null before the first report or observation.
  [[nodiscard]] const ReportState* report_state() const { return report_state_ ? &*report_state_ : nullptr; }
  [[nodiscard]] ReportState* report_state() { return report_state_ ? &*report_state_ : nullptr; }
  /// Applies an accepted Node-B report: runs the controller, or takes the Node-B's allowance. `share` is this bearer's
  /// part of the SMVS allowance for the whole queue, 0 < share ≤ 1, because the UE's bearers under SMVS divide the
  /// allowance.
  Verdict on_report(const ReportArrival& report, Instant now, double share = 1);
  /// Handles an omission notice: the Node-B `sender` reports only UEs that have changed, so the last report may still
  /// be valid.
  void on_omitted(const SuppressingNodeB& sender);
  /// Suspends the missing-report timer, because the Node-B `sender` omits unchanged UEs and this UE has nothing to
  /// send.
  void suspend_extrapolation(const SuppressingNodeB& sender);
  /// Records in mode observe how many bytes a controller has `decided`, and the `actual` bytes in flight or sent.
  /// `waited`: true if the controller would have delayed the ACK.
  void observe(Bytes decided, Bytes actual, bool waited) {
    make_report_state().observed.add(decided, actual, waited);
    pools_->observed.add(decided, actual, waited);
  }
  /// Records, in mode observe, the window and target delay of the ACK-based controller, together with the actual bytes
  /// in flight and delay. Requires rate_control().is_ack_based().
  [[gnu::cold, gnu::noinline]] void observe_ack_controller();
  /// Prefetches the cache lines of the bearer itself that on_report() reads.
  void prefetch() const;
  /// Prefetches the controller state that on_report() reads. Requires that the bearer itself is cached, because it
  /// holds the pointers.
  void prefetch_law() const;

  /// Returns the ACK-based controller for changes and creates it on first use. Requires
  /// rate_control().uses_ack_feedback().
  [[nodiscard]] AckController& ack_controller() { return ack_controller_ ? *ack_controller_ : make_ack_controller(); }
  /// Returns the ACK-based controller read-only: a default-constructed one before first use. The reference is valid
  /// until the next call for any bearer.
  [[nodiscard]] const AckController& ack_controller() const {
    return ack_controller_ ? *ack_controller_ : pools_->fresh_ack_controller(*settings_);
  }
  /// Returns the UE's radio queue as per-flow window controllers see it.
  [[nodiscard]] RadioQueue& queue() { return queue_ ? *queue_ : queue_.make(pools_->queues, *settings_); }

  /// True if a flow that has sent `sent` IP bytes to the UE counts as short, because smvs.short_flow is larger.
  [[nodiscard]] bool is_short(Bytes sent) const { return sent < settings_->smvs.short_flow; }
  /// True while the bearer limits cross traffic, so that cross_traffic_queue() exists.
  [[nodiscard]] bool has_cross_traffic_queue() const { return has_cross_traffic_queue_; }
  /// Returns the packets of cross traffic (packets to the UE that no split connection sends) that wait or are in
  /// flight. Requires has_cross_traffic_queue().
  [[nodiscard]] CrossTrafficQueue& cross_traffic_queue() const {
    return pools_->cross_traffic[pools_->cross_traffic_of[id]];
  }
  /// Returns the mean share of cross traffic in the bytes delivered to the UE, 0 … 1, while the bearer limits cross
  /// traffic.
  [[nodiscard]] double cross_traffic_share() const {
    return has_cross_traffic_queue_ ? cross_traffic_queue().share : 0;
  }
  /// Begins to queue cross traffic (packets to the UE that no split connection sends) within the bearer's window.
  /// Requires !has_cross_traffic_queue() and a valid `id`.
  CrossTrafficQueue& make_cross_traffic_queue();
  /// Ends the queueing of cross traffic. Packets that still wait are freed.
  void drop_cross_traffic_queue();

  /// Records that a short flow of the UE begins or is active. From now on reference_factor() may be below 1, until
  /// end_short_flow() is called, at most for one second.
  void expect_short_flow(Instant now) {
    if (!prioritizes_short_flows_) return;
    short_flow_timer_.begin(now);
    for_each_sibling([now](Bearer& other) { other.short_flow_timer_.begin(now); });
  }
  /// Ends the period in which short flows have priority for all bearers of the UE, if none of them has a short flow.
  void end_short_flow(Instant now);
  /// Returns the factor of the controller's intended queue: smvs.short_flow_reference while a short flow is active
  /// beside a download, else 1.
  [[nodiscard]] double reference_factor(Instant now) const {
    if (load.long_moving_flows == 0 || !short_flow_timer_.lasts(now)) [[likely]]
      return 1;
    return settings_->smvs.short_flow_reference;
  }

  /// Returns the mean rate of the radio link: the estimate of a controller at the proxy, else the Node-B's; zero while
  /// unknown.
  [[nodiscard]] Rate mean_rate() const {
    if (rate_control_.is_ack_based()) return ack_controller().law().rate();
    return report_state_ ? report_state_->mean_rate() : Rate();
  }

  /// Decision log of this bearer's controllers; null unless the UE is recorded.
  control::LawTrace* trace = nullptr;
  BearerId id = no_id;  ///< index in the registry
  PolicyIndex policy = 0;
  std::uint16_t generation = 0;  ///< generation of the policies under which the bearer was created
  /// Flow that was served least recently. It is the start of the circular list that Flow::bearer_next links.
  FlowId first_flow = no_id;
  std::uint32_t flow_count = 0;         ///< split connections and handshakes
  std::uint32_t end_to_end_count = 0;   ///< end-to-end connections, whose endpoints are the hosts
  std::uint32_t first_holding = no_id;  ///< head of the list of end-to-end connections whose ACKs are withheld
  Instant wheel_deadline = never;       ///< expiry time of the bearer's timer in the timer wheel
  /// Sums over the split connections; each counts with its values at its last service.
  BearerLoad load;
  /// Payload share of the data packets of split connections, measured while sent bytes are counted.
  control::Framing framing;
  Instant empty_since{};  ///< time at which the last flow ended

 private:
  /// Returns the state of the UE's Node-B reports and creates it on first use.
  [[nodiscard]] ReportState& make_report_state() {
    return report_state_ ? *report_state_ : report_state_.make(pools_->report_states, *settings_, &trace);
  }
  [[gnu::cold, gnu::noinline]] AckController& make_ack_controller();
  /// Adds `bytes` to the UE's send history, and to the controller's cross traffic if `traffic` is Traffic::cross.
  void count_sent(Instant now, Bytes bytes, Traffic traffic) {
    if (!sent_.count(now, bytes)) [[unlikely]]
      start_history(now, bytes);
    if (traffic == Traffic::cross && rate_control_.uses_ack_feedback()) count_cross_traffic(bytes);
  }
  /// Records bytes for a UE whose send history is not in the pool yet.
  [[gnu::noinline]] void start_history(Instant now, Bytes bytes) {
    sent_.start_history(now, bytes, recent_sends_pool());
  }
  /// Adds cross traffic to the ACK-based controller, or to a sum until the controller exists.
  [[gnu::noinline]] void count_cross_traffic(Bytes bytes);
  /// Returns the place and parameters of the send history in the pool. Its round trip is 2·τp, to the Node-B and back.
  [[nodiscard]] RecentSendsPool recent_sends_pool() const {
    return {pools_->recent_sends, 2 * settings_->smvs.parameters.one_way_delay, id};
  }
  /// Returns the estimator of the bytes in flight between the proxy and the Node-B.
  [[nodiscard]] control::InFlight& in_flight() { return sent_.in_flight(recent_sends_pool()); }
  /// Copies the state of Node-B reports from another bearer of the same UE, adapted to this bearer's mode.
  void inherit_reports(const Bearer& before, Instant now);
  /// Restarts counters, clock and queue after a handover, because they belong to the old Node-B. The rate estimate
  /// stays.
  void change_reporter(const ReportArrival& report);
  /// Runs one SMVS step on the Node-B report `report` and grants `share` of its allowance minus `in_advance`. These are
  /// the bytes that steps without a report have granted already.
  void grant_by(const ReportArrival& report, Bytes bytes_in_flight, Bytes in_advance, double share, Instant now);
  /// True if the timer for a missing Node-B report may be suspended: nothing was sent since the last controller step
  /// and nothing is unsent.
  [[nodiscard]] bool can_suspend() const;
  /// Selects Node-B reports or ACKs as the controller's input, whichever shows the queue sooner.
  void select_controller();

  const PolicySettings* settings_;
  BearerPools* pools_;
  IpAddress ue_;
  bool ordinary_ : 1;                 ///< true if the UE belongs to the control group
  bool prioritizes_short_flows_ : 1;  ///< PolicySettings::prioritizes_short_flows()
  bool used_ : 1 = false;             ///< use() was called
  bool has_cross_traffic_queue_ : 1 = false;
  bool counts_;  ///< see counts()
  RateControlMode rate_control_;
  ShortFlowTimer short_flow_timer_;
  std::uint32_t cross_traffic_ =
      0;  ///< IP bytes of cross traffic before ack_controller_ was created, saturating at UINT32_MAX
  UeSendHistory sent_;
  Pooled<AckController> ack_controller_;  ///< the ACK-based controller
  Pooled<ReportState> report_state_;
  Pooled<RadioQueue> queue_;
};
static_assert(sizeof(Bearer) <= 224, "one for each UE");

}  // namespace sluice::proxy
