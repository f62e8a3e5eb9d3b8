#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "control/decision_log/law_trace.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tracing {

/// Options of a decision log as the client requests it.
struct Request {
  control::LawTrace::Wanted wanted;
  std::optional<Duration> duration{};    ///< duration of the recording; if not set, it runs until the client ends it
  std::optional<std::uint64_t> lines{};  ///< maximum number of lines; if not set, there is no limit

  /// Parses the words after `trace` on the socket: the UE's address or address:port, --seconds N, --lines N. An IPv6
  /// address with a port is in brackets. Each option may appear once. Returns an error message if the words are
  /// invalid.
  [[nodiscard]] static std::variant<Request, std::string> parse(const std::vector<std::string>& words);
};

}  // namespace sluice::tracing
