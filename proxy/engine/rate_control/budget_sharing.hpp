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

/// Number of bytes (two full packets) that one flow may send at once while other flows of its UE wait for the
/// controller's window.
inline constexpr Bytes turn{2 * 1500};
/// Minimum share of the window of a UE's ACK-based controller for all short flows together, while other flows wait too.
/// A flow is short if it has sent less than SmvsSettings::short_flow.
inline constexpr double short_flow_share = 0.8;

/// Returns how many bytes of the controller's window `window` one flow gets, of `waiting` flows that share it.
/// `short_flows` of these flows are short (have sent less than smvs.short_flow). The flow itself must be included in
/// both numbers. All short flows get equal parts, and all other flows get equal parts. A short flow gets at least as
/// much as a flow that is not short.
[[nodiscard]] Bytes part_of(Bytes window, std::uint32_t waiting, std::uint32_t short_flows, bool is_short_flow);

/// Numbers of flows that share the window of a bearer's ACK-based controller. They are split flows with unsent data,
/// end-to-end flows that the window limits, and flows of cross traffic with waiting packets. Cross traffic consists of
/// packets of no tracked connection, such as QUIC.
struct Competitors {
  std::uint32_t all = 0;
  std::uint32_t short_flows = 0;  ///< number of competing flows that have sent less than smvs.short_flow
};
/// Returns how many flows share the window of the bearer's ACK-based controller. Requires that the bearer has this
/// controller.
[[nodiscard]] Competitors competitors_for(const Bearer& bearer);
/// Returns how many flows share the window of `controller`, the ACK-based controller of `bearer`.
[[nodiscard]] Competitors competitors_for(const Bearer& bearer, const AckController& controller);
/// Returns an ACK sample, the controller's input for one ACK. Only the fields that are equal for all connections of the
/// bearer are set: time, bytes in flight, number of flows, and factor of the target queueing delay. `controller` is the
/// bearer's ACK-based controller.
[[nodiscard]] control::AckSample make_ack_sample(const Bearer& bearer, const AckController& controller, Instant now);

/// Returns by how long the UE delayed its newest ACK, derived from the ACK's timestamp `ticks`; negative while unknown.
/// `round_trip` is the measured round trip, which includes this delay; zero while unknown. `clock` estimates the UE's
/// timestamp clock, and `law` is the UE's ACK-based controller. A delay above `round_trip` shows that the UE's clock
/// was set back, so the estimate restarts. Without a restart, the controller would subtract a false delay from every
/// round trip, and overfill the radio queue for minutes.
[[nodiscard]] Duration possible_ack_delay(control::TimestampOneWayDelay& clock,
                                          const control::DelayBasedController& law, Instant now, std::uint32_t ticks,
                                          Duration round_trip);

/// Passes ACKs of split connections to the ACK-based controller of their bearer, and divides the controller's window
/// among them. While several flows wait for this window, each gets at most its part. Short flows get the larger part,
/// because users mostly wait for short transfers. Also stores how many bytes each flow has in flight. Thread: the
/// shard's.
class BudgetSharing {
 public:
  /// Reserves address space for `max_flows_at_once` flows.
  explicit BudgetSharing(std::size_t max_flows_at_once) : shares_(max_flows_at_once) {}

