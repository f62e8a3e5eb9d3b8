#include "proxy/ops/sluicectl/repeat.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "proxy/yaml/scalar.hpp"

namespace sluice::sluicectl {

std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& option) {
  const auto at = std::find(words.begin(), words.end(), option);
  if (at == words.end()) return std::nullopt;
  if (at + 1 == words.end()) throw std::invalid_argument(option + " needs a value");
  std::string value = *(at + 1);
  words.erase(at, at + 2);
  return value;
}

std::string asked_line(const std::string& verb, const std::vector<std::string>& words, const std::string& advice) {
  std::string line = verb;
  for (const std::string& word : words) {
    if (word.empty() || word.find_first_of(" \t\r\n") != std::string::npos)
      throw std::invalid_argument(verb + ": not an argument: '" + word + "'" + advice);
    line += " " + word;
  }
  return line;
}

Repetition Repetition::take(std::vector<std::string>& words) {
  Repetition repetition;
  if (const auto text = take_option(words, "--interval")) {
    const std::optional<double> seconds = config::Scalar<double>::parse(*text);
    if (!seconds || *seconds < 0.1 || *seconds > 3600) {
      throw std::invalid_argument("--interval: seconds, 0.1 to 3600, not " + *text);
    }
    repetition.interval = std::chrono::milliseconds(std::lround(*seconds * 1000));
  }
  if (const auto text = take_option(words, "--count")) {
    repetition.count = config::parse_whole<unsigned>(*text);
    if (!repetition.count || *repetition.count == 0) {
      throw std::invalid_argument("--count: a whole number from 1 on, not " + *text);
    }
  }
  return repetition;
}

std::optional<std::size_t> terminal_lines() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  constexpr std::size_t usual = 24;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : usual;
}

void repeat(const Repetition& repetition, bool clear, const std::function<std::string()>& show) {
  const bool terminal = terminal_lines().has_value();
  const std::optional<unsigned> count = terminal ? repetition.count : repetition.count.value_or(1);
  for (unsigned shown = 0; !count || shown < *count; ++shown) {
    if (shown != 0) std::this_thread::sleep_for(repetition.interval);
    const std::string text = show();
    if (clear && terminal) std::fputs("\x1b[H\x1b[J", stdout);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace sluice::sluicectl
