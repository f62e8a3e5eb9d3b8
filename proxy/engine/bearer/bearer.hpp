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

/// State of one UE bearer: all connections of one UE under one policy. SMVS (the sliding-mode controller) and the
/// ACK-based controller run once per bearer, and the bearer's flows share the bytes that they may send. A per-flow
/// window controller runs in each flow (ControlledFlow) instead, and the bearer only supplies data about the radio
/// queue.
///
/// If a UE's connections match several policies, the UE has one bearer for each, linked in a ring. Each bearer gets
/// every report about the UE and counts every byte sent to it, because all of them share the UE's radio queue.
///
/// The object is small, because there is one for each UE. State that only some bearers need is created in pools on
/// first use. Thread: the shard's.
class Bearer : public CircularListHook<Bearer> {
 public:
  /// Result of on_report().
  enum class Verdict : std::uint8_t {
    stale,  ///< the Node-B report was ignored, because it is not newer than the last one
    /// the Node-B report counts as missing, because the UE's ACKs have contradicted the reports for some seconds
    distrusted,
    applied,  ///< the Node-B report was recorded and passed to the controller, if the UE has one
  };

  /// Creates a bearer without flows. `settings` (of the policy) and `pools` must outlive it. `in_control_group` is true
  /// if the UE is in the control group, which no rate controller limits.
  Bearer(const PolicySettings& settings, const IpAddress& ue, BearerPools& pools, bool in_control_group = false);
  ~Bearer();
  Bearer(const Bearer&) = delete;
  Bearer& operator=(const Bearer&) = delete;

  /// Copies the measurements of another bearer of the same UE, which belongs to another policy or to policies that are
  /// no longer active.
  void inherit(const Bearer& before, Instant now);
  /// Updates, for all bearers of the UE, whether bytes sent to the UE are counted. They are counted if a controller
  /// with feedback (Node-B reports or ACKs) may limit any of these bearers. Call it after a bearer was added or
  /// removed.
  void recompute_counting();
  /// True if the UE is in the control group, which no rate controller limits.
  [[nodiscard]] bool in_control_group() const { return in_control_group_; }
  [[nodiscard]] const IpAddress& ue() const { return ue_; }
  [[nodiscard]] const PolicySettings& settings() const { return *settings_; }
  /// True if at least one flow, split or end to end, belongs to the bearer.
  [[nodiscard]] bool in_use() const { return flow_count + end_to_end_count > 0; }
  /// Records that a connection was established. From then on the bearer and its measurements are kept for timeouts.idle
  /// after its last flow ends. A bearer that only had incomplete handshakes is removed at the end of the last one.
  void use() { used_ = true; }
  [[nodiscard]] bool used() const { return used_; }

  /// States whether bytes sent to the UE are controlled by this bearer, or are cross traffic, which only shares the
  /// radio queue.
  enum class Traffic : std::uint8_t { controlled, cross };
  /// Records that `bytes` IP bytes for this UE were queued on the radio port. The other bearers of the UE count them as
  /// cross traffic, which shares the radio queue but not their window.
  [[gnu::always_inline]] void on_sent(Instant now, Bytes bytes, Traffic traffic = Traffic::controlled) {
    count_sent(now, bytes, traffic);
    for_each_sibling([&](Bearer& other) { other.count_sent(now, bytes, Traffic::cross); });
  }
  /// True if bytes sent to the UE must be counted. That is so if a controller with feedback (Node-B reports or ACKs)
  /// may limit a bearer of the UE.
  [[nodiscard]] bool counts() const { return counts_; }
  /// Returns the history of IP bytes sent to the UE.
  [[nodiscard]] UeSendHistory& sent() { return sent_; }
  [[nodiscard]] const UeSendHistory& sent() const { return sent_; }

  /// Returns the state that selects what currently limits the sending to the UE.
  [[nodiscard]] const RateControlMode& rate_control() const { return rate_control_; }
  /// Returns the number of IP bytes that may be sent to the UE now. Returns Bytes::max() if no send budget of the
  /// bearer exists, because congestion control or per-flow windows limit the sending.
  [[nodiscard]] Bytes allowance(Instant now) const {
    if (rate_control_.window_source() != tcp::WindowSource::allowance) return Bytes::max();
    if (rate_control_.is_ack_based()) return ack_controller().budget(now);
    return report_state_ ? report_state_->grant.left() : Bytes{};
  }
  /// Subtracts `bytes`, which were just sent, from the allowance of the last Node-B report. Has no effect unless an
  /// allowance limits the sending. The timer that detects a missing report can be suspended while nothing is sent, and
  /// sent bytes restart it. Returns true if this call has restarted that timer; the caller must then schedule
  /// deadline() again.
  bool spend(Bytes bytes, Instant now);
  /// Handles the expiry of the bearer's timer at `now`. For each missing Node-B report, grants the bytes that the link
  /// carries in one report period at its mean rate. When no report has arrived for several periods (control::Fallback),
  /// congestion control or the ACK-based controller replaces the report-based controller. Returns true if flows may now
  /// send, or if what limits them has changed.
  bool on_deadline(Instant now);
  /// Returns when on_deadline() must be called next. Returns `never` if no controller has feedback (Node-B reports or
  /// ACKs), so that no timer is needed.
  [[nodiscard]] Instant deadline(Instant now) const;
  /// Returns the congestion window with which congestion control starts when a rate controller no longer limits the UE,
  /// for example because Node-B reports are late. It is the last measured rate times `srtt`, and at least the initial
  /// window.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;

