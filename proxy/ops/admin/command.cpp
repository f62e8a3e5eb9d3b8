// Parses command lines of the admin socket, runs the commands and formats answers. Server and the client of sluicectl
// call it. Invariant: any input yields an answer; a command's exception becomes a failure.
#include "proxy/ops/admin/command.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "proxy/yaml/renamed.hpp"
#include "proxy/yaml/scalar.hpp"

namespace sluice::admin {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) return words;
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

std::string Answer::to_line() const {
  const Json line = ok ? Json{{"ok", true}, {"result", value}} : Json{{"ok", false}, {"error", value}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Answer Answer::from_line(std::string_view line) {
  const Json parsed = Json::parse(line, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("ok") || !parsed["ok"].is_boolean()) {
    return failure("the answer is not valid JSON");
  }
  if (parsed["ok"].get<bool>()) return success(parsed.value("result", Json()));
  const auto why = parsed.find("error");
  return failure(why != parsed.end() && why->is_string() ? why->get<std::string>() : "no reason given");
}

CommandTable::CommandTable(std::vector<Command> commands) : commands_(std::move(commands)) {}

void CommandTable::run(std::string_view line, const Reply& reply) const {
  std::vector<std::string> words = words_of(line);
  if (words.empty()) return reply(Answer::failure("no command; try help"));
  const std::string name = std::move(words.front());
  words.erase(words.begin());
  if (name == "help" && words.empty()) return reply(help());
  const auto command =
      std::find_if(commands_.begin(), commands_.end(), [&name](const Command& c) { return c.name == name; });
  if (command == commands_.end()) {
    std::vector<std::string> known;
    for (const Command& each : commands_) known.push_back(each.name);
    return reply(unknown_word("command", name, suggestion(name, known, "try help")));
  }
  if (words.size() > command->max_arguments) {
    return reply(Answer::failure("too many arguments; usage: " + name +
                                 (command->arguments.empty() ? "" : " " + command->arguments)));
  }
  try {
    command->run(words, reply);
  } catch (const std::exception& problem) {
    reply(Answer::failure(name + ": " + problem.what()));
  }
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string near = config::nearest(word, known);
  return near.empty() ? otherwise : "did you mean " + near + "?";
}

Answer unknown_word(const std::string& kind, const std::string& word, const std::string& advice) {
  const std::string now(config::renamed_to(word));
  return Answer::failure("unknown " + kind + " '" + word.substr(0, 40) + "'; " +
                         (now.empty() ? advice : "it is called " + now + " now"));
}

Answer CommandTable::help() const {
  Json list = Json::array();
  for (const Command& command : commands_) {
    list.push_back({{"command", command.arguments.empty() ? command.name : command.name + " " + command.arguments},
                    {"meaning", command.help}});
  }
  list.push_back({{"command", "help"}, {"meaning", "this list"}});
  return Answer::success(std::move(list));
}

std::optional<std::size_t> parse_count(std::string_view text, std::size_t min, std::size_t max) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) return std::nullopt;
  return value;
}

}  // namespace sluice::admin
