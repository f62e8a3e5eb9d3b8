#pragma once

#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/passing_traffic.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/rate_control/datagram_downloads.hpp"

namespace sluice::proxy {

/// Returns how many IP bytes of cross traffic (packets of no tracked connection, such as QUIC) an ACK shows to be
/// delivered. Subtracts them from the bytes in flight. These are the packets sent more than `round_trip` ago, because
/// they were sent before the acknowledged segment. `acked` is the number of IP bytes of connections that the ACK
/// acknowledges. Requires bearer.has_cross_traffic_queue().
[[nodiscard, gnu::noinline]] Bytes take_delivered_cross_traffic(Bearer& bearer, Bytes acked, Duration round_trip,
                                                                Instant now);

/// Sends cross traffic to UEs: packets of no tracked connection, such as QUIC. If the bearer's controller knows the
/// length of the radio queue, these packets share its allowed bytes with connections. If no more bytes are allowed,
/// they wait in the UE's FlowQueue. If no controller knows the length of the radio queue, they are forwarded at once.
/// Thread: the shard's.
class CrossTrafficSender {
 public:
  /// Stores a reference to `passing`, the table of flows that are forwarded without control, in which sent packets are
  /// counted. It must outlive this object.
  CrossTrafficSender(const ShardContext& shard, PassingTraffic& passing) : shard_(shard), passing_(passing) {}

  /// Sends or queues the packet. Does nothing and returns false if no controller of the UE knows the length of the
  /// radio queue; the caller then forwards the packet. `reason` is the counter that counts the packet when it is sent.
  [[nodiscard]] bool offer(RxPacket& rx, Bearer& bearer, Counter reason);
  /// Counts a datagram to a UE. `id` is the UE's bearer, or no_flow if it has none. Starts to count the UE's answers if
  /// the datagram's flow is now a download, and neither Node-B reports nor ACKs show what the link delivers. Answers
  /// are the short datagrams that the UE sends back. Returns the UE's bearer, which may be new.
  [[nodiscard]] BearerId find_download(const RxPacket& rx, BearerId id);
  /// True if the proxy may be counting the answers of some UE at `now`, so that on_answer() must be called. Answers are
  /// short datagrams that acknowledge a download.
  [[nodiscard]] bool may_take_answers(Instant now) const { return now < clocks_until_; }
  /// Counts a datagram from a UE as an answer if it is short and belongs to a download whose answers are counted. An
  /// answer then serves as an ACK of the download.
  [[gnu::noinline]] void on_answer(const RxPacket& rx);
  /// True if an ACK has arrived for a bearer that has waiting cross traffic (packets of no tracked connection, such as
  /// QUIC).
  [[nodiscard]] bool any_woken() const { return shard_.registry.any_cross_traffic_woken(); }
  /// Sends waiting cross traffic (packets of no tracked connection, such as QUIC) of the bearers for which an ACK has
  /// arrived.
  [[gnu::noinline]] void serve_woken(Instant now);
  /// Event after which waiting cross traffic (packets of no tracked connection, such as QUIC) may be sent.
  enum class Occasion : std::uint8_t {
    report,  ///< a Node-B report has arrived and given the bearer a new grant (bytes to send)
    other    ///< a packet or an ACK has arrived, or a timer has expired
  };
  /// Sends as many packets of cross traffic as the ACK-based controller's window allows, or the grant of the last
  /// Node-B report (bytes to send). `occasion` is the event because of which more may be allowed now. If no controller
  /// knows the length of the radio queue any more, forwards all waiting packets. Requires
  /// bearer.has_cross_traffic_queue().
  void serve(Bearer& bearer, Occasion occasion, Instant now);
  /// Forwards all waiting packets of the bearer, because nothing limits them any more.
  void flush(Bearer& bearer, Instant now);
  /// Handles the expiry of the bearer's timer. Sends cross traffic (packets of no tracked connection, such as QUIC) if
  /// the controller's window has grown. Stops limiting cross traffic if the controller no longer knows the length of
  /// the radio queue. Stops also if no cross traffic waits or is in flight, unless answers to a download are being
  /// counted.
  void on_due(Bearer& bearer, Instant now);
  /// Returns the time at which on_due() must be called for the bearer; `never` if there is no need.
  [[nodiscard]] static Instant deadline(const Bearer& bearer);
  /// Stops limiting cross traffic (packets of no tracked connection, such as QUIC), because the proxy is about to end.
  /// The caller must then call flush_all().
  void end() { ended_ = true; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Forwards all waiting packets of all bearers. Takes time, because it visits every bearer.
  void flush_all(Instant now);

 private:
  /// True if the bearer's controller knows the length of the radio queue, because Node-B reports or ACKs arrive in
  /// time.
  [[nodiscard]] static bool is_limited(const Bearer& bearer, Instant now);
  /// Snapshot of the window of a bearer's ACK-based controller, and of the numbers of flows that share it. It is used
  /// while one series of waiting packets is sent.
  struct SharedWindow {
    Bytes window;
    /// Number of connections that compete with cross traffic (packets of no tracked connection, such as QUIC) for the
    /// controller's window.
    std::uint32_t others = 0;
    /// Number of short flows (less than smvs.short_flow sent) among the connections and cross-traffic flows that
    /// compete.
    std::uint32_t short_flows = 0;
  };
  [[nodiscard]] static SharedWindow shared_window(const Bearer& bearer, Instant now);
  [[nodiscard]] static Bytes window_left(const Bearer& bearer, const SharedWindow& shared);
  [[nodiscard]] static Bytes grant_left(const Bearer& bearer, Occasion occasion, Instant now);
  [[nodiscard]] static bool may_overdraw(const Bearer& bearer, Bytes bytes, Instant now);
  static void expire_without_acks(Bearer& bearer, Instant now);
  [[nodiscard]] bool transmit(FlowQueue::Popped&& popped, Instant now);
  void count_passed(FlowQueue::Popped& popped, Instant now);
  /// Sends a packet that was taken from the proxy's queue for the UE. Counts its bytes as in flight, or subtracts them
  /// from the grant of the last Node-B report.
  void send(Bearer& bearer, FlowQueue::Popped&& popped, Instant now);
  /// Records how many flows of cross traffic (packets of no tracked connection, such as QUIC) wait. Sets the bearer's
  /// timer to the time at which the controller's window will next grow.
  void update(Bearer& bearer, Instant now);
  [[nodiscard]] BearerId open_for_answers(const RxPacket& rx);
  [[nodiscard]] bool may_release(Bearer& bearer, const SharedWindow& shared, Bytes size, Instant now) const;
  void record_answer(Bearer& bearer, const control::AnswerClock::Delivery& delivery, Instant now);
  void give_up(Bearer& bearer, Instant now);
  [[nodiscard]] bool advance_clock(Bearer& bearer, Instant now);

  const ShardContext shard_;
  PassingTraffic& passing_;
  bool ended_ = false;
  DatagramDownloads downloads_;
  /// time until which some bearer may have an AnswerClock, which counts a UE's answers to a download
  Instant clocks_until_{};
};

}  // namespace sluice::proxy
