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

namespace {

constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

constexpr const char* footer =
    "Then a command with its arguments: status, counters, bearers [LIMIT], flows [LIMIT], exposure, groups, mode "
    "[MODE], reload "
    "[--confirm-within TIME], confirm, release UE|all, split-again UE|all, drain, config, version, stop, help.\n"
    "Ask `sluicectl help` what the running program knows. Exit codes: 0 answered, 1 refused or no answer, 2 bad "
    "command "
    "line.";

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

int ask_and_print(const std::string& socket, const std::string& line, double timeout_s, bool json) {
  const auto timeout = std::chrono::milliseconds(static_cast<long>(timeout_s * 1000));
  const sluice::admin::Answer answer = sluice::admin::ask(socket, line, timeout);
  if (!answer.ok) {
    std::fprintf(stderr, "sluicectl: %s\n", sluice::admin::printable(answer.value.get<std::string>(), true).c_str());
    return exit_refused;
  }
  // As ASCII, in which JSON has no control characters.
  const std::string text = json ? answer.value.dump(2, ' ', true) + "\n" : sluice::admin::to_table(answer.value);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Talks to a running sluice or nodeb", "sluicectl");
  app.footer(footer);
  std::string socket = sluice::admin::default_socket;
  std::vector<std::string> words;
  double timeout_s = 5;
  bool json = false;
  app.add_option("--socket", socket, "the program's admin socket")->envname("SLUICE_SOCKET")->capture_default_str();
  app.add_option("--timeout", timeout_s, "how long to wait for the answer, in seconds")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_flag("--json", json, "print the answer as JSON");
  // What follows the options goes to the program as it is, dashes and all.
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  words = app.remaining();
  if (words.empty()) {
    std::fputs("sluicectl: a command is needed, such as status; see --help\n", stderr);
    return exit_usage;
  }
  try {
    return ask_and_print(socket, joined(words), timeout_s, json);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "sluicectl: %s\n", problem.what());
    return exit_refused;
  }
}
