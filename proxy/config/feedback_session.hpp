#pragma once

#include <cstdint>
#include <functional>

#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "proxy/config/feedback.hpp"

namespace sluice::config {

/// Returns the settings of a feedback session that starts now. `wall_clock_ns` (since 1970) determines its epoch, and
/// `session_id` is a random value that no other session has. Throws std::runtime_error if the epoch file fails.
[[nodiscard]] control::feedback::SessionConfig session_config(const FeedbackConfig& config,
                                                              control::feedback::Role role, std::uint64_t wall_clock_ns,
                                                              const control::feedback::SessionId& session_id);

/// Returns the settings of the feedback socket, which takes the time of received datagrams from `clock`.
[[nodiscard]] control::feedback::UdpEndpointConfig endpoint_config(
    const FeedbackConfig& config, std::function<control::feedback::ReceivedAt()> clock);

}  // namespace sluice::config
