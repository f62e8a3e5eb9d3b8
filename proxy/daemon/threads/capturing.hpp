#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/daemon/threads/shard_channel.hpp"
#include "proxy/ops/capture/captures.hpp"
#include "proxy/ops/decision_log/traces.hpp"

namespace sluice::proxy {

/// Returns the settings of Captures for a program. `devices` is indexed by Side. `channels` are those of the program's
/// shards and must outlive the captures. `wake` wakes every shard, so that it checks whether a capture was started or
/// stopped.
[[nodiscard]] capture::Captures::Program capture_program(std::string name, std::array<std::string, 2> devices,
                                                         const std::vector<std::unique_ptr<ShardChannel>>& channels,
                                                         std::function<void()> wake);

/// Returns the settings of Traces for a program. Traces records decision logs, that is, the inputs and decisions of
/// controllers. `channels` are those of the program's shards and must outlive the decision logs. `wake` wakes every
/// shard, so that it checks whether a log was started or stopped.
[[nodiscard]] tracing::Traces::Program trace_program(std::string name,
                                                     const std::vector<std::unique_ptr<ShardChannel>>& channels,
                                                     std::function<void()> wake);

}  // namespace sluice::proxy
