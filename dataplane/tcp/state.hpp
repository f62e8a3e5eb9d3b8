#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::tcp {

/// Connection states of RFC 9293 section 3.3.2. There is no LISTEN, because an endpoint is one connection and the host
/// accepts new ones.
#define SLUICE_TCP_STATES(X) \
  X(closed)                  \
  X(syn_sent)                \
  X(syn_received)            \
  X(established)             \
  X(fin_wait_1)              \
  X(fin_wait_2)              \
  X(close_wait)              \
  X(closing)                 \
  X(last_ack)                \
  X(time_wait)

enum class State : std::uint8_t {
#define X(name) name,
  SLUICE_TCP_STATES(X)
#undef X
};
[[nodiscard]] std::string_view to_string(State state);

/// Reasons why an endpoint is closed.
#define SLUICE_TCP_CLOSE_REASONS(X) \
  X(none)                           \
  X(finished)                       \
  X(reset_by_peer)                  \
  X(aborted)                        \
  X(timed_out)                      \
  X(refused)

enum class CloseReason : std::uint8_t {
#define X(name) name,
  SLUICE_TCP_CLOSE_REASONS(X)
#undef X
};
[[nodiscard]] std::string_view to_string(CloseReason reason);

}  // namespace sluice::tcp
