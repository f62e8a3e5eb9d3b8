#pragma once

namespace sluice::admin {

/// Default path of the admin socket, which the program and sluicectl use.
inline constexpr const char* default_socket = "/run/sluice/sluice.sock";

}  // namespace sluice::admin
