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

/// Parameters of one UE's hybrid ARQ, reordering buffer and RLC.
struct AirLinkConfig {
  link::HarqParameters harq;
  link::ReorderingParameters reordering;
  link::RlcParameters rlc;
  /// Time > 0 from giving up a block in hybrid ARQ until an RLC poll informs the receiver of the loss. The poll is
  /// needed because the receiver sees no sequence gap if no block follows.
  Duration poll = std::chrono::milliseconds(200);
};

/// Cumulative counters of one AirLink.
struct AirLinkCounters {
  std::uint64_t blocks = 0;           ///< transport blocks transmitted for the first time
  std::uint64_t retransmissions = 0;  ///< hybrid-ARQ retransmissions of blocks
  std::uint64_t received = 0;         ///< blocks received, at whichever attempt
  std::uint64_t given_up = 0;         ///< blocks given up after the last attempt
  std::uint64_t carried = 0;          ///< bytes of the received blocks, with padding of radio frames
  std::uint64_t repeated = 0;         ///< bytes that RLC retransmitted, with padding of radio frames
};

/// Callbacks of an AirLink: whether each packet arrived or was lost, and when RLC has data to retransmit.
class AirLinkUser {
 public:
  /// Called when the last byte of a packet has left the radio queue. Retransmissions on the air do not repeat the call.
  virtual void left_queue(const Departed& departed, Instant now) = 0;
  /// Called when active queue management drops a packet from the radio queue, before any byte of it is transmitted.
  /// `length` is the packet's size in IP bytes.
  virtual void dropped(const packet::Packet& packet, Bytes length, Instant now) = 0;
  /// Called when a packet has reached the receiver, complete and in order.
  virtual void arrived(Departed&& departed, Instant now) = 0;
  /// Called when a packet will not reach the receiver, because bytes of it were lost on the air and RLC gave them up.
  virtual void lost(Departed&& departed, Instant now) = 0;
  /// Called when lost data waits for an RLC retransmission, and again while it waits. `when` is the earliest time at
  /// which RLC may retransmit some of it.
  virtual void ready_at(Instant when) = 0;

 protected:
  ~AirLinkUser() = default;
};

/// Path from a radio queue to its receiver. Hybrid-ARQ processes carry transport blocks, and a buffer restores the
/// order of the blocks. RLC then retransmits lost blocks (acknowledged mode) or gives up the packets with missing bytes
/// (unacknowledged mode). Thread: the event loop's.
class AirLink final : public EventTarget {
 public:
  /// Creates an idle link. `loop` and `user` must outlive it. Throws std::invalid_argument if a parameter is out of its
  /// range.
  AirLink(EventLoop& loop, const AirLinkConfig& config, AirLinkUser& user);

  /// Returns the block that hybrid ARQ must retransmit in `tti`, before any new data; null if there is none.
  [[nodiscard]] const link::HarqBlock* waiting(std::uint64_t tti) const { return harq_.waiting(tti); }
  /// Returns the first TTI from `from` on with a hybrid-ARQ retransmission; UINT64_MAX if no block waits for one.
  [[nodiscard]] std::uint64_t next_retransmission(std::uint64_t from) const { return harq_.next(from); }
  /// Returns how many lost bytes wait for an RLC retransmission whose delay (RlcParameters::status_delay) has passed at
  /// `now`. Padding of radio frames is included.
  [[nodiscard]] Bytes repeats(Instant now) const { return rlc_.waiting(now); }
  /// Returns the earliest time at which repeats() is above 0, possibly in the past; `never` if RLC has nothing to
  /// retransmit.
  [[nodiscard]] Instant next_repeat() const { return rlc_.next_ready(); }

  /// Sends one block in `tti`: the block that hybrid ARQ must retransmit, or else a new block of at most `capacity`
  /// bytes. A new block first contains lost bytes that RLC retransmits, then data from `queue`. `units` is the number
  /// of resource blocks used. Returns the bytes of the block that were received, with padding; 0 if the block was lost.
  Bytes transmit(std::uint64_t tti, const LinkGrant& grant, Bytes capacity, std::uint32_t units, UeQueue& queue,
                 const Channel& channel, Instant now);
  /// Re-establishes the link at a handover. Blocks in hybrid-ARQ processes are lost, and blocks in the reordering
  /// buffer are delivered. RLC then retransmits the missing bytes or gives them up.
  void reset(Instant now);
  /// Gives up all packets in flight, because the downlink is emptied at a handover or when the UE leaves. The user is
  /// notified of each packet: by arrived() if all of its bytes have already been received, otherwise by lost().
  void abandon(Instant now);
  /// Handles the stall timer of reordering, or the poll for a block that was given up. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;

  /// Returns the TTI of the latest transmission; UINT64_MAX before the first.
  [[nodiscard]] std::uint64_t last_tti() const { return last_tti_; }
  /// Returns the number of packets that left the queue and are neither delivered nor lost yet.
  [[nodiscard]] std::size_t in_flight() const { return held_.size(); }
  [[nodiscard]] const AirLinkCounters& counters() const { return counters_; }

 private:
  /// Contents of one block: at most one range of RLC retransmissions, followed by one range of new bytes.
  struct Content {
    link::RlcRange repeated;  ///< bytes that RLC retransmits
    link::RlcRange fresh;     ///< range of bytes that the block sends for the first time
  };
  /// A packet that left the queue, with its position in the stream of bytes that were sent over the air, padding
  /// included.
  struct Held {
    Departed departed;
    link::RlcRange range;
  };
  /// Event tag of the stall timer; any other tag is the number of a block that was given up.
  static constexpr std::uint64_t stall_tag = UINT64_MAX;

  /// Builds a new block of at most `capacity` bytes from RLC retransmissions and the queue. `units` is the number of
  /// resource blocks that it uses.
  link::HarqBlock fill(const LinkGrant& grant, Bytes capacity, std::uint32_t units, UeQueue& queue, Instant now);
  /// Informs RLC whether the oldest block whose outcome was unknown has been received or lost.
  void decide(bool received, Instant now);
  /// Calls arrived() or lost() of the user for each packet, in order, that RLC has delivered or given up. Informs the
  /// user when RLC may next retransmit, and sets the stall timer of reordering.
  void release_completed(Instant now);
  /// Schedules an event for the expiry of the stall timer of reordering, unless an event at that time or earlier is
  /// scheduled.
  void arm();

  EventLoop& loop_;
  AirLinkConfig config_;
  AirLinkUser& user_;
  link::Harq harq_;
  link::ReorderingBuffer reordering_;
  link::Rlc rlc_;
  std::deque<Content> contents_;  ///< contents of the blocks in flight, by transmission sequence number
  Ring<Held> held_;               ///< packets that left the queue and are neither delivered nor lost yet, in order
  std::uint64_t next_tsn_ = 0;
  std::uint64_t sent_ = 0;  ///< bytes that have left the queue so far, with padding of radio frames
  /// Bytes of all packets that have left the queue completely, with padding of radio frames.
  std::uint64_t packed_ = 0;
  std::uint64_t last_tti_ = UINT64_MAX;
  Instant armed_ = never;  ///< time of the earliest pending event of the stall timer, which ends reordering
  AirLinkCounters counters_;
};

}  // namespace sluice::emulator
