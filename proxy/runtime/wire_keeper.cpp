#include "proxy/runtime/wire_keeper.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::proxy {
namespace {

constexpr auto watch_period = std::chrono::milliseconds(250);

}  // namespace

WireKeeper::WireKeeper(boost::asio::io_context& context, FailOpenBridge::Interfaces interfaces,
                       std::function<Instant()> last_turn)
    : bridge_(std::move(interfaces)), timer_(context), last_turn_(std::move(last_turn)) {
  spdlog::info("fail_open: the bridge {} carries the frames when this program does not", bridge_.name());
  const std::string warning = FailOpenBridge::warning();
  if (!warning.empty()) spdlog::warn("fail_open: {}", warning);
}

void WireKeeper::take_over() {
  bridge_.shut();
  hang_timer_.put_off(longest_hang);
}

void WireKeeper::watch() {
  hang_timer_.put_off(last_turn_() + longest_hang - dpdk::now());
  timer_.expires_after(watch_period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) watch();
  });
}

void WireKeeper::maintain() {
  const std::string line = bridge_.maintain();
  if (!line.empty()) spdlog::warn("{}", line);
}

void WireKeeper::give_back() {
  hang_timer_.disarm();
  bridge_.open();
}

}  // namespace sluice::proxy
