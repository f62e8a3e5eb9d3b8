#pragma once

#include <string_view>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Returns the part of an answer that sluicectl prints by default, in readable units. The answers to `bearers` and
/// `flows` are reduced to columns that fit into 120 characters with IPv4 addresses. Other answers are returned
/// unchanged. Missing values are null.
[[nodiscard]] Json view_of(std::string_view command, const Json& answer);

}  // namespace sluice::admin
