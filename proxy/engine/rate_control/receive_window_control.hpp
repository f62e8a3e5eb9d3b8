#pragma once

#include <algorithm>

#include "control/smvs/second_loop.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/by_value.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow_table/registry.hpp"
#include "proxy/engine/rate_control/upload_limits.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/relay/undelivered_ack_limit.hpp"

namespace sluice::proxy {

/// Computes the receive windows that a split connection advertises. The window advertised to the UE is limited only by
/// the proxy's memory. If a rate controller limits the bearer, a second controller limits the window advertised to the
/// server, and thus the data between server and UE. Thread: the shard's.
class ReceiveWindowControl {
 public:
  /// Stores references to its arguments, which must outlive the object.
  ReceiveWindowControl(const Registry& registry, const ShardLimits& limits, RelayBufferQuota& buffer_quota,
                       const UndeliveredAckLimit& ack_limit)
      : registry_(registry),
        buffer_quota_(buffer_quota),
        ack_limit_(ack_limit),
        loops_(limits.max_flows),
        sliding_(limits.max_flows),
        uploads_(registry, limits) {}

  /// Returns the window that a new connection advertises to the host behind `from` at first.
  [[nodiscard]] Bytes first(const Bearer& bearer, Side from) const;
  /// Updates the window advertised to the UE. The buffer quota limits it, and while the UE has downloads, an upload has
  /// at most the window of its UploadWindow.
  void update_of_ue(Flow& flow, const Bearer& bearer, Instant now);
  /// Updates the window advertised to the server. The second controller computes it if a rate controller limits the
  /// bearer, else the buffer quota limits it.
  void update_of_server(Flow& flow, Bearer& bearer, Instant now);
  /// Returns the limits of the UEs' uploads, which also need each arriving segment.
  [[nodiscard]] UploadLimits& uploads() { return uploads_; }
  /// True if data from the server may change the window that the proxy advertises to it. Without the ACK-based
  /// controller it always may. With that controller, data changes the window in only three cases. Other connections of
  /// the UE have data too, no data is in flight to the UE (no ACK follows), or the window is closed. Otherwise the
  /// window depends only on the sum of advertised, held and in-flight bytes, which arriving data does not change.
  [[nodiscard]] static bool data_opens(const Flow& flow, const Bearer& bearer) {
    return !bearer.rate_control().is_ack_based() || data_opens_if_ack_based(flow, bearer);
  }
  /// True if data from the server may change the window that the proxy advertises to it. Requires that the ACK-based
  /// controller runs.
  [[nodiscard]] static bool data_opens_if_ack_based(const Flow& flow, const Bearer& bearer) {
    return flow.share.window_closed || !flow.share.transferring || bearer.load.transferring_flows != 1;
  }
  /// True if the proxy may open the window advertised to the server to two segments, although the controller has
  /// computed less. Less than two segments of the advertised window must be unused. With so small a window, the server
  /// would be idle for longer than its retransmission timeout. It would then restart with ten segments (RFC 5681
  /// section 4.1). The link would idle meanwhile.
  [[nodiscard]] static bool gets_min_window(const Flow& flow, const Bearer& bearer, Instant now) {
    return window_nearly_closed(flow) && bearer.rate_control().is_ack_based() &&
           relay::stall_time(flow, Side::radio, now) <= min_window_granted_for;
  }
  /// True if a controller determines the window advertised to the server, and less than two segments of that window are
  /// left.
  [[nodiscard]] static bool window_nearly_closed(const Flow& flow) {
    return flow.window_loop != no_id && advertised_to_server(flow) < few_segments(flow);
  }
  /// Interval at which the timer checks whether the window advertised to the server must be opened to two segments.
  /// Used while gets_min_window() is true for the flow.
  static constexpr Duration min_window_check = std::chrono::milliseconds(50);
  /// Destroys the controller of the window advertised to the server and the limit of an upload, because the flow ends.
  void forget(Flow& flow, const Bearer& bearer);

 private:
  /// Controller of the window that the proxy advertises to the server of one connection. It is created once the bytes
  /// sent by the server plus those held for the UE reach half of the first window. That window suffices until then. The
  /// policy at that time selects the kind of controller.
  struct Loop {
    explicit Loop(const control::ReceiveWindowLoop& law) : balance(law) {}
    control::ReceiveWindowLoop balance;
    /// index of the sliding-mode controller (Sliding); no_id if another kind of controller is used
    std::uint32_t sliding = no_id;
    Instant open_at{};  ///< last time at which the window advertised to the server was at least two segments
  };
  /// Sliding-mode controller of the window that the proxy advertises to the server. It is called on many events, but
  /// changes the window only when its next time step is due.
  struct Sliding {
    explicit Sliding(const control::SmvsParameters& parameters) : law(parameters) {}
    control::Smvs law;
    Instant next{};  ///< time of the controller's next step, at which the window may change
  };

