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

/// Configuration of one UE's dedicated uplink.
struct UplinkConfig {
  std::vector<IpAddress> addresses;  ///< addresses of the UE, at least one
  QueueConfig queue;                 ///< queue in the UE
  std::unique_ptr<Channel> channel;  ///< channel model, made for the cell's TTI
};

/// Dedicated uplinks of UEs. Each UE has its own queue and link, as with a dedicated channel or a recorded trace. UEs
/// share no capacity.
///
/// If a block is lost on an uplink, its data stays in the queue for the next TTI, as on a downlink without hybrid ARQ.
/// Such losses cause the jitter of an uplink. A packet that arrives exactly when a TTI starts is not sent in it.
/// Packets of UEs without a dedicated uplink pass at once, and so do frames other than IP. Thread: the event loop's.
class UplinkRadio final : public Element, public EventTarget {
 public:
  /// Creates uplinks without UEs; `tti` must be above 0. `next` receives the packets that have passed their uplink.
  /// `loop` and `next` must outlive the uplinks.
  UplinkRadio(EventLoop& loop, Duration tti, Element& next);

  /// Adds a UE; call it before the first packet. Throws std::invalid_argument if an address is taken or there is no
  /// channel.
  void add_ue(UplinkConfig config);

  /// Puts a packet into the queue of the UE that sends it.
  void receive(packet::Packet packet, Instant now) override;
  /// Runs a TTI of one UE; `tag` is the number of the UE. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::size_t ues() const { return uplinks_.size(); }
  /// Returns the queue of UE number `index`, in the order in which UEs were added.
  [[nodiscard]] const UeQueue& queue(std::size_t index) const { return uplinks_[index].queue; }
  /// Sets the observer of departures and drops. Its callbacks number the UEs in the order in which they were added.
  void set_observer(CellObserver* observer) { observer_ = observer; }

 private:
  /// Queue and channel of one UE.
  struct Uplink {
    UeQueue queue;
    std::unique_ptr<Channel> channel;
    bool awake = false;  ///< true if an event for the UE's next TTI is set
  };
  [[nodiscard]] std::uint64_t tti_of(Instant now) const {
    return static_cast<std::uint64_t>(now.time_since_epoch() / tti_);
  }
  /// Schedules the event of the UE's next TTI, from TTI `from` on, in which its link can carry data. Has no effect if
  /// an event is scheduled.
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
