#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::metrics {

/// Name of the metric that publishes a counter.
struct MetricName {
  std::string family;                                       ///< name of the metric family without the suffix _total
  std::vector<std::pair<std::string, std::string>> labels;  ///< names and values of the metric's labels
};

/// Returns the metric that publishes a counter, which is named as in `sluicectl counters`, such as
/// "proxy.drop_tcp_checksum". Packet outcomes are one family by action and reason. Counters per port, leg or result are
/// one family with a label.
[[nodiscard]] MetricName metric_name(std::string_view counter);

/// Returns the help text of a metric family that contains several counters, or an empty text for a single counter.
[[nodiscard]] std::string_view family_help(std::string_view family);

}  // namespace sluice::metrics
