#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::metrics {

/// Metric under which a counter appears.
struct MetricName {
  std::string family;                                       ///< name without the suffix _total
  std::vector<std::pair<std::string, std::string>> labels;  ///< label names and values
};

/// Returns the metric of a counter named as in `sluicectl counters`, such as "proxy.drop_tcp_checksum". Packet
/// outcomes are one family by action and reason. Counters per port, leg or result are one family with a label.
[[nodiscard]] MetricName metric_name(std::string_view counter);

/// Returns the help text of a family that unites several counters, or an empty text for a single counter.
[[nodiscard]] std::string_view family_help(std::string_view family);

}  // namespace sluice::metrics
