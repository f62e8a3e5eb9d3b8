#pragma once

#include "control/smvs/second_loop.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow_table/registry.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/relay/undelivered_ack_limit.hpp"

namespace sluice::proxy {

/// Computes the receive windows that a split connection advertises. Only the proxy's memory limits the window of the
/// UE. If a rate controller limits the bearer, a second controller also limits the server's window, and thus the data
/// between server and UE (control::SecondLoopParameters). Thread: the shard's.
class ReceiveWindowControl {
 public:
  /// Stores references to its arguments, which must outlive the object.
  ReceiveWindowControl(const Registry& registry, std::uint32_t max_flows, RelayBufferQuota& buffer_quota,
                       const UndeliveredAckLimit& ack_limit)
      : registry_(registry),
        buffer_quota_(buffer_quota),
        ack_limit_(ack_limit),
        loops_(max_flows),
        sliding_(max_flows) {}

  /// Returns the first window that a new connection advertises to the host behind `from`.
  [[nodiscard]] Bytes first(const Bearer& bearer, Side from) const;
  /// Updates the window advertised to the UE.
  void update_of_ue(Flow& flow, const Bearer& bearer, Instant now);
  /// Updates the window advertised to the server.
  void update_of_server(Flow& flow, Bearer& bearer, Instant now);
  /// True if data from the server may change the server's window. Under the ACK-based controller this is rarely so. The
  /// window then depends on the sum of advertised, held and in-flight bytes, which arriving data does not change. Data
  /// matters only in three cases. With several active connections, the others change each one's part. Without data
  /// towards the UE, no ACK follows. The third case is a closed window.
  [[nodiscard]] static bool data_opens(const Flow& flow, const Bearer& bearer) {
    return !bearer.rate_control().is_ack_based() || data_opens_if_ack_based(flow, bearer);
  }
  /// True if data from the server may change the server's window. Requires that the ACK-based controller runs.
  [[nodiscard]] static bool data_opens_if_ack_based(const Flow& flow, const Bearer& bearer) {
    return flow.share.window_closed || !flow.share.moving || bearer.load.moving_flows != 1;
  }
  /// True if the server has used up its window and may get two segments from time to time. A server that cannot send
  /// during its retransmission timeout restarts with ten segments (RFC 5681 section 4.1), and the link idles meanwhile.
  /// Two segments are given, because the window scale may round one to none.
  [[nodiscard]] static bool gets_min_window(const Flow& flow, const Bearer& bearer, Instant now) {
    return window_nearly_closed(flow) && bearer.rate_control().is_ack_based() &&
           relay::stall_time(flow, Side::radio, now) <= min_window_granted_for;
  }
  /// True if less than two segments of the server's window are left and a controller determines that window.
  [[nodiscard]] static bool window_nearly_closed(const Flow& flow) {
    return flow.window_loop != no_id && advertised_to_server(flow) < few_segments(flow);
  }
  /// Interval at which a flow is served while gets_min_window() is true for it.
  static constexpr Duration min_window_check = std::chrono::milliseconds(50);
  /// Destroys the controller of the server's window, because the flow ends.
  void forget(Flow& flow, const Bearer& bearer);

 private:
  /// Controller of the server's window of one connection. The policy that applied when the connection had carried much
  /// data has selected its kind.
  struct Loop {
    explicit Loop(const control::ReceiveWindowLoop& law) : balance(law) {}
    control::ReceiveWindowLoop balance;
    /// index of the sliding-mode controller in `sliding_`; no_id if another kind is used
    std::uint32_t sliding = no_id;
    Instant open_at{};  ///< last time at which the server's window was open
  };
  /// Sliding-mode controller of the server's window. It is called at every event, but changes the window only in time
  /// steps.
  struct Sliding {
    explicit Sliding(const control::SmvsParameters& parameters) : law(parameters) {}
    control::Smvs law;
    Instant next{};  ///< time of the next step
  };

  /// Time with a closed window after which the server gets two segments. It is shorter than a retransmission timeout
  /// (at least 200 ms plus a round trip), because the proxy's timer may be late.
  static constexpr Duration closed_for = std::chrono::milliseconds(100);
  /// Time without an ACK of new data from the UE after which the server gets no minimum window any more. A restart of
  /// the server is then a small additional loss.
  static constexpr Duration min_window_granted_for = std::chrono::seconds(5);
  /// Returns how much of the window advertised to the server is still unused.
  [[nodiscard]] static Bytes advertised_to_server(const Flow& flow) {
    const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
    return Bytes(server.rcv_adv() - server.rcv_nxt());
  }
  /// Returns the size of two full segments of the server in bytes.
  [[nodiscard]] static Bytes few_segments(const Flow& flow) {
    return Bytes(flow.leg(Side::core).endpoint.effective_mss()) * 2;
  }
  /// Returns the window `room`. If `room` is less than two segments and a minimum window is due, returns two segments,
  /// but at most `most`.
  [[nodiscard]] static Bytes grant_min_window(const Flow& flow, const Bearer& bearer, Loop& loop, Bytes room,
                                              Bytes most, Instant now);

  /// Opens the window as far as memory allows, because no controller limits it. `held` is the number of held bytes from
  /// the host behind `in`; `limit` is their quota.
  void open_window_without_law(Flow& flow, Side in, Bytes limit, Bytes held) const;
  /// Returns the connection's second loop, the controller of the server's window. Creates it once the connection
  /// carries enough data; returns null before.
  [[nodiscard]] Loop* loop_of(Flow& flow, const Bearer& bearer, Bytes held) {
    return flow.window_loop != no_id ? &loops_[flow.window_loop] : make_loop(flow, bearer, held);
  }
  /// Creates the second loop, the controller of the server's window, if the connection carries enough data. Otherwise
  /// returns null.
  [[nodiscard, gnu::noinline]] Loop* make_loop(Flow& flow, const Bearer& bearer, Bytes held);
  /// Returns the server's window, computed by the sliding-mode controller.
  [[nodiscard, gnu::noinline]] Bytes slide(const Flow& flow, const Bearer& bearer, Sliding& sliding, Instant now) const;
  /// Returns the server's window, computed by control::ReceiveWindowLoop.
  [[nodiscard]] Bytes balance_window(const Flow& flow, const Bearer& bearer, control::ReceiveWindowLoop& loop) const;
  /// Runs one step of control::ReceiveWindowLoop and records it in the decision log.
  [[nodiscard, gnu::cold, gnu::noinline]] Bytes traced_advance(const Flow& flow, const Bearer& bearer,
                                                               control::ReceiveWindowLoop& loop,
                                                               const control::ReceiveWindowObservation& seen) const;

  const Registry& registry_;
  RelayBufferQuota& buffer_quota_;
  const UndeliveredAckLimit& ack_limit_;
  flow::Slab<Loop> loops_;
  flow::Slab<Sliding> sliding_;
};

}  // namespace sluice::proxy
