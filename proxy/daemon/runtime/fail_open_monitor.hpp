#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>

#include "proxy/daemon/fail_open/fail_open_bridge.hpp"
#include "proxy/daemon/fail_open/watchdog_process.hpp"

namespace sluice::proxy {

/// Keeps frames flowing when this program cannot forward them. A kernel bridge then forwards them, and a program that
/// hangs is killed. If the program ends in any way before give_back(), the kernel opens the bridge. Thread: the control
/// thread.
class FailOpenMonitor {
 public:
  /// Time without progress after which the program is killed.
  static constexpr Duration longest_hang = std::chrono::seconds(3);

  /// Creates the bridge, which forwards frames until take_over(). `last_turn` returns the last sign of life of the poll
  /// thread that has been silent longest. Throws std::runtime_error with the reason if the bridge cannot be created.
  FailOpenMonitor(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces,
                  std::function<Instant()> last_turn);

  /// Makes the program the only forwarder of frames that arrive from now on; the bridge also forwarded earlier ones.
  /// Throws std::runtime_error.
  void take_over();
  /// Arms the watchdog: from now on the program is killed if this thread or a poll thread hangs.
  void watch();
  /// Restores the bridge if it or its interfaces were removed. Called about once a second.
  void maintain();
  /// Lets the bridge forward the frames again; the program must no longer forward any.
  void give_back();

  [[nodiscard]] const FailOpenBridge& bridge() const { return bridge_; }

 private:
  FailOpenBridge bridge_;
  WatchdogProcess& watchdog_;
  boost::asio::steady_timer timer_;
  std::uint64_t samples_ = 0;         ///< samples of the watchdog process at the last maintain()
  std::uint32_t without_sample_ = 0;  ///< calls of maintain() since it took one
};

}  // namespace sluice::proxy