  /// Returns the object that stores the newest Node-B report about the UE. Before the caller passes a new report to
  /// on_report(), it must check the report with ReportSequencer::accepts().
  [[nodiscard]] const ReportSequencer& reports() const;
  /// Returns the state derived from Node-B reports. Null until a report has arrived or a decision was recorded in mode
  /// observe (decisions computed, not applied).
  [[nodiscard]] const ReportState* report_state() const { return report_state_ ? &*report_state_ : nullptr; }
  [[nodiscard]] ReportState* report_state() { return report_state_ ? &*report_state_ : nullptr; }
  /// Applies a Node-B report that ReportSequencer::accepts() has accepted: runs the controller, or uses the allowance
  /// (bytes to send) that the Node-B has computed. This bearer gets the part `share` (0 < share ≤ 1) of the allowance,
  /// because all bearers of a UE share one radio queue.
  Verdict on_report(const ReportArrival& report, Instant now, double share = 1);
  /// Handles a notice of the Node-B `sender` that its datagram omits unchanged UEs. The last report about this UE may
  /// therefore still be valid.
  void on_omitted(const SuppressingNodeB& sender);
  /// Stops the timer after which the proxy itself grants bytes in place of a missing Node-B report. Has no effect
  /// unless the bearer has nothing to send and the Node-B `sender`, which omits unchanged UEs, sent the last report.
  void suspend_extrapolation(const SuppressingNodeB& sender);
  /// Records a decision in mode observe, in which decisions are computed but not applied. `decided` is the window or
  /// allowance (bytes to send until the next Node-B report) that the controller computed. `actual` is the number of
  /// bytes in flight or sent. `waited` is true if the controller would have delayed the ACK.
  void observe(Bytes decided, Bytes actual, bool waited) {
    make_report_state().observed.add(decided, actual, waited);
    pools_->observed.add(decided, actual, waited);
  }
  /// Records a decision of the ACK-based controller in mode observe, in which it is not applied. The computed window is
  /// recorded with the actual bytes in flight, and the target queueing delay with the actual one. Requires
  /// rate_control().is_ack_based().
  [[gnu::cold, gnu::noinline]] void observe_ack_controller();
  /// Prefetches the cache lines of this object that on_report() reads. See prefetch_controller_state() for the pooled
  /// state.
  void prefetch() const;
  /// Prefetches the pooled state that on_report() reads. Requires that this object is already in the cache, because it
  /// contains the pointers to that state.
  void prefetch_controller_state() const;

  /// Returns the ACK-based controller for modification. Creates it on first use. Requires
  /// rate_control().uses_ack_feedback().
  [[nodiscard]] AckController& ack_controller() { return ack_controller_ ? *ack_controller_ : make_ack_controller(); }
  /// Returns the ACK-based controller for reading. If there is none yet, returns one that has measured nothing; that
  /// reference is valid until the next call for any bearer.
  [[nodiscard]] const AckController& ack_controller() const {
    return ack_controller_ ? *ack_controller_ : pools_->fresh_ack_controller(*settings_);
  }
  /// True if the ACK-based controller runs, and a split flow of the bearer has unsent data or waits for the
  /// controller's window. A flow that has only retransmissions to send can wait, too.
  [[nodiscard]] bool has_waiting_flows() const {
    return rate_control_.is_ack_based() && (load.backlogged_flows != 0 || ack_controller().waiting() != 0);
  }
  /// Passes the size of data that the UE has sent to the ACK-based controller, if that controller exists.
  void count_uploaded(Bytes bytes, Instant now) {
    if (ack_controller_) ack_controller_->add_uploaded(bytes, now);
  }
  /// Returns the state of the UE's radio queue for per-flow window controllers. Creates it on first use.
  [[nodiscard]] RadioQueue& queue() { return queue_ ? *queue_ : queue_.make(pools_->queues, *settings_); }

