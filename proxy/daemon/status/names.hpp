#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/daemon/status/exposition.hpp"

namespace sluice::metrics {

/// Name of the metric that publishes a counter.
struct MetricName {
  std::string family;                                       ///< name of the metric family without the suffix _total
  std::vector<std::pair<std::string, std::string>> labels;  ///< names and values of the metric's labels
};

/// Returns the metric that publishes the counter with this name in `sluicectl counters`, such as
/// "proxy.drop_tcp_checksum". One family contains all packet outcomes, labelled by action and reason. Counters per
/// port, leg or result also form one family each, with a label.
[[nodiscard]] MetricName metric_name(std::string_view counter);

/// Metric family with its type and help text.
struct Family {
  std::string_view name;  ///< name of the metric family without the suffix _total
  Kind kind;
  std::string_view help;
};

/// Returns the metric family `name`. Returns null if the family is a single counter of `sluicectl counters`.
[[nodiscard]] const Family* family_of(std::string_view name);
/// Returns every family that is not a single counter of `sluicectl counters`.
[[nodiscard]] std::span<const Family> described_families();

}  // namespace sluice::metrics
