#pragma once

#include <optional>
#include <string>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Sends state changes to the service manager by systemd's protocol (sd_notify(3)): datagrams of KEY=VALUE lines.
/// Without a manager nothing is sent. No call blocks, and a manager that does not receive is no error, because it
/// relies on its own timeouts. Thread: one.
class ServiceManager {
 public:
  /// Creates an object without a manager, which sends nothing.
  ServiceManager() = default;
  /// `socket` is a path, or an abstract name after '@'. With `watchdog`, the manager ends the program if alive() is
  /// not called for that time. Throws std::runtime_error if no socket can be connected.
  ServiceManager(const std::string& socket, std::optional<Duration> watchdog);
  /// Creates an object from NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes these environment variables.
  [[nodiscard]] static ServiceManager from_environment();
  ~ServiceManager();
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&& other) noexcept;
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Reports that the start or a reload is complete.
  void ready(const std::string& status);
  /// Reports that a reload began at `now` of CLOCK_MONOTONIC.
  void reloading(Instant now);
  /// Reports that the end has begun and takes `at_most`.
  void stopping(Duration at_most);
  /// Reports one line of text for operators.
  void status(const std::string& line);
  /// Reports that the program is alive, for the watchdog.
  void alive();
  [[nodiscard]] std::optional<Duration> watchdog() const { return watchdog_; }

 private:
  void send(const std::string& lines) const;

  int socket_ = -1;  ///< connected to the manager's socket; -1 without a manager
  std::optional<Duration> watchdog_;
};

}  // namespace sluice::proxy
