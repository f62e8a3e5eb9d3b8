#pragma once

#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/violation.hpp"

namespace sluice::control {

/// An explanation that is only written when somebody breaks the rule: laws are made for connections as they open.
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

/// Numbers and words in a row, numbers as short as %g prints them.
template <typename... Parts>
[[nodiscard]] auto print(const Parts&... parts) {
  return Explanation<std::decay_t<const Parts>...>(parts...);
}

/// Collects what is broken; what every validate() is made of. Laws are made in the packet path, which is compiled in
/// one piece: validate() is never inlined, or its texts would be part of that.
class RuleChecker {
 public:
  /// `parameter`: the one that the rule is first about, a member of what is validated.
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
