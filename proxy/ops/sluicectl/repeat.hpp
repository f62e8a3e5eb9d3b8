#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sluicectl {

/// How often, and at which interval, the output of a command is repeated.
struct Repetition {
  std::chrono::milliseconds interval{1000};
  std::optional<unsigned> count{};  ///< number of outputs; if not set, unlimited on a terminal and one elsewhere

  /// Removes --interval SECONDS and --count N from the words of a command, and returns their values. Throws
  /// std::invalid_argument with the error.
  [[nodiscard]] static Repetition take(std::vector<std::string>& words);
};

/// Removes an option and its value from `words`. Returns the value, or nothing if the option is not given. Throws
/// std::invalid_argument if the value is missing.
[[nodiscard]] std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& option);

/// Returns the command line that is sent to the program: `verb` and `words`, separated by blanks. Throws
/// std::invalid_argument if a word is empty or contains white space; the error ends with `advice`.
[[nodiscard]] std::string asked_line(const std::string& verb, const std::vector<std::string>& words,
                                     const std::string& advice = {});

/// Returns the number of lines of the terminal, or nothing if standard output is not a terminal.
[[nodiscard]] std::optional<std::size_t> terminal_lines();

/// Prints the result of show() once per interval of `repetition`. If `clear` is true and standard output is a terminal,
/// the terminal is cleared before each output.
void repeat(const Repetition& repetition, bool clear, const std::function<std::string()>& show);

}  // namespace sluice::sluicectl