  /// True if a flow that has sent `sent` IP bytes to the UE is short, that is, if `sent` is less than smvs.short_flow.
  [[nodiscard]] bool is_short(Bytes sent) const { return sent < settings_->smvs.short_flow; }
  /// True if the bearer limits cross traffic (packets of no split or end-to-end connection, such as QUIC) now. Then
  /// cross_traffic_queue() exists.
  [[nodiscard]] bool has_cross_traffic_queue() const { return has_cross_traffic_queue_; }
  /// Returns the queue of cross traffic (packets of no split or end-to-end connection, such as QUIC). It contains
  /// waiting packets, and counts those in flight. Requires has_cross_traffic_queue().
  [[nodiscard]] CrossTrafficQueue& cross_traffic_queue() const {
    return pools_->cross_traffic[pools_->cross_traffic_of[id]];
  }
  /// Returns the mean share (0 … 1) of cross traffic in the bytes delivered to the UE, measured while the bearer limits
  /// cross traffic.
  [[nodiscard]] double cross_traffic_share() const {
    return has_cross_traffic_queue_ ? cross_traffic_queue().share : 0;
  }
  /// Starts to limit cross traffic (packets of no split or end-to-end connection, such as QUIC) by the controller's
  /// window for the UE. Requires !has_cross_traffic_queue() and a valid index Bearer::id.
  CrossTrafficQueue& make_cross_traffic_queue();
  /// Stops limiting cross traffic (packets of no split or end-to-end connection, such as QUIC). Drops the packets that
  /// are still waiting.
  void drop_cross_traffic_queue();
  /// Starts to count the UE's answers (short datagrams) in one QUIC download. Returns the object that derives from them
  /// how much of the download the UE has received. Requires has_cross_traffic_queue() and that no answers are counted.
  control::AnswerClock& make_answer_clock(Instant now);
  /// Stops counting the UE's answers (short datagrams) in a QUIC download, if they are counted. Requires
  /// has_cross_traffic_queue().
  void drop_answer_clock() { cross_traffic_queue().clock.drop(pools_->answer_clocks); }

  /// True if packets of the UE have waited long for its uplink, so that uplink() exists.
  [[nodiscard]] bool has_uplink() const { return has_uplink_; }
  /// Returns what is known of the UE's uplink. Requires has_uplink().
  [[nodiscard]] UplinkState& uplink() const { return pools_->uplinks[pools_->uplink_of[id]]; }
  /// Starts to measure which flows use the UE's uplink. Requires !has_uplink() and a valid index Bearer::id.
  UplinkState& make_uplink();
  /// Stops measuring the UE's uplink, if it is measured.
  void drop_uplink();

  /// Records that a short flow (less than smvs.short_flow sent) of the UE begins or makes progress. From now on
  /// downloads of the UE get a smaller target queue, see reference_factor(). This ends with end_short_flow(), or after
  /// about one second without a further call.
  void expect_short_flow(Instant now) {
    if (!prioritizes_short_flows_) return;
    short_flow_timer_.begin(now);
    for_each_sibling([now](Bearer& other) { other.short_flow_timer_.begin(now); });
  }
  /// Ends the priority of short flows (less than smvs.short_flow sent) for all bearers of the UE, if none of them has a
  /// short flow.
  void end_short_flow(Instant now);
  /// Returns the factor by which the controller's target queue is multiplied. It is smvs.short_flow_reference while a
  /// short flow (less than smvs.short_flow sent) is active beside a download, else 1.
  [[nodiscard]] double reference_factor(Instant now) const {
    if (load.long_transferring_flows == 0 || !short_flow_timer_.lasts(now)) [[likely]]
      return 1;
    return settings_->smvs.short_flow_reference;
  }

  /// Returns the mean rate of the radio link: the proxy's own estimate if a controller has one, else that of the
  /// Node-B. Zero while unknown.
  [[nodiscard]] Rate mean_rate() const {
    if (rate_control_.is_ack_based()) return ack_controller().law().rate();
    return report_state_ ? report_state_->mean_rate() : Rate();
  }

  /// log of the inputs and decisions of this bearer's controllers; null if the UE is not recorded
  control::DecisionLog* trace = nullptr;
  BearerId id = no_id;  ///< index in the registry
  PolicyIndex policy = 0;
  std::uint16_t generation = 0;  ///< generation number of the policies that were active when the bearer was created
  /// Flow at which the next distribution of a send budget starts (round robin). The flows of the bearer form a circular
  /// list by Flow::bearer_next.
  FlowId first_flow = no_id;
  std::uint32_t flow_count = 0;  ///< split connections and handshakes
  /// number of connections of this bearer that the proxy does not split, so that their TCP endpoints are the hosts
  std::uint32_t end_to_end_count = 0;
  std::uint32_t first_holding = no_id;  ///< first element of the list of end-to-end connections that have delayed ACKs
  Instant wheel_deadline = never;       ///< expiry time of the bearer's timer in the timer wheel
  /// Sums over the split connections of the bearer, such as their unsent bytes. Each connection contributes the values
  /// that it had when its pending events were last processed.
  BearerLoad load;
  /// Share of payload in the IP bytes of data packets of split connections; measured while bytes to the UE are counted.
  control::Framing framing;
  /// Start of the idle time after which a bearer without connections is removed: its creation, or the end of its last
  /// connection. While the bearer limits cross traffic (packets of no split or end-to-end connection), the newest such
  /// packet to the UE starts the time again.
  Instant empty_since{};

