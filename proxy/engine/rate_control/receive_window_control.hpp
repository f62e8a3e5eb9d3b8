#pragma once

#include "control/smvs/second_loop.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow_table/registry.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/relay/undelivered_ack_limit.hpp"

namespace sluice::proxy {

/// Computes the receive windows that a split connection advertises. The UE's window is limited only by the proxy's
/// memory. If a rate controller limits the bearer, the server's window is also limited by a controller of the data
/// between server and UE (control::SecondLoopParameters). Thread: the shard's.
class ReceiveWindowControl {
 public:
  /// Keeps references to its arguments, which outlive the object.
  ReceiveWindowControl(const Registry& registry, std::uint32_t max_flows, RelayBufferQuota& buffer_quota,
                       const UndeliveredAckLimit& ack_limit)
      : registry_(registry),
        buffer_quota_(buffer_quota),
        ack_limit_(ack_limit),
        loops_(max_flows),
        sliding_(max_flows) {}

  /// Returns the first window for the host behind `from`, for a connection that has just begun.
  [[nodiscard]] Bytes first(const Bearer& bearer, Side from) const;
  /// Updates the window advertised to the UE.
  void update_of_ue(Flow& flow, const Bearer& bearer, Instant now);
  /// Updates the window advertised to the server.
  void update_of_server(Flow& flow, Bearer& bearer, Instant now);
  /// True if data from the server changes the server's window, and not only ACKs from the UE. Under the ACK-based
  /// controller the window depends on the sum of advertised, held and in-flight bytes, which arriving data does not
  /// change. Three cases differ:
  /// - with several active connections the others change each one's part at any time;
  /// - without data towards the UE no ACK is to come;
  /// - a controller in time steps leaves flows without a window.
  [[nodiscard]] static bool data_opens(const Flow& flow, const Bearer& bearer) {
    return !bearer.rate_control().is_ack_based() || data_opens_if_ack_based(flow, bearer);
  }
  /// True if data from the server changes the server's window while the ACK-based controller is used.
  [[nodiscard]] static bool data_opens_if_ack_based(const Flow& flow, const Bearer& bearer) {
    return flow.share.window_closed || !flow.share.moving || bearer.load.moving_flows != 1;
  }
  /// True if the server has used up its window and may get two segments at intervals. A server that cannot send for its
  /// retransmission timeout restarts with ten segments (RFC 5681 section 4.1). The link then idles while its congestion
  /// window grows. Two segments are granted because rounding by the window scale may reduce one to none.
  [[nodiscard]] static bool gets_min_window(const Flow& flow, const Bearer& bearer, Instant now) {
    return window_nearly_closed(flow) && bearer.rate_control().is_ack_based() &&
           relay::stall_time(flow, Side::radio, now) <= min_window_granted_for;
  }
  /// True if less than two segments of the server's window are left, and a controller sets that window.
  [[nodiscard]] static bool window_nearly_closed(const Flow& flow) {
    return flow.window_loop != no_id && advertised_to_server(flow) < few_segments(flow);
  }
  /// Delay after which a flow for which gets_min_window() is true is served again.
  static constexpr Duration min_window_check = std::chrono::milliseconds(50);
  /// Removes the controller of the server's window, because the flow ends.
  void forget(Flow& flow, const Bearer& bearer);

 private:
  /// Controller of one connection's server window, of the kind that the policy selected when the connection began to
  /// carry much data.
  struct Loop {
    explicit Loop(const control::ReceiveWindowLoop& law) : balance(law) {}
    control::ReceiveWindowLoop balance;
    std::uint32_t sliding = no_id;  ///< index in `sliding_` if the sliding-mode controller is used
    Instant open_at{};              ///< time at which the server last had an open window
  };
  /// Sliding-mode controller of the server's window. It runs in time steps, but is called at every event.
  struct Sliding {
    explicit Sliding(const control::SmvsParameters& parameters) : law(parameters) {}
    control::Smvs law;
    Instant next{};  ///< time at which the next step is due
  };

  /// Time with a closed window after which a server gets two segments. A retransmission timeout is at least 200 ms plus
  /// a round trip, and the timer may be late.
  static constexpr Duration closed_for = std::chrono::milliseconds(100);
  /// Time without an ACK of new data from the UE after which a server gets no minimum window. A restart of the server
  /// then costs little in comparison.
  static constexpr Duration min_window_granted_for = std::chrono::seconds(5);
  /// Returns the unused part of the window advertised to the server.
  [[nodiscard]] static Bytes advertised_to_server(const Flow& flow) {
    const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
    return Bytes(server.rcv_adv() - server.rcv_nxt());
  }
  /// Returns the bytes of two full segments of the server.
  [[nodiscard]] static Bytes few_segments(const Flow& flow) {
    return Bytes(flow.leg(Side::core).endpoint.effective_mss()) * 2;
  }
  /// Returns the window `room`. If that is less than two segments and a minimum window is due, returns two segments
  /// instead, at most `most`.
  [[nodiscard]] static Bytes grant_min_window(const Flow& flow, const Bearer& bearer, Loop& loop, Bytes room,
                                              Bytes most, Instant now);

  /// Opens the window as far as memory allows, without a controller. `held`: bytes held that the host behind `in` has
  /// sent; `limit`: their quota.
  void open_window_without_law(Flow& flow, Side in, Bytes limit, Bytes held) const;
  /// Returns the connection's second loop (which sets the server's window) and creates it once it carries enough data;
  /// null before.
  [[nodiscard]] Loop* loop_of(Flow& flow, const Bearer& bearer, Bytes held) {
    return flow.window_loop != no_id ? &loops_[flow.window_loop] : make_loop(flow, bearer, held);
  }
  /// Creates the second loop (which sets the server's window) if the connection carries enough data, else returns null.
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
