#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>

#include "dataplane/units/time.hpp"
#include "proxy/fail_open/fail_open_bridge.hpp"
#include "proxy/fail_open/hang_timer.hpp"

namespace sluice::proxy {

/// Sees to it that frames go on when this program does not carry them: a bridge takes over, and a program that hangs is
/// ended. Where the program ends in any way before give_back(), the kernel does the same. Thread: the control thread.
class WireKeeper {
 public:
  /// What stands still for so long is ended.
  static constexpr Duration longest_hang = std::chrono::seconds(3);

  /// `heard`: when that poll thread was last heard of which has been silent for longest. The bridge carries the frames
  /// until take_over(). Throws std::runtime_error saying why there can be none.
  WireKeeper(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces, std::function<Instant()> heard);

  /// Frames that come in are the program's alone from now on; what came in before was the bridge's too. Throws
  /// std::runtime_error.
  void take_over();
  /// The program is ended from now on when this thread or a poll thread hangs.
  void watch();
  /// Puts together what was taken apart. To be called about once a second.
  void maintain();
  /// The bridge carries the frames again. Nobody else may any more.
  void give_back();

  [[nodiscard]] const FailOpenBridge& bridge() const { return bridge_; }

 private:
  FailOpenBridge bridge_;
  HangTimer hang_timer_;
  boost::asio::steady_timer timer_;
  std::function<Instant()> heard_;
};

}  // namespace sluice::proxy
