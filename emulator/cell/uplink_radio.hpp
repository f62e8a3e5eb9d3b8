#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// One UE's own way up.
struct UplinkConfig {
  std::vector<IpAddress> addresses;  ///< the UE's, at least one
  QueueConfig queue;                 ///< in the UE
  std::unique_ptr<Channel> channel;  ///< made for the cell's TTI
};

/// The UEs' uplinks: a queue in each UE and a link of its own, as a dedicated channel or a recorded trace of one is;
/// nothing is shared between them. What a TTI carries is decided as on the way down without hybrid ARQ: a lost block's
/// data stays in the queue for the next TTI, which is what gives an uplink its jitter. A packet that comes in the
/// instant of a TTI misses it. Packets of UEs without an uplink of their own pass at once, and so does what is not IP.
/// Thread: the loop's.
class UplinkRadio final : public Element, public EventTarget {
 public:
  /// `tti` > 0. `loop` and `next` outlive it.
  UplinkRadio(EventLoop& loop, Duration tti, Element& next);

  /// Is called before the first packet. Throws std::invalid_argument when an address is taken or there is no channel.
  void add_ue(UplinkConfig config);

  void receive(packet::Packet packet, Instant now) override;
  /// A TTI of one UE; called by the event loop.
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::size_t ues() const { return uplinks_.size(); }
  /// The queue of the UE that was added as number `index`.
  [[nodiscard]] const UeQueue& queue(std::size_t index) const { return uplinks_[index].queue; }
  /// Sets who is told of what leaves the UEs' queues, or finds no room in them. UEs go by the number they were added
  /// as.
  void set_observer(CellObserver* observer) { observer_ = observer; }

 private:
  struct Uplink {
    UeQueue queue;
    std::unique_ptr<Channel> channel;
    bool awake = false;  ///< the event of its next TTI is set
  };
  [[nodiscard]] std::uint64_t tti_of(Instant now) const {
    return static_cast<std::uint64_t>(now.time_since_epoch() / tti_);
  }
  void wake(std::uint32_t index, std::uint64_t from);
  void drop(std::uint32_t index, const packet::Packet& packet, Bytes length, DropReason reason, Instant now);

  EventLoop& loop_;
  Duration tti_;
  Element& next_;
  std::vector<Uplink> uplinks_;
  std::unordered_map<IpAddress, std::uint32_t> by_address_;
  CellObserver* observer_ = nullptr;
};

}  // namespace sluice::emulator
