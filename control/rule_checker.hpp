#pragma once

#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/violation.hpp"

namespace sluice::control {

/// Explanation of a broken rule, formatted only on demand, because controllers are created for connections as they
/// open.
template <typename... Parts>
class Explanation {
 public:
  explicit Explanation(const Parts&... parts) : parts_(parts...) {}
  explicit operator std::string() const {
    std::ostringstream text;
    std::apply([&text](const auto&... parts) { (text << ... << parts); }, parts_);
    return text.str();
  }

 private:
  std::tuple<Parts...> parts_;
};

/// Returns the parts as one explanation; numbers are formatted as short as %g does.
template <typename... Parts>
[[nodiscard]] auto print(const Parts&... parts) {
  return Explanation<std::decay_t<const Parts>...>(parts...);
}

/// Collects broken rules; every validate() uses it. Controllers are created in the packet path, which is one
/// compilation unit, so validate() is never inlined; its texts stay out of it.
class RuleChecker {
 public:
  /// Records a violation if `holds` is false. `parameter` is the member that the rule is mainly about.
  template <typename Parameter, typename Text>
  void require(const Parameter& parameter, bool holds, Violation::Severity severity, const char* rule,
               const Text& explanation) {
    if (!holds) found_.push_back({severity, &parameter, rule, std::string(explanation)});
  }
  [[nodiscard]] bool clean() const { return found_.empty(); }
  [[nodiscard]] std::vector<Violation> take() { return std::move(found_); }

 private:
  std::vector<Violation> found_;
};

}  // namespace sluice::control
