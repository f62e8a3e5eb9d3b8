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
  round_robin,  ///< GWA-RR: each flow has a queue of its own with B/N bytes
  fcfs,         ///< GWA-FCFS: all flows share one queue, and its free space is divided among them
  /// BA: no buffer is divided; the window of each flow is its share of the bandwidth times its round trip.
  bandwidth_aware,
};

/// Parameters of Generalized Window Advertising at one router, here the Node-B's queue.
struct GwaParameters {
  GwaPolicy policy = GwaPolicy::fcfs;
  Bytes buffer{200'000};  ///< B: size of the router's buffer, > 0; not used by bandwidth_aware
  double decay = 0.9;  ///< λ: weight of the past in the number of flows, 0 ≤ λ ≤ 0.999; a large λ counts ended flows
                       ///< for longer, which is safe
  Duration interval = std::chrono::seconds(1);  ///< Δ: interval between two updates of the number of flows, ≥ 1 ms
};

/// Checks ranges and, if `rate` and `round_trip` are given, eq. 8. Full use of a link of `rate` needs a buffer of
/// `rate`·`round_trip`, for the longest round trip of its flows.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const GwaParameters& parameters, Rate rate = {},
                                                                        Duration round_trip = {});

/// Estimates the number N of active flows by eq. 9: N(t) = λ·N(t−Δ) + (1−λ)·n(t−Δ, t), with n the flows observed in an
/// interval. Reads no clock; thread: its owner's.
///
/// Reading: eq. 9 alone lags behind new flows, and the sum of the advertised windows could exceed the buffer. N is
/// therefore at least the number of flows observed within Δ, and at least one.
///
/// Reading: BA divides the available bandwidth; a flow that seldom sends a packet leaves its share to other flows. The
/// paper does not state how this is measured. Here bandwidth_aware counts a flow that took less than an eighth of an
/// even
/// share in a whole interval. Such a flow counts as the share that it took. The flow counts as one again when it takes
/// more. Buffers are divided among all flows, because each may fill its part at any time.
class GwaFlowCount {
 public:
  /// State of one flow that is counted, stored by the flow's owner.
  class Mark {
    friend class GwaFlowCount;
    ActiveFlows::Mark last_;
    Duration::rep interval_ = -1;  ///< number of the current interval
    double taken_ = 0;             ///< bytes of the flow that left over the link in the current interval
    double weight_ = 1;
    bool whole_ = false;  ///< true if the flow existed when the current interval began
  };

  /// Counts flows with parameters that pass validate(); throws std::invalid_argument otherwise.
  explicit GwaFlowCount(const GwaParameters& parameters);

  /// Records a packet of a flow. `taken` is the number of bytes of the flow that left over the link since its last
  /// packet. `rate` is the link's rate, zero while unknown. Both are only used by bandwidth_aware.
  void seen(Instant now, Mark& mark, Bytes taken = {}, Rate rate = {});
  /// Stops counting a flow, because it has ended.
  void left(Mark& mark) { flows_.left(mark.last_); }
  /// Returns N, the number of active flows at `now`, ≥ 1.
  [[nodiscard]] double count(Instant now);
  /// Returns N by eq. 9 alone, as of the last call.
  [[nodiscard]] double average() const { return average_; }

 private:
  void roll(Instant now);
  void weigh(Instant now, Mark& mark, double taken, Rate rate) const;
  [[nodiscard]] double flows(Instant now) const { return by_use_ ? flows_.weight(now) : flows_.count(now); }

  bool by_use_;
  double decay_;
  Duration interval_;
  ActiveFlows flows_;
  double average_ = 0;
  Instant next_{};  ///< end of the current interval
  bool any_ = false;
};

/// Inputs from which a router computes the window of one flow.
struct GwaObservation {
  Bytes queue;                    ///< bytes in the flow's queue for round_robin, in the common queue for fcfs
  double flows = 1;               ///< N: number of active flows, ≥ 1
  Rate rate;                      ///< rate of the link, of which each flow has the N-th part; for bandwidth_aware
  Duration round_trip{};          ///< round trip of the flow without queueing, for bandwidth_aware
  Bytes upstream = Bytes::max();  ///< φ that the previous router on the path has written
};

/// Returns φ, the window that the network offers to one flow (Gerla et al., ETT 2002, section 5). It is the least of
/// the received φ and B/N − q (round_robin), (B − q)/N (fcfs) or b·RTT (bandwidth_aware, eq. 10). It is rounded down, ≥
/// 0. The window to advertise is min(φ, the receiver's own), eq. 2. `parameters` must pass validate().
[[nodiscard]] Bytes gwa_window(const GwaParameters& parameters, const GwaObservation& seen);

}  // namespace sluice::control
