#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "control/ack_based/ack_delay_estimator.hpp"
#include "control/ack_based/ack_sample.hpp"
#include "control/ack_based/cross_traffic_estimator.hpp"
#include "control/ack_based/delivery_estimator.hpp"
#include "control/ack_based/loss_bound.hpp"
#include "control/ack_based/min_rtt_estimator.hpp"
#include "control/ack_based/path_change_detector.hpp"
#include "control/ack_based/slow_start.hpp"
#include "control/ack_based/standing_delay_detector.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the delay-based controller. One setting for all links: what must scale with the
/// link does so by itself. tests/bench/figures/acks.md says what they were chosen on.
struct DelayBasedParameters {
  Duration reference = std::chrono::milliseconds(10);  ///< q0: what is to wait in the radio queue, > 0
  double reference_share = 0.35;                       ///< … but no less than this share of the base delay
  double gain = 1.25;                                  ///< ≥ 1: what is sent beyond the rate seen, to find out more
  Duration memory = std::chrono::milliseconds(80);     ///< time constant of the mean rate, > 0
  double clumps = 0.35;  ///< share of an uplink's clump of acknowledgements that is sent ahead of it, 0 … 2
  Bytes segment{1500};   ///< a full packet towards the UE, > 0
  Bytes initial{14600};  ///< the window while nothing is known (RFC 6928), ≥ 2 segments
  Duration forget_after = std::chrono::seconds(10);  ///< after so long a pause the link is found anew, > 0

  bool operator==(const DelayBasedParameters&) const = default;
};

[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const DelayBasedParameters& parameters);

/// How much may be in flight to one UE so that its radio queue holds the reference, by its acknowledgements alone, with
/// no report of the Node-B (law: acks). The window is
///
///     gain · rate · (base delay + reference) + two segments + a share of a clump
///
/// (or what one acknowledgement is for beyond two segments, where the UE stretches them; or, where the UE's timestamps
/// tell, what the link has carried since the newest acknowledgement was due) and for each connection beyond the first
/// what the UE may have of it without saying so: one segment, or end to end, where none can use another one's part,
/// what one acknowledgement is for but the last. The rate is a mean of what was delivered, and the base delay what a
/// packet takes there and back where none waits. What is in flight beyond rate · base delay waits in the radio queue.
///
/// Where an uplink makes acknowledgements wait, the window grows in silence, since the link goes on meanwhile: by nine
/// tenths of what it carries, until the next acknowledgement would be later than is usual by 15 ms. Then the link
/// itself may stand still. Half of the reference is enough beside that. It takes timestamps, and a sender that can use
/// it: the window of a connection that stays end to end goes in acknowledgements.
///
/// So it does where the link sends in bursts and rests between them for longer than what waits lasts: from half of a
/// usual gap on, for as long as a rest. Each burst then finds something to send. Three quarters of the reference are
/// enough beside that. Where no timestamps tell how late the uplink is, its own gaps may pass for rests: the link has
/// gone on in them, so what the window grows by is used.
///
/// Where everything under way should have been acknowledged for long, the tail of it may be lost, and nothing would
/// tell before a timeout that is reckoned from the round trips of an outage. So one segment more than is in flight may
/// go out, though that be more than the window (as the probe of RFC 8985): its acknowledgement tells of the loss.
///
/// The base delay (MinRttEstimator) is measured again now and then, with the queue drained: at the same times for all
/// UEs, so that those who share a queue find it empty. A drain that only confirms it costs less. It is measured at once
/// after a start-up that has found a slow link, and a path longer than a radio's or shorter than the first window takes
/// on the air: the first packets may have met an outage or each other, and a queue stood ever since.
///
/// What decides, in this order; each later one may change what the earlier ones give:
///
/// - The link is searched for (SlowStart): the window doubles with each round trip.
/// - The link is known (DeliveryEstimator, MinRttEstimator, AckDelayEstimator): as above.
/// - It is unclear whether the path has become longer (StandingDelayDetector): no less than what kept the rate of
/// before.
/// - Data was lost (LossBound): no more than the bound that losses set.
/// - Others send a fifth of what goes to the UE, or more (CrossTrafficEstimator): no less than a fair part.
/// - The queue is drained (MinRttEstimator), and the path filled again after it (SlowStart): what drains it; it
/// doubles.
/// - All that was in flight is taken for lost: two segments.
///
/// A fair part is n of n + 1 of what all have in flight, for n connections; a tenth less, so that it shrinks when the
/// queue stands without others. While others fill the queue it is not drained, since a drain would measure theirs.
/// State and work are constant. The class reads no clock; thread: its owner's.
class DelayBasedController {
 public:
  /// Parameters must be free of errors according to validate(); throws std::invalid_argument otherwise.
  explicit DelayBasedController(const DelayBasedParameters& parameters = {});

