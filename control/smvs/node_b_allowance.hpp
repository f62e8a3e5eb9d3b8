#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Values of a report that determine the allowance if the controller runs at the Node-B.
struct AllowanceReport {
  std::optional<Bytes> allowance;  ///< absent if the Node-B computes none
  Rate mean_rate;                  ///< mean rate of the radio link
  Duration period{};               ///< time until the next report
};

/// Allowance of a bearer whose controller runs at the Node-B. If the report contains none, it is the mean rate times
/// the period. Has no state and reads no clock.
struct NodeBAllowance {
  [[nodiscard]] static Bytes granted(const AllowanceReport& report) {
    return report.allowance ? *report.allowance : report.mean_rate.in(report.period);
  }
};

}  // namespace sluice::control
