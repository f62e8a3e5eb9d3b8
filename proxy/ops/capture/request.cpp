// Parses the options of the command `capture` that a client sends over the admin socket. Captures::begin() calls it.
// Invariant: every option is checked before the capture starts, because clients are not trusted.
#include "proxy/ops/capture/request.hpp"

#include <array>
#include <set>

#include "proxy/yaml/scalar.hpp"

namespace sluice::capture {
namespace {

/// Function that parses `word`, the value of an option, and stores it in `request`. Returns an error message, or an
/// empty text on success.
using Take = std::string (*)(Request& request, const std::string& word);

std::string take_ue(Request& request, const std::string& word) {
  request.filter.ue = IpAddress::parse(word);
  return request.filter.ue ? "" : "--ue: an IP address";
}

std::string take_port(Request& request, const std::string& word) {
  request.filter.port = config::parse_whole<std::uint16_t>(word);
  return request.filter.port && *request.filter.port != 0 ? "" : "--port: 1 to 65535";
}

std::string take_reason(Request& request, const std::string& word) {
  const std::optional<Decisions> named = Decisions::named(word);
  if (named) request.filter.decisions = *named;
  return named ? "" : "--reason: a counter of frames without its action, such as handshake, or split, or own";
}

std::string take_leg(Request& request, const std::string& word) {
  if (word != "radio" && word != "core") return "--leg: radio or core";
  request.filter.leg = word == "radio" ? proxy::Side::radio : proxy::Side::core;
  return "";
}

std::string take_seconds(Request& request, const std::string& word) {
  request.duration = config::parse_seconds(word, std::chrono::hours(24));
  return request.duration ? "" : "--seconds: more than 0, up to 86400";
}

std::string take_snap_length(Request& request, const std::string& word) {
  request.filter.snap_length = config::parse_whole<std::uint16_t>(word);
  return request.filter.snap_length && *request.filter.snap_length != 0 ? "" : "--snaplen: 1 to 65535 bytes";
}

std::string take_program(Request& request, const std::string& word) {
  const std::optional<Program> program = Program::parse(word);
  if (program) request.filter.program = *program;
  return program ? "" : "--program: not a filter, or one that is too long or jumps backwards";
}

struct Option {
  std::string_view name;
  Take take;
};
constexpr std::array options{Option{"--ue", take_ue},           Option{"--port", take_port},
                             Option{"--reason", take_reason},   Option{"--leg", take_leg},
                             Option{"--seconds", take_seconds}, Option{"--snaplen", take_snap_length},
                             Option{"--program", take_program}};

const Option* option_named(std::string_view name) {
  for (const Option& each : options) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

}  // namespace

std::variant<Request, std::string> Request::parse(const std::vector<std::string>& words) {
  Request request;
  std::set<const Option*> seen;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const Option* const option = option_named(words[i]);
    if (option == nullptr) return "capture has no argument " + words[i].substr(0, 40);
    if (i + 1 == words.size()) return words[i] + " needs a value";
    if (!seen.insert(option).second) return words[i] + " is given twice";
    if (std::string problem = option->take(request, words[i + 1]); !problem.empty()) return problem;
  }
  return request;
}

}  // namespace sluice::capture
