#pragma once

#include <cstdint>

#include "control/ack_based/end_to_end_flow_estimator.hpp"
#include "control/ack_based/timestamp_one_way_delay.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/rate_control/budget_sharing.hpp"

namespace sluice::proxy {

/// ACK-based controller for connections that pass end to end. Feeds each bearer's controller with their segments, and
/// computes the window for their ACKs. That is the connection's part of the bearer's window, plus the data in flight
/// from the server during one control loop delay. Thread: its shard's.
class EndToEndAckControl {
 public:
  /// Reserves places for `max_flows_at_once` connections.
  explicit EndToEndAckControl(std::uint32_t max_flows_at_once) : flows_(max_flows_at_once) {}

  /// True if the ACK-based controller applies to the bearer's end-to-end connections. While it only replaces late
  /// reports it does not, because the other controller's allowance needs split connections.
  [[nodiscard]] static bool governs(const Bearer& bearer) {
    return bearer.rate_control().uses_ack_feedback() && bearer.settings().can_regulate();
  }
  /// True if the controller observes this flow.
  [[nodiscard]] static bool watches(const EndToEndFlow& flow) { return flow.ack_control != no_id; }
  /// Starts observing the flow. Requires governs(bearer), and that the flow is not observed yet.
  void begin(EndToEndFlow& flow, Bearer& bearer, Instant now);
  /// Stops observing the flow, because it leaves its bearer. No effect if it is not observed.
  void forget(EndToEndFlow& flow, Bearer& bearer);

  // All functions below require that the flow is observed.

  /// Handles a data segment to the UE whose payload ends at position `end`.
  void on_data(const EndToEndFlow& flow, Bearer& bearer, const packet::Parsed& data, Bytes end, Instant now);
  /// Handles an ACK of the UE up to position `ack`. Returns true if nothing is left in flight, so due() becomes
  /// earlier.
  bool on_ack(const EndToEndFlow& flow, Bearer& bearer, const tcp::Segment& segment, Bytes ack, Instant now);
  /// Returns the window for the server, in payload bytes behind what the UE has acknowledged.
  [[nodiscard]] Bytes window(const EndToEndFlow& flow, const Bearer& bearer) const;
  /// Handles an ACK just sent to the server, which advertises a window up to `edge`.
  void on_window(const EndToEndFlow& flow, Bytes edge, Instant now);
  /// Returns when the flow stops counting as competing, because its UE or server has been silent; `never` if it does
  /// not count.
  [[nodiscard]] Instant due(const EndToEndFlow& flow) const;
  /// Stops counting the flow as competing until the UE acknowledges again, so that other flows get its part.
  void set_aside(const EndToEndFlow& flow, Bearer& bearer);

 private:
  /// Observed state of one end-to-end connection.
  struct Watched {
    Watched(Instant now, const EndToEndFlow& flow);
    /// Returns the IP bytes of `amount` payload bytes in packets of the largest size seen.
    [[nodiscard]] Bytes on_wire(Bytes amount) const;
    /// Returns the payload bytes of `wire` IP bytes in packets of the largest size seen.
    [[nodiscard]] Bytes payload_of(Bytes wire) const;
    /// Returns by how much the ACK with timestamp `ts_value` is late; negative if unknown.
    [[nodiscard]] Duration ack_delay(Instant now, std::uint32_t ts_value, const control::DelayBasedController& law,
                                     Duration round_trip);

    control::EndToEndFlowEstimator estimator;
    control::TimestampOneWayDelay clock;
    Instant last_rx;  ///< time of the UE's newest segment
    Bytes counted;    ///< IP bytes that the controller counts as in flight
    std::uint32_t newest_ts = 0;
    std::uint16_t payload = 1;  ///< payload of the largest packet seen
    std::uint16_t packet = 1;   ///< IP bytes of the largest packet seen
    std::uint16_t offered = 0;  ///< window field of the newest ACK
    bool timed = false;         ///< newest_ts holds a timestamp
    bool waits = false;         ///< counted in AckController::end_to_end as waiting
    bool short_flow = false;    ///< counted in AckController::end_to_end as a short flow
  };

  /// Updates the controller's totals to the flow's bytes in flight and its waiting state.
  static void count(Watched& watched, AckController& controller, Bytes flight, bool waits, bool short_flow);
  /// Returns what a segment of the UE acknowledges for the first time.
  static control::EndToEndFlowEstimator::Acked read_ack(Watched& watched, const EndToEndFlow& flow,
                                                        const tcp::Segment& segment, Bytes ack, Instant now);

  flow::Slab<Watched> flows_;
};

}  // namespace sluice::proxy
