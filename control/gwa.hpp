#pragma once

#include <cstdint>
#include <vector>

#include "control/active_flows.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What a router makes of its buffer.
enum class GwaPolicy : std::uint8_t {
  round_robin,      ///< GWA-RR: a queue per flow, B/N each
  fcfs,             ///< GWA-FCFS: one queue, what is free is shared
  bandwidth_aware,  ///< BA: no queue at all, a flow's bandwidth times its round trip
};

/// Parameters of Generalized Window Advertising at one router, here the Node-B's queue.
struct GwaParameters {
  GwaPolicy policy = GwaPolicy::fcfs;
  Bytes buffer{200'000};  ///< B, > 0; unused by bandwidth_aware
  double decay = 0.9;     ///< λ, 0 ≤ λ ≤ 0.999; large overestimates the flows that have gone: the safe side
  Duration interval = std::chrono::seconds(1);  ///< Δ, ≥ 1 ms
};

/// Checks ranges and, where they are given, eq. 8: full use of a link of `rate` needs a buffer of `rate`·`round_trip`,
/// the longest of its flows.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const GwaParameters& parameters, Rate rate = {},
                                                                        Duration round_trip = {});

/// N, the number of active flows, by eq. 9: N(t) = λ·N(t−Δ) + (1−λ)·n(t−Δ, t), n the flows seen in an interval. No
/// clock inside; thread: its owner's.
///
/// Reading: eq. 9 alone lags behind flows that begin, and the sum of what is advertised could then exceed the buffer;
/// so N is never taken for less than the flows seen within Δ, nor for less than one.
///
/// Reading: BA divides the bandwidth that is available, which one that sends a packet now and then leaves to the
/// others. The paper does not say how that is measured. Here a flow that took less than an eighth of an even share
/// throughout an interval counts, under bandwidth_aware, for the part of a share that it took, until it takes more.
/// Buffers are divided among all: each flow may fill its part at any time.
class GwaFlowCount {
 public:
  /// What a flow keeps here.
  class Mark {
    friend class GwaFlowCount;
    ActiveFlows::Mark last_;
    Duration::rep interval_ = -1;  ///< number of the present one
    double taken_ = 0;             ///< bytes in it
    double weight_ = 1;
    bool whole_ = false;  ///< the flow was there when the interval began
  };

  /// `parameters` as validate() wants them.
  explicit GwaFlowCount(const GwaParameters& parameters);

  /// A packet of a flow passed. `taken`: bytes that it took of the link since the last one; `rate`: of the link, zero
  /// while unknown. Both matter to bandwidth_aware only.
  void seen(Instant now, Mark& mark, Bytes taken = {}, Rate rate = {});
  /// A flow has ended.
  void left(Mark& mark) { flows_.left(mark.last_); }
  /// N at `now`, ≥ 1.
  [[nodiscard]] double count(Instant now);
  /// N by eq. 9 alone, as of the last call.
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
  Instant next_{};  ///< when the interval ends
  bool any_ = false;
};

/// What a router knows when it advertises to one flow.
struct GwaObservation {
  Bytes queue;                    ///< of the flow for round_robin, of all flows for fcfs
  double flows = 1;               ///< N, ≥ 1
  Rate rate;                      ///< of the link, for bandwidth_aware: a flow's b is the N-th part
  Duration round_trip{};          ///< of the flow, for bandwidth_aware; without queueing, or there will be a queue
  Bytes upstream = Bytes::max();  ///< φ as it arrived from the router before
};

/// φ, the window that the network offers to one flow (Gerla et al., ETT 2002, section 5): the least of what arrived and
/// B/N − q (round_robin), (B − q)/N (fcfs) or b·RTT (bandwidth_aware, eq. 10). Rounded down, ≥ 0. The window to
/// advertise is min(φ, the receiver's own), eq. 2; `parameters` as validate() wants them.
[[nodiscard]] Bytes gwa_window(const GwaParameters& parameters, const GwaObservation& seen);

}  // namespace sluice::control
