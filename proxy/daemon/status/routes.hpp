#pragma once

#include <functional>
#include <optional>
#include <string>

#include "proxy/daemon/status/exposition.hpp"
#include "proxy/ops/http/message.hpp"

namespace sluice::metrics {

/// Function that returns the current page of metrics in the given text format.
using Page = std::function<std::string(Format)>;

/// Function that returns true if every poll thread makes progress.
using Health = std::function<bool()>;

/// Answers GET and HEAD requests for /metrics and /health. /health returns 200 if every poll thread makes progress,
/// else
/// 503. Returns nothing for other paths.
[[nodiscard]] std::optional<http::Response> answer(const http::Request& request, const Page& page,
                                                   const Health& healthy);

}  // namespace sluice::metrics
