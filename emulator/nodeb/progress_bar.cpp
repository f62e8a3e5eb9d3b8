#include "emulator/nodeb/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace sluice::emulator {
namespace {

constexpr int width = 30;

}  // namespace

std::string format_seconds(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  const long rest = whole % 60;
  return std::to_string(whole / 60) + " min " + (rest < 10 ? "0" : "") + std::to_string(rest) + " s";
}

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), started_(Clock::now()) {}

ProgressBar::~ProgressBar() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

std::string ProgressBar::time_left(double fraction) const {
  const double gone = std::chrono::duration<double>(Clock::now() - started_).count();
  if (fraction < 0.01 || gone < 0.5) return "";
  return ", " + format_seconds(gone / fraction * (1 - fraction)) + " left";
}

void ProgressBar::show(double fraction, const std::string& detail) {
  const double drawn_fraction = std::clamp(fraction, 0.0, 1.0);
  if (terminal_) {
    draw(drawn_fraction, detail);
    return;
  }
  const int tenth = static_cast<int>(drawn_fraction * 10);
  if (tenth <= last_tenth_) return;
  last_tenth_ = tenth;
  std::fprintf(stderr, "%s: %d %% (%s%s)\n", what_.c_str(), tenth * 10, detail.c_str(),
               time_left(drawn_fraction).c_str());
}

void ProgressBar::draw(double fraction, const std::string& detail) {
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100) && fraction < 1) return;
  drawn_ = now;
  const int full = static_cast<int>(fraction * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
  std::fprintf(stderr, "\r\033[K%s %s %3d %%  %s%s", what_.c_str(), bar.c_str(), static_cast<int>(fraction * 100),
               detail.c_str(), time_left(fraction).c_str());
  std::fflush(stderr);
}

}  // namespace sluice::emulator
