#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "emulator/cell/air_link.hpp"
#include "emulator/cell/drx.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/tti_clock.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// Times of a UE's scheduling requests, in TTIs.
struct UplinkRequests {
  std::uint64_t period = 10;  ///< period of the UE's opportunities for scheduling requests, in TTIs, > 0
  std::uint64_t phase = 0;    ///< TTI of the first opportunity
  std::uint64_t retry = 320;  ///< TTIs without a new grant after a block until the UE sends another request, > 0

  /// TTIs from a grant to the block that uses it, > 0. The channel is read that many TTIs in advance, because a grant
  /// is sized for the TTI of its block.
  std::uint64_t distance = 4;
};

/// Configuration of one UE of a scheduled uplink.
struct UplinkUeConfig {
  std::vector<IpAddress> addresses;  ///< addresses of the UE, at least one
  QueueConfig queue;                 ///< queue in the UE
  /// Channel model of the UE's uplink; its capacity is that of a whole TTI of the cell.
  std::unique_ptr<Channel> channel;
  Drx* drx = nullptr;  ///< discontinuous reception of the UE, an object that must outlive this one; null: always awake
};

/// Buffer status report that a block carries: the bytes that remain in the UE after this block (TS 36.321 section
/// 6.1.3.1, without rounding to table sizes).
struct BufferStatus {
  /// TTI in which the block with this report was first sent; hybrid ARQ retransmissions do not change it
  std::uint64_t sent = 0;
  Bytes left;  ///< bytes of the UE that the block does not carry, with padding of radio frames
};

/// UE's side of a scheduled uplink: queue, pending scheduling request, hybrid ARQ and RLC. It has no data about other
/// UEs. Thread: the event loop's.
class UplinkUe final : private AirLinkUser {
 public:
  /// Creates the UE. Packets that reach the Node-B go to `next`; `next`, `loop` and `clock` must outlive it. Throws
  /// std::invalid_argument if there is no channel or a parameter is out of its range.
  UplinkUe(UeIndex ue, UplinkUeConfig config, const UplinkRequests& requests, const AirLinkConfig& air, EventLoop& loop,
           TtiClock& clock, Element& next);
  /// Sets the observer of drops and of packets that reached the Node-B. `queueing` in its callbacks is the time from a
  /// packet's arrival in the queue until the Node-B has the packet.
  void set_observer(CellObserver* observer) { observer_ = observer; }

  /// Puts a packet of `length` IP bytes into the queue, or drops it.
  void push(packet::Packet packet, Bytes length, Instant now);

  /// Reads the channel at the start of TTI `tti`. Afterwards link() is valid for this TTI and as many TTIs ahead as
  /// UplinkRequests::distance states.
  void begin(std::uint64_t tti);
  /// Returns the capacity of TTI `tti` for this UE. `tti` may be the current TTI, or up to UplinkRequests::distance
  /// TTIs later.
  [[nodiscard]] const LinkGrant& link(std::uint64_t tti) const { return ahead_[tti % ahead_.size()]; }
  /// Returns the block that hybrid ARQ must retransmit in `tti`; null if there is none.
  [[nodiscard]] const link::HarqBlock* to_repeat(std::uint64_t tti) const { return air_.waiting(tti); }
  /// True if the UE has data that arrived before `now`, or RLC retransmissions.
  [[nodiscard]] bool has_data(Instant now) const { return queue_.ready(now) || air_.repeats(now) > Bytes(0); }

  /// Retransmits the block that to_repeat() returned. Returns its buffer status report if the block was received.
  std::optional<BufferStatus> repeat(std::uint64_t tti, Instant now);
  /// Sends a block of at most `size` bytes on `units` resource blocks. Returns its buffer status report if the block
  /// was received. Without data, the block carries only padding and counts as received.
  std::optional<BufferStatus> send(std::uint64_t tti, Bytes size, std::uint32_t units, Instant now);
  /// Sends a scheduling request in `tti` if one is pending and `tti` is an opportunity for it. Returns true if the
  /// Node-B received the request.
  bool request(std::uint64_t tti, Instant now);

  /// Returns the first TTI from `from` on in which the UE retransmits or may send a scheduling request;
  /// TtiClock::asleep if none is known.
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t from) const;

  /// True if the UE receives at `at`.
  [[nodiscard]] bool awake(Instant at) const { return drx_ == nullptr || drx_->awake(at); }
  /// Records that the UE was granted a TTI or sends a scheduling request. Both keep the UE awake (DRX).
  void active(Instant now);
  [[nodiscard]] Channel& channel() { return *channel_; }
  [[nodiscard]] const UeQueue& queue() const { return queue_; }
  [[nodiscard]] const AirLink& air() const { return air_; }
  /// Returns the number of packets in hybrid ARQ and RLC.
  [[nodiscard]] std::size_t in_flight() const { return air_.in_flight(); }

 private:
  /// Value in place of a TTI number for a timer that is not set.
  static constexpr std::uint64_t not_set = UINT64_MAX;

  /// True if the UE has nothing to send. Data that arrives exactly at `now` counts as data to send.
  [[nodiscard]] bool empty(Instant now) const { return queue_.empty() && air_.repeats(now) == Bytes(0); }
  /// Returns the first opportunity for a scheduling request from TTI `from` on.
  [[nodiscard]] std::uint64_t opportunity(std::uint64_t from) const;
  /// Passes the block to be retransmitted to hybrid ARQ, or a new one of at most `size` bytes on `units` resource
  /// blocks. Returns true if the block was received.
  bool transmit(std::uint64_t tti, Bytes size, std::uint32_t units, Instant now);
  void left_queue(const Departed& departed, Instant now) override;
  void dropped(const packet::Packet& packet, Bytes length, Instant now) override;
  void arrived(Departed&& departed, Instant now) override;
  void lost(Departed&& departed, Instant now) override;
  void ready_at(Instant when) override;
  void drop(const packet::Packet& packet, Bytes length, DropReason reason, Instant now);

  UeIndex ue_;
  UplinkRequests requests_;
  TtiClock& clock_;
  Element& next_;
  UeQueue queue_;
  std::unique_ptr<Channel> channel_;
  AirLink air_;
  Drx* drx_;
  CellObserver* observer_ = nullptr;
  std::vector<LinkGrant> ahead_;  ///< capacities of the next TTIs for this UE; TTI n is at index n modulo the size
  std::uint64_t known_ = 0;       ///< first TTI whose capacity is not known yet
  std::vector<BufferStatus> reported_bsr_;  ///< buffer status reports of the blocks in hybrid ARQ, indexed by process
  bool pending_ = false;                    ///< true if a scheduling request is pending (TS 36.321 section 5.4.4)
  /// TTI in which the UE sends another request unless it gets a grant before (retxBSR-Timer).
  std::uint64_t retry_at_ = not_set;

  /// First TTI in which an RLC retransmission is ready and the UE must send a scheduling request for it.
  std::uint64_t rlc_retx_at_ = not_set;
  /// Time from which on RLC may retransmit, as announced by the latest call of ready_at(). A second call with this time
  /// plans no second scheduling request.
  Instant sr_trigger_time_{};
};

}  // namespace sluice::emulator
