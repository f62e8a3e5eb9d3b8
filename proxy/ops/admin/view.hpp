#pragma once

#include <string_view>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Returns the parts of an answer that are of interest to people, in readable units. `bearers` and `flows` get the
/// columns that fit 120 characters with IPv4 addresses; other answers are returned unchanged. Missing values are null.
[[nodiscard]] Json view_of(std::string_view command, const Json& answer);

}  // namespace sluice::admin
