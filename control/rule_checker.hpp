#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "control/violation.hpp"

namespace sluice::control {

/// Numbers and words in a row, numbers as short as %g prints them.
template <typename... Parts>
[[nodiscard]] std::string print(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Collects what is broken; what every validate() is made of.
class RuleChecker {
 public:
  void require(bool holds, Violation::Severity severity, const char* rule, std::string explanation) {
    if (!holds) found_.push_back({severity, rule, std::move(explanation)});
  }
  [[nodiscard]] bool clean() const { return found_.empty(); }
  [[nodiscard]] std::vector<Violation> take() { return std::move(found_); }

 private:
  std::vector<Violation> found_;
};

}  // namespace sluice::control
