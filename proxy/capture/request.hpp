#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/capture/filter.hpp"

namespace sluice::capture {

/// What somebody asks for who wants to see frames.
struct Request {
  Filter filter;
  std::optional<Duration> duration;  ///< until the client ends it when not set

  /// Reads the words behind `capture` on the socket: --ue ADDRESS, --port N, --reason NAME, --leg radio|core,
  /// --seconds N, --snaplen N, --program TEXT (Program::to_text()), each once at most. A sentence where they are wrong.
  [[nodiscard]] static std::variant<Request, std::string> parse(const std::vector<std::string>& words);
};

}  // namespace sluice::capture
