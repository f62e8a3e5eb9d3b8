#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sluicectl {

/// Options of the command `sluicectl capture`.
struct CaptureCommand {
  std::string line;        ///< command line that is sent to the running program
  std::string file = "-";  ///< path of the output file; "-" is standard output

  /// file of last frames that a crashed program has left; if set, this file is converted and no program is contacted
  std::optional<std::string> recover{};

  /// Parses the words after `capture`. -w, --recover and --filter are handled here, and other options are sent to the
  /// program. The filter is compiled by sluicectl, because names in it may need a lookup. The proxy has neither time
  /// nor permission for that. Throws std::invalid_argument with the error.
  [[nodiscard]] static CaptureCommand take(std::vector<std::string> words);
};

/// Compiles a filter expression of pcap-filter(7) for Ethernet frames. Returns the text that capture::Program::parse()
/// reads. Throws std::invalid_argument with libpcap's error.
[[nodiscard]] std::string compile_filter(const std::string& expression);

/// Runs a capture and writes it to the output file. The capture ends when the program ends it, when the reader of the
/// output closes it, or at SIGINT or SIGTERM. Then prints the counts of frames on standard error. A second signal ends
/// sluicectl at once. `timeout` is the maximum time until the program's first answer. Throws std::runtime_error with
/// the reason of a failure.
void run_capture(const CaptureCommand& command, const std::string& socket, std::chrono::milliseconds timeout);

}  // namespace sluice::sluicectl
