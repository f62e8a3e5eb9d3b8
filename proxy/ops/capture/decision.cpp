// Names the outcome of a frame for captures: action and reason, derived from the shard's counters so that captures
// and metrics agree. ShardTaps, CaptureStream and the recovery of recorded frames call it. Invariant: exactly one
// decision counter changes per received frame.
#include "proxy/ops/capture/decision.hpp"

#include <algorithm>

namespace sluice::capture {
namespace {

constexpr std::size_t decision_count = [] {
  std::size_t count = 0;
  for (std::size_t i = 0; i < proxy::counter_count; ++i) count += is_decision(i) ? 1U : 0U;
  return count;
}();

constexpr auto decisions = [] {
  std::array<Decision, decision_count> list{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < proxy::counter_count; ++i) {
    if (is_decision(i)) list[count++] = static_cast<Decision>(i);
  }
  return list;
}();

struct Action {
  std::string_view prefix;  ///< common prefix of the names of the counters for this action
  std::string_view name;
};
constexpr std::array actions{Action{"forward_", "forwarded"}, Action{"drop_", "dropped"}};

const Action* action_with_prefix(std::string_view counter) {
  const auto* const at = std::find_if(actions.begin(), actions.end(),
                                      [&](const Action& each) { return counter.starts_with(each.prefix); });
  return at == actions.end() ? nullptr : at;
}

}  // namespace

std::optional<Decision> decision_between(const proxy::Counters& before, const proxy::Counters& now) {
  for (const Decision each : decisions) {
    if (now.at(each) != before.at(each)) return each;
  }
  return std::nullopt;
}

std::string_view action_of(Decision decision) {
  if (is_from_proxy(decision)) return "sent";
  const Action* const action = action_with_prefix(proxy::counter_text(decision).name);
  return action != nullptr ? action->name : "optimised";
}

std::string_view reason_of(Decision decision) {
  if (decision == sent_own) return "own";
  if (is_from_proxy(decision)) return to_string(reset_reason(decision));
  const std::string_view counter = proxy::counter_text(decision).name;
  const Action* const action = action_with_prefix(counter);
  return action != nullptr ? counter.substr(action->prefix.size()) : "split";
}

std::string comment_of(Decision decision) {
  std::string comment = "action=";
  return comment.append(action_of(decision)).append(" reason=").append(reason_of(decision));
}

std::optional<Decisions> Decisions::named(std::string_view name) {
  Decisions found;
  bool any = false;
  for (std::size_t i = 0; i < proxy::reset_reason_count; ++i) {
    const Decision own = sent_reset(static_cast<proxy::ResetReason>(i));
    if (name != reason_of(sent_own) && name != reason_of(own)) continue;
    found.members_.at(own) = true;
    any = true;
  }
  for (const Decision each : decisions) {
    if (name != reason_of(each) && name != proxy::counter_text(each).name) continue;
    found.members_.at(each) = true;
    any = true;
  }
  return any ? std::optional(found) : std::nullopt;
}

Decisions Decisions::all() {
  Decisions every;
  every.members_.fill(true);
  return every;
}

}  // namespace sluice::capture
