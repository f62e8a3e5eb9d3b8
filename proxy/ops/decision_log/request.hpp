#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "control/decision_log/decision_log.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tracing {

/// Options of a decision log (inputs and decisions of one UE's controllers) that a client requests.
struct Request {
  control::DecisionLog::Selection selection;
  /// duration of the recording; if not set, the recording runs until the client ends it
  std::optional<Duration> duration{};
  std::optional<std::uint64_t> lines{};  ///< maximum number of lines; if not set, it is not limited

  /// Parses the words after `trace`: the address of the UE, optionally with a port, --seconds N and --lines N. An IPv6
  /// address with a port is written in brackets. Each option may be given once. Returns an error message if the words
  /// are invalid.
  [[nodiscard]] static std::variant<Request, std::string> parse(const std::vector<std::string>& words);
};

}  // namespace sluice::tracing
