#pragma once

namespace sluice::admin {

/// Default path of the admin socket, for the program and for sluicectl.
inline constexpr const char* default_socket = "/run/sluice/sluice.sock";

}  // namespace sluice::admin
