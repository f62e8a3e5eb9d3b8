#pragma once

#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/violation.hpp"

namespace sluice::control {

/// Text that explains a broken rule. It is formatted only if the rule is broken, because controllers are validated for
/// each new connection and nearly always break no rule.
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

/// Returns an Explanation that joins the parts to one text. Numbers are formatted as %g does.
template <typename... Parts>
[[nodiscard]] auto print(const Parts&... parts) {
  return Explanation<std::decay_t<const Parts>...>(parts...);
}

/// Collects the rules that parameters break, for the validate() functions. Its functions are not inlined, because
/// controllers are created in the packet path, whose code must not contain the texts of rules.
class RuleChecker {
 public:
  /// Records a violation of `rule` if `holds` is false. `parameter` is the member of the validated object that the rule
  /// is mainly about.
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
