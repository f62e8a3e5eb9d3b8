#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/status/exposition.hpp"
#include "proxy/daemon/status/process_statistics.hpp"
#include "proxy/daemon/status/status_source.hpp"

namespace sluice::proxy {

/// Values that the metrics page needs and that StatusSource does not contain.
struct MetricsContext {
  bool last_reload_successful = true;
  std::vector<std::optional<Duration>> processor_times;  ///< processor time used by each shard's thread
  Instant now{};
  ProcessStatistics process{};
};

/// Returns the page of metrics, from the newest snapshots. The page contains every counter of `sluicectl counters`. No
/// label contains the address of a UE. Thread: the control thread.
[[nodiscard]] std::string write_metrics(const StatusSource& status_source, const MetricsContext& context,
                                        metrics::Format format);

}  // namespace sluice::proxy
