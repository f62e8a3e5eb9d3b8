#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace sluice::emulator {

/// Shows progress on standard error: a bar with the remaining time on a terminal, else a line every ten per cent.
/// Thread: one at a time.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  /// Removes the bar from the terminal.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Shows the completed share `fraction`, 0 … 1, followed by the text `detail`.
  void show(double fraction, const std::string& detail);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string time_left(double fraction) const;
  void draw(double fraction, const std::string& detail);

  std::string what_;
  bool terminal_;
  Clock::time_point started_;
  Clock::time_point drawn_{};
  int last_tenth_ = 0;
};

/// Returns a duration as text, such as "1 min 05 s" or "42 s".
[[nodiscard]] std::string format_seconds(double seconds);

}  // namespace sluice::emulator
