#pragma once

#include <functional>
#include <optional>
#include <string>

#include "proxy/http/message.hpp"
#include "proxy/metrics/exposition.hpp"

namespace sluice::metrics {

/// Writes the page of metrics as it is now.
using Page = std::function<std::string(Format)>;

/// Whether every poll thread goes round.
using Health = std::function<bool()>;

/// Answers GET (or HEAD) of /metrics, and of /health for who only asks whether the program does its work: 200 where it
/// does, 503 where a poll thread stands still. Nothing for other paths.
[[nodiscard]] std::optional<http::Response> answer(const http::Request& request, const Page& page,
                                                   const Health& healthy);

}  // namespace sluice::metrics
