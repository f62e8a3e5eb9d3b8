#pragma once

#include <cstddef>
#include <cstdint>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/ack_based/timestamp_one_way_delay.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/ack_controller.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

class Bearer;

/// Bytes that one flow may send per round while other flows of its UE wait for the common window.
inline constexpr Bytes turn{2 * 1500};
/// Smallest share of a UE's window for all short flows together while other flows also wait. A flow is short below
/// SmvsMode::short_flow bytes sent.
inline constexpr double short_flow_share = 0.8;

/// Returns the part of `window` for one of `waiting` flows, of which `short_flows` are short. Flows of one kind get
/// equal parts, and a short flow gets at least the part of a long one. Requires that the flow itself is counted in
/// these numbers.
[[nodiscard]] Bytes part_of(Bytes window, std::uint32_t waiting, std::uint32_t short_flows, bool is_short_flow);

/// Numbers of flows that share a bearer's window: split ones with unsent data, end-to-end ones whose servers the window
/// limits, and flows of cross traffic that wait.
struct Competitors {
  std::uint32_t all = 0;
  std::uint32_t short_flows = 0;  ///< number of short flows in `all`
};
/// Returns the numbers of flows that share the bearer's window.
[[nodiscard]] Competitors competitors_for(const Bearer& bearer);
/// Returns an ACK sample with the fields that are equal for all connections of a UE's bearer. Requires
/// rate_control().uses_ack_feedback().
[[nodiscard]] control::AckSample make_ack_sample(const Bearer& bearer, Instant now);

/// Returns the ACK delay of the peer's newest segment by its timestamps; negative while unknown
/// (TimestampOneWayDelay::excess_delay()). A delay longer than the round trip that contains it is impossible. Such a
/// value restarts the estimate of the peer's clock, because a clock that was set back would show a constant delay for
/// minutes. The controller would then fill the radio queue. `round_trip` is zero while unknown.
[[nodiscard]] Duration possible_ack_delay(control::TimestampOneWayDelay& clock,
                                          const control::DelayBasedController& law, Instant now, std::uint32_t ticks,
                                          Duration round_trip);

/// Passes the ACKs of split connections to the ACK-based controller of their bearer, and divides its window among them.
/// While several flows wait, each gets at most its part. Short flows get the larger part, because users mostly wait for
/// short transfers. Also stores the bytes in flight of each flow. Thread: the shard's.
class BudgetSharing {
 public:
  /// Reserves address space for `max_flows_at_once` flows.
  explicit BudgetSharing(std::size_t max_flows_at_once) : shares_(max_flows_at_once) {}

  /// Updates the flow's bytes in flight after an ACK, a loss, a timeout or a send.
  [[gnu::noinline]] void update_inflight(const Flow& flow, FlowId id, Bearer& bearer);
  /// Processes an ACK from the UE. Requires that ACKs are the input of a controller of the bearer.
  [[gnu::noinline]] void on_ack(Flow& flow, FlowId id, Bearer& bearer, const tcp::AckSample& ack_sample, Instant now);
  /// Returns how many IP bytes the flow may send now. `beyond_its_part` is true if the flow may also use what other
  /// flows do not use.
  [[nodiscard, gnu::noinline]] Bytes budget(const Flow& flow, FlowId id, Bearer& bearer, bool beyond_its_part,
                                            Instant now);
  /// Returns how many IP bytes of data just received may be forwarded at once; zero if fewer than `least`, and the flow
  /// then counts as waiting. If data is forwarded, call record_passed() next.
  [[nodiscard]] Bytes budget_to_pass(const Flow& flow, FlowId id, Bearer& bearer, Bytes least, Instant now);
  /// Updates the flow's bytes in flight after data was forwarded and nothing is left to send.
  void record_passed(const Flow& flow, FlowId id, Bearer& bearer);
  /// True if the flow waits for the window and is short.
  [[nodiscard]] bool short_flow_waits(FlowId id) { return shares_[id].short_flow_waits != 0; }
  /// Removes the flow's contributions to its bearer's controller, because the flow leaves the bearer.
  void forget(FlowId id, Bearer& bearer);

 private:
  /// Largest value of Share::flight.
  static constexpr std::uint32_t max_flight = (1U << 30) - 1;

  /// Contribution of one flow to the ACK-based controller of its UE.
  struct Share {
    std::uint32_t flight : 30 = 0;           ///< IP bytes in flight
    std::uint32_t waits : 1 = 0;             ///< counted in AckController::waiting()
    std::uint32_t short_flow_waits : 1 = 0;  ///< counted in AckController::short_flows_waiting()
    std::uint32_t payload = 0;               ///< payload bytes in flight from which `flight` was computed
    control::TimestampOneWayDelay clock;
  };
  /// Updates the flow's bytes in flight.
  static void follow_flight(Share& share, const Flow& flow, AckController& controller);
  /// Updates whether the flow has data that waits for the window, and whether it is a short flow.
  static void follow_waits(Share& share, bool waits, const Flow& flow, const Bearer& bearer, AckController& controller);
  /// Returns how many more bytes the flow may have in flight if its bottleneck is not the radio; Bytes::max() if it is
  /// the radio.
  [[nodiscard]] static Bytes budget_elsewhere(const Share& share, const Flow& flow, const Bearer& bearer,
                                              const AckController& controller);
  /// Computes budget_elsewhere() for one of several flows.
  [[nodiscard, gnu::noinline]] static Bytes budget_beside_others(const Share& share, const Flow& flow,
                                                                 const AckController& controller);
  /// Updates the flow's bytes in flight and waiting state, and returns budget_elsewhere().
  static Bytes follow(Share& share, const Flow& flow, const Bearer& bearer, AckController& controller);
  /// Returns the part of `budget` that the flow may send while it shares the window with `competitors`.
  [[nodiscard]] static Bytes part_of_budget(const Share& share, Bytes budget, Competitors competitors,
                                            std::uint32_t waiting, const Flow& flow, const AckController& controller,
                                            Instant now);
  flow::LazyArray<Share> shares_;  ///< contributions by FlowId; no memory is used if no bearer uses ACKs
};

}  // namespace sluice::proxy
