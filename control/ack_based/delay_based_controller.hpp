#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "control/ack_based/ack_delay_estimator.hpp"
#include "control/ack_based/ack_sample.hpp"
#include "control/ack_based/busy_link_floor.hpp"
#include "control/ack_based/cross_traffic_estimator.hpp"
#include "control/ack_based/delivery_estimator.hpp"
#include "control/ack_based/loss_bound.hpp"
#include "control/ack_based/min_rtt_estimator.hpp"
#include "control/ack_based/path_change_detector.hpp"
#include "control/ack_based/path_step_detector.hpp"
#include "control/ack_based/shared_queue_detector.hpp"
#include "control/ack_based/slow_start.hpp"
#include "control/ack_based/standing_delay_detector.hpp"
#include "control/ack_based/steady_link_detector.hpp"
#include "control/violation.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the ACK-based controller, which limits the bytes in flight to a UE. The defaults serve all links,
/// because the controller measures the properties of the link. tests/bench/figures/acks.md lists the links on which the
/// defaults were chosen.
struct DelayBasedParameters {
  Duration reference = std::chrono::milliseconds(10);  ///< q0: target delay in the radio queue, > 0
  /// Lower bound of the target delay, as a share (0 … 4) of the sum of two times: the round trip through an empty
  /// queue, and the time from a new window to the data that it allows.
  double reference_share = 0.35;
  /// Factor by which the window exceeds rate × (round trip through an empty queue + target delay), 1 … 4. It is above
  /// 1, so that a link that becomes faster is detected.
  double gain = 1.25;
  Duration memory = std::chrono::milliseconds(80);  ///< time constant of the mean delivery rate, > 0
  /// Share of the ACK aggregation (mean number of bytes acknowledged within 1 ms), beyond two segments, that is added
  /// to the window, 0 … 2.
  double ack_aggregation_share = 0.35;
  Bytes segment{1500};   ///< bytes of a full packet towards the UE, > 0
  Bytes initial{14600};  ///< window at the start of slow start (RFC 6928), ≥ 2 segments
  /// time with nothing in flight after which all estimates are discarded, because the link may have changed, > 0
  Duration restart_after_idle = std::chrono::seconds(10);

  bool operator==(const DelayBasedParameters&) const = default;
};

/// Returns the rules that the parameters break; empty if there are none.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const DelayBasedParameters& parameters);

/// Limits the bytes in flight to one UE so that its radio queue causes a target delay. The input is the UE's ACKs;
/// reports of a Node-B are optional. The configuration `law: acks` selects this controller. Once the rate and the base
/// delay are measured, the window is the model window:
///
///     gain · rate · (base delay + factor · target) + two segments + (n − 1) · d + a
///
/// - rate: mean delivery rate over `memory` (DeliveryEstimator). In a queue that the UE shares with other UEs it is the
///   mean over a round trip (SharedQueueDetector).
/// - base delay: round trip through an empty radio queue (MinRttEstimator). Bytes in flight beyond rate · base delay
///   wait in the radio queue.
/// - target: the target queueing delay. It is the larger of `reference` and `reference_share` · (base delay + control
///   loop delay). The control loop delay is the time from a new window to the data that it allows; it is zero on split
///   connections. On a steady link (SteadyLinkDetector) `reference_share` is at most 0.1, and gain at most 1.1.
/// - factor: AckSample::reference_factor, which is below 1 while a short flow is active. It is halved if the window
///   grows between late ACKs. It is multiplied by 0.75 if the window grows in the pauses of a bursty link.
/// - n: number of connections. d: bytes of one connection that the UE may leave unacknowledged. On split connections d
///   is one segment. On end-to-end (unsplit) connections it is the ACK stretch less one segment if that is more,
///   because none can use another one's window.
/// - a: bytes in flight while ACKs come late or together. An ACK aggregation is the number of bytes acknowledged within
///   1 ms. An ACK stretch is the number of bytes that one ACK acknowledges. An ACK delay is the time that an ACK waits
///   for the uplink. `a` is the largest of three terms:
///   - `ack_aggregation_share` · (ACK aggregation − two segments),
///   - ACK stretch − two segments,
///   - rate · the larger of 1.35 · newest ACK delay and (greatest ACK delay − base delay / 2). Without the UE's
///     timestamps this term is 1.5 · (ACK aggregation − the larger of ACK stretch and two segments).
///
/// These bounds of the window apply in this order, and each may override those before it:
///
/// 1. While the path may have become longer, the window is at least the bytes in flight that keep the earlier rate
///    (StandingDelayDetector).
/// 2. In slow start the window is at least that of SlowStart, which doubles per round trip. While the UE uploads on
///    split connections, it is at least that of BusyLinkFloor, which keeps the link busy.
/// 3. After losses the window is at most the bound that they set (LossBound).
/// 4. If more than a fifth of all bytes is cross traffic, the window is at least two segments plus a fair share
///    (CrossTrafficEstimator). The queue is not drained then (see below), because a drain would measure the queue of
///    cross traffic.
/// 5. In a drain, which empties the queue to measure the base delay, the window is small enough for that. In the refill
///    of the path after a drain it is at most the refill window, which doubles per round trip. After a step to a longer
///    path (PathStepDetector) the refill window grows at the link's rate instead.
/// 6. The window is never less than two segments, and exactly that if all bytes in flight are considered lost.
///
/// Between ACKs the window may grow; see window(Instant).
///
/// The queue is drained from time to time so that the base delay can be measured again. All UEs are drained at the same
/// instants, because they may share a queue. After a drain that confirmed the base delay, the next one leaves more
/// bytes in flight. A slow link is drained right after slow start if its first packets may have waited for an outage or
/// behind each other.
///
/// Memory and work per ACK are constant. Reads no clock. Not thread-safe.
class DelayBasedController {
 public:
  /// Starts in slow start from DelayBasedParameters::initial. `parameters` must outlive the controller, because all
  /// controllers of a policy refer to one object. Throws std::invalid_argument if validate() finds an error.
  explicit DelayBasedController(const DelayBasedParameters& parameters = default_parameters);
  explicit DelayBasedController(DelayBasedParameters&& temporary) = delete;

