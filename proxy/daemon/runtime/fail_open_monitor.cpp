#include "proxy/daemon/runtime/fail_open_monitor.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace sluice::proxy {
namespace {

constexpr auto progress_period = std::chrono::milliseconds(250);
/// Number of consecutive calls of maintain() without a new sample of the threads' progress after which the watchdog
/// process counts as dead.
constexpr std::uint32_t gone_after = 5;

}  // namespace

FailOpenMonitor::FailOpenMonitor(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces,
                                 WatchdogProcess& watchdog)
    : bridge_(std::move(interfaces)), watchdog_(watchdog), timer_(context) {
  spdlog::info("fail_open: the bridge {} forwards frames when this program does not run", bridge_.name());
  const std::string warning = FailOpenBridge::warning();
  if (!warning.empty()) spdlog::warn("fail_open: {}", warning);
}

FailOpenMonitor::~FailOpenMonitor() {
  watchdog_.disarm();
}

void FailOpenMonitor::take_over() {
  bridge_.shut();
  watchdog_.arm();
}

void FailOpenMonitor::show_progress() {
  watchdog_.progress(0).fetch_add(1, std::memory_order_relaxed);
  timer_.expires_after(progress_period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) show_progress();
  });
}

void FailOpenMonitor::maintain() {
  const std::string line = bridge_.maintain();
  if (!line.empty()) spdlog::warn("{}", line);
  without_sample_ = std::exchange(samples_, watchdog_.samples()) == watchdog_.samples() ? without_sample_ + 1 : 0;
  if (without_sample_ == gone_after)
    spdlog::error("fail_open: the watchdog process is gone, so nothing ends this program if it hangs; restart it");
}

void FailOpenMonitor::give_back() {
  watchdog_.disarm();
  bridge_.open();
}

}  // namespace sluice::proxy
