#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "dataplane/units/ip_address.hpp"
#include "emulator/cell/air_link.hpp"
#include "emulator/cell/backlog_sum.hpp"
#include "emulator/cell/drx.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/tti_clock.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// A UE and its way down.
struct UeConfig {
  IpAddress address;
  QueueConfig queue;
  std::unique_ptr<Channel> channel;  ///< made for the cell's TTI
  Element* towards_ue = nullptr;     ///< where departing packets go; null = the cell's
  /// Hybrid ARQ, reordering and RLC. Without, a lost block's data stays in the queue.
  std::optional<AirLinkConfig> air = std::nullopt;
  /// Without hybrid ARQ: after so many lost blocks in a row the packets the last one would have completed are dropped
  /// (n of the CLAMP paper); 0 = never.
  std::uint32_t attempts = 0;
  std::uint32_t sector = 0;  ///< of the Node-B's cells the one it is in
  double loss = 0;           ///< share of the packets that leave and are lost on the air for good, 0 … 1
  double loss_run = 1;       ///< mean number of packets that are lost in a row, >= 1; 1: each is drawn by itself
  Random loss_draws{0};
  Drx* drx = nullptr;  ///< when it listens; outlives this; null: always
  bool here = true;    ///< false: it is with another Node-B at first
};

/// What a block of a TTI came to.
struct Transmitted {
  Bytes carried;         ///< bytes on the air that reached the UE, or the end of the queue
  bool received = true;  ///< false: the block was lost
};

/// The way down to one UE of a Node-B: its radio queue, its channel, hybrid ARQ and RLC where it has them, and what
/// becomes of packets on the air. Knows nothing of other UEs. Thread: the loop's.
class Downlink final : private AirLinkUser, private DrxUser {
 public:
  /// `ue`: its number, for the observer. Throws std::invalid_argument when there is no channel or a parameter is out of
  /// its range. `config.towards_ue` is set; it, `loop` and `clock` outlive this.
  Downlink(UeIndex ue, UeConfig config, EventLoop& loop, TtiClock& clock);
  /// Sets who is told of what leaves the queue, and of what is dropped; null: nobody is.
  void set_observer(CellObserver* observer) { observer_ = observer; }
  void add_to(BacklogSum& sum) { sum.add(queue_); }

  /// Into the queue; false when it was dropped.
  bool push(packet::Packet&& packet, Bytes length, Instant now);
  /// What the queue holds leaves again: it is dropped with what is on its way to the UE.
  void flush(DropReason reason, Instant now);
  /// Hands all that on instead, in its order: to another Node-B. What is not known to have reached the UE goes again.
  void hand_on(Element& to, Instant now);
  /// A packet for a UE that is not here any more is handed on without waiting, or dropped.
  void pass_on(packet::Packet packet, Bytes length, Element& to, Instant now);
  void turn_away(const packet::Packet& packet, Bytes length, DropReason reason, Instant now);
  /// The next packet, which is pushed, passed on or turned away, was handed on by another Node-B.
  void note_taken_over(Bytes length) { queue_.take_over(length); }
  /// Sets hybrid ARQ and RLC up anew, where it has any.
  void reset_link(Instant now);

  /// The first TTI from `from` on that it has something to send in; TtiClock::asleep when nothing waits.
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t from);
  // Of every UE in every TTI, and therefore here.
  /// As the scheduler sees it in `tti`, apart from the quality.
  [[nodiscard]] Candidate candidate(std::uint64_t tti, bool is_backlogged) {
    const Grant& grant = channel_->at(tti);
    return {ue_, is_backlogged, grant.capacity, 0, grant.cqi, queue_.short_head()};
  }
  /// It has new data, or data that RLC repeats, to send in `tti`.
  [[nodiscard]] bool backlogged(std::uint64_t tti, Instant now) const {
    if (drx_ != nullptr && !drx_->awake(now)) return false;
    if (air_ == nullptr) return queue_.ready(now);
    // A UE has one process per TTI; what sent a block again in this one has no other.
    const bool taken = air_->last_tti() == tti;
    return !taken && (queue_.ready(now) || air_->repeats(now) > Bytes(0));
  }
  /// The block that must be sent again in `tti`; null when there is none.
  [[nodiscard]] const link::HarqBlock* to_repeat(std::uint64_t tti) const {
    return air_ != nullptr ? air_->waiting(tti) : nullptr;
  }
  /// Sends that one. Returns the bytes on the air that were received.
  Bytes repeat(std::uint64_t tti, Instant now);
  /// Sends a block in `tti` of at most `capacity` bytes, on `units` of the TTI.
  Transmitted transmit(std::uint64_t tti, Bytes capacity, std::uint32_t units, Instant now);
  /// Bytes on the air that it would send now, had it all the time.
  [[nodiscard]] Bytes pending(Instant now) const;

  [[nodiscard]] const UeQueue& queue() const { return queue_; }
  [[nodiscard]] Channel& channel() { return *channel_; }
  /// Hybrid ARQ and RLC; null when it has none.
  [[nodiscard]] const AirLink* air() const { return air_.get(); }
  /// Use of its link by TTIs that began before `now`, which never goes back.
  [[nodiscard]] LinkUse use(Instant now);

 private:
  /// What becomes of packets on the air whose link is given up.
  struct Parting {
    DropReason reason = DropReason::air;
    Element* onwards = nullptr;  ///< they are handed on; null: dropped
  };
  void part(const Parting& parting, Instant now);
  void end_idle(Instant now);
  void begin_idle(std::uint64_t tti, Instant now);
  Bytes serve(Bytes capacity, Instant now);
  void drop_after_attempts(Bytes capacity, Instant now);
  void drop(const packet::Packet& packet, Bytes length, DropReason reason, Instant now);
  void left_queue(const Departed& departed, Instant now) override;
  void dropped(const packet::Packet& packet, Bytes length, Instant now) override;
  void arrived(Departed&& departed, Instant now) override;
  void lost(Departed&& departed, Instant now) override;
  [[nodiscard]] bool is_lost();
  void ready_at(Instant when) override;
  void on_active(Instant now) override;
  /// The first TTI from `from` on in which the UE listens, as far as is known.
  [[nodiscard]] std::uint64_t listening(std::uint64_t from) const;

  UeIndex ue_;
  TtiClock& clock_;
  UeQueue queue_;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<AirLink> air_;
  Element& towards_ue_;
  CellObserver* observer_ = nullptr;
  Parting parting_;
  std::uint32_t attempts_;
  std::uint32_t failures_ = 0;  ///< lost blocks in a row
  double loss_;
  double loss_run_;
  bool losing_ = false;  ///< the last packet was lost
  Random loss_draws_;
  Drx* drx_;
  std::uint64_t airtime_ = 0;    ///< units that it was given
  std::uint64_t idle_from_ = 0;  ///< bytes that the channel had offered when the queue ran empty
  Instant idle_since_{};
};

}  // namespace sluice::emulator
