#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/engine/base/counters.hpp"
#include "proxy/ops/capture/frame_header.hpp"

namespace sluice::capture {

static_assert(proxy::counter_count + proxy::reset_reason_count <= sent_own);

/// Returns the decision for a reset that the proxy sends for `reason`. Without a reason it is `sent_own`.
[[nodiscard]] constexpr Decision sent_reset(proxy::ResetReason reason) {
  return static_cast<Decision>(sent_own - static_cast<std::size_t>(reason));
}
/// Returns why the proxy sent a frame with this decision; returns none unless the frame is a reset by the proxy.
[[nodiscard]] constexpr proxy::ResetReason reset_reason(Decision decision) {
  const std::size_t reason = std::size_t{sent_own} - decision;
  return reason < proxy::reset_reason_count ? static_cast<proxy::ResetReason>(reason) : proxy::ResetReason::none;
}
/// True if the proxy generated the frame, so that it does not correspond to a received one.
[[nodiscard]] constexpr bool is_own(Decision decision) {
  return decision > sent_own - proxy::reset_reason_count;
}

/// True if the counter states the outcome of a received frame. Each frame is counted by exactly one such counter.
[[nodiscard]] constexpr bool is_decision(std::size_t counter) {
  const std::string_view name = proxy::counter_text(counter).name;
  return name == "optimised" || name.starts_with("forward_") || name.starts_with("drop_");
}

/// True if a frame with this decision is forwarded, unchanged or with few changes.
[[nodiscard]] constexpr bool goes_on(Decision decision) {
  return decision < proxy::counter_count && proxy::counter_text(decision).name.starts_with("forward_");
}

/// Returns the decision for the frame that was counted since the counters had the values `before`, or nothing if no
/// frame was counted.
[[nodiscard]] std::optional<Decision> decision_between(const proxy::Counters& before, const proxy::Counters& now);

/// Returns the action of a decision in the words of the metrics (metrics::metric_name()): "optimised", "forwarded" or
/// "dropped"; "sent" for frames of the proxy.
[[nodiscard]] std::string_view action_of(Decision decision);
/// Returns the reason of a decision: "split", "handshake", "tcp_checksum" …; "own", or "reset_stalled" for a reset by
/// the proxy.
[[nodiscard]] std::string_view reason_of(Decision decision);
/// Returns the comment that a captured frame gets, such as "action=forwarded reason=handshake".
[[nodiscard]] std::string comment_of(Decision decision);

/// Set of decisions. named() finds them by a reason or by a frame counter ("forward_handshake"), and returns nothing
/// for an unknown name. "own" includes the resets of the proxy.
class Decisions {
 public:
  [[nodiscard]] static std::optional<Decisions> named(std::string_view name);
  [[nodiscard]] static Decisions all();
  [[nodiscard]] bool contains(Decision decision) const { return members_[decision]; }

 private:
  std::array<bool, 256> members_{};
};

}  // namespace sluice::capture