  void on_acknowledged(const AckSample& ack_sample);
  /// A Node-B has reported how much waits in the UE's queue, of whomever; at any period. It settles what
  /// acknowledgements cannot tell apart: a queue that others fill, and a longer way. The first is no reason to drain,
  /// and the second is believed without.
  void on_report(Instant now, Bytes queue);
  /// How long so much will wait in the radio queue, at the rate at which everything of late went there; zero while
  /// unknown.
  [[nodiscard]] Duration time_in_queue(Bytes queue) const;
  /// … at the least, at the highest rate that is known of: where little is sent, the rate of late is that of the source
  /// and not the link's. Zero while the link's is unknown.
  [[nodiscard]] Duration min_time_in_queue(Bytes queue) const;
  /// How late the sender hears of what happens in the radio queue: the base delay, and the time between two clumps of
  /// acknowledgements up to what an uplink makes of it. Zero while unknown.
  [[nodiscard]] Duration feedback_delay() const;
  /// Something is about to be sent while nothing is in flight: after a pause, or because all that was is taken for
  /// lost.
  void on_resumed(Instant now);
  /// The link begins with a known rate (a law that takes over). Zero changes nothing.
  void seed(Instant now, Rate rate) { delivery_.seed(now, rate); }
  /// A connection is taken over that was let have so much in flight: while the link is being found the window is no
  /// less.
  void take_over(Bytes in_flight);

  /// What may be in flight as of the newest call; never less than two segments.
  [[nodiscard]] Bytes window() const { return window_; }
  /// … and at `now`, which is not before it: the window may grow in silence, and asks where news is overdue.
  [[nodiscard]] Bytes window(Instant now) const;
  /// With so much in flight: when there is room for a segment more if nothing is heard until then; `never` when a
  /// silence does not make room. After `now`, by a millisecond at least.
  [[nodiscard]] Instant budget_available_at(Instant now, Bytes in_flight) const;
  [[nodiscard]] Rate rate() const { return delivery_.rate(); }
  /// The highest that it was in the last five to ten seconds; zero while unknown.
  [[nodiscard]] Rate best_rate() const { return delivery_.max_rate(); }
  /// Zero while unknown.
  [[nodiscard]] Duration base_delay() const { return min_rtt_.value(); }
  /// A mean of what packets of all connections take there and back; zero while unknown.
  [[nodiscard]] Duration usual_trip() const { return from_seconds(cross_traffic_.usual_trip()); }
  /// How late the newest acknowledgement was of which it is known; zero where none was of late.
  [[nodiscard]] Duration ack_delay() const { return ack_delay_.newest(); }
  /// … the greatest of late, which decays with half a second; zero where none is known.
  [[nodiscard]] Duration max_ack_delay() const { return ack_delay_.max(); }
  /// How late the acknowledgement of a segment can have been that took so long there and back: what that is beyond the
  /// base delay. No bound where either is unknown.
  [[nodiscard]] Duration ack_delay_bound(Duration round_trip) const {
    if (!min_rtt_.known() || round_trip <= Duration::zero()) return Duration::max();
    return std::max(round_trip - base_delay(), Duration::zero());
  }
  /// Of so much in flight, what waits in the radio queue.
  [[nodiscard]] Bytes queued(Bytes in_flight) const;
  /// What is to wait there at the present rate.
  [[nodiscard]] Bytes reference() const;
  /// What is to be on a way so long before it is in flight to the UE, so that the window is used: the link's rate over
  /// that time, and half while the queue is drained.
  [[nodiscard]] Bytes ahead(Duration way) const;
  /// The link is being found: the window doubles with each round trip until a queue shows, or nothing comes of it.
  [[nodiscard]] bool starting() const { return slow_start_.searching(); }
  [[nodiscard]] bool draining() const { return min_rtt_.draining(); }
  /// How often the queue was drained to measure the base delay.
  [[nodiscard]] std::uint32_t drains() const { return min_rtt_.drains(); }

