#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/status/exposition.hpp"
#include "proxy/daemon/status/process_statistics.hpp"
#include "proxy/daemon/status/status_source.hpp"

namespace sluice::proxy {

/// Values for the metrics page that StatusSource does not have.
struct MetricsContext {
  bool last_reload_successful = true;
  std::vector<std::optional<Duration>> processor_times;  ///< processor time used by each shard's thread
  Instant now{};
  ProcessStatistics process{};
};

/// Returns the page of metrics, written from the newest snapshots. Every counter of `sluicectl counters` is on the
/// page, and no label names a UE. Thread: the control thread.
[[nodiscard]] std::string write_metrics(const StatusSource& status_source, const MetricsContext& context,
                                        metrics::Format format);

}  // namespace sluice::proxy
