#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::metrics {

/// Under which metric a counter of the program appears.
struct MetricName {
  std::string family;                                       ///< without _total
  std::vector<std::pair<std::string, std::string>> labels;  ///< names and values
};

/// Metric of a counter by its name in `sluicectl counters`, such as "proxy.drop_tcp_checksum". What becomes of packets
/// is one family, by action and reason; what there is for each port, leg or outcome is one family with a label.
[[nodiscard]] MetricName metric_name(std::string_view counter);

/// What a family that unites several counters is about; nothing for one that is a single counter.
[[nodiscard]] std::string_view family_help(std::string_view family);

}  // namespace sluice::metrics
