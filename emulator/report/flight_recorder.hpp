#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "dataplane/packet/seq.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/report/delay_digest.hpp"

namespace sluice::emulator {

/// One direction of a TCP connection: source and destination, with addresses and ports.
struct FlowId {
  IpAddress source;
  IpAddress destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  auto operator<=>(const FlowId&) const = default;
  /// Returns the opposite direction of the connection.
  [[nodiscard]] FlowId reversed() const { return {destination, source, destination_port, source_port}; }
};

struct FlowIdHash {
  std::size_t operator()(const FlowId& flow) const noexcept;
};

/// Point at which a downlink segment is observed.
enum class FlightPoint : std::uint8_t {
  server_out,  ///< the segment leaves the server, in front of the server–proxy hop
  proxy_out,   ///< the segment leaves the proxy, in front of the proxy–Node-B hop
  ue_in        ///< the segment arrives at the UE
};

/// Follows downlink TCP segments from the server through the proxy to the UE, and measures the delay of the first
/// transmission of each segment. A segment is identified by its flow and the sequence number after its last byte, so
/// the proxy must keep sequence numbers. Delays are queueing delays: the time between two points minus the propagation
/// delay between them, loss recovery included. Thread: one.
class FlightRecorder {
 public:
  struct Propagation {
    Duration server_to_proxy{};
    Duration proxy_to_ue{};
  };
  /// Counts delays, retransmissions and delivered bytes from `measure_from` on. Earlier segments are tracked but not
  /// counted.
  FlightRecorder(Propagation propagation, Instant measure_from)
      : propagation_(propagation), measure_from_(measure_from) {}

  /// Records that a segment with payload passes `point`. `end` is the sequence number of the byte after its payload,
  /// and `payload_len` the payload's length in bytes.
  void data(FlightPoint point, const FlowId& flow, tcp::SeqNum end, std::uint32_t payload_len, Instant now);
  /// Records that an ACK of the UE passes the proxy. `flow` is the downlink direction.
  void acknowledged(const FlowId& flow, tcp::SeqNum ack, Instant now);
  /// Records a FIN from the proxy towards the UE. The flow is removed once the UE has acknowledged its data.
  void finished(const FlowId& flow);
  /// Removes the state of a flow, after a RST or because a SYN starts a new connection on the same ports.
  void forget(const FlowId& flow);

  [[nodiscard]] const DelayDigest& proxy_to_ue() const { return proxy_to_ue_; }
  [[nodiscard]] const DelayDigest& server_to_ue() const { return server_to_ue_; }
  [[nodiscard]] std::uint64_t server_retransmissions() const { return server_retransmissions_; }
  [[nodiscard]] std::uint64_t proxy_retransmissions() const { return proxy_retransmissions_; }
  /// Returns the number of segments whose delay is unknown. They reached a UE without having been observed before, or
  /// were no longer tracked because too many were in flight.
  [[nodiscard]] std::uint64_t unmatched() const { return unmatched_; }
  /// Returns the number of tracked flows.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }
  /// Returns the payload bytes that each UE has acknowledged.
  [[nodiscard]] const std::map<IpAddress, std::uint64_t>& delivered() const { return delivered_; }
  /// Returns the payload bytes in flight between proxy and UEs, over all flows.
  [[nodiscard]] std::uint64_t outstanding() const;

  /// Returns for each UE the payload bytes that it has received and not yet acknowledged. Either they follow a sequence
  /// gap, or their ACK is in flight. If a segment is no longer tracked, its bytes count with the next one.
  [[nodiscard]] std::map<IpAddress, std::uint64_t> unacknowledged_arrivals() const;

  /// Values since the last call of take_interval(), for time series: the largest delays, if any segment arrived, and
  /// the delivered bytes.
  struct Interval {
    std::optional<Duration> proxy_to_ue_max;
    std::optional<Duration> server_to_ue_max;
    std::uint64_t delivered = 0;
    std::uint64_t retransmissions = 0;  ///< retransmitted segments that passed the output of the proxy towards the UEs
  };
  /// Returns the values of the interval and starts the next one.
  [[nodiscard]] Interval take_interval();

 private:
  /// One segment in flight. Positions count the bytes of the stream. Unlike sequence numbers, they never wrap.
  struct Segment {
    std::uint64_t end = 0;
    Instant left_server = never;
    Instant left_proxy = never;
    bool arrived = false;
  };
  struct Flow {
    tcp::SeqNum reference;       ///< sequence number of a byte whose stream position is known
    std::uint64_t position = 0;  ///< stream position of the byte with the sequence number `reference`

    /// Stream position after the last byte that the server has sent. `proxy_end` is the position after the last byte
    /// that the proxy has sent, and `acked` the position up to which the UE has acknowledged.
    std::uint64_t server_end = 0;
    std::uint64_t proxy_end = 0;
    std::uint64_t acked = 0;
    bool finished = false;
    std::deque<Segment> segments;  ///< observed segments in flight, ordered by their end in the stream
  };
  static constexpr std::size_t max_segments = 65536;
  /// Position of the first byte observed. It is far above 0, so that bytes before it in the stream have positive
  /// positions.
  static constexpr std::uint64_t origin = std::uint64_t{1} << 40;

  [[nodiscard]] Flow& flow_at(const FlowId& id, tcp::SeqNum first_seen);
  [[nodiscard]] static std::uint64_t position_of(Flow& flow, tcp::SeqNum number);
  [[nodiscard]] static Segment* find(Flow& flow, std::uint64_t end);
  Segment& find_or_insert(Flow& flow, std::uint64_t end);
  void leaves_server(Flow& flow, std::uint64_t end, Instant now);
  void leaves_proxy(Flow& flow, std::uint64_t end, Instant now);
  void arrives(Flow& flow, std::uint64_t end, Instant now);

  Propagation propagation_;
  Instant measure_from_;
  std::unordered_map<FlowId, Flow, FlowIdHash> flows_;
  std::map<IpAddress, std::uint64_t> delivered_;
  DelayDigest proxy_to_ue_;
  DelayDigest server_to_ue_;
  std::uint64_t server_retransmissions_ = 0;
  std::uint64_t proxy_retransmissions_ = 0;
  std::uint64_t unmatched_ = 0;
  Interval interval_;
};

}  // namespace sluice::emulator
