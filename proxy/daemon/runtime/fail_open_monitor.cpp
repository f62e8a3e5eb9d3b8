#include "proxy/daemon/runtime/fail_open_monitor.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::proxy {
namespace {

constexpr auto watch_period = std::chrono::milliseconds(250);

}  // namespace

FailOpenMonitor::FailOpenMonitor(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces,
                                 std::function<Instant()> last_turn)
    : bridge_(std::move(interfaces)), timer_(context), last_turn_(std::move(last_turn)) {
  spdlog::info("fail_open: the bridge {} carries the frames when this program does not", bridge_.name());
  const std::string warning = FailOpenBridge::warning();
  if (!warning.empty()) spdlog::warn("fail_open: {}", warning);
}

void FailOpenMonitor::take_over() {
  bridge_.shut();
  watchdog_.rearm(longest_hang);
}

void FailOpenMonitor::watch() {
  watchdog_.rearm(last_turn_() + longest_hang - dpdk::now());
  timer_.expires_after(watch_period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) watch();
  });
}

void FailOpenMonitor::maintain() {
  const std::string line = bridge_.maintain();
  if (!line.empty()) spdlog::warn("{}", line);
}

void FailOpenMonitor::give_back() {
  watchdog_.disarm();
  bridge_.open();
}

}  // namespace sluice::proxy
