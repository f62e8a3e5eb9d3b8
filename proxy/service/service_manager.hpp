#pragma once

#include <optional>
#include <string>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// The manager that started the program as a service, told how it does by systemd's protocol (sd_notify(3)): datagrams
/// of KEY=VALUE lines to the socket that it named. Where there is none, nothing is sent. No call waits, and a manager
/// that does not listen is no error: it judges by its own timeouts. Thread: one.
class ServiceManager {
 public:
  /// Nobody listens.
  ServiceManager() = default;
  /// `socket` is a path, or with an '@' in front an abstract name. `watchdog`: the manager ends the program when it has
  /// not been told alive() for so long. Throws std::runtime_error where no socket can be had.
  ServiceManager(const std::string& socket, std::optional<Duration> watchdog);
  /// As NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID say, which are taken out of the environment.
  [[nodiscard]] static ServiceManager from_environment();
  ~ServiceManager();
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&& other) noexcept;
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// The start, or a reload, is over.
  void ready(const std::string& status);
  /// A reload has begun at `now` of CLOCK_MONOTONIC.
  void reloading(Instant now);
  /// The end has begun and takes this long at most.
  void stopping(Duration at_most);
  /// One line for people.
  void status(const std::string& line);
  /// The program does what it is there for.
  void alive();
  [[nodiscard]] std::optional<Duration> watchdog() const { return watchdog_; }

 private:
  void send(const std::string& lines) const;

  int socket_ = -1;  ///< connected to the manager's
  std::optional<Duration> watchdog_;
};

}  // namespace sluice::proxy
