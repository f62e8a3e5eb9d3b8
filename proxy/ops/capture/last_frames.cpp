#include "proxy/ops/capture/last_frames.hpp"

#include <spdlog/spdlog.h>

#include <stdexcept>

namespace sluice::capture {
namespace {

RingPlan plan_of(const proxy::Config& config, const std::string& program, const Clock& clock) {
  const proxy::LastFramesSettings& wanted = config.last_frames;
  RingPlan plan;
  plan.path = *wanted.file;
  plan.size = static_cast<std::uint64_t>(wanted.size.count());
  plan.snap_length = static_cast<std::uint32_t>(wanted.snap_length.count());
  plan.payload = wanted.payload;
  plan.shards = config.shards.count;
  plan.program = program;
  plan.devices = {config.ports.radio.device, config.ports.core.device};
  plan.to_wall = static_cast<std::int64_t>(clock.wall()) - clock.now().time_since_epoch().count();
  return plan;
}

}  // namespace

void open_last_frames(const proxy::Config& config, const std::string& program, const Clock& clock,
                      std::optional<RingFile>& file) {
  if (!config.last_frames.file) return;
  const RingPlan plan = plan_of(config, program, clock);
  try {
    file.emplace(plan);
  } catch (const std::runtime_error& problem) {
    spdlog::warn("{}; after a crash of this run its last frames are lost", problem.what());
    return;
  }
  spdlog::info("the last frames are kept in {}: {} bytes of each at most, {}", plan.path, plan.snap_length,
               plan.payload ? "payload too" : "headers only");
  if (!file->left().empty())
    spdlog::warn("an earlier run crashed; its last frames: sluicectl capture --recover {}", file->left());
}

}  // namespace sluice::capture
