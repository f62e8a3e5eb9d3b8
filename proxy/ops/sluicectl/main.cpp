// Command line of `sluicectl`: sends a command to the admin socket and prints the answer, or runs one of its own
// commands (top, watch, capture, trace, replay). Exit codes: 0 answered, 1 refused or no answer, 2 bad command line.
// Text of the program is escaped before it reaches the terminal.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/engine/policy/policy_settings.hpp"
#include "proxy/ops/admin/answers.hpp"
#include "proxy/ops/admin/client.hpp"
#include "proxy/ops/admin/default_socket.hpp"
#include "proxy/ops/admin/printable.hpp"
#include "proxy/ops/admin/proxy_commands.hpp"
#include "proxy/ops/admin/view.hpp"
#include "proxy/ops/sluicectl/capture.hpp"
#include "proxy/ops/sluicectl/completion.hpp"
#include "proxy/ops/sluicectl/pages.hpp"
#include "proxy/ops/sluicectl/repeat.hpp"
#include "proxy/ops/sluicectl/top.hpp"
#include "proxy/ops/sluicectl/trace.hpp"

namespace {

constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

/// Commands that sluicectl implements itself. `top` and `watch` repeat commands to the running proxy, and `replay`
/// reads a file.
constexpr std::array own_verbs{
    sluice::admin::Verb{
        "top", "[--by rate|queue|delay] [--interval SECONDS] [--count N]",
        "bearers and flows, largest first, updated each second; printed once if standard output is no terminal", 0},
    sluice::admin::Verb{"replay", "FILE [--set NAME=VALUE]",
                        "recomputes the decisions of a trace: reports the first that differs from the record; with "
                        "--set, prints decisions under other parameters",
                        0},
    sluice::admin::Verb{"watch", "[--interval SECONDS] [--count N] COMMAND", "answer of a command, updated each second",
                        0},
};

/// Returns all commands, for the manual page and the completion script.
std::vector<sluice::manual::Verb> verbs() {
  std::vector<sluice::manual::Verb> all;
  std::vector<sluice::admin::Verb> known(sluice::admin::proxy_verbs.begin(), sluice::admin::proxy_verbs.end());
  known.insert(known.end(), own_verbs.begin(), own_verbs.end());
  for (const sluice::admin::Verb& verb : known) {
    const std::string arguments = verb.arguments.empty() ? "" : " " + std::string(verb.arguments);
    all.push_back({std::string(verb.name) + arguments, std::string(verb.help)});
  }
  return all;
}

/// Returns all commands for the completion script. MODE is replaced by the names of the modes. UE remains a
/// placeholder, for which the script inserts the UEs of the running program.
std::vector<sluice::manual::Verb> completed_verbs() {
  std::string modes;
  for (const sluice::proxy::ModeText& mode : sluice::proxy::mode_table)
    modes += (modes.empty() ? "" : "|") + std::string(mode.key);
  std::vector<sluice::manual::Verb> all = verbs();
  for (sluice::manual::Verb& verb : all) {
    constexpr std::string_view placeholder = "MODE ";
    const std::size_t at = verb.usage.find(placeholder);
    if (at != std::string::npos) verb.usage.replace(at, placeholder.size() - 1, modes);
  }
  return all;
}

std::string footer() {
  std::string usages;
  for (const sluice::manual::Verb& verb : verbs()) usages += verb.usage + ", ";
  return "Then a command with its arguments: " + usages +
         "help.\n`sluicectl help` lists the commands of the running program. Exit codes: 0 answered, 1 refused or no "
         "answer, 2 bad command line.";
}

const sluice::manual::Words page_words{
    {"`sluicectl` sends commands to a running sluice(8) through its admin socket and prints the answer as a table or "
     "as JSON. Only the user who runs the proxy may open the socket, and the members of `admin.group` if the "
     "configuration names one.",
     "Words after the options go to the program unchanged."},
    {"sluice(8)", "sluice.yaml(5)", "sluice-words(7)"}};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

enum class Form {
  view,  ///< table with a selection of values, see admin::view_of()
  wide,  ///< table with all values
  json   ///< JSON with all values
};

std::string text_of(const std::string& command, const sluice::admin::Json& value, Form form) {
  // Printed as ASCII, in which JSON contains no control characters.
  if (form == Form::json) return value.dump(2, ' ', true) + "\n";
  return sluice::admin::to_table(form == Form::wide ? value : sluice::admin::view_of(command, value));
}

int print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

/// Admin socket to which commands are sent, and the format in which answers are printed.
struct Session {
  std::string socket = sluice::admin::default_socket;
  double timeout_s = 5;
  Form form = Form::view;

