#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::proxy {

/// Reasons why a split connection is released, that is, handed back to its hosts and only forwarded from then on:
/// X(name, text). Each reason has two counters. The counter `name` counts the connections, and forward_`name` counts
/// their frames that are forwarded after the release.
#define SLUICE_PROXY_RELEASE_REASONS(X)                             \
  X(released_idle, "idle for timeouts.idle")                        \
  X(released_command, "the operator asked for it")                  \
  X(released_drain, "the proxy drains")                             \
  X(released_memory, "packet buffers were short, and it held none") \
  X(released_switch, "the policies leave it end to end")            \
  X(released_unsplittable, "a fragment, an IP option or a signature between its hosts")

enum class ReleaseReason : std::uint8_t {
  none,
#define X(name, text) name,
  SLUICE_PROXY_RELEASE_REASONS(X)
#undef X
      released_earlier_run,  ///< an earlier run of the program had split the connection
  /// The connection was never split: its handshake was refused, it has a property that the proxy cannot split, or its
  /// release was requested before the split.
  never_split
};

/// Returns the name of the reason, such as "released_idle". Returns an empty text for `none` (not released) and for
/// `never_split`.
[[nodiscard]] constexpr std::string_view to_string(ReleaseReason reason) {
  switch (reason) {
    case ReleaseReason::none:
    case ReleaseReason::never_split:
      return "";
    case ReleaseReason::released_earlier_run:
      return "released_earlier_run";
#define X(name, text)       \
  case ReleaseReason::name: \
    return #name;
      SLUICE_PROXY_RELEASE_REASONS(X)
#undef X
  }
  return "?";
}

/// Reasons why the proxy sends a RST: X(name, text).
#define SLUICE_PROXY_RESET_REASONS(X)                                                                  \
  X(reset_relayed, "the other host has reset the connection")                                          \
  X(reset_timed_out, "a host acknowledged no retransmission")                                          \
  X(reset_stalled, "a host acknowledged none of the data held for it")                                 \
  X(reset_orphaned, "a host acknowledged none of the data held for it, and the data's sender is gone") \
  X(reset_memory, "packet buffers were short, and it held many without progress")                      \
  X(reset_stop, "the program ended, and bytes were held")                                              \
  X(reset_earlier_run, "an earlier run of the program held bytes of it, which are lost")

enum class ResetReason : std::uint8_t {
  none,
#define X(name, text) name,
  SLUICE_PROXY_RESET_REASONS(X)
#undef X
};
#define X(name, text) +1
inline constexpr std::size_t reset_reason_count = 1 SLUICE_PROXY_RESET_REASONS(X);  ///< `none` included
#undef X

/// Returns the name of the reason, such as "reset_stalled". Returns an empty text for `none`.
[[nodiscard]] constexpr std::string_view to_string(ResetReason reason) {
  switch (reason) {
    case ResetReason::none:
      return "";
#define X(name, text)     \
  case ResetReason::name: \
    return #name;
      SLUICE_PROXY_RESET_REASONS(X)
#undef X
  }
  return "?";
}

/// Conditions that delay the release of a split connection (its handback to the hosts): X(name, text).
#define SLUICE_PROXY_BLOCKERS(X)                                                            \
  X(delivering, "bytes acknowledged to one host are still in flight to the other one")      \
  X(reordering, "out-of-order segments are held")                                           \
  X(marks, "a host counts fewer ECN marks than were reported to the other one (RFC 9768)")  \
  X(closing, "both hosts have closed, or one has reset; the FIN or RST is still in flight") \
  X(window,                                                                                 \
    "one host was granted more window than the other one accepts now; nothing is held, so a stop breaks nothing")

enum class HandbackBlocker : std::uint8_t {
  none,
#define X(name, text) name,
  SLUICE_PROXY_BLOCKERS(X)
#undef X
};
#define X(name, text) +1
inline constexpr std::size_t blocker_count = 1 SLUICE_PROXY_BLOCKERS(X);  ///< `none` included
#undef X

/// Returns the name of the condition, such as "window". Returns an empty text for `none`.
[[nodiscard]] constexpr std::string_view to_string(HandbackBlocker blocker) {
  switch (blocker) {
    case HandbackBlocker::none:
      return "";
#define X(name, text)         \
  case HandbackBlocker::name: \
    return #name;
      SLUICE_PROXY_BLOCKERS(X)
#undef X
  }
  return "?";
}

}  // namespace sluice::proxy
