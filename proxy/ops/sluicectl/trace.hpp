#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "control/decision_log/replay.hpp"

namespace sluice::sluicectl {

/// Options of the command `sluicectl trace`.
struct TraceCommand {
  std::string line;        ///< command line that is sent to the running program
  std::string file = "-";  ///< path of the output file; "-" is standard output

  /// Parses the words after `trace`. The option -w (output file) is handled here. All other words are sent to the
  /// running program in `line`. Throws std::invalid_argument with the error.
  [[nodiscard]] static TraceCommand take(std::vector<std::string> words);
};

/// Records a decision log (inputs and decisions of one UE's controllers) and writes it to the output file. The
/// recording ends when the program ends it, when the reader of the output closes it, or at SIGINT or SIGTERM. Then
/// prints the numbers of written and lost lines on standard error. `timeout` is the maximum time until the program's
/// first answer. Throws std::runtime_error with the reason of a failure.
void run_trace(const TraceCommand& command, const std::string& socket, std::chrono::milliseconds timeout);

/// Options of the command `sluicectl replay`.
struct ReplayCommand {
  std::string file;  ///< path of the decision log; "-" is standard input
  std::vector<control::Replay::Change> changes{};

  /// Parses the words after `replay`. Throws std::invalid_argument with the error.
  [[nodiscard]] static ReplayCommand take(std::vector<std::string> words);
};

/// Runs the controllers again with the inputs in the decision log `trace`, and compares their decisions with those in
/// the log. Writes a summary to `messages`. Without changed parameters, writes the first decision that differs to `out`
/// and returns false if there is one. With changed parameters, writes every decision that differs and returns true.
/// Throws std::runtime_error.
[[nodiscard]] bool replay(std::istream& trace, const ReplayCommand& command, std::ostream& out, std::ostream& messages);
/// Runs replay() on the file that `command` names, and returns the result of replay(). Writes to standard output and
/// standard error.
[[nodiscard]] bool run_replay(const ReplayCommand& command);

}  // namespace sluice::sluicectl
