#include "proxy/ops/decision_log/request.hpp"

#include <string_view>

#include "proxy/yaml/scalar.hpp"

namespace sluice::tracing {
namespace {

constexpr std::string_view whose =
    "trace: name a UE by its address as in `bearers`, or a connection by address:port as in `flows`";

/// Parses the address of a UE, optionally with a port: "10.0.0.2", "10.0.0.2:4000", "2001:db8::2" or
/// "[2001:db8::2]:4000". Returns nothing for other texts.
std::optional<control::DecisionLog::Selection> read_selection(std::string_view text) {
  if (const auto whole = IpAddress::parse(text)) return control::DecisionLog::Selection{*whole, {}};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  const auto port = config::parse_whole<std::uint16_t>(std::string(text.substr(colon + 1)));
  if (!address || address->is_v4() == brackets || !port || *port == 0) return std::nullopt;
  return control::DecisionLog::Selection{*address, *port};
}

std::string take_seconds(Request& request, const std::string& word) {
  if (request.duration) return "--seconds is given twice";
  request.duration = config::parse_seconds(word, std::chrono::hours(24));
  return request.duration ? "" : "--seconds: more than 0, up to 86400";
}

std::string take_lines(Request& request, const std::string& word) {
  if (request.lines) return "--lines is given twice";
  request.lines = config::parse_whole<std::uint64_t>(word);
  return request.lines && *request.lines != 0 ? "" : "--lines: a whole number from 1 on";
}

}  // namespace

std::variant<Request, std::string> Request::parse(const std::vector<std::string>& words) {
  const auto selection = words.empty() ? std::nullopt : read_selection(words.front());
  if (!selection) return std::string(whose);
  Request request{*selection};
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const bool seconds = words[i] == "--seconds";
    if (!seconds && words[i] != "--lines") return "trace has no argument " + words[i].substr(0, 40);
    if (i + 1 == words.size()) return words[i] + " needs a value";
    std::string problem = seconds ? take_seconds(request, words[i + 1]) : take_lines(request, words[i + 1]);
    if (!problem.empty()) return problem;
  }
  return request;
}

}  // namespace sluice::tracing
