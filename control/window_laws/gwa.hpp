#pragma once

#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "control/window_laws/active_flows.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Rule by which a router divides its buffer, or its bandwidth, among flows.
enum class GwaPolicy : std::uint8_t {
  round_robin,  ///< GWA-RR: each of N flows has a queue of its own, with the N-th part of the buffer B
  fcfs,         ///< GWA-FCFS: all flows share one queue, and its free space is divided among them
  /// BA: no buffer is divided; the window of each flow is its share of the bandwidth times its round trip
  bandwidth_aware,
};

/// Parameters of Generalized Window Advertising (GWA) at one router, here the Node-B's queue.
struct GwaParameters {
  GwaPolicy policy = GwaPolicy::fcfs;
  Bytes buffer{200'000};  ///< B: size of the router's buffer, > 0; not used by bandwidth_aware
  /// λ: weight of the past in the mean number of flows, 0 ≤ λ ≤ 0.999. With a large λ ended flows count for longer,
  /// which makes windows smaller.
  double decay = 0.9;
  Duration interval = std::chrono::seconds(1);  ///< Δ: interval between two updates of the number of flows, ≥ 1 ms
};

/// Checks the ranges and, if `rate` and `round_trip` are given, eq. 8 of the GWA paper (Gerla et al., ETT 2002): full
/// use of a link of `rate` needs a buffer of `rate`·`round_trip`, where `round_trip` is the longest of its flows.
/// Returns the broken rules.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const GwaParameters& parameters, Rate rate = {},
                                                                        Duration round_trip = {});

/// Estimates the number N of active flows by eq. 9 of the GWA paper: N(t) = λ·N(t−Δ) + (1−λ)·n(t−Δ, t). Here n is the
/// number of flows observed in an interval Δ. Reads no clock. Not thread-safe.
///
/// Interpretation of the paper: eq. 9 alone includes new flows late, so the sum of the windows could exceed the buffer.
/// So N is at least the number of flows observed within Δ, and at least one.
///
/// Interpretation of the paper: bandwidth_aware (BA) divides the available bandwidth, and other flows get the unused
/// share of a flow that sends little. The paper does not state how this is measured. Here a flow that used less than an
/// eighth of an even share in a whole interval counts as the share that it used. It counts as one flow again once it
/// uses more. The other policies count each flow as one, because it may fill its part of the buffer at any time.
class GwaFlowCount {
 public:
  /// State of one flow that is counted, stored by the flow's owner.
  class Mark {
    friend class GwaFlowCount;
    ActiveFlows::Mark last_;
    /// number of the interval of length Δ in which the flow was last observed; -1: none yet
    Duration::rep interval_ = -1;
    double taken_ = 0;  ///< bytes of the flow that the link has sent in the interval `interval_`
    double weight_ = 1;
    /// true if the flow was also observed in the interval before `interval_`, so that `taken_` covers a whole interval
    bool whole_ = false;
  };

  /// Counts flows with parameters that pass validate(); throws std::invalid_argument otherwise.
  explicit GwaFlowCount(const GwaParameters& parameters);

  /// Records a packet of a flow whose state is `mark`. `taken` is the number of bytes of the flow that the link has
  /// sent since the previous packet of the flow. `rate` is the link's rate, zero while unknown. Only
  /// GwaPolicy::bandwidth_aware uses `taken` and `rate`.
  void seen(Instant now, Mark& mark, Bytes taken = {}, Rate rate = {});
  /// Stops counting the flow whose state is `mark`, because the flow has ended.
  void left(Mark& mark) { flows_.left(mark.last_); }
  /// Returns N, the number of active flows at `now`, ≥ 1.
  [[nodiscard]] double count(Instant now);
  /// Returns the mean number of flows by eq. 9 of the GWA paper, without the lower bounds of count(). The value is that
  /// of the last call of count() or seen().
  [[nodiscard]] double average() const { return average_; }

 private:
  void roll(Instant now);
  void weigh(Instant now, Mark& mark, double taken, Rate rate) const;
  [[nodiscard]] double flows(Instant now) const { return counts_by_weight_ ? flows_.weight(now) : flows_.count(now); }

  bool counts_by_weight_;
  double decay_;
  Duration interval_;
  ActiveFlows flows_;
  double average_ = 0;
  Instant next_{};  ///< end of the current interval Δ, when the mean number of flows is updated
  bool any_ = false;
};

/// Inputs from which a router computes the window of one flow.
struct GwaObservation {
  Bytes queue;                    ///< bytes in the flow's queue for round_robin, in the common queue for fcfs
  double flows = 1;               ///< N: number of active flows, ≥ 1
  Rate rate;                      ///< rate of the link, of which each flow gets the N-th part; for bandwidth_aware
  Duration round_trip{};          ///< round trip of the flow without queueing, for bandwidth_aware
  Bytes upstream = Bytes::max();  ///< φ in the ACK: window that the previous router on the path offers; Bytes::max() if
                                  ///< there is none
};

/// Returns φ, the window that the network offers to one flow (Gerla et al., ETT 2002, section 5). It is the smaller of
/// two values: the φ received from the previous router, and this router's value. This router's value is B/N − q
/// (round_robin) or (B − q)/N (fcfs). For bandwidth_aware it is the flow's share of the link's rate times its round
/// trip (eq. 10 of the paper). The value is rounded down, ≥ 0. The window to advertise is the smaller of φ and the
/// receiver's own window. `parameters` must pass validate().
[[nodiscard]] Bytes gwa_window(const GwaParameters& parameters, const GwaObservation& seen);

}  // namespace sluice::control