  /// Updates how many bytes in flight the bearer's ACK-based controller counts for the flow, and whether it counts the
  /// flow as waiting. Called after an ACK, a loss, a timeout or a transmission.
  [[gnu::noinline]] void update_inflight(const Flow& flow, FlowId id, Bearer& bearer);
  /// Processes an ACK from the UE. Requires that the bearer has a controller to which ACKs are input
  /// (uses_ack_feedback()).
  [[gnu::flatten, gnu::noinline]] void on_ack(Flow& flow, FlowId id, Bearer& bearer, const tcp::AckSample& ack_sample,
                                              Instant now);
  /// Returns how many IP bytes the ACK-based controller allows the flow to send now. If `beyond_its_part` is true, the
  /// flow may also use the parts of the controller's window that other flows leave unused.
  [[nodiscard, gnu::noinline]] Bytes budget(const Flow& flow, FlowId id, Bearer& bearer, bool beyond_its_part,
                                            Instant now);
  /// Returns how many IP bytes of data that just arrived may be forwarded to the UE at once, without being queued in
  /// the proxy. The flow counts as waiting for the controller's window if other flows wait, or if the result is less
  /// than `least`. After forwarding, the caller must call record_passed().
  [[nodiscard]] Bytes budget_to_pass(const Flow& flow, FlowId id, Bearer& bearer, Bytes least, Instant now);
  /// Updates the flow's bytes in flight after arrived data was forwarded at once. The flow no longer counts as waiting
  /// for the controller's window, because it has no unsent data.
  void record_passed(const Flow& flow, FlowId id, Bearer& bearer);
  /// True if the flow is short (has sent less than smvs.short_flow) and waits for the controller's window.
  [[nodiscard]] bool short_flow_waits(FlowId id) { return shares_[id].short_flow_waits != 0; }
  /// Records whether the flow's bottleneck is another link than the radio link, and updates
  /// BearerLoad::flows_limited_elsewhere. Must be called with `limited_elsewhere` = false before the flow leaves the
  /// bearer.
  static void record_bottleneck(Flow& flow, Bearer& bearer, bool limited_elsewhere);
  /// Removes the flow from the totals of its bearer's ACK-based controller: bytes in flight, waiting flows and waiting
  /// short flows. Called because the flow leaves the bearer.
  void forget(FlowId id, Bearer& bearer);

 private:
  /// Largest value of Share::flight.
  static constexpr std::uint32_t max_flight = (1U << 30) - 1;

  /// Part of one flow in the totals of its UE's ACK-based controller: bytes in flight, waiting flows and waiting short
  /// flows.
  struct Share {
    std::uint32_t flight : 30 = 0;           ///< IP bytes in flight
    std::uint32_t waits : 1 = 0;             ///< 1 if AckController::waiting() includes the flow
    std::uint32_t short_flow_waits : 1 = 0;  ///< 1 if AckController::short_flows_waiting() includes the flow
    /// payload bytes in flight when `flight` was last computed; `flight` is computed again only if they have changed
    std::uint32_t payload = 0;
    control::TimestampOneWayDelay clock;
  };
  /// Updates the UE's bytes in flight by the change in this flow's bytes in flight since the last call.
  static void follow_flight(Share& share, const Flow& flow, AckController& controller);
  /// Updates whether the flow has data that waits for the controller's window, and whether it waits as a short flow
  /// (less than smvs.short_flow sent).
  static void follow_waits(Share& share, bool waits, const Flow& flow, const Bearer& bearer, AckController& controller);
  /// Returns how many more bytes the flow may have in flight if its bottleneck is not the radio link. Returns
  /// Bytes::max() if the radio link is its bottleneck.
  [[nodiscard]] static Bytes budget_elsewhere(const Share& share, const Flow& flow, const Bearer& bearer,
                                              const AckController& controller);
  /// Computes the result of budget_elsewhere() for a flow that shares its UE with other active flows: how many more
  /// bytes its own bottleneck allows in flight.
  [[nodiscard, gnu::noinline]] static Bytes budget_beside_others(const Share& share, const Flow& flow,
                                                                 const AckController& controller);
  /// Updates the flow's bytes in flight and whether it waits for the controller's window. Returns how many more bytes
  /// its own bottleneck allows in flight (budget_elsewhere()).
  static Bytes follow(Share& share, const Flow& flow, const Bearer& bearer, AckController& controller);
  /// Returns how many bytes the flow may send of `budget`, which the controller allows to all flows of the UE together.
  /// `waiting` is the number of flows among which the controller's window is divided, and `competitors` contains how
  /// many of them are short.
  [[nodiscard]] static Bytes part_of_budget(const Share& share, Bytes budget, Competitors competitors,
                                            std::uint32_t waiting, const Flow& flow, const AckController& controller,
                                            Instant now);
  /// Part of each flow in the totals of its UE's ACK-based controller (bytes in flight, waiting flows), indexed by
  /// FlowId. Memory is allocated only for flows under such a controller.
  flow::LazyArray<Share> shares_;
};

}  // namespace sluice::proxy
