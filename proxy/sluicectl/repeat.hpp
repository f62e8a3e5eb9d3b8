#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sluicectl {

/// How often something is shown, and how many times.
struct Repetition {
  std::chrono::milliseconds interval{1000};
  std::optional<unsigned> count{};  ///< default: for ever on a terminal, else once

  /// Takes --interval SECONDS and --count N out of a command's words. Throws std::invalid_argument with what is wrong.
  [[nodiscard]] static Repetition take(std::vector<std::string>& words);
};

/// The value behind an option that is among the words, both of which are taken out; nothing where it is not there.
/// Throws std::invalid_argument where it has none.
[[nodiscard]] std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& option);

/// What the program is asked: the verb and the words behind it. Throws std::invalid_argument, with `advice` behind it,
/// where one of them is none.
[[nodiscard]] std::string asked_line(const std::string& verb, const std::vector<std::string>& words,
                                     const std::string& advice = {});

/// Lines of the terminal; nothing where standard output is none.
[[nodiscard]] std::optional<std::size_t> terminal_lines();

/// Shows what show() says, again and again, on a cleared screen where `clear` is set and standard output is a terminal.
/// It waits before each but the first.
void repeat(const Repetition& repetition, bool clear, const std::function<std::string()>& show);

}  // namespace sluice::sluicectl
