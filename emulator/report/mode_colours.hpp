#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Returns the name of a mode for readers.
[[nodiscard]] inline std::string mode_name(const std::string& mode) {
  return mode == "none" ? "no proxy" : mode;
}

/// Assigns a colour to every mode, the same in all plots of a report. The usual modes have fixed colours in all
/// reports.
class ModeColours {
 public:
  explicit ModeColours(const std::vector<ResultGroup>& groups) {
    for (const ResultGroup& group : groups) {
      if (std::find(modes_.begin(), modes_.end(), group.mean.key.mode) == modes_.end()) {
        modes_.push_back(group.mean.key.mode);
      }
    }
  }
  [[nodiscard]] const std::vector<std::string>& modes() const { return modes_; }
  /// Returns the CSS class with the colour of a mode.
  [[nodiscard]] std::string css_class(const std::string& mode) const {
    constexpr std::array<std::string_view, 4> usual = {"none", "i-tcp", "smvs", "bypass"};
    std::size_t number = 0;
    if (const auto at = std::find(usual.begin(), usual.end(), mode); at != usual.end()) {
      number = static_cast<std::size_t>(at - usual.begin());
    } else {
      const auto own = std::find(modes_.begin(), modes_.end(), mode);
      number = usual.size() + static_cast<std::size_t>(own - modes_.begin()) % usual.size();
    }
    return "m" + std::to_string(number);
  }

 private:
  std::vector<std::string> modes_;
};

}  // namespace sluice::emulator
