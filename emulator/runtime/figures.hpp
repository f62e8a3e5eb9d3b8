#pragma once

#include "dataplane/units/time.hpp"
#include "emulator/channel/profile.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/report/result.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Throughput of a bulk transfer after the warm-up, payload; 0 where nothing was measured.
[[nodiscard]] double measured_bps(const FlowRecord& flow, const RunResult& result);

/// Adds what the bulk transfers came to after the warm-up, which ends at `measured_from`: uploads and downloads, and
/// how even those were that ran all the time. Nothing where there is but one.
void add_flow_figures(RunResult& result, const FlowLog& log, Instant measured_from);

/// Adds what the theory that the scenario asks for says. `profile`: of the first UE's link, where it has one.
void add_model_figures(RunResult& result, const Scenario& scenario, const CapacityProfile* profile);
/// Adds how long fetches took, and those of the flows that came and went by their size.
void add_fetch_figures(RunResult& result, const FlowLog& log, Instant measured_from, const IpAddress* first_ue);

/// Adds the timeouts of the servers of the first four transfers that ran all the time, where flows are written down.
void add_timeout_figures(RunResult& result, const Scenario& scenario);

/// Adds what the windows of the first watched connection and the drops tell, after the warm-up.
void add_window_figures(RunResult& result, const Scenario& scenario);

/// Adds what share of the packets on an access point's air was whose, and how much found no room in its buffer. Of what
/// the run counted, which must be there; nothing where the radio is none.
void add_access_point_figures(RunResult& result);

/// Adds when the radio queue came to its reference, where a law at the Node-B has one.
void add_queue_figures(RunResult& result, const Scenario& scenario);

}  // namespace sluice::emulator
