#include "proxy/daemon/service/service.hpp"

#include <chrono>
#include <utility>

namespace sluice::proxy {
namespace {

/// Interval at which a program that is starting is checked, until it is healthy.
constexpr Duration health_period = std::chrono::milliseconds(10);
/// Maximum time that a stop takes after the drain (connections are handed back to their hosts). In this time the
/// remaining connections are reset, and poll threads, ports and memory are closed.
constexpr Duration end_takes = std::chrono::seconds(10);

}  // namespace

Service::Service(boost::asio::io_context& context, ServiceManager manager, Program program)
    : manager_(std::move(manager)), program_(std::move(program)), timer_(context) {}

void Service::start() {
  await_health();
}

void Service::await_health() {
  if (!program_.healthy()) return after(health_period, &Service::await_health);
  ready_ = true;
  if (!stopping_) manager_.ready(program_.summary());
  ping_watchdog();
}

/// Reports to the service manager that the program is running, if it is healthy. Does so twice per watchdog period, as
/// sd_watchdog_enabled(3) recommends.
void Service::ping_watchdog() {
  if (!manager_.watchdog()) return;
  notify_alive();
  after(*manager_.watchdog() / 2, &Service::ping_watchdog);
}

void Service::notify_alive() {
  if (ready_ && program_.healthy()) manager_.alive();
}

void Service::reload(Instant now, const std::function<void()>& work) {
  manager_.reloading(now);
  work();
  manager_.ready(program_.summary());
}

void Service::stopping(Duration at_most) {
  if (std::exchange(stopping_, true)) return;
  manager_.stopping(at_most + end_takes);
}

void Service::changed() {
  if (!ready_ || stopping_) return;
  manager_.status(program_.summary());
  if (manager_.watchdog()) notify_alive();
}

void Service::after(Duration delay, void (Service::*next)()) {
  timer_.expires_after(std::chrono::duration_cast<boost::asio::steady_timer::duration>(delay));
  timer_.async_wait([this, next](const boost::system::error_code& error) {
    if (!error) (this->*next)();
  });
}

}  // namespace sluice::proxy
