#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "dataplane/tcp/seq.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/report/delay_digest.hpp"

namespace sluice::emulator {

/// One direction of a TCP connection: from `source` to `destination`.
struct FlowId {
  IpAddress source;
  IpAddress destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  auto operator<=>(const FlowId&) const = default;
  /// The other direction of the same connection.
  [[nodiscard]] FlowId reversed() const { return {destination, source, destination_port, source_port}; }
};

struct FlowIdHash {
  std::size_t operator()(const FlowId& flow) const noexcept;
};

/// Where a downlink segment is seen.
enum class FlightPoint : std::uint8_t {
  server_out,  ///< leaving the server, before the server–proxy hop
  proxy_out,   ///< leaving the proxy, before the proxy–Node-B hop
  ue_in        ///< arriving at the UE
};

/// Follows downlink TCP segments from the server through the proxy to the UE and measures how long their first copies
/// took. A segment is known by its flow and the sequence number behind its last byte; a split proxy that keeps sequence
/// numbers can therefore be measured like a wire. What it reports are queueing delays: the time between two points less
/// the propagation of the hops between them. Recovery of lost segments counts as delay. Thread: one.
class FlightRecorder {
 public:
  struct Propagation {
    Duration server_to_proxy{};
    Duration proxy_to_ue{};
  };
  /// Delays, retransmissions and delivered bytes count from `measure_from` on; earlier segments are followed but not
  /// counted.
  FlightRecorder(Propagation propagation, Instant measure_from)
      : propagation_(propagation), measure_from_(measure_from) {}

  /// A segment with payload passes `point`. `end` is the sequence number behind its payload.
  void data(FlightPoint point, const FlowId& flow, tcp::SeqNum end, std::uint32_t payload_len, Instant now);
  /// The UE's acknowledgement passes the proxy. `flow` is the downlink direction.
  void acknowledged(const FlowId& flow, tcp::SeqNum ack, Instant now);
  /// A FIN leaves the proxy towards the UE: the flow is forgotten once its data is acknowledged.
  void finished(const FlowId& flow);
  /// The connection is over (RST) or a new one begins at the same addresses and ports (SYN).
  void forget(const FlowId& flow);

  [[nodiscard]] const DelayDigest& proxy_to_ue() const { return proxy_to_ue_; }
  [[nodiscard]] const DelayDigest& server_to_ue() const { return server_to_ue_; }
  [[nodiscard]] std::uint64_t server_retransmissions() const { return server_retransmissions_; }
  [[nodiscard]] std::uint64_t proxy_retransmissions() const { return proxy_retransmissions_; }
  /// Segments that reached a UE without having been seen before, or were forgotten because too many were in flight.
  [[nodiscard]] std::uint64_t unmatched() const { return unmatched_; }
  /// Flows that are followed.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }
  /// Payload bytes that each UE has acknowledged.
  [[nodiscard]] const std::map<IpAddress, std::uint64_t>& delivered() const { return delivered_; }
  /// Payload bytes sent past the proxy and not yet acknowledged by the UE, over all flows: the window in use.
  [[nodiscard]] std::uint64_t outstanding() const;

  /// Payload bytes by UE that reached it and that it has not acknowledged yet: they lie behind a hole, or their ACK is
  /// on its way. Bytes of a forgotten segment count with the next one.
  [[nodiscard]] std::map<IpAddress, std::uint64_t> unacknowledged_arrivals() const;

  /// What happened since the last call, for time series: the largest delays, where anything came, and the delivered
  /// bytes.
  struct Interval {
    std::optional<Duration> proxy_to_ue_max;
    std::optional<Duration> server_to_ue_max;
    std::uint64_t delivered = 0;
    std::uint64_t retransmissions = 0;  ///< sent past the proxy again
  };
  [[nodiscard]] Interval take_interval();

 private:
  /// One segment in flight. Positions count bytes from the flow's first segment, so that they never wrap.
  struct Segment {
    std::uint64_t end = 0;
    Instant left_server = never;
    Instant left_proxy = never;
    bool arrived = false;
  };
  struct Flow {
    tcp::SeqNum reference;         ///< a sequence number whose position is known
    std::uint64_t position = 0;    ///< its position
    std::uint64_t server_end = 0;  ///< how far the server, the proxy and the UE's acknowledgements have come
    std::uint64_t proxy_end = 0;
    std::uint64_t acked = 0;
    bool finished = false;
    std::deque<Segment> segments;  ///< by end
  };
  static constexpr std::size_t max_segments = 65536;
  static constexpr std::uint64_t origin = std::uint64_t{1} << 40;  ///< position of the first byte seen

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
