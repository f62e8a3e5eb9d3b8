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

/// Configuration of one UE and of its downlink path.
struct UeConfig {
  IpAddress address;
  QueueConfig queue;
  std::unique_ptr<Channel> channel;  ///< channel model, made for the cell's TTI

  /// Element that receives the packets sent to the UE; null: the cell's `towards_ue`.
  Element* towards_ue = nullptr;
  /// Parameters of hybrid ARQ, reordering and RLC. If absent, the data of a lost block stays in the queue.
  std::optional<AirLinkConfig> air = std::nullopt;
  /// Number of consecutive lost blocks after which packets are dropped (n of the CLAMP paper, Andrew, Hanly and
  /// Mukhtar, TMC 2008). The dropped packets are those that the last of these blocks would have completed. 0: lost
  /// blocks drop no packets. Used without hybrid ARQ only.
  std::uint32_t attempts = 0;
  std::uint32_t sector = 0;  ///< number of the UE's sector (cell) in its Node-B
  double loss = 0;           ///< share of transmitted packets that are permanently lost on the air, 0 … 1
  double loss_run = 1;       ///< mean number of consecutive lost packets, >= 1; 1: losses are independent
  Random loss_draws{0};      ///< random numbers that decide which packets are lost
  Drx* drx = nullptr;  ///< discontinuous reception of the UE, an object that must outlive this one; null: always awake
  bool here = true;    ///< true: the UE starts at this Node-B; false: at another one
};

/// Outcome of one transport block.
struct Transmitted {
  /// Bytes, with padding of radio frames, that the UE received or, without hybrid ARQ, that left the queue.
  Bytes carried;
  bool received = true;  ///< false: the block was lost
};

/// Downlink path of one UE of a Node-B: radio queue, channel, optional hybrid ARQ and RLC, and the losses on the air.
/// It has no data about other UEs. Thread: the event loop's.
class Downlink final : private AirLinkUser, private DrxUser {
 public:
  /// Creates the path of UE number `ue`. `config.towards_ue` must be set; `loop`, `clock` and that element must outlive
  /// this. Throws std::invalid_argument if there is no channel or a parameter is out of its range.
  Downlink(UeIndex ue, UeConfig config, EventLoop& loop, TtiClock& clock);
  /// Sets the observer of departures and drops; null removes it.
  void set_observer(CellObserver* observer) { observer_ = observer; }
  /// Makes `sum`, the total backlog of the cell, include the queue of this UE from now on.
  void add_to(BacklogSum& sum) { sum.add(queue_); }

  /// Puts a packet of `length` IP bytes into the queue. Returns false if it was dropped.
  bool push(packet::Packet&& packet, Bytes length, Instant now);
  /// Empties the queue and the air link; all packets are dropped for `reason`.
  void flush(DropReason reason, Instant now);
  /// Forwards all packets in order to another Node-B. Packets that were sent on the air are included unless the UE has
  /// received them completely.
  void forward_all(Element& to, Instant now);
  /// Forwards a packet of `length` IP bytes to `to` without queueing it, because its UE has left this Node-B.
  void pass_on(packet::Packet packet, Bytes length, Element& to, Instant now);
  /// Drops an arriving packet of `length` IP bytes without queueing it, and counts it as arrived and dropped.
  void reject(const packet::Packet& packet, Bytes length, DropReason reason, Instant now);
  /// Counts the packet of the next push(), pass_on() or reject() as forwarded by another Node-B. `length` is its
  /// size in IP bytes.
  void record_taken_over(Bytes length) { queue_.take_over(length); }
  /// Resets hybrid ARQ and RLC as in a handover within the Node-B, if the UE has them. RLC then retransmits or gives up
  /// the bytes that the reset removes from hybrid ARQ.
  void reset_link(Instant now);

