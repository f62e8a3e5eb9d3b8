#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::proxy {

/// Phases of a connection, as status displays show them: X(identifier, name, text).
#define SLUICE_PROXY_PHASES(X)                                                                                \
  X(handshake, "handshake", "SYN and SYN-ACK pass between the hosts; nothing is split yet")                   \
  X(split, "split", "the proxy acknowledges to each host and holds what the other has not acknowledged")      \
  X(handing_back, "handing back",                                                                             \
    "the connection returns to plain forwarding; blocked_by states the reason of a delay")                    \
  X(released, "released", "the connection was split and is forwarded now; reason states the cause")           \
  X(regulated, "regulated", "the hosts acknowledge to each other, and a law rewrites windows or delays ACKs") \
  X(observed, "observed", "the hosts acknowledge to each other; a law only computes what it would do")        \
  X(bypassed, "bypassed", "the hosts acknowledge to each other, and no law applies")

enum class Phase : std::uint8_t {
#define X(id, name, text) id,
  SLUICE_PROXY_PHASES(X)
#undef X
};

/// Name of a phase and its meaning.
struct PhaseText {
  std::string_view name;
  std::string_view text;
};

/// Name and meaning of each phase, indexed by Phase.
inline constexpr std::array phase_table{
#define X(id, name, text) PhaseText{name, text},
    SLUICE_PROXY_PHASES(X)
#undef X
};

/// Returns the name of a phase, such as "handing back". The text ends with a null character.
[[nodiscard]] constexpr const char* to_string(Phase phase) {
  return phase_table.at(static_cast<std::size_t>(phase)).name.data();
}

}  // namespace sluice::proxy
