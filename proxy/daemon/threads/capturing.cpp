#include "proxy/daemon/threads/capturing.hpp"

#include <chrono>
#include <utility>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::proxy {
namespace {

std::uint64_t wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

capture::Captures::Program capture_program(std::string name, std::array<std::string, 2> devices,
                                           const std::vector<std::unique_ptr<ShardChannel>>& channels,
                                           std::function<void()> wake) {
  std::vector<capture::TapSlot*> slots;
  for (const auto& channel : channels) slots.push_back(&channel->taps);
  return {std::move(name), std::move(devices), std::move(slots), std::move(wake), {dpdk::now, wall_time}};
}

tracing::Traces::Program trace_program(std::string name, const std::vector<std::unique_ptr<ShardChannel>>& channels,
                                       std::function<void()> wake) {
  std::vector<tracing::TraceSlot*> slots;
  for (const auto& channel : channels) slots.push_back(&channel->traces);
  return {std::move(name), std::move(slots), std::move(wake), dpdk::now, wall_time};
}

}  // namespace sluice::proxy
