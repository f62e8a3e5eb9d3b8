#include "control/violation.hpp"

#include <stdexcept>

namespace sluice::control {

void refuse_errors(const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) {
    if (violation.severity == Violation::Severity::error) {
      throw std::invalid_argument(violation.rule + ": " + violation.explanation);
    }
  }
}

}  // namespace sluice::control
