#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>

#include "proxy/daemon/fail_open/fail_open_bridge.hpp"
#include "proxy/daemon/fail_open/watchdog_process.hpp"

namespace sluice::proxy {

/// Keeps frames flowing when this program cannot forward them: a kernel bridge takes over, and a program that hangs is
/// killed. If the program ends in any way before give_back(), the kernel makes the bridge forward. Thread: the control
/// thread.
class FailOpenMonitor {
 public:
  /// Creates the bridge, which forwards frames until take_over(). `watchdog` kills the program if it hangs while this
  /// object exists; its first watched thread is the control thread. Throws std::runtime_error with the reason if no
  /// bridge can be made.
  FailOpenMonitor(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces, WatchdogProcess& watchdog);
  ~FailOpenMonitor();
  FailOpenMonitor(const FailOpenMonitor&) = delete;
  FailOpenMonitor& operator=(const FailOpenMonitor&) = delete;

  /// Makes the program the only forwarder of frames from now on; earlier frames were also forwarded by the bridge.
  /// Throws std::runtime_error.
  void take_over();
  /// Records that the control thread makes progress.
  void show_progress();
  /// Restores the bridge if its parts were removed, and warns once if the watchdog process is gone. Called about once
  /// a second.
  void maintain();
  /// Lets the bridge forward the frames again; the program must no longer forward any.
  void give_back();

  [[nodiscard]] const FailOpenBridge& bridge() const { return bridge_; }

 private:
  FailOpenBridge bridge_;
  WatchdogProcess& watchdog_;
  boost::asio::steady_timer timer_;
  std::uint64_t samples_ = 0;  ///< number of samples of the watchdog process at the last maintain()
  /// Successive calls of maintain() in which the watchdog process had taken no new sample.
  std::uint32_t without_sample_ = 0;
};

}  // namespace sluice::proxy
