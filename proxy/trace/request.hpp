#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "control/trace/law_trace.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tracing {

/// What somebody asks for who wants to see decisions.
struct Request {
  control::LawTrace::Wanted wanted;
  std::optional<Duration> duration{};    ///< until the client ends it when not set
  std::optional<std::uint64_t> lines{};  ///< as many as there are when not set

  /// Reads the words behind `trace` on the socket: the UE's address or address:port (an IPv6 address in brackets then),
  /// --seconds N, --lines N, each once at most. A sentence where they are wrong.
  [[nodiscard]] static std::variant<Request, std::string> parse(const std::vector<std::string>& words);
};

}  // namespace sluice::tracing
