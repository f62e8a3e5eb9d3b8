#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/capture/captures.hpp"
#include "proxy/threads/shard_channel.hpp"
#include "proxy/trace/traces.hpp"

namespace sluice::proxy {

/// What captures are told of a program. `devices`: by Side. `channels`: of its shards, and outlive the captures.
/// `wake`: has every shard look soon who looks at its frames.
[[nodiscard]] capture::Captures::Program capture_program(std::string name, std::array<std::string, 2> devices,
                                                         const std::vector<std::unique_ptr<ShardChannel>>& channels,
                                                         std::function<void()> wake);

/// The same for traces.
[[nodiscard]] tracing::Traces::Program trace_program(std::string name,
                                                     const std::vector<std::unique_ptr<ShardChannel>>& channels,
                                                     std::function<void()> wake);

}  // namespace sluice::proxy
