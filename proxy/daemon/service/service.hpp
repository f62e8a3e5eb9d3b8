#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/service/service_manager.hpp"

namespace sluice::proxy {

/// Reports the state of the program to its service manager: starting, ready, reloading, stopping. Also sends periodic
/// watchdog messages while the program is healthy. Without these messages the manager restarts the program. Thread: the
/// control thread.
class Service {
 public:
  /// Callbacks by which the service reads the state of the program.
  struct Program {
    std::function<bool()> healthy;         ///< returns true if the program is healthy
    std::function<std::string()> summary;  ///< returns one line of text that describes the program for operators
  };
  Service(boost::asio::io_context& context, ServiceManager manager, Program program);

  /// Must be called after the start of the program. Reports that the program is ready once it is healthy, and then
  /// sends periodic watchdog messages.
  void start();
  /// Runs `work`, which reloads the configuration. Reports to the service manager when the reload begins and ends.
  void reload(Instant now, const std::function<void()>& work);
  /// Reports to the service manager that the program is stopping. `at_most` is the maximum duration of the drain, in
  /// which connections are handed back to their hosts. Announces `at_most` plus 10 s as the longest duration of the
  /// stop.
  void stopping(Duration at_most);
  /// Reports at once that the state of the program has changed, without waiting for the next periodic report.
  void changed();

 private:
  void await_health();
  void ping_watchdog();
  void notify_alive();
  void after(Duration delay, void (Service::*next)());

  ServiceManager manager_;
  Program program_;
  boost::asio::steady_timer timer_;
  bool ready_ = false;
  bool stopping_ = false;
};

}  // namespace sluice::proxy
