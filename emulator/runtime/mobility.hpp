#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/cell/x2_forwarding.hpp"
#include "emulator/channel/timeline.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/runtime/path_switch.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Makes the channel of UE `ue` at Node-B `nodeb`. The channel carries nothing during outages and handovers, while
/// another Node-B serves the UE, and after the UE has left. Without such times the result is the channel model itself.
[[nodiscard]] std::unique_ptr<Channel> make_moving_channel(const Scenario& scenario, std::uint32_t nodeb,
                                                           std::uint32_t ue, std::uint64_t seed, TraceLibrary& traces);

/// Returns the channel specification of a UE's uplink: that of its own uplink, or else the rate of the scheduled
/// uplink. Requires one of these.
[[nodiscard]] ChannelSpec uplink_channel(const Scenario& scenario, std::uint32_t ue);
/// Makes the uplink channel of a UE. The channel carries nothing during the UE's outages and handovers, and after its
/// departure.
[[nodiscard]] std::unique_ptr<Channel> make_moving_uplink(const Scenario& scenario, std::uint32_t ue,
                                                          std::uint64_t seed, TraceLibrary& traces);

/// Node-B that Mobility controls: its cell and its lines to the other Node-Bs.
struct MobilityNodeb {
  Cell* cell = nullptr;
  X2Forwarding* port = nullptr;     ///< forwards packets at a handover; set if there are several Node-Bs
  std::vector<Element*> onwards{};  ///< forwarding lines to all Node-Bs, indexed by the number of the target Node-B
};

/// Executes the moves of UEs: sets the radio states that the reports contain, flushes queues, and changes cell and
/// Node-B. A handover to another Node-B begins with the interruption, in which the source forwards or drops the UE's
/// packets. When the interruption ends, the UE is attached to the target and sends there; the path switch follows.
class Mobility final : public EventTarget {
 public:
  /// Elements that switch a UE's path at a handover: in the core for the downlink, and at the UEs for the uplink. Set
  /// if there are several Node-Bs.
  struct Switches {
    PathSwitch* down = nullptr;
    UplinkSwitch* up = nullptr;
  };
  /// Schedules the scenario's moves; their times count from the event loop's current time. `loop` and all objects that
  /// the arguments point to must outlive this object.
  Mobility(EventLoop& loop, std::vector<MobilityNodeb> nodebs, Switches switches, const Scenario& scenario);
  void on_event(std::uint64_t tag, Instant now) override;

  /// Returns the number of handovers between Node-Bs whose path switch is done.
  [[nodiscard]] std::uint64_t handovers() const { return handovers_; }

 private:
  struct Move {
    MoveSpec spec;
    /// Number of the UE's handovers between Node-Bs up to this move; 0 if this move is no such handover.
    std::uint32_t handover = 0;
  };
  void begin(const Move& move, Instant now);
  void end(const Move& move, Instant now);
  void leave(const Move& move, Instant now);
  void switch_path(const Move& move, Instant now);
  [[nodiscard]] Cell& cell_of(const MoveSpec& move) { return *nodebs_[move.from].cell; }

  std::vector<MobilityNodeb> nodebs_;
  Switches switches_;
  std::vector<Move> moves_;
  std::uint64_t handovers_ = 0;
};

}  // namespace sluice::emulator