  /// Updates all estimates and the window from one ACK sample.
  void on_acknowledged(const AckSample& ack_sample);
  /// Returns the time for which ACKs after the newest one may be summed to one sample: 1 ms, or an eighth of the base
  /// delay (RTT without a queue) if that is shorter. No estimate depends on the order of ACKs within this time. Returns
  /// zero below 50 Mb/s, where few ACKs arrive in this time. Returns zero too while each ACK matters: in a drain or
  /// refill, while losses bound the window, and while the path may have become longer. The same applies in slow start
  /// if `window_limited` is true, which means that the sender's window is full.
  [[nodiscard]] Duration summing_time(bool window_limited) const {
    if (delivery_.rate().bytes_per_second() < summed_from.bytes_per_second() || draining() || loss_limited_ ||
        all_lost_)
      return Duration::zero();
    if (slow_start_.refilling() || (in_slow_start() && window_limited)) return Duration::zero();
    return path_step_.is_suspected() ? Duration::zero() : lesser(longest_sum, base_delay() / 8);
  }
  /// Returns the time of the newest ACK sample; zero before the first one.
  [[nodiscard]] Instant newest_sample_at() const { return last_ack_; }
  /// Handles a Node-B's report of the bytes in the UE's queue, which include cross traffic. Reports may come at any
  /// interval. With reports the controller detects without a drain whether cross traffic fills the queue or the path
  /// has become longer.
  void on_report(Instant now, Bytes queue);
  /// Returns how long the last of `queue` bytes in the radio queue waits: `queue` divided by the recent rate of all
  /// traffic to the UE, cross traffic included. Zero while that rate is zero.
  [[nodiscard]] Duration time_in_queue(Bytes queue) const;
  /// Returns the shortest time in which the link transmits `queue` bytes; zero while the link's rate is unknown. Uses
  /// the larger of the link's rate and the recent rate of all traffic. The recent rate alone is too small if sources
  /// send little.
  [[nodiscard]] Duration min_time_in_queue(Bytes queue) const;
  /// Returns the delay after which ACKs show a change of the radio queue; zero while unknown. It is the base delay
  /// (round trip through an empty queue) plus the longer of two times. One is the mean ACK delay (time that ACKs wait
  /// for the uplink). The other is the transmission time of the bytes acknowledged within 1 ms, at most 10 ms.
  [[nodiscard]] Duration feedback_delay() const;
  /// Records that sending resumes while no bytes are in flight, after a pause or because all of them are considered
  /// lost.
  void on_resumed(Instant now);
  /// Raises the mean rate to at least `rate`, which an earlier controller has measured. Zero changes nothing.
  void seed(Instant now, Rate rate) { delivery_.seed(now, rate); }
  /// Copies the state of another controller whose parameters have equal values, but continues to refer to its own
  /// parameters.
  void adopt(const DelayBasedController& before);
  /// Raises the window of slow start to at least `in_flight`, the bytes that are already in flight when a connection
  /// becomes split after its handshake.
  void adopt_in_flight(Bytes in_flight);

