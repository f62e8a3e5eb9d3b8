#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::proxy {

/// Why a split connection goes back to plain forwarding: name and text from one line; counters of the same names.
#define SLUICE_PROXY_RELEASE_REASONS(X)                                                                           \
  X(released_idle, "split connections handed back to plain forwarding: silent for timeouts.idle")                 \
  X(released_command, "split connections handed back to plain forwarding: the operator asked for it")             \
  X(released_drain, "split connections handed back to plain forwarding: the proxy drains")                        \
  X(released_memory, "split connections handed back to plain forwarding: packet buffers short, and it held none") \
  X(released_switch, "split connections handed back to their hosts: the policies leave them end to end now")      \
  X(released_unsplittable,                                                                                        \
    "split connections handed back to plain forwarding: a fragment or an IP option between its "                  \
    "hosts")

enum class ReleaseReason : std::uint8_t {
  none,
#define X(name, text) name,
  SLUICE_PROXY_RELEASE_REASONS(X)
#undef X
      never_split  ///< a handshake that failed, or that nobody waits for any more
};

/// What keeps a connection here that is to be released: name and text from one line.
#define SLUICE_PROXY_OBSTACLES(X)                                                                       \
  X(delivering, "bytes acknowledged to one host are still on their way to the other one")               \
  X(reordering, "segments are held that came before their turn")                                        \
  X(closing, "both hosts have closed, or one has reset; the end is still on its way through")           \
  X(window,                                                                                             \
    "one host was told of more window than the other one takes by now; nothing is held, a stop breaks " \
    "nothing")

enum class Obstacle : std::uint8_t {
  none,
#define X(name, text) name,
  SLUICE_PROXY_OBSTACLES(X)
#undef X
};
#define X(name, text) +1
inline constexpr std::size_t obstacle_count = 1 SLUICE_PROXY_OBSTACLES(X);  ///< `none` included
#undef X

/// "window"; empty for none.
[[nodiscard]] constexpr std::string_view to_string(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::none:
      return "";
#define X(name, text)  \
  case Obstacle::name: \
    return #name;
      SLUICE_PROXY_OBSTACLES(X)
#undef X
  }
  return "?";
}

}  // namespace sluice::proxy