 private:
  /// Returns the state of the UE's Node-B reports and creates it on first use.
  [[nodiscard]] ReportState& make_report_state() {
    return report_state_ ? *report_state_ : report_state_.make(pools_->report_states, *settings_, &trace);
  }
  [[gnu::cold, gnu::noinline]] AckController& make_ack_controller();
  /// Adds `bytes` to the UE's send history. If `traffic` is Traffic::cross, also passes them to the ACK-based
  /// controller as bytes that share the radio queue, but not its window.
  void count_sent(Instant now, Bytes bytes, Traffic traffic) {
    if (!sent_.count(now, bytes)) [[unlikely]]
      start_history(now, bytes);
    if (traffic == Traffic::cross && rate_control_.uses_ack_feedback()) count_cross_traffic(bytes);
  }
  /// Records bytes for a UE that has no send history in the pool yet.
  [[gnu::noinline]] void start_history(Instant now, Bytes bytes) {
    sent_.start_history(now, bytes, recent_sends_pool());
  }
  /// Passes the size of cross traffic, which the window of this bearer's controller does not limit, to the ACK-based
  /// controller. Until that controller is created, adds the size to cross_traffic_.
  [[gnu::noinline]] void count_cross_traffic(Bytes bytes);
  /// Returns the pool of send histories with the parameters of this bearer. Its round trip from the proxy to the Node-B
  /// and back is 2·τp, twice the configured one-way delay.
  [[nodiscard]] RecentSendsPool recent_sends_pool() const {
    return {pools_->recent_sends, 2 * settings_->smvs.parameters.one_way_delay, id};
  }
  /// Returns the estimator of the bytes that are in flight between the proxy and the Node-B.
  [[nodiscard]] control::InFlight& in_flight() { return sent_.in_flight(recent_sends_pool()); }
  /// Copies the state of Node-B reports from another bearer of the same UE, and adapts it to this bearer's mode.
  void inherit_reports(const Bearer& before, Instant now);
  /// Restarts what was derived from the old Node-B's counters, clock and queue, because another Node-B now sends the
  /// reports (handover) or the Node-B has restarted. The estimated rate is kept.
  void change_reporter(const ReportArrival& report);
  /// Runs one step of the report-based controller with the Node-B report `report`. `bytes_in_flight` IP bytes have not
  /// reached the radio queue yet. The bytes `in_advance`, which were granted while this report was missing, are
  /// subtracted from the allowance (bytes to send) that the controller computes. This bearer gets the part `share` of
  /// the rest.
  void grant_by(const ReportArrival& report, Bytes bytes_in_flight, Bytes in_advance, double share, Instant now);
  /// True if the timer that detects a missing Node-B report may be suspended. An allowance of trusted reports must
  /// limit the sending. The bearer must have nothing to send, have sent nothing since the last grant of bytes, and
  /// limit no cross traffic.
  [[nodiscard]] bool can_suspend() const;
  /// Selects the input of the controller, Node-B reports or ACKs, by their feedback delays; see
  /// RateControlMode::compare().
  void select_controller();

  const PolicySettings* settings_;
  BearerPools* pools_;
  IpAddress ue_;
  bool in_control_group_ : 1;         ///< true if the UE belongs to the control group, which no rate controller limits
  bool prioritizes_short_flows_ : 1;  ///< PolicySettings::prioritizes_short_flows()
  bool used_ : 1 = false;             ///< use() was called
  bool has_cross_traffic_queue_ : 1 = false;
  bool has_uplink_ : 1 = false;
  bool counts_;  ///< see counts()
  RateControlMode rate_control_;
  ShortFlowTimer short_flow_timer_;
  /// IP bytes of cross traffic, which the window of this bearer's controller does not limit, that were sent before
  /// ack_controller_ was created; saturates at UINT32_MAX.
  std::uint32_t cross_traffic_ = 0;
  UeSendHistory sent_;
  Pooled<AckController> ack_controller_;  ///< the ACK-based controller
  Pooled<ReportState> report_state_;
  Pooled<RadioQueue> queue_;
};
static_assert(sizeof(Bearer) <= 224, "one for each UE");

}  // namespace sluice::proxy
