#pragma once

#include <cstdint>
#include <functional>

#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "proxy/config/feedback.hpp"

namespace sluice::config {

/// What a file says of feedback, as a session that starts now wants it; `wall_clock_ns` (since 1970) gives its epoch,
/// and `session_id` is drawn at random for it alone.
/// Throws std::runtime_error when the epoch file fails.
[[nodiscard]] control::feedback::SessionConfig session_config(const FeedbackConfig& config,
                                                              control::feedback::Role role, std::uint64_t wall_clock_ns,
                                                              const control::feedback::SessionId& session_id);

/// The same for the socket, and the clock that it goes by.
[[nodiscard]] control::feedback::UdpEndpointConfig endpoint_config(
    const FeedbackConfig& config, std::function<control::feedback::ReceivedAt()> clock);

}  // namespace sluice::config
