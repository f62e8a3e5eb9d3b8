// Replay of a decision log: constructs the controllers from the recorded states, repeats every call and compares the
// outcomes. Called by the program that reads logs, one line at a time. With unchanged parameters the outcomes are
// equal, because controllers read no clock and no random source. Every error names the line, the place in it and what
// was expected.

#include "control/decision_log/replay.hpp"

#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "control/decision_log/decision_log.hpp"

namespace sluice::control {
namespace {

using Json = nlohmann::json;

/// Largest number of controllers in one replay. It bounds the memory, because the decision log may come from an
/// untrusted source.
constexpr std::size_t max_controllers = 4096;
constexpr std::uint64_t format = 1;

const FieldPlace top{};

const Json& member(const Json& line, std::string_view name) {
  const auto at = line.find(name);
  if (at == line.end()) FieldPlace{&top, name}.refuse("to be there");
  return *at;
}

std::string text_of(const Json& line, std::string_view name) {
  const Json& value = member(line, name);
  if (!value.is_string()) FieldPlace{&top, name}.refuse("a text");
  return value.get<std::string>();
}

/// Checks the parameters that the constructor of a per-flow controller does not check; throws if they are invalid.
void check(const FlowControllerOrigin& origin) {
  if (origin.segment < Bytes(1) || origin.segment > Bytes(65'535))
    FieldPlace{&top, "made_of.segment"}.refuse("1 to 65535 bytes");
  ClampWindowParameters clamp = origin.parameters.clamp;
  clamp.segment = origin.segment;
  refuse_errors(validate(clamp));
  refuse_errors(validate(origin.parameters.price));
  refuse_errors(validate(origin.parameters.gwa));
  refuse_errors(validate(origin.parameters.fair_share));
}
void check(const DelayBasedParameters& parameters) {
  if (parameters.segment > Bytes(65'535)) FieldPlace{&top, "made_of.segment"}.refuse("at most 65535 bytes");
}
template <typename Origin>
void check(const Origin& /*origin*/) {}

/// Constructs a controller from its parameters `made_of`, and sets the state that a line of the decision log contains.
/// Stores in `owner` the parameters, which must outlive the controller because it may only refer to them.
template <typename Law>
Law law_of(const Json& made_of, const Json& state, std::shared_ptr<const void>& owner) {
  const auto origin = std::make_shared<typename RecordedController<Law>::Origin>();
  read_value(made_of, *origin, FieldPlace{&top, "made_of"});
  check(*origin);
  owner = origin;
  Law law = RecordedController<Law>::make(*origin);
  read_value(state, law, FieldPlace{&top, "state"});
  return law;
}

/// Makes a recorded call again, with the arguments `in` from the decision log. Returns the outcome in the form that
/// DecisionLog writes.
template <typename Call, typename Law>
Json outcome_of(Law& law, const Json& in) {
  std::array<char, DecisionLog::longest_line> room{};
  typename Call::Arguments arguments;
  const FieldPlace place{&top, "in"};
  FieldReader reader(in, place);
  LineWriter line(room);
  line.open('{');
  std::apply(
      [&](auto&... each) {
        [[maybe_unused]] std::size_t i = 0;
        (reader(Call::names[i++], each), ...);
        reader.refuse_others();
        static_cast<void>(call_and_write<Call>(line, law, each...));
      },
      arguments);
  line.close('}');
  return Json::parse(line.text()).at("out");
}

/// Repeats the call that a line names by `event`, with the arguments in `in`. Returns the outcome of the call; nothing
/// if the controller has no such call.
template <typename Law, typename... Calls>
std::optional<Json> outcome_of_any(Law& law, std::string_view event, const Json& in,
                                   std::type_identity<std::tuple<Calls...>> /*calls*/) {
  std::optional<Json> out;
  static_cast<void>(((event == Calls::name && (out = outcome_of<Calls>(law, in), true)) || ...));
  return out;
}

}  // namespace

Replay::Replay(OnDifference differs, std::vector<Change> changes)
    : differs_(std::move(differs)), changes_(std::move(changes)) {}

void Replay::take(std::string_view line) {
  ++lines_;
  try {
    if (line.size() > longest_line) throw ReplayError("it is longer than any line of a trace");
    constexpr bool no_exceptions = false;
    const Json json = Json::parse(line, nullptr, no_exceptions);
    if (!json.is_object()) throw ReplayError("it is no JSON object");
    take_line(json);
  } catch (const ReplayError& problem) {
    throw ReplayError("line " + std::to_string(lines_) + ": " + problem.what());
  } catch (const std::invalid_argument& problem) {
    throw ReplayError("line " + std::to_string(lines_) + ": made_of: " + problem.what());
  }
}

void Replay::check_beginning(const Json& line) const {
  const auto version = line.find("sluice_trace");
  if (version == line.end()) throw ReplayError("a trace begins with a line that has sluice_trace");
  if (*version != format)
    throw ReplayError("a trace of format " + version->dump() + "; this program reads format " + std::to_string(format));
}

std::uint32_t Replay::number_in(const Json& line) const {
  return static_cast<std::uint32_t>(read_count(member(line, "of"), UINT32_MAX, FieldPlace{&top, "of"}));
}

void Replay::take_line(const Json& line) {
  if (lines_ == 1) return check_beginning(line);
  const std::string event = text_of(line, "event");
  if (event == "state") return make(line);
  if (event == "lost") {
    totals_.lost += read_count(member(line, "lines"), UINT64_MAX, FieldPlace{&top, "lines"});
    return laws_.clear();  // each law starts again with its state
  }
  if (event == "left" || event == "state_too_long") {
    laws_.erase(number_in(line));
  } else if (event == "end") {
    totals_.complete = true;
    totals_.lost = read_count(member(line, "lost"), UINT64_MAX, FieldPlace{&top, "lost"});
  } else {
    repeat(line);
  }
}

Json Replay::changed(Json made_of) {
  for (Change& change : changes_) {
    Json::json_pointer at;
    std::istringstream names(change.name);
    for (std::string name; std::getline(names, name, '.');) at /= name;
    if (at.empty() || !made_of.contains(at)) continue;
    change.used = true;
    constexpr bool no_exceptions = false;
    const Json value = Json::parse(change.value, nullptr, no_exceptions);
    made_of[at] = value.is_primitive() && !value.is_discarded() ? value : Json(change.value);
  }
  return made_of;
}

void Replay::make(const Json& line) {
  const std::uint32_t number = number_in(line);
  if (laws_.size() >= max_controllers) throw ReplayError("more laws than any trace follows");
  const std::string word = text_of(line, "law");
  const Json made_of = changed(member(line, "made_of"));
  const Json& state = member(line, "state");
  laws_.erase(number);
  const auto begin = [&]<typename Kind>() {
    std::shared_ptr<const void> parameters;
    Law law = law_of<Kind>(made_of, state, parameters);
    laws_.emplace(number, Repeated{std::move(parameters), std::move(law)});
    return true;
  };
  const auto named = [&]<typename Kind>() {
    return RecordedController<Kind>::name == word && begin.template operator()<Kind>();
  };
  if (!named.operator()<DelayBasedController>() && !named.operator()<Smvs>() && !named.operator()<NodeBAllowance>() &&
      !named.operator()<ReceiveWindowLoop>())
    begin.operator()<FlowController>();
  if (seen_.insert(number).second) ++totals_.laws;
}

void Replay::repeat(const Json& line) {
  const auto law = laws_.find(number_in(line));
  if (law == laws_.end()) {
    ++totals_.unknown;
    return;
  }
  const std::string event = text_of(line, "event");
  const Json& in = member(line, "in");
  const Json& recorded = member(line, "out");
  const auto out = std::visit(
      [&]<typename Kind>(Kind& it) {
        return outcome_of_any(it, event, in, std::type_identity<typename RecordedController<Kind>::Calls>());
      },
      law->second.law);
  if (!out) FieldPlace{&top, "event"}.refuse("a call of this law, not " + event.substr(0, 40));
  ++totals_.decisions;
  if (*out == recorded) return;
  ++totals_.differing;
  differs_({lines_, line, *out});
}

std::vector<std::string> Replay::unused_changes() const {
  std::vector<std::string> names;
  for (const Change& change : changes_) {
    if (!change.used) names.push_back(change.name);
  }
  return names;
}

}  // namespace sluice::control
