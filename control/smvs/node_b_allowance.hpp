#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Values of a Node-B's report that determine how much may be sent to a UE, if the controller runs at the Node-B.
struct AllowanceReport {
  /// Allowance: bytes that the proxy may send until the next report. Absent if the Node-B computes none.
  std::optional<Bytes> allowance;
  Rate mean_rate;     ///< mean service rate of the radio link
  Duration period{};  ///< time until the next report
};

/// Computes how many bytes the proxy may send to a UE until the next report, if the controller runs at the Node-B. If
/// the report contains no allowance, the result is the mean rate times the report period. Has no state and reads no
/// clock.
struct NodeBAllowance {
  [[nodiscard]] static Bytes granted(const AllowanceReport& report) {
    return report.allowance ? *report.allowance : report.mean_rate.in(report.period);
  }
};

}  // namespace sluice::control
