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

/// Applies the ACK-based controller to end-to-end connections. Passes their segments to the controller of their UE, and
/// computes the window to be written into their ACKs. That window is the connection's share of two amounts together.
/// The first is the controller's window, which limits the bytes in flight between proxy and UE. The second is the
/// number of bytes that must be in flight from server to proxy, so that the controller's window never lacks data.
/// Thread: the shard's.
class EndToEndAckControl {
 public:
  /// Reserves entries for `max_flows_at_once` connections.
  explicit EndToEndAckControl(std::uint32_t max_flows_at_once) : flows_(max_flows_at_once) {}

  /// True if the ACK-based controller limits the bearer's end-to-end connections, or observes them in mode observe.
  /// False if that controller only replaces late Node-B reports, because the report-based controller requires split
  /// connections.
  [[nodiscard]] static bool limits_connections(const Bearer& bearer) {
    return bearer.rate_control().uses_ack_feedback() && bearer.settings().can_regulate();
  }
  /// True if segments of the end-to-end flow are passed to the ACK-based controller.
  [[nodiscard]] static bool watches(const EndToEndFlow& flow) { return flow.ack_control != no_id; }
  /// True if both hosts of the end-to-end connection have permitted SACK.
  [[nodiscard]] static bool uses_sack(const EndToEndFlow& flow) {
    return flow.syns[0].options.sack_permitted && flow.syns[1].options.sack_permitted;
  }
  /// Starts to pass the flow's segments to the ACK-based controller. Requires limits_connections(bearer), and that
  /// begin() was not called for the flow before.
  [[gnu::noinline]] void begin(EndToEndFlow& flow, Bearer& bearer, Instant now);
  /// Stops passing the flow's segments to the ACK-based controller, because the flow leaves its bearer. No effect if
  /// begin() was not called.
  void forget(EndToEndFlow& flow, Bearer& bearer);

  // All functions below require watches(flow).

  /// Processes a data segment to the UE whose payload ends `end` bytes after the start of the stream.
  void on_data(const EndToEndFlow& flow, Bearer& bearer, const packet::Parsed& data, Bytes end, Instant now);
  /// Handles an ACK of the UE for the first `ack` bytes of the stream. Returns true if the flow has no data in flight
  /// any more, but still counts as waiting for the controller's window. The caller must then set the flow's timer
  /// again, because due() returns an earlier time than before.
  [[gnu::noinline]] bool on_ack(const EndToEndFlow& flow, Bearer& bearer, const tcp::Segment& segment, Bytes ack,
                                Instant now);
  /// Returns the window to advertise to the server: the number of payload bytes after the last byte that the UE has
  /// acknowledged.
  [[nodiscard, gnu::noinline]] Bytes window(const EndToEndFlow& flow, const Bearer& bearer) const;
  /// Records that an ACK was sent to the server, with a window whose right edge is `edge` bytes after the start of the
  /// stream. `window` is what the controller allows, and `offered` is the UE's own receive window. If `offered` is not
  /// larger, the UE limits the connection, and other connections get the rest of its share.
  [[gnu::noinline]] void on_window(const EndToEndFlow& flow, Bearer& bearer, Bytes edge, Bytes window, Bytes offered,
                                   Instant now);
  /// Returns when the flow loses its share of the controller's window, because its UE or server is silent. Returns
  /// `never` if the flow has no data in flight and does not wait for the window.
  [[nodiscard]] Instant due(const EndToEndFlow& flow) const;
  /// Removes the flow's share of the controller's window, because its UE or server is silent. Other flows of the UE get
  /// that share until the UE acknowledges data of this flow again.
  void release_share(const EndToEndFlow& flow, Bearer& bearer);

 private:
  /// State of one end-to-end connection whose segments are passed to the ACK-based controller.
  struct Watched {
    Watched(Instant now, const EndToEndFlow& flow);
    /// Returns the number of IP bytes that `amount` payload bytes occupy, in packets as large as the largest one seen.
    [[nodiscard]] Bytes on_wire(Bytes amount) const;
    /// Returns the number of payload bytes in `wire` IP bytes, in packets as large as the largest one seen.
    [[nodiscard]] Bytes payload_of(Bytes wire) const;
    /// Returns by how long the UE delayed an ACK with timestamp `ts_value`; negative if unknown. `round_trip` is the
    /// round trip that the ACK has measured; zero if unknown.
    [[nodiscard]] Duration ack_delay(Instant now, std::uint32_t ts_value, const control::DelayBasedController& law,
                                     Duration round_trip);

    control::EndToEndFlowEstimator estimator;
    control::TimestampOneWayDelay clock;
    Instant last_rx;  ///< time when the newest segment of the UE was received
    Bytes counted;    ///< IP bytes of the flow that the bearer's bytes in flight include
    std::uint32_t newest_ts = 0;
    std::uint16_t payload = 1;  ///< payload bytes of the largest packet seen
    std::uint16_t packet = 1;   ///< IP bytes of the largest packet seen
    std::uint16_t offered = 0;  ///< window field of the UE's newest ACK
    bool timed = false;         ///< true if an ACK with a timestamp was received, so that newest_ts is valid
    /// true if the flow is included in the number of end-to-end flows that wait for the controller's window
    bool waits = false;
    /// true if the newest window sent to the server is the UE's own receive window, because the controller's window is
    /// at least as large
    bool has_ue_window = false;
    /// true if the UE's own receive window is below four segments, so that round-trip times include waits in the UE
    bool has_tiny_window = false;
    /// true if the flow is included in the number of short end-to-end flows that wait for the controller's window
    bool short_flow = false;
  };

  /// Updates the flow's contribution to the bearer's totals: its bytes in flight, whether it waits for the controller's
  /// window, and whether it waits as a short flow (less than smvs.short_flow sent).
  static void count(Watched& watched, AckController& controller, Bytes flight, bool waits, bool short_flow);
  /// True if the flow waits for the window that the controller computes for the UE, because that window limits its
  /// server.
  [[nodiscard]] static bool competes(const Watched& watched, const Bearer& bearer);
  /// Returns the data that a segment of the UE newly acknowledges. Returns at most one segment if the UE only reports,
  /// by SACK or a duplicate ACK, that one more segment arrived out of order.
  static control::EndToEndFlowEstimator::Acked read_ack(Watched& watched, const EndToEndFlow& flow,
                                                        const tcp::Segment& segment, Bytes ack, Instant now);

  flow::Slab<Watched> flows_;
};

}  // namespace sluice::proxy
