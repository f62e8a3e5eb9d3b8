#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sluicectl {

/// Options of the command `sluicectl capture`.
struct CaptureCommand {
  std::string line;        ///< command line that is sent to the program
  std::string file = "-";  ///< path of the output file; "-" is standard output

  /// File of last frames of a crashed program, which is read here without asking a program.
  std::optional<std::string> recover{};

  /// Parses the words after `capture`: -w and --filter are used here, the others are sent to the program. The filter
  /// is compiled here, because names in it may need a lookup, for which the proxy has neither time nor permission.
  /// Throws std::invalid_argument with the error.
  [[nodiscard]] static CaptureCommand take(std::vector<std::string> words);
};

/// Compiles an expression of pcap-filter(7) for Ethernet frames into the text that capture::Program::parse() reads.
/// Throws std::invalid_argument with libpcap's error.
[[nodiscard]] std::string compile_filter(const std::string& expression);

/// Runs a capture until the program ends it, the reader of the output closes it, or SIGINT or SIGTERM arrives. Then
/// prints the numbers of frames on standard error. A second signal ends at once. `timeout` applies to the first answer.
/// Throws std::runtime_error with the reason of a failure.
void run_capture(const CaptureCommand& command, const std::string& socket, std::chrono::milliseconds timeout);

}  // namespace sluice::sluicectl
