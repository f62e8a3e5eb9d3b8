#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/service/service_manager.hpp"

namespace sluice::proxy {

/// Reports the state of the program to its service manager: starting, ready, reloading, stopping. While the program is
/// healthy, also reports periodically that it runs. If it is unhealthy, the manager's watchdog therefore restarts it.
/// Thread: the control thread.
class Service {
 public:
  /// Callbacks by which the service reads the state of the program.
  struct Program {
    std::function<bool()> healthy;         ///< returns true if the program is healthy
    std::function<std::string()> summary;  ///< returns one line of text about the program for operators
  };
  Service(boost::asio::io_context& context, ServiceManager manager, Program program);

  /// Called after the start. Reports that the program is ready once it is healthy, and from then on periodically that
  /// it runs.
  void start();
  /// Runs `work`, a reload, and reports its start and end to the manager.
  void reload(Instant now, const std::function<void()>& work);
  /// Reports to the service manager that the program is stopping, which takes at most `at_most` plus a short time.
  void stopping(Duration at_most);
  /// Reports a change of the program's state at once, before the next periodic report.
  void changed();

 private:
  void await_health();
  void beat();
  void notify_alive();
  void after(Duration delay, void (Service::*next)());

  ServiceManager manager_;
  Program program_;
  boost::asio::steady_timer timer_;
  bool ready_ = false;
  bool stopping_ = false;
};

}  // namespace sluice::proxy
