#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/daemon/status/counter_watch.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Appends one byte counter for each way in which frames are processed. Also appends one for each reason to forward
/// frames unchanged.
void add_traffic_counters(const Counters& counters, std::vector<NamedCounter>& out);
/// Returns the number of bytes for each way in which frames are processed, and the percentage of all bytes that rate
/// controllers control. `sluicectl status` shows the result as `traffic`.
[[nodiscard]] admin::Json traffic_summary(const Counters& counters);
/// Returns the answer to `sluicectl traffic`. It has a row of bytes for each way in which frames are processed, and for
/// each reason. The largest rows are first.
[[nodiscard]] admin::Json traffic_rows(const Counters& counters);
/// Returns the answer to `sluicectl flows --passing`: at most `limit` of `flows`, the largest ones first.
[[nodiscard]] admin::Json passing_rows(std::vector<PassingInfo> flows, std::size_t limit, Instant now);
/// Returns the name of the flow's IP protocol. If the port suggests an application protocol, adds the name of that
/// protocol, as in "udp (QUIC by its port)".
[[nodiscard]] std::string name_of_protocol(const PassingInfo& flow);

}  // namespace sluice::proxy