  /// Time for which the window advertised to the server must be below two segments before the proxy opens it to two
  /// segments. It is shorter than a retransmission timeout (at least 200 ms plus a round trip), because the proxy's
  /// timer may be late.
  static constexpr Duration closed_for = std::chrono::milliseconds(100);
  /// Time without an ACK of new data from the UE after which the proxy no longer opens a closed window to two segments.
  /// After such a silence of the UE, a slow restart of the server makes little difference.
  static constexpr Duration min_window_granted_for = std::chrono::seconds(5);
  /// Returns how many bytes of the window advertised to the server are still unused.
  [[nodiscard]] static Bytes advertised_to_server(const Flow& flow) {
    const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
    return Bytes(server.rcv_adv() - server.rcv_nxt());
  }
  /// Returns the unit of the window that is advertised to the host behind `in`, in bytes (RFC 7323 section 2.2). The
  /// window is advertised in the other host's name, so the unit is that of the other host's window fields. A smaller
  /// window is rounded down to zero.
  [[nodiscard]] static Bytes window_unit(const Flow& flow, Side in) {
    return Bytes(std::int64_t{1} << flow.leg(opposite(in)).endpoint.snd_shift());
  }
  /// Returns the window to advertise to the host behind `in`: `room` bytes. A positive `room` is raised to one unit
  /// (window_unit()) if `held`, the bytes of that host which the proxy holds, is zero. A window below one unit would be
  /// advertised as zero, and never open again, because without held bytes no delivery would update it.
  [[nodiscard]] static Bytes without_closing(const Flow& flow, Side in, Bytes room, Bytes held) {
    return held <= Bytes{} && room > Bytes{} ? greater(room, window_unit(flow, in)) : room;
  }
  /// Returns the size of two full segments of the server in bytes, or the unit of the window if that is larger.
  [[nodiscard]] static Bytes few_segments(const Flow& flow) {
    return greater(Bytes(flow.leg(Side::core).endpoint.effective_mss()) * 2, window_unit(flow, Side::core));
  }
  /// Returns the window in bytes to advertise to the server: `room`, which the controller has computed. If `room` is
  /// less than two segments and a minimum window is due (see gets_min_window()), returns two segments instead, but at
  /// most `most`.
  [[nodiscard]] static Bytes grant_min_window(const Flow& flow, const Bearer& bearer, Loop& loop, Bytes room,
                                              Bytes most, Instant now);

  /// Opens the window advertised to the host behind `in` as far as memory allows, but at most to `most_unused` bytes
  /// beyond the received ones. `held` is the number of bytes from that host that the proxy holds; `limit` is the quota
  /// of these bytes.
  void open_uncontrolled_window(Flow& flow, Side in, Bytes limit, Bytes held, Bytes most_unused = Bytes::max()) const;
  /// Returns the connection's second control loop, the controller that computes the window advertised to the server.
  /// Creates it once the bytes sent by the server plus those held reach half of the first window; returns null before.
  /// `held` is the number of bytes for the UE that the proxy holds.
  [[nodiscard]] Loop* loop_of(Flow& flow, const Bearer& bearer, Bytes held) {
    return flow.window_loop != no_id ? &loops_[flow.window_loop] : make_loop(flow, bearer, held);
  }
  /// Creates the second control loop, which computes the window advertised to the server. Returns null if the bytes
  /// sent by the server plus those held are less than half of the first window. Also returns null if the maximum number
  /// of controllers exists. `held` is the number of bytes for the UE that the proxy holds.
  [[nodiscard, gnu::noinline]] Loop* make_loop(Flow& flow, const Bearer& bearer, Bytes held);
  /// Returns the window to advertise to the server, computed by the sliding-mode controller.
  [[nodiscard, gnu::noinline]] Bytes slide(const Flow& flow, const Bearer& bearer, Sliding& sliding, Instant now) const;
  /// Returns the window to advertise to the server, computed by the balance controller (control::ReceiveWindowLoop).
  [[nodiscard]] Bytes balance_window(const Flow& flow, const Bearer& bearer, control::ReceiveWindowLoop& loop) const;
  /// Runs one step of control::ReceiveWindowLoop with the observed values `seen`, and records inputs and result in the
  /// decision log. Returns by how many bytes the window may grow.
  [[nodiscard, gnu::cold, gnu::noinline]] Bytes traced_advance(const Flow& flow, const Bearer& bearer,
                                                               control::ReceiveWindowLoop& loop,
                                                               const control::ReceiveWindowObservation& seen) const;

  const Registry& registry_;
  RelayBufferQuota& buffer_quota_;
  const UndeliveredAckLimit& ack_limit_;
  flow::Slab<Loop> loops_;
  flow::Slab<Sliding> sliding_;
  UploadLimits uploads_;
};

}  // namespace sluice::proxy
