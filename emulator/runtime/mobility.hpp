#pragma once

#include <vector>

#include "emulator/cell/cell.hpp"
#include "emulator/channel/timeline.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// The channel of UE `ue` with its handovers, holes in coverage and its leaving put in; the plain one when it has none.
[[nodiscard]] std::unique_ptr<Channel> make_moving_channel(const Scenario& scenario, std::uint32_t ue,
                                                           std::uint64_t seed, TraceLibrary& traces);

/// The channel of the UE's own uplink, which it must have, with the silences that the same things bring.
[[nodiscard]] std::unique_ptr<Channel> make_moving_uplink(const Scenario& scenario, std::uint32_t ue,
                                                          std::uint64_t seed, TraceLibrary& traces);

/// What happens to a cell's UEs besides their channels: states for the reports, queues that are emptied, cells that
/// change.
class Mobility final : public EventTarget {
 public:
  /// Sets the events of the scenario from the loop's present on. `loop` and `cell` outlive it.
  Mobility(EventLoop& loop, Cell& cell, const std::vector<MoveSpec>& moves);
  void on_event(std::uint64_t tag, Instant now) override;

 private:
  void begin(const MoveSpec& move, Instant now);
  void end(const MoveSpec& move);

  Cell& cell_;
  std::vector<MoveSpec> moves_;
};

}  // namespace sluice::emulator
