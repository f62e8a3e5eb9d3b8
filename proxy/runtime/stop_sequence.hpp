#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "dataplane/units/time.hpp"
#include "proxy/overview/overview.hpp"
#include "proxy/runtime/shard_orders.hpp"
#include "proxy/service/drain_time.hpp"

namespace sluice::proxy {

/// How the program ends: no connection is split any more and those that are go back to their hosts, for a while; what
/// is still split then is reset on both sides, for what it holds would be lost without a word. Packets pass all the
/// while. Thread: the control thread.
class StopSequence {
 public:
  /// The most that begin() takes to have connections go back, on a machine that does not stand still.
  [[nodiscard]] static constexpr Duration most(Duration drain) { return 2 * drain; }

  /// `drain`: how long connections may take to go back, see DrainTime. `done` is called once, at the end.
  StopSequence(boost::asio::io_context& context, ShardOrders& orders, Overview& overview, Duration drain,
               std::function<void()> done);

  /// Begins to stop. A second call ends the wait: what is still split is reset at once.
  void begin(const std::string& why);
  /// Stops without waiting for anything to go back.
  void begin_hurried(const std::string& why);
  /// No connection was left without a word.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void drain();
  void look();
  void consider(const admin::Answer& answer);
  /// States which connections the end breaks, then ends them.
  void state_and_end(const admin::Answer& answer);
  void end_connections();
  void linger();
  void finish();
  void after(Duration delay, void (StopSequence::*next)());

  ShardOrders& orders_;
  Overview& overview_;
  Duration drain_;
  std::function<void()> done_;
  boost::asio::steady_timer timer_;
  std::optional<DrainTime> time_;
  bool begun_ = false;
  bool hurried_ = false;
  bool complete_ = false;
  std::uint64_t handed_back_before_ = 0;
};

}  // namespace sluice::proxy
