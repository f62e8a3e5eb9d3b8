#pragma once

#include "dataplane/units/time.hpp"
#include "emulator/channel/profile.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/report/result.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Returns the payload throughput of a bulk transfer after the warm-up, in b/s; 0 if nothing was measured.
[[nodiscard]] double measured_bps(const FlowRecord& flow, const RunResult& result);

/// If there are bulk uploads, adds the total throughput of bulk uploads and that of bulk downloads after the warm-up,
/// which ends at `measured_from`. Adds columns on fairness if at least two of the transfers ran during the whole
/// measurement.
void add_flow_figures(RunResult& result, const FlowLog& log, Instant measured_from);

/// Adds columns with the predictions of the theoretical model that the scenario selects. `profile` is the first UE's
/// replayed link, or null.
void add_model_figures(RunResult& result, const Scenario& scenario, const CapacityProfile* profile);
/// Adds the mean and the longest time of all fetches. Adds the mean times of completed flows that began after
/// `measured_from`, by size. `first_ue` is the address of the first UE, whose flows also get columns of their own; it
/// may be null.
void add_fetch_figures(RunResult& result, const FlowLog& log, Instant measured_from, const IpAddress* first_ue);

/// Adds columns with the number of retransmission timeouts of the server. There is one for each of the first four bulk
/// transfers that ran during the whole measurement. Requires recorded flow rows.
void add_timeout_figures(RunResult& result, const Scenario& scenario);

/// Adds columns that are computed from the congestion and receive windows of the first recorded connection and from the
/// drops, after the warm-up.
void add_window_figures(RunResult& result, const Scenario& scenario);

/// Adds columns on an 802.11 access point: the shares of data and ACK packets among those that the access point and its
/// stations sent, and the losses in its buffer. Reads the run's counters, so call it after they are set. Adds nothing
/// for other radios.
void add_access_point_figures(RunResult& result);

/// Adds a column with the time after which the radio queue, averaged over a second, is first within 20 % of its target.
/// Has no effect if the Node-B reports no target.
void add_queue_figures(RunResult& result, const Scenario& scenario);

}  // namespace sluice::emulator
