#pragma once

#include <array>

#include "proxy/config/config.hpp"

// Parts of describe(Config&) that are implemented beside the keys they concern.

namespace sluice::proxy {

/// Declares `mode`, `intercept` and `observed` of connections that match no policy.
void describe_default_mode(config::Section& s, PolicySettings& settings);
/// Checks that the mode can be applied with the selected interception, and that an observed mode uses feedback.
void check_interception(config::Section& s, const PolicySettings& settings);
/// Checks that enough packet buffers remain for payload after subtraction of those that devices hold from the start.
void check_memory(config::Section& s, const Config& config);
/// Returns ShardConfig::accept_partial_checksums for these ports.
[[nodiscard]] std::array<bool, 2> accepted_partial_checksums(const PortsSettings& ports);

}  // namespace sluice::proxy
