#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/hosts/host.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/report/result.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Records congestion window, receive window and bytes in flight of connections at built-in servers, at each interval
/// of the time series (output.windows). Thread: the event loop's.
class WindowWatch final : public EventTarget {
 public:
  /// Observes the servers that the scenario names, from the event loop's current time. `loop` and `servers` must
  /// outlive it.
  WindowWatch(EventLoop& loop, const Scenario& scenario, const std::vector<std::unique_ptr<Host>>& servers);
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const std::vector<WindowRow>& rows() const { return rows_; }

 private:
  void look(const Connection& connection, Instant now);

  EventLoop& loop_;
  Duration interval_;
  Instant started_;
  std::vector<const Host*> hosts_;
  std::vector<WindowRow> rows_;
};

}  // namespace sluice::emulator