  [[nodiscard]] std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<long>(timeout_s * 1000));
  }
  /// Sends a command to the program and returns the result. If the command fails, throws std::runtime_error with the
  /// program's error message.
  [[nodiscard]] sluice::admin::Json ask(const std::vector<std::string>& words) const {
    const sluice::admin::Answer answer = sluice::admin::ask(socket, joined(words), timeout());
    if (!answer.ok) throw std::runtime_error(sluice::admin::printable(answer.value.get<std::string>(), true));
    return answer.value;
  }
};

sluice::sluicectl::Look look(const Session& session) {
  const std::string most = "1000";  // maximum that a shard describes
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return {now.count(), session.ask({"status"}), session.ask({"bearers", most}), session.ask({"flows", most})};
}

int top(const Session& session, std::vector<std::string> words) {
  using namespace sluice::sluicectl;
  const Repetition repetition = Repetition::take(words);
  const std::string by = take_option(words, "--by").value_or("rate");
  const std::optional<Order> order = parse_order(by);
  if (!order) throw std::invalid_argument("--by: rate, queue or delay, not " + by);
  if (!words.empty()) throw std::invalid_argument("top has no argument " + words.front());
  Look before = look(session);
  std::this_thread::sleep_for(repetition.interval);
  repeat(repetition, session.form != Form::json, [&] {
    Look now = look(session);
    const sluice::admin::Json rows = top_of(before, now, *order);
    before = std::move(now);
    return session.form == Form::json ? rows.dump(-1, ' ', true) + "\n" : to_text(rows, terminal_lines());
  });
  return 0;
}

int watch(const Session& session, std::vector<std::string> words) {
  using namespace sluice::sluicectl;
  const Repetition repetition = Repetition::take(words);
  if (words.empty()) throw std::invalid_argument("watch needs a command, such as status");
  repeat(repetition, session.form != Form::json,
         [&] { return text_of(words.front(), session.ask(words), session.form); });
  return 0;
}

int capture(const Session& session, std::vector<std::string> words) {
  sluice::sluicectl::run_capture(sluice::sluicectl::CaptureCommand::take(std::move(words)), session.socket,
                                 session.timeout());
  return 0;
}

int trace(const Session& session, std::vector<std::string> words) {
  sluice::sluicectl::run_trace(sluice::sluicectl::TraceCommand::take(std::move(words)), session.socket,
                               session.timeout());
  return 0;
}

int replay(const Session& /*session*/, std::vector<std::string> words) {
  return sluice::sluicectl::run_replay(sluice::sluicectl::ReplayCommand::take(std::move(words))) ? 0 : exit_refused;
}

constexpr std::array<std::pair<std::string_view, int (*)(const Session&, std::vector<std::string>)>, 5> own_actions{
    {{"top", top}, {"watch", watch}, {"capture", capture}, {"trace", trace}, {"replay", replay}}};

int run(const Session& session, std::vector<std::string> words) {
  const std::string verb = words.front();
  const auto* const own =
      std::find_if(own_actions.begin(), own_actions.end(), [&](const auto& a) { return a.first == verb; });
  if (own == own_actions.end()) return print(text_of(verb, session.ask(words), session.form));
  words.erase(words.begin());
  try {
    return own->second(session, std::move(words));
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr, "sluicectl: %s\n", sluice::admin::printable(problem.what(), true).c_str());
    return exit_usage;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Commands of a running sluice", "sluicectl");
  app.footer(footer());
  Session session;
  std::vector<std::string> words;
  bool json = false;
  bool wide = false;
  bool manual = false;
  bool schema = false;
  std::string completion;
  app.add_option("--socket", session.socket, "the program's admin socket")
      ->envname("SLUICE_SOCKET")
      ->capture_default_str();
  app.add_option("--timeout", session.timeout_s, "longest wait for the answer, in seconds")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_flag("--json", json, "print the answer as JSON; also allowed after the command");
  app.add_flag("--wide", wide, "show every column of a table; also allowed after the command");
  app.add_flag("--manual", manual, "print the manual page for man, and exit");
  app.add_flag("--schema", schema, "print the JSON schema of all answers of --json, and exit");
  sluice::manual::declare_completion(app, completion);
  // Words after the options are sent to the program unchanged, including dashes, except for --json and --wide.
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  if (manual)
    return print(sluice::manual::program_page({"sluicectl", 1, "commands of a running sluice", SLUICE_VERSION},
                                              page_words, app, verbs()));
  if (schema) return print(sluice::admin::answer_schema().dump(2) + "\n");
  if (!completion.empty()) return print(sluice::manual::completion(completion, app, completed_verbs()));
  words = app.remaining();
  if (std::erase(words, "--json") > 0) json = true;  // no command uses these words
  if (std::erase(words, "--wide") > 0) wide = true;
  if (words.empty()) {
    std::fputs("sluicectl: a command is needed, such as status; see --help\n", stderr);
    return exit_usage;
  }
  try {
    session.form = json ? Form::json : wide ? Form::wide : Form::view;
    return run(session, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "sluicectl: %s\n", problem.what());
    return exit_refused;
  }
}
