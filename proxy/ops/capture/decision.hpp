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

/// Returns the Decision (outcome of a frame, as a number) for a RST that the proxy sends for `reason`. For reason
/// `none` it is `sent_own`.
[[nodiscard]] constexpr Decision sent_reset(proxy::ResetReason reason) {
  return static_cast<Decision>(sent_own - static_cast<std::size_t>(reason));
}
/// Returns the reason of a RST that the proxy sent, from the RST's Decision (outcome of a frame, as a number). Returns
/// `none` for all other frames.
[[nodiscard]] constexpr proxy::ResetReason reset_reason(Decision decision) {
  const std::size_t reason = std::size_t{sent_own} - decision;
  return reason < proxy::reset_reason_count ? static_cast<proxy::ResetReason>(reason) : proxy::ResetReason::none;
}
/// True if the decision (outcome of a frame) stands for a frame that the proxy has generated, or had withheld and now
/// sends. Every other decision is the index of the counter that counts the frame as received.
[[nodiscard]] constexpr bool is_from_proxy(Decision decision) {
  return decision > sent_own - proxy::reset_reason_count;
}

/// True if the counter with this index counts an outcome of received frames: optimised, forward_… or drop_…. Exactly
/// one such counter counts each received frame.
[[nodiscard]] constexpr bool is_decision(std::size_t counter) {
  const std::string_view name = proxy::counter_text(counter).name;
  return name == "optimised" || name.starts_with("forward_") || name.starts_with("drop_");
}

/// True if a frame with this decision (outcome) is forwarded, either unchanged or with rewritten fields.
[[nodiscard]] constexpr bool is_forwarded(Decision decision) {
  return decision < proxy::counter_count && proxy::counter_text(decision).name.starts_with("forward_");
}

/// Returns the decision (outcome) of a received frame, which is the index of the counter that counts this outcome. It
/// is the counter whose value differs between `before` and `now`. Returns nothing if no frame was counted.
[[nodiscard]] std::optional<Decision> decision_between(const proxy::Counters& before, const proxy::Counters& now);

/// Returns what the proxy did with a frame that has this decision (outcome): "optimised", "forwarded" or "dropped", as
/// in metrics::metric_name(). Returns "sent" for frames that the proxy has generated or had withheld.
[[nodiscard]] std::string_view action_of(Decision decision);
/// Returns why a frame has this decision (outcome), such as "split", "handshake" or "tcp_checksum". For frames that the
/// proxy has generated or had withheld it is "own", or for a RST such as "reset_stalled".
[[nodiscard]] std::string_view reason_of(Decision decision);
/// Returns the comment that a captured frame gets in the file, such as "action=forwarded reason=handshake".
[[nodiscard]] std::string comment_of(Decision decision);

/// Set of decisions (outcomes of frames), by which a capture selects frames. named() returns the set for a reason or a
/// frame counter ("forward_handshake"), or nothing for an unknown name. The set "own"
/// contains all frames that the proxy has made or withheld, with every RST of the proxy.
class Decisions {
 public:
  [[nodiscard]] static std::optional<Decisions> named(std::string_view name);
  [[nodiscard]] static Decisions all();
  [[nodiscard]] bool contains(Decision decision) const { return members_[decision]; }

 private:
  std::array<bool, 256> members_{};
};

}  // namespace sluice::capture
