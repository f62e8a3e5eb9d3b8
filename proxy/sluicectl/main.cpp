#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "proxy/admin/client.hpp"
#include "proxy/admin/default_socket.hpp"
#include "proxy/admin/printable.hpp"
#include "proxy/admin/proxy_commands.hpp"
#include "proxy/admin/view.hpp"
#include "proxy/manual/completion.hpp"
#include "proxy/manual/pages.hpp"

namespace {

constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

/// The commands of a running proxy, as pages and completion show them.
std::vector<sluice::manual::Verb> verbs() {
  std::vector<sluice::manual::Verb> all;
  for (const sluice::admin::Verb& verb : sluice::admin::proxy_verbs) {
    const std::string arguments = verb.arguments.empty() ? "" : " " + std::string(verb.arguments);
    all.push_back({std::string(verb.name) + arguments, std::string(verb.help)});
  }
  return all;
}

std::string footer() {
  std::string usages;
  for (const sluice::manual::Verb& verb : verbs()) usages += verb.usage + ", ";
  return "Then a command with its arguments: " + usages +
         "help.\nAsk `sluicectl help` what the running program knows. Exit codes: 0 answered, 1 refused or no answer, "
         "2 "
         "bad command line.";
}

const sluice::manual::Words page_words{
    {"`sluicectl` asks a running sluice(8) over its admin socket, and prints the answer as a table, or as JSON. Only "
     "the "
     "user who runs the proxy may open the socket, and the members of `admin.group` where the configuration names one.",
     "What follows the options goes to the program as it is."},
    {"sluice(8)", "sluice.yaml(5)"}};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

enum class Form {
  view,  ///< what people look for
  wide,  ///< all there is, as a table
  json   ///< all there is
};

std::string text_of(const std::string& command, const sluice::admin::Json& value, Form form) {
  // As ASCII, in which JSON has no control characters.
  if (form == Form::json) return value.dump(2, ' ', true) + "\n";
  return sluice::admin::to_table(form == Form::wide ? value : sluice::admin::view_of(command, value));
}

int print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

int ask_and_print(const std::string& socket, const std::vector<std::string>& words, double timeout_s, Form form) {
  const auto timeout = std::chrono::milliseconds(static_cast<long>(timeout_s * 1000));
  const sluice::admin::Answer answer = sluice::admin::ask(socket, joined(words), timeout);
  if (!answer.ok) {
    std::fprintf(stderr, "sluicectl: %s\n", sluice::admin::printable(answer.value.get<std::string>(), true).c_str());
    return exit_refused;
  }
  return print(text_of(words.front(), answer.value, form));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Talks to a running sluice or nodeb", "sluicectl");
  app.footer(footer());
  std::string socket = sluice::admin::default_socket;
  std::vector<std::string> words;
  double timeout_s = 5;
  bool json = false;
  bool wide = false;
  bool manual = false;
  bool completion = false;
  app.add_option("--socket", socket, "the program's admin socket")->envname("SLUICE_SOCKET")->capture_default_str();
  app.add_option("--timeout", timeout_s, "how long to wait for the answer, in seconds")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_flag("--json", json, "print the answer as JSON; also behind the command");
  app.add_flag("--wide", wide, "show every column of a table; also behind the command");
  app.add_flag("--manual", manual, "print the manual page for man, and exit");
  app.add_flag("--completion", completion, "print the completion for bash, and exit");
  // What follows the options goes to the program as it is, dashes and all, but for these two.
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  if (manual)
    return print(sluice::manual::program_page({"sluicectl", 1, "talks to a running sluice", SLUICE_VERSION}, page_words,
                                              app, verbs()));
  if (completion) return print(sluice::manual::bash_completion(app, verbs()));
  words = app.remaining();
  if (std::erase(words, "--json") > 0) json = true;  // no command has a word like these
  if (std::erase(words, "--wide") > 0) wide = true;
  if (words.empty()) {
    std::fputs("sluicectl: a command is needed, such as status; see --help\n", stderr);
    return exit_usage;
  }
  try {
    return ask_and_print(socket, words, timeout_s, json ? Form::json : wide ? Form::wide : Form::view);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "sluicectl: %s\n", problem.what());
    return exit_refused;
  }
}