  /// Returns the number of bytes that may be in flight after the newest ACK; at least two segments.
  [[nodiscard]] Bytes window() const { return window_; }
  /// Returns the number of bytes that may be in flight at `now`, which is not before the newest ACK. Between ACKs the
  /// window grows in the refill of a longer path, and in the three cases below. The first two need split connections,
  /// because the sender of an end-to-end connection gets a new window only with an ACK. They do not apply in slow
  /// start, in a drain (emptying of the queue), or while losses bound the window.
  ///
  /// - The uplink delays ACKs by 2 ms or more on average, while the link continues to transmit. The window grows by 0.9
  ///   of the rate until the next ACK would exceed the mean ACK delay by 15 ms. A longer gap may be a stall of the
  ///   link.
  /// - The link sends in bursts, and pauses for longer than 1.5 times the target delay. The window begins to grow after
  ///   half the mean gap, and grows for the length of a pause, so that each burst finds data. Without timestamps the
  ///   gaps of a late uplink look like pauses. Growth is right then too, because the link has transmitted in them.
  /// - All bytes in flight should have been acknowledged long ago. The last ones may be lost, and no ACK would show
  ///   that before a retransmission timeout. One more segment may therefore be sent, as in RFC 8985 section 7.
  [[nodiscard]] Bytes window(Instant now) const;
  /// Returns the instant after `now` at which window(now) allows one segment beyond `in_flight`, if no ACK arrives
  /// before; `never` if only an ACK can allow the segment.
  [[nodiscard]] Instant budget_available_at(Instant now, Bytes in_flight) const;
  /// Returns the mean delivery rate; zero while unknown.
  [[nodiscard]] Rate rate() const { return delivery_.rate(); }
  /// Returns the highest mean rate of the last five to ten seconds; zero while unknown.
  [[nodiscard]] Rate best_rate() const { return delivery_.max_rate(); }
  /// Returns the round trip through an empty radio queue; zero while unknown.
  [[nodiscard]] Duration base_delay() const { return min_rtt_.value(); }
  /// Returns the smoothed round trip of all connections, without ACK delay; zero while unknown.
  [[nodiscard]] Duration srtt() const { return from_seconds(cross_traffic_.srtt()); }
  /// Returns the newest known ACK delay (time that an ACK waits for the uplink); zero if none was known within the last
  /// second.
  [[nodiscard]] Duration ack_delay() const { return ack_delay_.newest(); }
  /// Returns the arrival time of the newest ACK whose delay (wait for the uplink) was known; zero if there was none.
  [[nodiscard]] Instant ack_delay_known_at() const { return ack_delay_.known_at(); }
  /// Returns the greatest recent ACK delay (time that an ACK waits for the uplink); zero if none is known. It decays
  /// with a time constant of 0.5 s.
  [[nodiscard]] Duration max_ack_delay() const { return ack_delay_.max(); }
  /// Returns the largest possible ACK delay (wait for the uplink) of a segment with this round trip: the round trip
  /// minus the base delay (RTT without a queue). Returns Duration::max() if either is unknown.
  [[nodiscard]] Duration ack_delay_bound(Duration round_trip) const {
    if (!min_rtt_.known() || round_trip <= Duration::zero()) return Duration::max();
    return greater(round_trip - base_delay(), Duration::zero());
  }
  /// Returns the part of `in_flight` that waits in the radio queue: the bytes beyond rate times base delay (RTT without
  /// a queue).
  [[nodiscard]] Bytes queued(Bytes in_flight) const;
  /// Returns the target queue in bytes: the part of the window beyond rate × base delay (RTT without a queue), which
  /// waits in the radio queue.
  [[nodiscard]] Bytes reference() const;
  /// Returns the bytes that must be in flight from the server to the proxy, so that the window never lacks data: rate ×
  /// `control_loop_delay`. That delay is the time from a change of the window until data that it allows arrives.
  /// Returns half of these bytes in a drain, and zero in the drain that validates the base delay (RTT without a queue)
  /// of slow start.
  [[nodiscard]] Bytes upstream_bytes(Duration control_loop_delay) const;
  /// True in slow start: the window doubles per round trip until a queue forms or the rate stops growing.
  [[nodiscard]] bool in_slow_start() const { return slow_start_.searching(); }
  /// True in a drain: the window is so small that the radio queue empties and the base delay (RTT without a queue) can
  /// be measured.
  [[nodiscard]] bool draining() const { return min_rtt_.draining(); }
  /// Returns the number of queue drains so far.
  [[nodiscard]] std::uint32_t drains() const { return min_rtt_.drains(); }

  [[nodiscard]] const DelayBasedParameters& parameters() const { return *parameters_; }
  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr DelayBasedParameters default_parameters{};
  /// Rate of the link from which on ACKs that arrive within summing_time() are summed to one sample.
  static constexpr Rate summed_from = Rate::bits_per_second(50e6);
  /// Longest result of summing_time(), the time for which ACKs are summed to one sample.
  static constexpr Duration longest_sum = std::chrono::milliseconds(1);

  /// Interval in which the window grows, as times after the newest ACK.
  struct AckGap {
    Duration from;
    Duration until;
  };

