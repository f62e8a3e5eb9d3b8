#pragma once

#include <array>

#include "proxy/config/config.hpp"

// Parts of describe(Config&) that are implemented beside the keys they concern.

namespace sluice::proxy {

/// Declares the keys `mode`, `intercept` (whether connections are split) and `observed` (mode whose decisions mode
/// observe computes). They apply to connections that match no policy.
void describe_default_mode(config::Section& s, PolicySettings& settings);
/// Checks two rules. The key `intercept` must select a treatment that the mode supports: splitting connections, or
/// leaving them end to end. The key `observed` must name a mode whose controller uses Node-B reports or ACKs, because
/// mode observe computes the decisions of that mode.
void check_interception(config::Section& s, const PolicySettings& settings);
/// Checks that enough packet buffers remain for payload after subtraction of those that devices hold from the start.
void check_memory(config::Section& s, const Config& config);
/// Returns for each port, indexed by Side, whether segments with an unfinished TCP checksum are accepted. The checksum
/// field of such a segment contains only the sum of the pseudo-header.
[[nodiscard]] std::array<bool, 2> accepted_partial_checksums(const PortsSettings& ports);

}  // namespace sluice::proxy
