#pragma once

#include <cstdint>

#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "proxy/config/feedback.hpp"

namespace sluice::config {

/// What a file says of feedback, as a session that starts now wants it; `wall_clock_ns` (since 1970) gives its epoch.
/// Throws std::runtime_error when the epoch file fails.
[[nodiscard]] control::feedback::SessionConfig session_config(const FeedbackConfig& config,
                                                              control::feedback::Role role,
                                                              std::uint64_t wall_clock_ns);

/// The same for the socket.
[[nodiscard]] control::feedback::UdpEndpointConfig endpoint_config(const FeedbackConfig& config);

}  // namespace sluice::config
