#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/ops/capture/filter.hpp"

namespace sluice::capture {

/// Options of a capture as the client requests them.
struct Request {
  Filter filter;
  std::optional<Duration> duration;  ///< duration of the capture; if not set, it runs until the client ends it

  /// Parses the words after `capture` on the socket: --ue ADDRESS, --port N, --reason NAME, --leg radio|core,
  /// --seconds N, --snaplen N, --program TEXT (Program::to_text()). Each may appear once. Returns an error message if
  /// they are invalid.
  [[nodiscard]] static std::variant<Request, std::string> parse(const std::vector<std::string>& words);
};

}  // namespace sluice::capture
