#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace sluice::emulator {

/// Shows on standard error how far something is: a bar with the time left on a terminal, a plain line every ten per
/// cent otherwise. Thread: one at a time.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  /// Wipes the bar off.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `fraction`: 0 … 1. `detail` stands behind it.
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

/// "1 min 05 s", "42 s".
[[nodiscard]] std::string format_seconds(double seconds);

}  // namespace sluice::emulator
