#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Values of a report that determine a bearer's allowance if the controller runs at the Node-B.
struct AllowanceReport {
  std::optional<Bytes> allowance;  ///< bytes that the Node-B grants; absent if it computes no allowance
  Rate mean_rate;                  ///< mean service rate of the radio link
  Duration period{};               ///< time until the next report
};

/// Computes the allowance of a bearer whose controller runs at the Node-B. Without an allowance in the report it is the
/// mean rate times the report period. Has no state and reads no clock.
struct NodeBAllowance {
  [[nodiscard]] static Bytes granted(const AllowanceReport& report) {
    return report.allowance ? *report.allowance : report.mean_rate.in(report.period);
  }
};

}  // namespace sluice::control