  /// Returns the first TTI from `from` on in which this downlink has something to send; TtiClock::asleep if nothing
  /// waits.
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t from);
  // The following functions are inline because they are called for every UE in every TTI.
  /// Returns what the scheduler must know about this UE in `tti`. Candidate::quality_db is 0; the caller sets it if the
  /// scheduler uses the SNR. `is_backlogged` is the result of backlogged() for this TTI.
  [[nodiscard]] Candidate candidate(std::uint64_t tti, bool is_backlogged) {
    const LinkGrant& grant = channel_->at(tti);
    return {ue_, is_backlogged, grant.capacity, 0, grant.cqi, queue_.short_head()};
  }
  /// True if the UE is awake and has new data or RLC retransmissions to send in `tti`.
  [[nodiscard]] bool backlogged(std::uint64_t tti, Instant now) const {
    if (drx_ != nullptr && !drx_->awake(now)) return false;
    if (air_ == nullptr) return queue_.ready(now);
    // A UE has one hybrid-ARQ process per TTI, so a TTI with a retransmission takes no new block.
    const bool taken = air_->last_tti() == tti;
    return !taken && (queue_.ready(now) || air_->repeats(now) > Bytes(0));
  }
  /// Returns the block that hybrid ARQ must retransmit in `tti`; null if there is none.
  [[nodiscard]] const link::HarqBlock* to_repeat(std::uint64_t tti) const {
    return air_ != nullptr ? air_->waiting(tti) : nullptr;
  }
  /// Retransmits the block that to_repeat() returned. Returns the bytes that were received, with padding of radio
  /// frames.
  Bytes repeat(std::uint64_t tti, Instant now);
  /// Sends a block of at most `capacity` bytes in `tti`, on `units` of its resource blocks. Returns the outcome of the
  /// block.
  Transmitted transmit(std::uint64_t tti, Bytes capacity, std::uint32_t units, Instant now);
  /// Returns the bytes that wait for transmission to the UE now: its queue and RLC retransmissions, with padding of
  /// radio frames.
  [[nodiscard]] Bytes pending(Instant now) const;

  [[nodiscard]] const UeQueue& queue() const { return queue_; }
  [[nodiscard]] Channel& channel() { return *channel_; }
  /// Returns the hybrid ARQ and RLC of the UE; null if it has none.
  [[nodiscard]] const AirLink* air() const { return air_.get(); }
  /// Returns how much the UE's link could carry and has carried in the TTIs that began before `now`. `now` must not
  /// decrease. `blocks` is the number of resource blocks of a TTI.
  [[nodiscard]] LinkUse use(Instant now, std::uint32_t blocks);

 private:
  /// States what happens to the packets in hybrid ARQ and RLC when a handover abandons both.
  struct HandoverContext {
    DropReason reason = DropReason::air;  ///< reason recorded for the packets, if they are dropped
    Element* onwards = nullptr;           ///< receives the packets that were on the air; null: they are dropped
  };
  /// Abandons hybrid ARQ and RLC. Packets in them that the UE has not received completely are forwarded or dropped as
  /// `handover_context` states.
  void part(const HandoverContext& handover_context, Instant now);
  void end_idle(Instant now);
  void begin_idle(std::uint64_t tti, Instant now);
  /// Transmits at most `capacity` bytes from the queue of a UE that has no hybrid ARQ and RLC. Returns the bytes used,
  /// with padding of radio frames.
  Bytes serve(Bytes capacity, Instant now);
  void drop_after_attempts(Bytes capacity, Instant now);
  void drop(const packet::Packet& packet, Bytes length, DropReason reason, Instant now);
  void left_queue(const Departed& departed, Instant now) override;
  void dropped(const packet::Packet& packet, Bytes length, Instant now) override;
  void arrived(Departed&& departed, Instant now) override;
  void lost(Departed&& departed, Instant now) override;
  /// Decides at random whether the next packet is lost on the air.
  [[nodiscard]] bool is_lost();
  void ready_at(Instant when) override;
  void on_active(Instant now) override;
  /// Returns the first TTI from `from` on in which the UE is awake (DRX), if no activity wakes it earlier.
  [[nodiscard]] std::uint64_t next_reception(std::uint64_t from) const;

  UeIndex ue_;
  TtiClock& clock_;
  UeQueue queue_;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<AirLink> air_;
  Element& towards_ue_;
  CellObserver* observer_ = nullptr;
  HandoverContext handover_context_;
  std::uint32_t attempts_;
  std::uint32_t failures_ = 0;  ///< consecutive lost blocks
  double loss_;
  double loss_run_;
  bool losing_ = false;  ///< state of the two-state loss model: true if the last packet was lost on the air
  Random loss_draws_;
  Drx* drx_;
  std::uint64_t airtime_ = 0;  ///< resource blocks (or TTIs) allocated to this UE so far

  /// Bytes that the channel could have carried from the start of the run until the queue last became empty. ABC
  /// (Accel-Brake Control) computes from them what the link could have carried while the queue was empty.
  std::uint64_t idle_from_ = 0;
  Instant idle_since_{};
};

}  // namespace sluice::emulator
