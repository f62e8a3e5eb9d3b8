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

/// When a UE may ask, in TTIs.
struct UplinkRequests {
  std::uint64_t period = 10;   ///< of its opportunities for scheduling requests, > 0
  std::uint64_t phase = 0;     ///< the first of these
  std::uint64_t retry = 320;   ///< it asks again when so long after a block nothing was granted, > 0
  std::uint64_t distance = 4;  ///< from a grant to its block, > 0: so far ahead its channel is known
};

/// One UE of a scheduled uplink.
struct UplinkUeConfig {
  std::vector<IpAddress> addresses;  ///< the UE's, at least one
  QueueConfig queue;                 ///< in the UE
  std::unique_ptr<Channel> channel;  ///< what a whole TTI carries, made for the cell's TTI
  Drx* drx = nullptr;                ///< outlives it; null: the UE always listens
};

/// What a UE tells its Node-B with a block: what it had behind it (TS 36.321 section 6.1.3.1, without the rounding to a
/// table's sizes).
struct BufferStatus {
  std::uint64_t sent = 0;  ///< the TTI in which the block was sent for the first time
  Bytes left;              ///< bytes on the air
};

/// The UE's half of a scheduled uplink: its queue, the request that is pending, its blocks in hybrid ARQ, and RLC.
/// Knows nothing of other UEs. Thread: the loop's.
class UplinkUe final : private AirLinkUser {
 public:
  /// `next`, where packets go that have come to the Node-B, `loop` and `clock` outlive it. Throws std::invalid_argument
  /// when there is no channel or a parameter is out of its range.
  UplinkUe(UeIndex ue, UplinkUeConfig config, const UplinkRequests& requests, const AirLinkConfig& air, EventLoop& loop,
           TtiClock& clock, Element& next);
  /// Sets who is told of drops, and of packets that have come to the Node-B, with the time since they came to the queue
  /// as their queueing.
  void set_observer(CellObserver* observer) { observer_ = observer; }

  /// Into the queue, or dropped.
  void push(packet::Packet packet, Bytes length, Instant now);

  /// TTI `tti` begins: what the link carries is known from here to `distance` ahead.
  void begin(std::uint64_t tti);
  /// What one of these carries.
  [[nodiscard]] const Grant& link(std::uint64_t tti) const { return ahead_[tti % ahead_.size()]; }
  /// The block that must be sent again in `tti`; null when there is none.
  [[nodiscard]] const link::HarqBlock* to_repeat(std::uint64_t tti) const { return air_.waiting(tti); }
  /// It has something to send that came before `now`.
  [[nodiscard]] bool has_data(Instant now) const { return queue_.ready(now) || air_.repeats(now) > Bytes(0); }

  /// Sends the waiting block again. Returns what it told, when it was received.
  std::optional<BufferStatus> repeat(std::uint64_t tti, Instant now);
  /// Sends a block of at most `size` bytes, of padding alone when it has nothing. Returns what it told, when it was
  /// received.
  std::optional<BufferStatus> send(std::uint64_t tti, Bytes size, std::uint32_t units, Instant now);
  /// Sends a scheduling request in `tti`, if one is pending and this is an opportunity. Returns whether one was heard.
  bool request(std::uint64_t tti, Instant now);

  /// The first TTI from `from` on in which it sends again or may ask; TtiClock::asleep when none is known of.
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t from) const;

  [[nodiscard]] bool awake(Instant at) const { return drx_ == nullptr || drx_->awake(at); }
  /// It is given a TTI.
  void active(Instant now);
  [[nodiscard]] Channel& channel() { return *channel_; }
  [[nodiscard]] const UeQueue& queue() const { return queue_; }
  [[nodiscard]] const AirLink& air() const { return air_; }
  /// Packets on their way through hybrid ARQ and RLC.
  [[nodiscard]] std::size_t under_way() const { return air_.under_way(); }

 private:
  static constexpr std::uint64_t not_set = UINT64_MAX;

  [[nodiscard]] bool empty(Instant now) const { return queue_.empty() && air_.repeats(now) == Bytes(0); }
  [[nodiscard]] std::uint64_t opportunity(std::uint64_t from) const;
  /// Hands the waiting block or a new one to hybrid ARQ. Returns whether it was received.
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
  std::vector<Grant> ahead_;            ///< what TTIs carry, by TTI modulo its size
  std::uint64_t known_ = 0;             ///< the first TTI that is not in there
  std::vector<BufferStatus> told_;      ///< by the blocks in hybrid ARQ, by process
  bool pending_ = false;                ///< a scheduling request (TS 36.321 section 5.4.4)
  std::uint64_t retry_at_ = not_set;    ///< the TTI in which it asks again (retxBSR-Timer)
  std::uint64_t repeats_at_ = not_set;  ///< the TTI from which on RLC repeats something, which it has to ask for
  Instant asked_for_{};                 ///< when the latest of what it asked so for was ready
};

}  // namespace sluice::emulator
