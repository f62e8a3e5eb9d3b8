#pragma once

#include <cstdint>
#include <deque>

#include "emulator/cell/ue_queue.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/link/harq.hpp"
#include "emulator/link/reordering.hpp"
#include "emulator/link/rlc.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Hybrid ARQ, reordering and RLC of one UE.
struct AirLinkConfig {
  link::HarqParameters harq;
  link::ReorderingParameters reordering;
  link::RlcParameters rlc;
  /// A block given up with nothing behind it leaves no gap to be seen: so long after, the sender asks (RLC's poll). > 0
  Duration poll = std::chrono::milliseconds(200);
};

/// What one AirLink has done; cumulative.
struct AirLinkCounters {
  std::uint64_t blocks = 0;           ///< transmitted for the first time
  std::uint64_t retransmissions = 0;  ///< of hybrid ARQ
  std::uint64_t received = 0;         ///< blocks, at whichever attempt
  std::uint64_t given_up = 0;         ///< blocks, after the last attempt
  std::uint64_t carried = 0;          ///< bytes on the air of the blocks received
  std::uint64_t repeated = 0;         ///< bytes on the air that RLC sent again
};

/// Is told what an AirLink comes to.
class AirLinkUser {
 public:
  /// The last byte of a packet left the radio queue for the first time.
  virtual void left_queue(const Departed& departed, Instant now) = 0;
  /// Active queue management dropped a packet out of the radio queue, before any of it was transmitted.
  virtual void dropped(const packet::Packet& packet, Bytes length, Instant now) = 0;
  /// A packet has reached the UE, whole and in its turn.
  virtual void arrived(Departed&& departed, Instant now) = 0;
  /// A packet will not reach the UE: bytes of it were lost on the air for good.
  virtual void lost(Departed&& departed, Instant now) = 0;
  /// RLC has something to send again from `when` on.
  virtual void ready_at(Instant when) = 0;

 protected:
  ~AirLinkUser() = default;
};

/// What lies between a UE's radio queue and the UE: transport blocks in hybrid-ARQ processes, put in order behind them,
/// and RLC, which has lost ones sent again or lets the packets they held go.
class AirLink final : public EventTarget {
 public:
  /// `loop` and `user` outlive it. Throws std::invalid_argument when a parameter is out of its range.
  AirLink(EventLoop& loop, const AirLinkConfig& config, AirLinkUser& user);

  /// The block that must be sent again in `tti`; null when there is none. It goes before new data.
  [[nodiscard]] const link::HarqBlock* waiting(std::uint64_t tti) const { return harq_.waiting(tti); }
  /// The first TTI from `from` on with such a block; UINT64_MAX when none waits.
  [[nodiscard]] std::uint64_t next_retransmission(std::uint64_t from) const { return harq_.next(from); }
  /// Bytes on the air that RLC would send again at `now`.
  [[nodiscard]] Bytes repeats(Instant now) const { return rlc_.waiting(now); }
  /// When RLC has something to send again, however long ago; `never` when nothing waits.
  [[nodiscard]] Instant next_repeat() const { return rlc_.next_ready(); }

  /// Sends in `tti`: the waiting block, else a new one of at most `capacity` bytes on `units` of the cell's resources,
  /// of what RLC repeats and then of the queue. Returns the bytes on the air that were received.
  Bytes transmit(std::uint64_t tti, const Grant& grant, Bytes capacity, std::uint32_t units, UeQueue& queue,
                 const Channel& channel, Instant now);
  /// The link is set up anew (handover): what is in processes or waits to be put in order is decided on now, and RLC
  /// sends again what was lost, or lets it go.
  void reset(Instant now);
  /// Everything under way is lost: the UE is gone.
  void abandon(Instant now);
  /// The stall timer or a poll; called by the event loop.
  void on_event(std::uint64_t tag, Instant now) override;

  /// The TTI of the latest transmission; UINT64_MAX before the first.
  [[nodiscard]] std::uint64_t last_tti() const { return last_tti_; }
  /// Packets that left the queue and are not settled.
  [[nodiscard]] std::size_t under_way() const { return held_.size(); }
  [[nodiscard]] const AirLinkCounters& counters() const { return counters_; }

 private:
  /// What a block carries: at most a stretch sent again, then a stretch of new bytes.
  struct Content {
    link::RlcRange repeated;
    link::RlcRange fresh;
  };
  struct Held {
    Departed departed;
    link::RlcRange range;
  };
  static constexpr std::uint64_t stall_tag = UINT64_MAX;  ///< other tags are numbers of blocks that were given up

  link::HarqBlock fill(const Grant& grant, Bytes capacity, std::uint32_t units, UeQueue& queue, Instant now);
  void decide(bool received, Instant now);
  void settle(Instant now);
  void arm();

  EventLoop& loop_;
  AirLinkConfig config_;
  AirLinkUser& user_;
  link::Harq harq_;
  link::ReorderingBuffer reordering_;
  link::Rlc rlc_;
  std::deque<Content> contents_;  ///< of the blocks that are not decided on, in order of their numbers
  Ring<Held> held_;               ///< packets that left the queue, in order
  std::uint64_t next_tsn_ = 0;
  std::uint64_t sent_ = 0;    ///< bytes on the air that left the queue
  std::uint64_t packed_ = 0;  ///< of these, those of whole packets
  std::uint64_t last_tti_ = UINT64_MAX;
  Instant armed_ = never;  ///< for when the event of the stall timer is set
  AirLinkCounters counters_;
};

}  // namespace sluice::emulator
