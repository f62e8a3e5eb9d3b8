#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "dataplane/units/time.hpp"
#include "proxy/service/service_manager.hpp"

namespace sluice::proxy {

/// The program as its service manager sees it: starting, ready, reloading, stopping, and alive only while it is
/// healthy, so that the manager's watchdog starts it anew when it is not for long. Thread: the control thread.
class Service {
 public:
  /// What is asked about the program.
  struct Program {
    std::function<bool()> healthy;         ///< it does what it is there for
    std::function<std::string()> summary;  ///< one line for people
  };
  Service(boost::asio::io_context& context, ServiceManager manager, Program program);

  /// The program has started: as soon as it is healthy it is ready, and from then on tells that it is alive.
  void start();
  /// Carries out a reload, of which the manager is told.
  void reload(Instant now, const std::function<void()>& work);
  /// The end has begun, and is over after `at_most` or a little later.
  void stopping(Duration at_most);
  /// Something has become better or worse: the manager need not wait for the next heartbeat to know.
  void changed();

 private:
  void await_health();
  void beat();
  void tell_alive();
  void after(Duration delay, void (Service::*next)());

  ServiceManager manager_;
  Program program_;
  boost::asio::steady_timer timer_;
  bool ready_ = false;
  bool stopping_ = false;
};

}  // namespace sluice::proxy
