#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sluice::sluicectl {

/// A capture as it was typed.
struct CaptureCommand {
  std::string line;        ///< what the program is asked
  std::string file = "-";  ///< where it goes; "-": standard output
  /// No program is asked: what one left that ended without a word is read here.
  std::optional<std::string> recover{};

  /// Takes the words behind `capture`: -w and --filter are for us, the others for the program. The filter is compiled
  /// here, since names in it may have to be looked up, for which the program has neither time nor leave. Throws
  /// std::invalid_argument with what is wrong.
  [[nodiscard]] static CaptureCommand take(std::vector<std::string> words);
};

/// An expression of pcap-filter(7) on Ethernet frames, as capture::Program::parse() reads it. Throws
/// std::invalid_argument with what libpcap says against it.
[[nodiscard]] std::string compile_filter(const std::string& expression);

/// Runs it until the program ends it, who reads it is gone, or SIGINT or SIGTERM comes; then says on standard error
/// what it came to. A second signal ends at once. `timeout` is for the first answer. Throws std::runtime_error with
/// what stood in the way.
void run_capture(const CaptureCommand& command, const std::string& socket, std::chrono::milliseconds timeout);

}  // namespace sluice::sluicectl
