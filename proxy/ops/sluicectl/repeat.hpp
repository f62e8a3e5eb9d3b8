#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sluicectl {

/// Interval and number of repetitions with which a command's output is displayed.
struct Repetition {
  std::chrono::milliseconds interval{1000};
  std::optional<unsigned> count{};  ///< number of repetitions; if not set, endless on a terminal, else one

  /// Removes --interval SECONDS and --count N from a command's words. Throws std::invalid_argument with the error.
  [[nodiscard]] static Repetition take(std::vector<std::string>& words);
};

/// Removes an option and its value from the words and returns the value, or nothing if the option is absent. Throws
/// std::invalid_argument if the value is missing.
[[nodiscard]] std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& option);

/// Returns the command line for the program: the verb and the words after it. Throws std::invalid_argument, with
/// `advice` appended, if a word cannot be an argument.
[[nodiscard]] std::string asked_line(const std::string& verb, const std::vector<std::string>& words,
                                     const std::string& advice = {});

/// Returns the number of lines of the terminal, or nothing if standard output is no terminal.
[[nodiscard]] std::optional<std::size_t> terminal_lines();

/// Prints the result of show() repeatedly, once per interval. If `clear` is true, a terminal is cleared before each
/// output.
void repeat(const Repetition& repetition, bool clear, const std::function<std::string()>& show);

}  // namespace sluice::sluicectl
