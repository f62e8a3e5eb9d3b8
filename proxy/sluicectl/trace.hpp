#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "control/trace/replay.hpp"

namespace sluice::sluicectl {

/// A trace as it was typed.
struct TraceCommand {
  std::string line;        ///< what the program is asked
  std::string file = "-";  ///< where it goes; "-": standard output

  /// Takes the words behind `trace`: -w is for us, the others for the program. Throws std::invalid_argument with what
  /// is wrong.
  [[nodiscard]] static TraceCommand take(std::vector<std::string> words);
};

/// Runs it until the program ends it, who reads it is gone, or SIGINT or SIGTERM comes; then says on standard error
/// what it came to. `timeout` is for the first answer. Throws std::runtime_error with what stood in the way.
void run_trace(const TraceCommand& command, const std::string& socket, std::chrono::milliseconds timeout);

/// A replay as it was typed.
struct ReplayCommand {
  std::string file;  ///< "-": standard input
  std::vector<control::Replay::Change> changes{};

  /// Takes the words behind `replay`. Throws std::invalid_argument with what is wrong.
  [[nodiscard]] static ReplayCommand take(std::vector<std::string> words);
};

/// Repeats the decisions of a trace. Without changes it writes the first that came out otherwise and is false then;
/// with changes it writes all of them, and is true. `said` is told what it came to. Throws std::runtime_error.
[[nodiscard]] bool replay(std::istream& trace, const ReplayCommand& command, std::ostream& out, std::ostream& said);
/// The same for the command's file, standard output and standard error.
[[nodiscard]] bool run_replay(const ReplayCommand& command);

}  // namespace sluice::sluicectl
