#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>

#include "proxy/daemon/fail_open/fail_open_bridge.hpp"
#include "proxy/daemon/fail_open/watchdog_process.hpp"

namespace sluice::proxy {

/// Ensures that frames still pass when this program cannot forward them. A kernel bridge then forwards them, and a
/// program that hangs is killed. If the program ends before give_back(), the kernel makes the bridge forward. Thread:
/// the control thread.
class FailOpenMonitor {
 public:
  /// Creates the bridge, which forwards frames until take_over(). From take_over() to give_back(), `watchdog` kills the
  /// program if it hangs. The first thread that `watchdog` watches is the control thread. Throws std::runtime_error
  /// with the reason if no bridge can be made.
  FailOpenMonitor(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces, WatchdogProcess& watchdog);
  ~FailOpenMonitor();
  FailOpenMonitor(const FailOpenMonitor&) = delete;
  FailOpenMonitor& operator=(const FailOpenMonitor&) = delete;

  /// Makes the program the only forwarder of frames. Frames that arrived before the call were forwarded by the bridge.
  /// Throws std::runtime_error.
  void take_over();
  /// Increases the control thread's counter, which shows the watchdog process that the thread makes progress.
  void show_progress();
  /// Restores the bridge if its parts were removed, and warns once if the watchdog process is gone. Called about once
  /// a second.
  void maintain();
  /// Makes the bridge forward frames again. The program must no longer forward any.
  void give_back();

  [[nodiscard]] const FailOpenBridge& bridge() const { return bridge_; }

 private:
  FailOpenBridge bridge_;
  WatchdogProcess& watchdog_;
  boost::asio::steady_timer timer_;
  /// Number of samples of the threads' progress that the watchdog process had taken at the last maintain().
  std::uint64_t samples_ = 0;
  /// number of consecutive calls of maintain() at which the watchdog process had taken no new sample of the threads'
  /// progress
  std::uint32_t without_sample_ = 0;
};

}  // namespace sluice::proxy
