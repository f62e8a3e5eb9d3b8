#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/pcapng/frame_header.hpp"
#include "proxy/shard/counters.hpp"

namespace sluice::capture {

static_assert(proxy::counter_count + proxy::reset_reason_count <= sent_own);

/// Returns the decision of a reset that the proxy sends for this reason: `sent_own` for none.
[[nodiscard]] constexpr Decision sent_reset(proxy::ResetReason reason) {
  return static_cast<Decision>(sent_own - static_cast<std::size_t>(reason));
}
/// Returns why the proxy sent a frame with this decision; none unless it is a reset of its own.
[[nodiscard]] constexpr proxy::ResetReason reset_reason(Decision decision) {
  const std::size_t reason = std::size_t{sent_own} - decision;
  return reason < proxy::reset_reason_count ? static_cast<proxy::ResetReason>(reason) : proxy::ResetReason::none;
}
/// True if the proxy sent the frame itself: it is not the one that just came in.
[[nodiscard]] constexpr bool is_own(Decision decision) {
  return decision > sent_own - proxy::reset_reason_count;
}

/// Of the counters those that say what became of a frame: each that came in is counted by one of them, once.
[[nodiscard]] constexpr bool is_decision(std::size_t counter) {
  const std::string_view name = proxy::counter_text(counter).name;
  return name == "optimised" || name.starts_with("forward_") || name.starts_with("drop_");
}

/// Whether a frame with this outcome goes on as it came, or nearly so.
[[nodiscard]] constexpr bool goes_on(Decision decision) {
  return decision < proxy::counter_count && proxy::counter_text(decision).name.starts_with("forward_");
}

/// What was counted since `before`; nothing when no frame was.
[[nodiscard]] std::optional<Decision> decision_between(const proxy::Counters& before, const proxy::Counters& now);

/// As the metrics have it (metrics::metric_name): "optimised", "forwarded", "dropped"; "sent".
[[nodiscard]] std::string_view action_of(Decision decision);
/// "split", "handshake", "tcp_checksum", …; "own", or "reset_stalled" for a reset that the proxy sent.
[[nodiscard]] std::string_view reason_of(Decision decision);
/// As a frame's comment has both: "action=forwarded reason=handshake".
[[nodiscard]] std::string comment_of(Decision decision);

/// A set of decisions, by the name of a reason, or of a counter of frames ("forward_handshake"); nothing where no
/// decision has it. "own" names the resets of the proxy, too.
class Decisions {
 public:
  [[nodiscard]] static std::optional<Decisions> named(std::string_view name);
  [[nodiscard]] static Decisions all();
  [[nodiscard]] bool contains(Decision decision) const { return members_[decision]; }

 private:
  std::array<bool, 256> members_{};
};

}  // namespace sluice::capture
