#pragma once

#include <string_view>

#include "proxy/admin/command.hpp"

namespace sluice::admin {

/// What people look for in the answer to a command: of `bearers` and `flows` the columns that fit a terminal of 120
/// (addresses of IPv6 take more), in units that are read at a glance; any other answer as it is. What a program does
/// not tell is null.
[[nodiscard]] Json view_of(std::string_view command, const Json& answer);

}  // namespace sluice::admin
