#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What a report says of what may be sent, where the law runs at the Node-B.
struct AllowanceReport {
  std::optional<Bytes> allowance;  ///< nothing: it computes none
  Rate mean_rate;                  ///< of the radio link
  Duration period{};               ///< until the next report is to come
};

/// The law of a bearer whose allowance comes from the Node-B. Where that computes none, its mean rate is the best that
/// is known. Keeps no state. No clock inside.
struct NodeBAllowance {
  [[nodiscard]] static Bytes granted(const AllowanceReport& report) {
    return report.allowance ? *report.allowance : report.mean_rate.in(report.period);
  }
};

}  // namespace sluice::control
