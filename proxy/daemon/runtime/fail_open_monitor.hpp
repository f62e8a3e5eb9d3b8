#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/fail_open/fail_open_bridge.hpp"
#include "proxy/daemon/fail_open/watchdog_timer.hpp"

namespace sluice::proxy {

/// Keeps frames flowing when this program cannot forward them. A kernel bridge takes over, and a program that hangs
/// is killed. If the program ends in any way before give_back(), the kernel opens the bridge. Thread: the control
/// thread.
class FailOpenMonitor {
 public:
  /// Time without progress after which the program is killed.
  static constexpr Duration longest_hang = std::chrono::seconds(3);

  /// Creates the bridge, which forwards frames until take_over(). `last_turn` returns when the poll thread that has
  /// made no progress for longest made its last. Throws std::runtime_error with the reason if no bridge can be made.
  FailOpenMonitor(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces,
                  std::function<Instant()> last_turn);

  /// Makes the program the only forwarder of frames that arrive from now on; the bridge also forwarded earlier ones.
  /// Throws std::runtime_error.
  void take_over();
  /// Kills the program from now on if this thread or a poll thread hangs.
  void watch();
  /// Restores the bridge if its parts were removed. Called about once a second.
  void maintain();
  /// Lets the bridge forward the frames again; the program must no longer forward any.
  void give_back();

  [[nodiscard]] const FailOpenBridge& bridge() const { return bridge_; }

 private:
  FailOpenBridge bridge_;
  WatchdogTimer watchdog_;
  boost::asio::steady_timer timer_;
  std::function<Instant()> last_turn_;
};

}  // namespace sluice::proxy
