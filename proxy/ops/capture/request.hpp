#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/ops/capture/filter.hpp"

namespace sluice::capture {

/// Options of a capture that a client requests.
struct Request {
  Filter filter;
  std::optional<Duration> duration;  ///< duration of the capture; if not set, the capture runs until the client ends it

  /// Parses the words after `capture`: --ue ADDRESS, --port N, --reason NAME, --leg radio|core, --seconds N, --snaplen
  /// N, --program TEXT (see Program::to_text()). Each option may be given once. Returns an error message if the words
  /// are invalid.
  [[nodiscard]] static std::variant<Request, std::string> parse(const std::vector<std::string>& words);
};

}  // namespace sluice::capture
