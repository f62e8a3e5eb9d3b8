#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Returns the name by which reports call a mode.
[[nodiscard]] inline std::string mode_name(const std::string& mode) {
  return mode == "none" ? "no proxy" : mode;
}

/// Number of colours of lines: m0 … m8 of report_style.hpp.
inline constexpr std::size_t line_colours = 9;

/// Assigns a colour to every mode, the same in all plots of a report. The most common modes (array `usual`) have the
/// same colours in all reports.
class ModeColours {
 public:
  explicit ModeColours(const std::vector<ResultGroup>& groups) {
    for (const ResultGroup& group : groups) {
      if (std::find(modes_.begin(), modes_.end(), group.mean.key.mode) == modes_.end()) {
        modes_.push_back(group.mean.key.mode);
      }
    }
    assign_colours();
  }
  [[nodiscard]] const std::vector<std::string>& modes() const { return modes_; }
  /// Returns the CSS class with the colour of a mode.
  [[nodiscard]] std::string css_class(const std::string& mode) const {
    const auto at = std::find(modes_.begin(), modes_.end(), mode);
    return "m" + std::to_string(at == modes_.end() ? 0 : colours_[static_cast<std::size_t>(at - modes_.begin())]);
  }

 private:
  static constexpr std::array<std::string_view, 4> usual = {"none", "i-tcp", "smvs", "bypass"};

  /// Assigns fixed colours to the modes in `usual`. Every other mode gets the next colour that no mode of the report
  /// has. Modes share a colour only if there are more modes than colours.
  void assign_colours() {
    constexpr std::size_t unassigned = line_colours;
    colours_.assign(modes_.size(), unassigned);
    std::array<bool, line_colours> taken{};
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      const auto at = std::find(usual.begin(), usual.end(), modes_[i]);
      if (at == usual.end()) continue;
      colours_[i] = static_cast<std::size_t>(at - usual.begin());
      taken.at(colours_[i]) = true;
    }
    std::size_t next = usual.size();
    for (std::size_t& colour : colours_) {
      if (colour != unassigned) continue;
      for (std::size_t i = 0; i < line_colours && taken.at(next % line_colours); ++i) ++next;
      colour = next++ % line_colours;
      taken.at(colour) = true;
    }
  }

  std::vector<std::string> modes_;
  std::vector<std::size_t> colours_;  ///< number of the colour of each mode
};

}  // namespace sluice::emulator
