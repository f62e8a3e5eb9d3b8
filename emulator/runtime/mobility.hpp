#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/cell/handover_port.hpp"
#include "emulator/channel/timeline.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/runtime/path_switch.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// The channel of UE `ue` at Node-B `nodeb` with its handovers, holes in coverage and its leaving put in, silent while
/// it is elsewhere; the plain one when nothing happens to it there.
[[nodiscard]] std::unique_ptr<Channel> make_moving_channel(const Scenario& scenario, std::uint32_t nodeb,
                                                           std::uint32_t ue, std::uint64_t seed, TraceLibrary& traces);

/// What the UE's uplink is, its own or that of a scheduled one; it must have one of these.
[[nodiscard]] ChannelSpec uplink_channel(const Scenario& scenario, std::uint32_t ue);
/// Its channel, with the silences that the same things bring.
[[nodiscard]] std::unique_ptr<Channel> make_moving_uplink(const Scenario& scenario, std::uint32_t ue,
                                                          std::uint64_t seed, TraceLibrary& traces);

/// A Node-B as Mobility needs it.
struct MobilityNodeb {
  Cell* cell = nullptr;
  HandoverPort* port = nullptr;     ///< where there are several
  std::vector<Element*> onwards{};  ///< by Node-B: the line that forwards to it
};

/// What happens to UEs besides their channels: states for the reports, queues that are emptied, cells and Node-Bs that
/// change. A handover to another Node-B begins with the interruption: the UE is gone from one, which forwards or drops
/// what it has for it and what comes. With its end the UE is at the other and sends there, and the path's switch
/// follows.
class Mobility final : public EventTarget {
 public:
  /// The core's and the UEs' side, where there are several Node-Bs.
  struct Switches {
    PathSwitch* down = nullptr;
    UplinkSwitch* up = nullptr;
  };
  /// Sets the events of the scenario from the loop's present on. `loop` and all that is pointed to outlive it.
  Mobility(EventLoop& loop, std::vector<MobilityNodeb> nodebs, Switches switches, const Scenario& scenario);
  void on_event(std::uint64_t tag, Instant now) override;

  /// Handovers between Node-Bs that have come to their path's switch.
  [[nodiscard]] std::uint64_t handovers() const { return handovers_; }

 private:
  struct Move {
    MoveSpec spec;
    std::uint32_t handover = 0;  ///< the UE's first, second … to another Node-B
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