  [[nodiscard]] const DelayBasedParameters& parameters() const { return parameters_; }
  /// Its state, for a trace (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// The part of a silence in which the window grows, both from the newest acknowledgement on.
  struct AckGap {
    Duration from;
    Duration until;
  };

  void record_round_trip(const AckSample& ack_sample, Duration listened);
  void start_up(const AckSample& ack_sample);
  void end_start_up();
  void see_to_base_delay(const AckSample& ack_sample);
  [[nodiscard]] MinRttEstimator::Probe probe_of(const AckSample& ack_sample) const;
  void begin_drain(const AckSample& ack_sample);
  void end_drain(Instant now);
  void refill(const AckSample& ack_sample);
  [[nodiscard]] bool is_link_limited(const AckSample& ack_sample) const;
  void raise_min_rtt(Duration base);
  [[nodiscard]] bool is_reported(Instant now) const;
  [[nodiscard]] Duration margin() const;
  [[nodiscard]] Duration wait() const;
  void see_to_losses(const AckSample& ack_sample);
  [[nodiscard]] double model() const;
  [[nodiscard]] double beside_the_way(double ack_delay_bound) const;
  [[nodiscard]] double beside_the_bound() const;
  [[nodiscard]] bool extrapolates() const;
  void update_bursty_link();
  [[nodiscard]] bool extrapolates_in_gap() const;
  [[nodiscard]] AckGap ack_gap() const;
  [[nodiscard]] Bytes extrapolated(Duration lasted) const;
  [[nodiscard]] Duration probe_timeout() const;
  [[nodiscard]] Instant grows_at(Instant now, Bytes in_flight) const;
  [[nodiscard]] Instant probe_at(Instant now, Bytes in_flight) const;
  [[nodiscard]] double drained() const;
  [[nodiscard]] Duration listened_until(Instant now) const;
  void set_window();

  DelayBasedParameters parameters_;
  DeliveryEstimator delivery_;
  MinRttEstimator min_rtt_;
  SlowStart slow_start_;
  AckDelayEstimator ack_delay_;
  CrossTrafficEstimator cross_traffic_;
  PathChangeDetector path_change_;        ///< by reports
  StandingDelayDetector standing_delay_;  ///< by what is in flight
  LossBound losses_;
  Bytes window_;
  Bytes left_;                     ///< under way when anything was acknowledged last
  Duration control_loop_delay_{};  ///< mean of AckSample::further
  Instant last_ack_{};             ///< when anything was acknowledged
  Instant delivered_at_{};         ///< when the newest of it was, as far as the UE's timestamps tell
  Instant reported_at_{};          ///< when a Node-B reported last; zero: none has
  double reference_part_ = 1;      ///< AckSample::reference_part of the newest
  std::uint32_t flows_ = 1;
  bool bursty_link_ = false;   ///< the link does, for longer than what waits lasts
  bool loss_limited_ = false;  ///< the newest window is the bound that losses set
  bool has_ack_ = false;
  bool idle_ = true;       ///< all that was sent has been acknowledged
  bool all_lost_ = false;  ///< all that was in flight is taken for lost: no more than a probe goes out
};
static_assert(sizeof(DelayBasedController) <= 752, "one for each bearer");

}  // namespace sluice::control
