#pragma once

#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/violation.hpp"

namespace sluice::control {

/// Explanation of a broken rule, which is formatted only when it is used. A controller is created for each new
/// connection, and most validations find no broken rule.
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

/// Returns the parts joined to one explanation; numbers are formatted as %g does.
template <typename... Parts>
[[nodiscard]] auto print(const Parts&... parts) {
  return Explanation<std::decay_t<const Parts>...>(parts...);
}

/// Collects the rules that parameters break, for the validate() functions. These functions are not inlined, so that
/// their texts stay out of the packet path, which creates controllers.
class RuleChecker {
 public:
  /// Records a violation of `rule` if `holds` is false. `parameter` is the member that the rule is mainly about.
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
