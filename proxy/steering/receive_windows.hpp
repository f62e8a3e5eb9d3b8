#pragma once

#include "control/second_loop.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/relay/exposure.hpp"
#include "proxy/relay/relay_memory.hpp"

namespace sluice::proxy {

/// The windows that a split connection advertises: to the UE what the relay holds, to the server no more than the
/// second loop wants where reports steer (control::SecondLoopParameters). Thread: the shard's.
class ReceiveWindows {
 public:
  /// What it is given outlives it.
  ReceiveWindows(const Registry& registry, std::uint32_t max_flows, RelayMemory& memory, const Exposure& exposure)
      : registry_(registry), memory_(memory), exposure_(exposure), loops_(max_flows), sliding_(max_flows) {}

  /// Of a connection that has only begun: what window the host behind `from` may be given.
  [[nodiscard]] Bytes first(const Bearer& bearer, Side from) const;
  void update_of_ue(Flow& flow, const Bearer& bearer, Instant now);
  void update_of_server(Flow& flow, Bearer& bearer, Instant now);
  /// Whether what the server sends opens its window where a law steers, and not only what the UE acknowledges. By
  /// acknowledgements the second loop takes together what was advertised, what is held and what is under way, and data
  /// goes from one to the next: of a UE's only moving connection it opens nothing. Of several, the others change the
  /// part of each at any time; where nothing moves no acknowledgement is to come; and a law that takes steps of time
  /// leaves its flows shut.
  [[nodiscard]] static bool data_opens(const Flow& flow, const Bearer& bearer) {
    return !bearer.lead().clocked() || data_opens_if_clocked(flow, bearer);
  }
  /// … by acknowledgements.
  [[nodiscard]] static bool data_opens_if_clocked(const Flow& flow, const Bearer& bearer) {
    return flow.share.shut || !flow.share.moving || bearer.load.moving_flows != 1;
  }
  /// The server has used up the window that the second loop gave it. One that may send nothing for as long as its
  /// retransmission timeout starts anew with ten segments (RFC 5681 section 4.1), and what the link could carry is
  /// missing while that grows. So it is let have two segments now and then: a window of one may be rounded to none.
  [[nodiscard]] static bool is_kept_going(const Flow& flow, const Bearer& bearer, Instant now) {
    return is_nearly_shut(flow) && bearer.lead().clocked() &&
           relay::stalled_for(flow, Side::radio, now) <= kept_going_for;
  }
  /// … or it would be, were the law clocked and the UE not silent for long.
  [[nodiscard]] static bool is_nearly_shut(const Flow& flow) {
    return flow.window_loop != no_id && advertised_to_server(flow) < few_segments(flow);
  }
  /// The flow is to be looked at so soon where it is_kept_going().
  static constexpr Duration look_after = std::chrono::milliseconds(50);
  /// The flow ends.
  void forget(Flow& flow, const Bearer& bearer);

 private:
  /// Either law, by the policy under which the connection began to carry much.
  struct Loop {
    explicit Loop(const control::ReceiveWindowLoop& law) : balance(law) {}
    control::ReceiveWindowLoop balance;
    std::uint32_t sliding = no_id;  ///< its place in `sliding_`, where that law steers it
    Instant open_at{};              ///< when the server was let have a window last
  };
  /// The law's steps are those of time, and it is asked whenever something happens.
  struct Sliding {
    explicit Sliding(const control::SmvsParameters& parameters) : law(parameters) {}
    control::Smvs law;
    Instant next{};  ///< when its next step is due
  };

  /// No timeout is shorter than 200 ms and a round trip, and who looks may be late.
  static constexpr Duration shut_for = std::chrono::milliseconds(100);
  /// Who has not acknowledged anything for longer may not come back, and a new start is little beside that.
  static constexpr Duration kept_going_for = std::chrono::seconds(5);
  /// What the server may still send.
  [[nodiscard]] static Bytes advertised_to_server(const Flow& flow) {
    const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
    return Bytes(server.rcv_edge() - server.rcv_nxt());
  }
  [[nodiscard]] static Bytes few_segments(const Flow& flow) {
    return Bytes(flow.leg(Side::core).endpoint.effective_mss()) * 2;
  }
  [[nodiscard]] static Bytes keep_going(const Flow& flow, const Bearer& bearer, Loop& loop, Bytes room, Bytes most,
                                        Instant now);

  /// Of a connection that holds `held` of what the host behind `in` has sent, of `limit` that it may hold.
  void open_window_without_law(Flow& flow, Side in, Bytes limit, Bytes held) const;
  [[nodiscard]] Loop* loop_of(Flow& flow, const Bearer& bearer, Bytes held) {
    return flow.window_loop != no_id ? &loops_[flow.window_loop] : make_loop(flow, bearer, held);
  }
  [[nodiscard, gnu::noinline]] Loop* make_loop(Flow& flow, const Bearer& bearer, Bytes held);
  [[nodiscard, gnu::noinline]] Bytes slide(const Flow& flow, const Bearer& bearer, Sliding& sliding, Instant now) const;
  [[nodiscard]] Bytes steered_room(const Flow& flow, const Bearer& bearer, control::ReceiveWindowLoop& loop) const;
  [[nodiscard, gnu::cold, gnu::noinline]] Bytes traced_advance(const Flow& flow, const Bearer& bearer,
                                                               control::ReceiveWindowLoop& loop,
                                                               const control::ReceiveWindowObservation& seen) const;

  const Registry& registry_;
  RelayMemory& memory_;
  const Exposure& exposure_;
  flow::Slab<Loop> loops_;
  flow::Slab<Sliding> sliding_;
};

}  // namespace sluice::proxy
