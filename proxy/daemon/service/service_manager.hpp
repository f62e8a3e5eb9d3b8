#pragma once

#include <optional>
#include <string>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Sends state changes to the service manager by systemd's protocol (sd_notify(3)): datagrams of KEY=VALUE lines.
/// Without a manager it sends nothing. No call blocks. If the manager does not receive a datagram, this is no error,
/// because the manager has timeouts of its own. Thread: one.
class ServiceManager {
 public:
  /// Creates an object without a manager, which sends nothing.
  ServiceManager() = default;
  /// Connects to the manager's `socket`: a path, or '@' and an abstract name. If `watchdog` is set, the manager ends
  /// the program when alive() is not called for that time. Throws std::runtime_error if the socket cannot be connected.
  ServiceManager(const std::string& socket, std::optional<Duration> watchdog);
  /// Creates an object from NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes these environment variables.
  [[nodiscard]] static ServiceManager from_environment();
  ~ServiceManager();
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&& other) noexcept;
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Reports to the service manager that the start or a reload is complete. `status` is a line of text that the manager
  /// shows.
  void ready(const std::string& status);
  /// Reports to the service manager that a reload began at the time `now` of CLOCK_MONOTONIC.
  void reloading(Instant now);
  /// Reports to the service manager that the stop of the program has begun and takes at most `at_most`.
  void stopping(Duration at_most);
  /// Reports one line of text about the program, which the service manager shows to operators.
  void status(const std::string& line);
  /// Reports to the watchdog of the service manager that the program is running.
  void alive();
  [[nodiscard]] std::optional<Duration> watchdog() const { return watchdog_; }

 private:
  void send(const std::string& lines) const;

  int socket_ = -1;  ///< socket connected to the service manager; -1 without a manager
  std::optional<Duration> watchdog_;
};

}  // namespace sluice::proxy
