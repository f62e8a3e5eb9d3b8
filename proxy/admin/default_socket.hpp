#pragma once

namespace sluice::admin {

/// Where the admin socket is when nothing else is said, for the program and for sluicectl.
inline constexpr const char* default_socket = "/run/sluice/sluice.sock";

}  // namespace sluice::admin
