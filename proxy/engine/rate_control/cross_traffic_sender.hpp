#pragma once

#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/passing_traffic.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Counts cross traffic (packets that no split connection sends) as delivered if it was sent no later than an
/// acknowledged segment. `round_trip` of that segment shows when it was sent. Lowers the bytes in flight, and returns
/// the IP bytes. `acked`: IP bytes of connections that the ACK covers. Requires bearer.has_cross_traffic_queue().
[[nodiscard, gnu::noinline]] Bytes take_delivered_cross_traffic(Bearer& bearer, Bytes acked, Duration round_trip,
                                                                Instant now);

/// Sends packets to UEs that belong to no split connection, such as QUIC. While a bearer's controller knows the length
/// of the radio queue, the packets use the bearer's window. They wait in the UE's FlowQueue while it is full. Without
/// such a controller they are forwarded at once. Thread: the shard's.
class CrossTrafficSender {
 public:
  /// Records sent packets in `passing`, which outlives the sender.
  CrossTrafficSender(const ShardContext& shard, PassingTraffic& passing) : shard_(shard), passing_(passing) {}

  /// Sends the packet to the UE or queues it. Returns false and does nothing if no controller of the UE knows the radio
  /// queue. The caller then forwards the packet. `reason` is the counter for the packet when it is sent.
  [[nodiscard]] bool offer(RxPacket& rx, Bearer& bearer, Counter reason);
  /// True if an ACK has arrived for a bearer with waiting cross traffic.
  [[nodiscard]] bool any_woken() const { return shard_.registry.any_cross_traffic_woken(); }
  /// Sends cross traffic for the bearers for which an ACK has arrived.
  [[gnu::noinline]] void serve_woken(Instant now);
  /// Event that permits cross traffic to be sent.
  enum class Occasion : std::uint8_t {
    report,  ///< a Node-B report has renewed the bearer's grant (bytes to send)
    other    ///< a packet, an ACK or a timer
  };
  /// Sends the cross traffic that the bearer's window or grant allows. Forwards everything if no controller knows the
  /// radio queue any longer. Requires bearer.has_cross_traffic_queue().
  void serve(Bearer& bearer, Occasion occasion, Instant now);
  /// Forwards all packets that wait for the bearer, because nothing limits them any longer.
  void flush(Bearer& bearer, Instant now);
  /// Handles the bearer's timer: sends cross traffic within a window that has grown, or ends its queueing when nothing
  /// needs it.
  void on_due(Bearer& bearer, Instant now);
  /// Returns when on_due() must be called next.
  [[nodiscard]] static Instant deadline(const Bearer& bearer);
  /// Stops the queueing of cross traffic, because the proxy ends. flush_all() is to follow.
  void end() { ended_ = true; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Forwards all waiting packets of all bearers. Visits every bearer.
  void flush_all(Instant now);

 private:
  /// True if the bearer's controller knows the radio queue: Node-B reports arrive in time, or ACKs do.
  [[nodiscard]] static bool is_limited(const Bearer& bearer, Instant now);
  /// Window of a bearer and the other flows that share it, as of one release of packets.
  struct SharedWindow {
    Bytes window;
    std::uint32_t others = 0;       ///< flows of connections that compete for the window
    std::uint32_t short_flows = 0;  ///< number of short flows among all that compete
  };
  [[nodiscard]] static SharedWindow shared_window(const Bearer& bearer, Instant now);
  [[nodiscard]] static Bytes window_left(const Bearer& bearer, const SharedWindow& shared);
  [[nodiscard]] static Bytes grant_left(const Bearer& bearer, Occasion occasion, Instant now);
  [[nodiscard]] static bool may_overdraw(const Bearer& bearer, Bytes bytes, Instant now);
  static void age_without_acks(Bearer& bearer, Instant now);
  [[nodiscard]] bool transmit(FlowQueue::Popped&& popped, Instant now);
  void count_passed(FlowQueue::Popped& popped, Instant now);
  /// Sends a packet that the fair queue has released.
  void send(Bearer& bearer, FlowQueue::Popped&& popped, Instant now);
  /// Records how many flows wait, and arms the bearer's timer for the time at which the window next opens.
  void update(Bearer& bearer, Instant now);

  const ShardContext shard_;
  PassingTraffic& passing_;
  bool ended_ = false;
};

}  // namespace sluice::proxy