  void detect_shared_queue(const AckSample& ack_sample, Duration silence, double srtt);
  void detect_longer_path(const AckSample& ack_sample, Duration silence);
  void detect_shorter_path(const AckSample& ack_sample);
  void record_round_trip(const AckSample& ack_sample, Duration observed);
  void advance_slow_start(const AckSample& ack_sample);
  void exit_slow_start();
  void update_base_delay(const AckSample& ack_sample, bool is_queue_unknown);
  [[nodiscard]] MinRttEstimator::Probe probe_of(const AckSample& ack_sample) const;
  void begin_drain(const AckSample& ack_sample);
  void end_drain(Instant now);
  void update_busy_link(const AckSample& ack_sample, Duration silence, bool is_delay_known);
  [[nodiscard]] bool is_delay_unattributed() const;
  void refill(const AckSample& ack_sample, Duration silence);
  [[nodiscard]] bool is_link_limited(const AckSample& ack_sample) const;
  void raise_min_rtt(Duration base);
  [[nodiscard]] bool is_reported(Instant now) const;
  [[nodiscard]] Duration rtt_tolerance() const;
  [[nodiscard]] Duration reference_delay() const;
  void update_loss_bound(const AckSample& ack_sample);
  [[nodiscard]] double model_window() const;
  [[nodiscard]] double steady_window(double rate, double factor) const;
  [[nodiscard]] double beyond_ack_pairs(double segments) const;
  [[nodiscard]] double unacknowledged_of_each() const;
  [[nodiscard]] double beyond_bdp(double ack_delay_bound) const;
  [[nodiscard]] double beyond_bdp_under_loss() const;
  /// True if no bytes were in flight after the newest ACK.
  [[nodiscard]] bool idle() const { return in_flight_ <= Bytes{}; }
  [[nodiscard]] bool extrapolates() const;
  [[nodiscard]] bool paces_refill() const;
  void update_bursty_link();
  [[nodiscard]] bool extrapolates_in_gap() const;
  [[nodiscard]] AckGap ack_gap() const;
  [[nodiscard]] Bytes extrapolated(Duration lasted) const;
  [[nodiscard]] Duration probe_timeout() const;
  [[nodiscard]] Instant grows_at(Instant now, Bytes in_flight) const;
  [[nodiscard]] Instant probe_at(Instant now, Bytes in_flight) const;
  [[nodiscard]] double drain_window() const;
  [[nodiscard]] Duration observed_since_ack(Instant now) const;
  [[gnu::flatten]] void set_window();

  // The members that each ACK reads share few cache lines by this order. Rarely used members are the last ones of
  // `standing_delay_`, `busy_link_` and `min_rtt_`, and the first ones of `losses_` and `path_step_`.
  /// Detects a longer path by round trips that stay long although fewer bytes are in flight.
  StandingDelayDetector standing_delay_;
  LossBound losses_;
  const DelayBasedParameters* parameters_;
  Bytes window_;
  Bytes in_flight_;  ///< bytes in flight after the newest ACK
  /// Mean time from a change of the window until data that it allows arrives at the proxy; zero on split connections.
  Duration control_loop_delay_{};
  Instant last_ack_{};  ///< time of the newest ACK
  /// Time of the newest delivery: arrival of the ACK minus the time that the ACK waited for the uplink.
  Instant delivered_at_{};
  /// factor (0 … 1) of the target queue in the newest ACK sample; below 1 while a short flow is active
  double reference_factor_ = 1;
  std::uint32_t flows_ = 1;  ///< number of the UE's connections, which share the window
  /// True if the window grows in the pauses of a bursty link, which are longer than 1.5 times the target delay.
  bool bursty_link_ = false;
  bool loss_limited_ = false;  ///< true if losses limit the window
  bool has_ack_ = false;       ///< true after the first ACK sample
  bool all_lost_ = false;      ///< true if all bytes in flight are considered lost, so that the window is two segments
  SlowStart slow_start_;
  AckDelayEstimator ack_delay_;
  CrossTrafficEstimator cross_traffic_;
  SteadyLinkDetector steady_link_;
  DeliveryEstimator delivery_;
  SharedQueueDetector shared_queue_;  ///< detects data of other UEs between the data of this UE in a shared queue
  /// Smallest window while the UE uploads, because ACKs then wait in the queue of its modem.
  BusyLinkFloor busy_link_;
  PathStepDetector path_step_;  ///< detects a longer path by silences between ACKs
  MinRttEstimator min_rtt_;
  /// limit of the rate in drain_window() if the queue is shared with other UEs, bytes/s; see begin_drain()
  double drain_rate_ = 0;
  PathChangeDetector path_change_;  ///< detects a longer path by Node-B reports
  Instant reported_at_{};           ///< time of the last Node-B report; zero: none
};
static_assert(sizeof(DelayBasedController) <= 896, "one for each bearer");

}  // namespace sluice::control
