#pragma once

#include <cstdint>
#include <functional>

#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "proxy/config/feedback.hpp"

namespace sluice::config {

/// Returns the settings of a feedback session that starts now. `wall_clock_ns` (time since 1970) determines the
/// session's epoch, a number that increases with each start. `session_id` is a random value that no other session uses.
/// Throws std::runtime_error if the epoch file cannot be used.
[[nodiscard]] control::feedback::SessionConfig session_config(const FeedbackConfig& config,
                                                              control::feedback::Role role, std::uint64_t wall_clock_ns,
                                                              const control::feedback::SessionId& session_id);

/// Returns the settings of the feedback socket. `clock` returns the time that a received datagram gets as its arrival
/// time.
[[nodiscard]] control::feedback::UdpEndpointConfig endpoint_config(
    const FeedbackConfig& config, std::function<control::feedback::ReceivedAt()> clock);

}  // namespace sluice::config
