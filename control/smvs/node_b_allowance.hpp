#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Values of a report that determine how much may be sent to a UE, if the Node-B computes the allowance.
struct AllowanceReport {
  /// Bytes that the Node-B permits the proxy to send; absent if it computes no allowance.
  std::optional<Bytes> allowance;
  Rate mean_rate;     ///< mean service rate of the radio link
  Duration period{};  ///< time until the next report
};

/// Computes how many bytes may be sent to a UE whose controller runs at the Node-B. If the report contains no
/// allowance, the result is the mean rate times the report period. Has no state and reads no clock.
struct NodeBAllowance {
  [[nodiscard]] static Bytes granted(const AllowanceReport& report) {
    return report.allowance ? *report.allowance : report.mean_rate.in(report.period);
  }
};

}  // namespace sluice::control
